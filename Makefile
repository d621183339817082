# Every target sets up what it needs in .venv; nothing is installed outside of it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test coverage lint types imports check docs benchmarks calibration levels reproduce clean \
        loops attack repository dist installed sdist lowest container release-check

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

# All tests of a file in one worker: what they share is made once.
SUITE := $(BIN)/python -m pytest -n auto --dist loadfile -q

test: $(VENV)/.dev  ## the whole test suite
	$(SUITE)

coverage: $(VENV)/.dev  ## the same with branch coverage, which takes a third longer
	$(SUITE) --cov --cov-fail-under=92

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

benchmarks: $(VENV)/.bench  ## speed and memory next to other programs; writes docs/benchmarks.md
	$(BIN)/python benchmarks/speed.py --publish

reproduce: $(VENV)/.dev  ## the paper's figures and tables at full size; writes docs/reproduction
	for name in synthetic languages tumour stimuli; do \
	    $(BIN)/python -m reproduction $$name --full --out docs/reproduction || exit 1; done

calibration: $(VENV)/.bench  ## level, coverage and power by simulation; writes docs/calibration.md
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/calibration.py

levels: $(VENV)/.dev  ## levels of a handful of tests next to the published ones: half a minute
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/calibration.py --levels

check: test lint types imports  ## everything that must be green

# Tests small enough for loops that are not compiled.
LOOPS := tests/engine/test_engines.py \
         tests/kernels/test_kernels.py::test_the_values_of_series_are_those_of_tslearn
# Too long without a compiler; tslearn overflows when it is not compiled.
NOT_AS_LOOPS := whatever or many_ or 256 or 257 or 300 or threads or interrupt or large or long

loops: $(VENV)/.dev  ## the compiled loops as plain Python, line by line, for the coverage
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n auto $(LOOPS) \
	    -k 'not ($(NOT_AS_LOOPS))' --cov --cov-config=tools/loops.coveragerc --cov-fail-under=90

attack: $(VENV)/.dev  ## hostile calls, files, commands, disks, threads; writes docs/reliability.md
	$(BIN)/python tools/attack.py --publish

# --- release ---
$(VENV)/.release: pyproject.toml | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/release
	$(VENV)/release/bin/python -m pip install --quiet --disable-pip-version-check \
	    $$($(PYTHON) tools/extra.py release)
	@touch $@

SCHEMA := $(VENV)/release/bin/check-jsonschema --builtin-schema

repository: $(VENV)/.release  ## workflows, forms and metadata against their schemas and habits
	$(SCHEMA) vendor.github-workflows .github/workflows/*.yml
	$(SCHEMA) vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/question.yml
	$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA) vendor.dependabot .github/dependabot.yml
	$(SCHEMA) vendor.readthedocs .readthedocs.yaml
	$(SCHEMA) vendor.citation-file-format CITATION.cff
	$(VENV)/release/bin/validate-pyproject pyproject.toml
	$(VENV)/release/bin/zizmor --quiet --offline .github
	$(VENV)/release/bin/repo-review --show err .

dist: $(VENV)/.release  ## the sdist, and the wheel made from it
	rm -rf dist
	$(VENV)/release/bin/python -m build --quiet
	$(VENV)/release/bin/twine check --strict dist/*

installed: dist  ## the wheel in an empty environment passes the tests it carries
	rm -rf build/installed && $(PYTHON) -m venv build/installed
	build/installed/bin/python -m pip install --quiet --disable-pip-version-check pytest dist/*.whl
	cd build && installed/bin/python -m pytest -q -p no:cacheprovider --pyargs reldep.tests

sdist: dist $(VENV)/.dev  ## the unpacked sdist passes the whole suite by itself
	rm -rf build/sdist && mkdir -p build/sdist && tar xzf dist/*.tar.gz -C build/sdist --strip-components 1
	cd build/sdist && PYTHONPATH=src ../../$(BIN)/python -m pytest -q -n auto --dist loadfile

LOWEST := src/reldep/tests tests/kernels tests/stats tests/engine/test_engines.py

lowest:  ## the core of the suite with the oldest versions that are admitted
	rm -rf build/lowest && $(PYTHON) -m venv build/lowest
	build/lowest/bin/python -m pip install --quiet --disable-pip-version-check \
	    -e '.[test]' -c constraints-lowest.txt
	build/lowest/bin/python -m pytest -q -n auto --dist loadfile -p no:cacheprovider \
	    -W ignore::DeprecationWarning -W ignore::FutureWarning $(LOWEST)

container:  ## build the container and ask it a question (needs docker)
	docker build --tag reldep .
	rm -rf build/container && mkdir -p -m 777 build/container
	docker run --rm -v "$$PWD/build/container:/data" reldep demo --files .
	docker run --rm --read-only --tmpfs /tmp -v "$$PWD/build/container:/data" reldep \
	    compare mice.csv --source diet --first 'C*' --second 'gene_*'

release-check: coverage lint types imports docs loops repository installed sdist lowest  ## all that must hold before a tag
	@docker info >/dev/null 2>&1 && $(MAKE) container || echo "no docker here: the container was not built"

clean:  ## remove what the targets made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis htmlcov .coverage build dist
