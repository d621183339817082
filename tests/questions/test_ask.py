from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

import reldep

X = np.random.default_rng(0).normal(size=40)
Y, Z = X**2, np.sin(3 * X) + X


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({}, ""),
        ({"variance": "jackknife", "kernel": "gaussian"}, ", kernel='gaussian'"),
        ({"measure": "hsic", "alternative": "less"}, ", measure='hsic', alternative='less'"),
        ({"clusters": np.arange(40) // 4}, ", clusters=clusters"),
    ],
)
def test_a_call_is_written_without_data_and_defaults(options, written):
    call = reldep.compare(X, Y, Z, **options).provenance.call
    assert call == f"reldep.compare(source, first, second{written})"


def test_kernels_and_weights_are_written_as_in_a_program():
    kernel = reldep.kernels.Gaussian(bandwidth=2.0)
    weights = {("x", "y"): 1, ("x", "z"): -0.5}
    result = reldep.contrast({"x": X, "y": Y, "z": Z}, weights, kernel=(kernel, "linear", "linear"))
    assert result.provenance.call == (
        "reldep.contrast(variables, {('x', 'y'): 1, ('x', 'z'): -0.5}, "
        f"kernel=(reldep.kernels.{kernel!r}, 'linear', 'linear'))"
    )


def test_the_call_repeats_the_result():
    result = reldep.compare(X, Y, Z, kernel=reldep.kernels.Gaussian(2.0), rng=5)
    again = eval(result.provenance.call, {"reldep": reldep, "source": X, "first": Y, "second": Z})  # noqa: S307
    assert again.pvalue == result.pvalue


@pytest.mark.parametrize(
    ("rng", "text"),
    [
        (None, "0 (the default)"),
        (np.int64(7), "7"),
        (np.random.default_rng(1), "a generator passed as rng"),
    ],
)
def test_the_seed_is_noted(rng, text):
    assert reldep.compare(X, Y, Z, rng=rng).provenance.seed == text


@pytest.mark.parametrize("question", [reldep.hsic, reldep.dependence, reldep.cka])
def test_warnings_point_at_the_line_of_the_user(question):
    coded = np.where(np.arange(40) == 3, -999, X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        question(coded, Y)
    assert {warning.filename for warning in caught} == {__file__}


TABLE = pl.DataFrame(
    {name: np.random.default_rng(i).normal(size=30) for i, name in enumerate(["x", "y", "z", "w"])}
)


@pytest.mark.parametrize("odd", ["a,b", "dose=5", '"q"', "x ", "C*", "!age", "1:3", "@numeric"])
def test_the_whole_name_of_a_column_comes_before_what_its_signs_mean(odd):
    named = TABLE.rename({"x": odd})
    found = reldep.compare(odd, "y", "z", data=named)
    assert found.estimate == reldep.compare("x", "y", "z", data=TABLE).estimate
    assert found.source == odd


def test_a_list_of_columns_is_a_block():
    found = reldep.compare("x", ["y", "w"], "z", data=TABLE)
    assert found.estimate == reldep.compare("x", "y,w", "z", data=TABLE).estimate
    assert found.first == "y, w"
