# Every target sets up what it needs in .venv; nothing is installed outside of it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test lint types imports check docs benchmarks calibration clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[test,lint]'
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run  ## the main job on real data: forty mice, their diet, lipids and genes
	$(BIN)/reldep demo

test: $(VENV)/.dev  ## the whole test suite, with branch coverage
	$(BIN)/python -m pytest -n auto --dist loadgroup --cov --cov-fail-under=95 -q

lint: $(VENV)/.dev  ## ruff: style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## mypy --strict
	$(BIN)/mypy --strict

imports: $(VENV)/.dev  ## the direction in which the rooms may import each other
	$(BIN)/lint-imports

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[docs]'
	@touch $@ $(VENV)/.run

docs: $(VENV)/.docs  ## the documentation in docs/_build/html, warnings as errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@! grep -rlE '(src|href)="https?://[^"]+\.(js|css)"' docs/_build/html --include='*.html' \
	    || { echo "these pages cannot be read offline"; exit 1; }
	@echo "open docs/_build/html/index.html"

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[test,benchmarks]'
	@touch $@ $(VENV)/.run

benchmarks: $(VENV)/.bench  ## speed and memory beside other programs; writes docs/benchmarks.md
	$(BIN)/python benchmarks/speed.py --publish
	$(BIN)/python benchmarks/accuracy.py

calibration: $(VENV)/.bench  ## level, coverage and power by simulation; writes docs/calibration.md
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/calibration.py --publish

check: test lint types imports  ## everything that must be green

clean:  ## remove what the targets made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis htmlcov .coverage build dist
