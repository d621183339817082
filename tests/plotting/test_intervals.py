from __future__ import annotations

import math

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


def intervals(ax):
    """The drawn intervals, from the top; helping lines are grey."""
    drawn = [line for line in ax.lines if len(line.get_xdata()) == 2]
    return [line.get_xdata() for line in drawn if line.get_color() != "#595959"]


def markers(ax):
    return [line.get_marker() for line in ax.lines if len(line.get_xdata()) == 1]


def test_every_dependence_and_the_contrast_has_its_interval(contrast):
    ax = contrast.plot()
    assert tick_names(ax) == ["x ~ y", "x ~ z", "y ~ z", "contrast"]
    table = contrast.describe().table.as_dict()
    limits = np.transpose([table["low"], table["high"]])
    np.testing.assert_allclose(intervals(ax), limits, rtol=1e-12)
    # The contrast looks different without colour.
    assert markers(ax) == ["o", "o", "o", "D"]


def test_one_dependence_is_one_row(triple):
    ax = reldep.dependence(*triple[:2], measure="hsic").plot()
    assert tick_names(ax) == ["x ~ y"]
    assert ax.get_xlabel() == "HSIC with 95% interval"
    # CKA stands on the ruler of correlations.
    found = reldep.dependence(*triple[:2])
    ax = found.plot()
    assert ax.get_xlabel() == "CKA"
    assert ax.lines[-1].get_xdata()[0] == pytest.approx(found.as_correlation())


def test_an_interval_without_end_reaches_the_edge():
    ax = plotting.forest(["a", "b"], [0.2, 0.3], [0.1, -math.inf], [math.inf, 0.4])
    ax.figure.canvas.draw()
    assert np.isfinite(intervals(ax)).all()
    assert intervals(ax)[0][1] > 0.4


def test_long_names_are_shortened_in_the_middle():
    names = tick_names(plotting.forest(["$x$ ~ " + "long " * 40], [0.2], [0.1], [0.3]))
    assert len(names[0]) <= 44
    assert "…" in names[0]
    assert names[0].startswith(r"\$x\$")


def test_targets_are_sorted_with_ranks_and_the_possibly_best_marked(ranking):
    ax = ranking.plot()
    table = ranking.describe().table.as_dict()
    assert tick_names(ax) == table["target"]
    assert markers(ax) == ["D" if best else "o" for best in table["may_be_best"]]
    ranks = [
        f"{low}–{high}" if low != high else f"{low}"
        for low, high in zip(table["rank_low"], table["rank_high"], strict=True)
    ]
    assert [text.get_text() for text in ax.texts] == [*ranks, "rank"]
    assert ax.get_xlabel() == "HSIC with source, simultaneous 95% intervals"


def test_sixty_of_many_targets_are_drawn_in_smaller_rows(triple):
    rng = np.random.default_rng(0)
    targets = {f"t{i}": triple[0] + rng.normal(size=80) for i in range(61)}
    ax = reldep.rank(triple[0], targets, n_simulations=400).plot()
    assert len(tick_names(ax)) == 60
    assert ax.figure.get_size_inches()[1] < 15
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "1 weaker not drawn"
