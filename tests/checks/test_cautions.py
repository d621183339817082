"""Cautions: raised where they are due, silent on healthy data, in words that name the culprit."""

from __future__ import annotations

import subprocess
import sys
import traceback
import warnings

import numpy as np
import pytest

import reldep
from reldep.exceptions import FewUnitsWarning, ReldepWarning


def linear(m=200, seed=0, noise=(0.5, 1.5)):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=m)
    return x, *(x + s * rng.normal(size=m) for s in noise)


def kinds(result):
    return {type(caution) for caution in result.warnings}


@pytest.mark.parametrize("seed", range(5))
def test_healthy_data_give_no_caution(seed):
    x, y, z = linear(seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReldepWarning)
        for measure in ("hsic", "cka", "dcor"):
            assert reldep.compare(x, y, z, measure=measure).warnings == ()
        assert reldep.rank(x, {"y": y, "z": z}).warnings == ()
        assert reldep.dependence(x, y).warnings == ()


def test_nutrimouse_gives_justified_cautions_only():
    mice = reldep.datasets.load_nutrimouse()
    blocks = {name: mice[name] for name in ("genotype", "lipid", "gene")}
    result = reldep.compare(blocks["gene"], blocks["lipid"], blocks["genotype"])
    # Forty mice: nothing about single mice.
    assert kinds(result) == set()


def test_plain_numbers_are_not_screened():
    x = np.repeat([1.0, 2.0, 3.0], 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReldepWarning)
        assert np.isfinite(reldep.hsic(x, np.random.default_rng(0).normal(size=60)))


GENES = """
import numpy as np, reldep
rng = np.random.default_rng(0)
diet, weight = rng.normal(size=(2, 15))
for _ in range(100):
    answer = reldep.compare(rng.normal(size=15), diet, weight)
print(answer)
"""


def test_a_loop_does_not_fill_the_screen_and_no_caution_is_printed_twice():
    run = subprocess.run(
        [sys.executable, "-c", GENES], capture_output=True, text=True, check=True, timeout=300
    )
    raised = [line for line in run.stderr.splitlines() if "Warning:" in line]
    # One line for each kind of caution, however many genes have it.
    assert 1 <= len(raised) == len(set(raised)) <= 4
    cautions = [line.removeprefix("Caution: ") for line in run.stdout.splitlines()]
    assert any("approximate for 15 rows" in line for line in cautions)
    assert not any(line and line in run.stderr for line in cautions)


def test_a_caution_turned_into_an_error_says_all_of_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewUnitsWarning)
        with pytest.raises(FewUnitsWarning, match="few observations") as caught:
            reldep.compare(*np.random.default_rng(0).normal(size=(3, 12)))
    assert "approximate for 12 rows" in "".join(traceback.format_exception(caught.value))
