from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep import plotting


@pytest.fixture(scope="module")
def contrast(triple):
    x, y, z = triple
    weights = {("x", "y"): 1, ("x", "z"): -1, ("y", "z"): 0.5}
    return reldep.contrast({"x": x, "y": y, "z": z}, weights)


def tick_names(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def test_every_dependence_and_the_contrast_has_its_interval(contrast):
    ax = contrast.plot()
    assert tick_names(ax) == ["x ~ y", "x ~ z", "y ~ z", "contrast"]
    table = contrast.table()
    segments = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2][:4]
    np.testing.assert_allclose(
        segments, np.transpose([table["low_95"], table["high_95"]]), rtol=1e-12
    )


def test_the_contrast_looks_different_without_colour(contrast):
    markers = [line.get_marker() for line in contrast.plot().lines if len(line.get_xdata()) == 1]
    assert markers == ["o", "o", "o", "D"]


def test_one_dependence_is_one_row(triple):
    ax = reldep.dependence(*triple[:2], measure="cka").plot()
    assert tick_names(ax) == ["x ~ y"]
    assert ax.get_xlabel() == "CKA with 95 % interval"


def test_long_names_are_shortened_in_the_middle(odd_names):
    names = tick_names(plotting.forest(odd_names))
    assert all(len(name) <= 44 + name.count("\\") for name in names)
    assert "…" in names[1]
