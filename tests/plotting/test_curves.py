"""Curves over the bandwidth, and dots of observations and effects."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from matplotlib.text import Text
from scipy.stats import t

import reldep
from reldep import plotting

FACTORS, STATISTICS = [0.25, 0.5, 1.0, 2.0], np.array([-4.0, -2.0, 2.0, 3.0])


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(statistics=STATISTICS):
    return plotting.bandwidths(FACTORS, statistics, np.full(4, 1.96), np.full(4, 2.2), first="y")


def test_the_statistic_is_drawn_over_the_bandwidth_with_both_critical_values():
    ax = drawn()
    (curve,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(curve.get_ydata(), STATISTICS)
    assert ax.get_xscale() == "log"
    dashed = {float(line.get_ydata()[0]) for line in ax.lines if line.get_linestyle() == "--"}
    assert dashed == {-1.96, 1.96}
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (-2.2, 2.2)
    assert ax.texts[0].get_text() == "t = ±1.96"
    assert ax.get_ylabel() == "t, positive: y stronger"


def test_sign_change_is_marked_where_the_curve_crosses_zero():
    ax = drawn()
    (mark,) = [line for line in ax.lines if line.get_label().startswith("sign changes")]
    # Halfway between 0.5 and 1 on the logarithmic axis: the statistic is -2 and 2 there.
    np.testing.assert_allclose(mark.get_xdata(), 0.5**0.5)
    assert legend(ax) == ["sign changes at 0.71 times the bandwidth"]
    assert drawn(np.abs(STATISTICS)).get_legend() is None


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_an_answer_draws_the_critical_values_of_its_own_test(triple, alternative, picture_of):
    answer = reldep.sensitivity(*triple, factors=[0.5, 1, 2], alternative=alternative)
    ax = picture_of(answer)
    upper = next(
        line for line in ax.lines if line.get_linestyle() == "--" and line.get_ydata()[0] > 0
    )
    tail = 0.025 if alternative == "two-sided" else 0.05
    np.testing.assert_allclose(
        upper.get_ydata(), t.isf(tail, [one.df for one in answer.across.tests])
    )


def influence_of(answer, picture_of):
    return picture_of(answer, section="influential")


def test_most_influential_rows_are_labelled_with_their_row_in_the_input(triple, picture_of):
    x, y, z = (np.array(v) for v in triple)
    x[:10] = np.nan
    y[17] = 40.0
    result = reldep.compare(x, y, z, kernel="linear", missing="drop")
    ax = influence_of(result, picture_of)
    assert ax.texts[0].get_text() == "17"
    assert ax.texts[0].xy[0] == 17
    assert len(ax.texts) == 5
    _zero, rest, chosen = ax.lines
    psi = np.concatenate([rest.get_ydata(), chosen.get_ydata()])
    np.testing.assert_array_equal(np.sort(psi), np.sort(result.influential(70)["psi"]))


def test_many_dots_are_drawn_as_an_image_inside_vector_pictures():
    for n, is_image in ((100, False), (10_000, True)):
        ax = plotting.influence(np.zeros(n))
        assert ax.lines[1].get_rasterized() is is_image
        assert not ax.texts


def test_rows_of_a_file_stand_by_their_line_and_named_ones_by_position(
    triple, picture_of, tmp_path
):
    names = [f"p$_{i}$" for i in range(80)]
    frame = pl.DataFrame({**dict(zip("xyz", triple, strict=True)), "patient": names})
    frame.write_csv(tmp_path / "data.csv")
    most = int(reldep.compare(*triple).influential(1)["row"][0])
    for options, text, place, axis in (
        ({}, str(most + 2), most + 2, "line of the file"),
        ({"id": "patient"}, rf"p\$_{most}\$", most, "position in the input"),
    ):
        table = reldep.read(tmp_path / "data.csv", **options)
        ax = influence_of(reldep.compare("x", "y", "z", data=table), picture_of)
        assert (ax.texts[0].get_text(), ax.texts[0].xy[0]) == (text, place)
        assert ax.get_xlabel() == axis


def test_volcano_labels_the_smallest_pvalues_and_marks_the_significant():
    names = [f"gene {i}" for i in range(6)]
    effects, log10 = [0.1, -0.4, 0.5, 0.0, 0.2, -0.1], [-1, -30, -400, -0.1, -2, -1]
    significant = np.array(log10) < -5
    ax = plotting.volcano(effects, log10, names, significant=significant, top=3)
    assert [text.get_text() for text in ax.texts] == ["gene 2", "gene 1", "gene 4"]
    _zero, rest, marked = ax.lines
    np.testing.assert_array_equal(marked.get_xydata(), [[-0.4, 30], [0.5, 400]])
    assert len(rest.get_xdata()) == 4
    assert ax.get_legend().get_texts()[0].get_text() == "significant: 2 of 6"


def test_labels_of_a_volcano_do_not_lie_on_each_other():
    ax = plotting.volcano([0.5] * 8, np.linspace(-10, -9.99, 8), [f"gene {i}" for i in range(8)])
    ax.figure.canvas.draw()
    # An annotation's own extent has its line in it.
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    heights = sorted(box.y0 for box in boxes)
    assert min(np.diff(heights)) >= 0.9 * max(box.height for box in boxes)
