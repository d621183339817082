"""The package itself: names, start-up cost, citation and doc examples."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import reldep

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HEAVY = ("scipy.stats", "numba", "pandas", "polars", "matplotlib", "dask", "sklearn", "narwhals")


def run_python(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("name", "heavy"), [("reldep", "numpy"), ("reldep.datasets", "rdata")])
def test_importing_the_package_loads_nothing_heavy(name, heavy):
    loaded = run_python(f"import {name}, sys; print(*sys.modules)").split()
    assert name in loaded
    assert not set(loaded) & {*HEAVY, heavy}


def test_a_first_comparison_of_arrays_loads_nothing_heavy():
    code = (
        "import sys, numpy as np, reldep; x = np.arange(30.0);"
        "reldep.compare(x, x**2, np.sin(x)); print(*sys.modules)"
    )
    assert not set(run_python(code).split()) & set(HEAVY)


def test_every_public_name_exists():
    for name in reldep.__all__:
        assert getattr(reldep, name) is not None
    assert dir(reldep) == reldep.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = reldep.nothing


def test_names_are_found_in_a_zip_file_too(tmp_path):
    source = Path(reldep.__file__).parents[1]
    archive = shutil.make_archive(str(tmp_path / "reldep"), "zip", source, "reldep")
    first = f"import sys; sys.path.insert(0, {archive!r}); import reldep"
    found = run_python(f"{first}; print(reldep.rotation([1, 2]), reldep.__file__)")
    assert archive in found


def test_a_report_is_made_from_a_source_tree_that_is_not_installed(tmp_path):
    # Without site-packages' record of reldep, as in a fresh clone on the path.
    code = (
        "import importlib.metadata as metadata, sys;"
        "found = metadata.distribution;"
        "metadata.distribution = lambda name: found('missing' if name == 'reldep' else name);"
        "import numpy as np, reldep; x = np.arange(30.0);"
        f"reldep.compare(x, x**2, np.sin(x)).to_html({str(tmp_path / 'a.html')!r})"
    )
    run_python(code)
    assert f"<dd>{reldep.__version__}</dd>" in (tmp_path / "a.html").read_text()


def test_the_version_and_its_date_are_the_same_everywhere():
    """Step 1 of a release."""
    version = re.escape(reldep.__version__)
    where = {
        "CITATION.cff": rf"^version: {version}\ndate-released: (\S+)$",
        "CHANGELOG.md": rf"^## {version} \((\d{{4}}-\d\d-\d\d)\)$",
        "recipe/recipe.yaml": rf'^  version: "({version})"$',
    }
    found = {
        name: re.findall(line, (ROOT / name).read_text(), re.M) for name, line in where.items()
    }
    assert found["CITATION.cff"] == found["CHANGELOG.md"] != []
    assert found["recipe/recipe.yaml"] == [reldep.__version__]


def test_what_must_hold_before_a_tag_exists_as_targets_of_make():
    """Step 2 of a release."""
    makefile, guide = (ROOT / name for name in ("Makefile", "CONTRIBUTING.md"))
    rules = dict(re.findall(r"^([a-z-]+):([^#\n]*)", makefile.read_text(), re.M))
    named = re.findall(r"`make ([a-z-]+)`", guide.read_text().partition("## Release")[2])
    assert {"release-check", "attack"} <= set(named) <= set(rules)
    steps = set(rules["release-check"].split())
    assert {"coverage", "docs", "installed", "sdist", "lowest"} <= steps <= set(rules)


def test_the_lowest_versions_are_the_ones_that_are_tested():
    asked = [*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())]
    lowest = dict(re.findall(r"^([\w-]+)>=([\d.]+)$", "\n".join(asked), re.MULTILINE))
    pinned = dict(
        re.findall(
            r"^([\w-]+)==([\d.]+)$", (ROOT / "constraints-lowest.txt").read_text(), re.MULTILINE
        )
    )
    needed = [re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]]
    assert set(needed) <= set(pinned)
    for name, version in pinned.items():
        assert f"{version}.".startswith(f"{lowest[name]}."), name


def test_the_conda_recipe_asks_for_what_the_package_asks():
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text()
    run = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    found = {line.strip("- ").replace(" ", "") for line in run.splitlines() if line.strip()}
    wanted = {line.replace("matplotlib>", "matplotlib-base>") for line in PROJECT["dependencies"]}
    assert found - {"python>=${{python_min}}"} == wanted


def modules():
    names = (m.name for m in pkgutil.walk_packages(reldep.__path__, "reldep."))
    return sorted(name for name in names if name != "reldep.__main__")  # which runs the program


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_run(name):
    outcome = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert outcome.failed == 0


@pytest.mark.skipif(sys.platform == "win32", reason="the workflow runs this step on Linux")
@pytest.mark.parametrize(("tag", "status"), [(f"v{reldep.__version__}", 0), ("v0.0.1", 1)])
def test_only_the_tag_of_the_version_can_be_released(tag, status):
    """Step 3 of a release."""
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    (step,) = re.findall(r"name: The tag is the version\n.*\n\s+run: (.*)", workflow)
    done = subprocess.run(
        ["sh", "-c", step], cwd=ROOT, env={**os.environ, "GITHUB_REF_NAME": tag}, check=False
    )
    assert done.returncode == status
