from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep import plotting
from reldep.plotting.style import GREY


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
    return [line.get_xdata() for line in drawn if line.get_color() != GREY]


def test_every_dependence_and_the_contrast_has_its_interval(contrast):
    ax = contrast.plot()
    assert tick_names(ax) == ["x ~ y", "x ~ z", "y ~ z", "contrast"]
    table = contrast.table()
    limits = np.transpose([table["low"], table["high"]])
    np.testing.assert_allclose(intervals(ax), limits, rtol=1e-12)


def test_the_contrast_looks_different_without_colour(contrast):
    markers = [line.get_marker() for line in contrast.plot().lines if len(line.get_xdata()) == 1]
    assert markers == ["o", "o", "o", "D"]


def test_one_dependence_is_one_row(triple):
    ax = reldep.dependence(*triple[:2], measure="cka").plot()
    assert tick_names(ax) == ["x ~ y"]
    assert ax.get_xlabel() == "CKA with 95% interval"


def test_long_names_are_shortened_in_the_middle(odd_names):
    names = tick_names(plotting.forest(odd_names))
    assert all(len(name) <= 44 + name.count("\\") for name in names)
    assert "…" in names[1]


def test_targets_are_sorted_with_the_possibly_best_marked(ranking):
    ax = ranking.plot()
    table = ranking.table()
    assert tick_names(ax) == table["target"]
    markers = [line.get_marker() for line in ax.lines if len(line.get_xdata()) == 1]
    assert markers == ["D" if best else "o" for best in table["may_be_best"]]
    assert markers.count("D") == len(ranking.best)


def test_ranks_stand_beside_the_targets(ranking, texts_of):
    table = ranking.table()
    texts = [text.get_text() for text in ranking.plot().texts]
    expected = [
        f"{low}–{high}" if low != high else f"{low}"
        for low, high in zip(table["rank_low"], table["rank_high"], strict=True)
    ]
    assert texts == [*expected, "rank"]


def test_only_the_strongest_of_many_targets_are_drawn(ranking):
    ax = plotting.ranking(ranking, top=2)
    assert tick_names(ax) == ranking.table()["target"][:2]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["may be the strongest", "4 weaker not drawn"]


def test_at_least_one_target_must_be_drawn(ranking):
    with pytest.raises(ValueError, match="`top=0` draws no target; draw at least one"):
        plotting.ranking(ranking, top=0)


def test_sixty_targets_get_smaller_rows(triple):
    rng = np.random.default_rng(0)
    targets = {f"t{i}": triple[0] + rng.normal(size=80) for i in range(61)}
    ax = reldep.rank(triple[0], targets, n_simulations=400).plot()
    assert len(tick_names(ax)) == 60
    assert ax.figure.get_size_inches()[1] < 15


def test_forest_of_a_ranking_has_simultaneous_intervals(ranking):
    ax = plotting.forest(ranking)
    assert ax.get_xlabel() == "HSIC with simultaneous 95% intervals"
    assert tick_names(ax)[-1] == "source ~ none"
    low, high = ranking.confidence_interval()
    weakest = ranking.targets.index("none")
    np.testing.assert_allclose(intervals(ax)[-1], (low[weakest], high[weakest]))
