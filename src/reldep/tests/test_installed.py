"""An installation answers: numbers, engines, data, files, pictures, the command line."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import itertools
import pkgutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import reldep

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


@pytest.fixture
def points() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(9, 2))
    return x, x[:, :1] ** 2 + rng.normal(size=(9, 1))


def test_the_version_is_the_installed_one() -> None:
    assert importlib.metadata.version("reldep") == reldep.__version__


def test_every_module_can_be_imported() -> None:
    has_server = importlib.util.find_spec("starlette") is not None
    for module in pkgutil.walk_packages(reldep.__path__, "reldep."):
        needs_server = module.name.startswith("reldep.app") and not has_server
        if module.name != "reldep.__main__" and not needs_server:  # main runs the program
            importlib.import_module(module.name)


def test_hsic_is_the_mean_over_all_quadruples(
    points: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> None:
    x, y = points
    K, L = x @ x.T, y @ y.T
    total = [
        K[i, j] * (L[i, j] + L[q, r] - 2 * L[i, q])
        for i, j, q, r in itertools.permutations(range(9), 4)
    ]
    assert reldep.hsic(x, y, kernel="linear") == pytest.approx(np.mean(total), rel=1e-10)


def test_engines_agree() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=3000)  # enough rows for compiled code
    y = x + rng.normal(size=3000)
    dense = reldep.hsic(x, y, engine="dense")
    assert reldep.hsic(x, y, engine="tiled") == pytest.approx(dense, rel=1e-9)
    assert reldep.hsic(x, y) == pytest.approx(dense, rel=1e-9)


def test_the_diet_of_the_mice_depends_more_on_lipids_than_on_genes() -> None:
    from reldep.datasets import load_nutrimouse

    mice = load_nutrimouse()
    result = reldep.compare(mice["diet"], mice["lipid"], mice["gene"])
    assert result.estimate > 0
    assert result.pvalue < 0.01


def test_the_command_line_answers_about_a_file(tmp_path: Path) -> None:
    def command(*words: str) -> str:
        return subprocess.run(  # noqa: S603 (our own command)
            [sys.executable, "-m", "reldep", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert "mice.csv" in command("demo", "--files", ".")
    question = ("--source", "diet", "--first", "lipids=C*", "--second", "genes=gene_*")
    said = command("compare", "mice.csv", *question, "--report", "answer.html")
    assert said.startswith("diet is more closely related to lipids than to genes")
    assert "<img" in (tmp_path / "answer.html").read_text(encoding="utf-8")
