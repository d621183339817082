"""Matrices and trees: cells, colours, order and support."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial.distance import squareform

import reldep
from reldep import plotting


def cells(ax):
    return ax.images[0].get_array()


def test_matrix_is_shown_with_its_names_and_numbers():
    ax = plotting.heatmap([[1, 0.25], [0.25, 1]], ["height", "$w$"])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["height", r"\$w\$"]
    assert [text.get_text() for text in ax.texts] == ["0.25", "0.25"]
    assert ax.figure.axes[1].get_ylabel() == "CKA"


def test_diagonal_is_left_out_of_the_colours():
    shown = cells(plotting.heatmap([[1, 0.2, 0.3], [0.2, 1, 0.1], [0.3, 0.1, 1]]))
    np.testing.assert_array_equal(np.ma.getmaskarray(shown), np.eye(3, dtype=bool))
    assert shown.max() == 0.3


def test_two_hundred_variables_are_thinned_to_readable_names():
    ax = plotting.heatmap(np.zeros((200, 200)), [f"variable {i}" for i in range(200)])
    written = [tick.get_text() for tick in ax.get_yticklabels()]
    assert len(written) == 50
    assert written[1] == "variable 4"
    assert not ax.texts


def test_numbers_in_cells_have_two_digits_for_the_largest_and_p_values_fit():
    for value, text in ((0.0, "0.00"), (-0.001, "-0.0010"), (123.4, "123"), (2.5e-9, "2.5e-09")):
        ax = plotting.heatmap([[0, value], [value, 0]], measure="hsic")
        assert ax.texts[0].get_text() == text
    # Small negative numbers do not become minus zero.
    ax = plotting.heatmap([[1, 0.5, -0.001], [0.5, 1, 0.2], [-0.001, 0.2, 1]])
    assert ax.texts[1].get_text() == "0.00"
    for value, text in ((0.04321, "0.043"), (3e-7, "3e-07"), (1e-120, "<1e-99"), (1.0, "1.000")):
        ax = plotting.pairwise(["a", "b"], [[0, 0.2], [0, 0]], [[1, value], [1, 1]])
        assert ax.texts[0].get_text() == text


def test_ink_is_white_on_dark_and_black_on_light_cells():
    ax = plotting.heatmap([[1, 0.9, 0.0], [0.9, 1, 0.1], [0.0, 0.1, 1]])
    assert [ax.texts[i].get_color() for i in (0, 1)] == ["white", "black"]


def test_tree_puts_like_variables_beside_each_other():
    values = np.full((4, 4), 0.1)
    values[0, 2] = values[2, 0] = values[1, 3] = values[3, 1] = 0.8
    links = linkage(squareform(1 - values, checks=False), "average")
    ax = plotting.heatmap(values, list("abcd"), links=links)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert {frozenset(names[:2]), frozenset(names[2:])} == {frozenset("ac"), frozenset("bd")}
    assert cells(ax)[0, 1] == cells(ax)[2, 3] == 0.8
    (above,) = ax.child_axes
    assert len(above.lines) == 3


def test_cells_that_are_not_significant_lie_below_the_scale():
    values = np.array([[1, 0.6, 0.1], [0.6, 1, 0.5], [0.1, 0.5, 1]])
    pvalues = np.array([[0, 0.01, 0.3], [0.01, 0, 0.05], [0.3, 0.05, 0]])
    ax = plotting.heatmap(values, pvalues=pvalues)
    image = ax.images[0]
    assert image.get_clim() == (0.0, 0.6)
    below = cells(ax) < image.get_clim()[0]
    np.testing.assert_array_equal(below.filled(False), pvalues >= 0.05)
    assert " ".join(text.get_text() for text in ax.texts) == "0.60 0.10 0.60 0.50 0.10 0.50"
    assert ax.get_title(loc="right") == "grey: not significant at 5%"


def test_nothing_significant_still_draws():
    ax = plotting.heatmap([[1, 0.1], [0.1, 1]], pvalues=np.ones((2, 2)))
    assert (cells(ax).compressed() < ax.images[0].get_clim()[0]).all()


def test_two_sides_may_differ():
    ax = plotting.heatmap([[0.1, 0.2, 0.3]], ["x"], columns=["a", "b", "c"])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b", "c"]
    assert cells(ax).count() == 3


def test_pairwise_compares_each_stronger_with_each_weaker_target(ranking, picture_of):
    ax = picture_of(ranking, -1)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names == ranking.to_frame()["target"].to_list()
    shown, low = cells(ax), ax.images[0].get_clim()[0]
    assert shown.count() == len(ax.texts) == 15
    by_name = dict(zip(ranking.targets, ranking.estimates, strict=True))
    assert shown[0, 5] == pytest.approx(by_name[names[0]] - by_name[names[-1]])
    # Pairs that may be equal lie below the scale.
    n_equal = (ranking.adjusted_pvalues >= 0.05).sum()
    assert (shown.compressed() < low).sum() == n_equal
    assert 0 < n_equal < 15
    largest = max(ranking.pairwise()["adjusted_pvalue"])
    assert f"{largest:.3f}" in {text.get_text() for text in ax.texts}


def test_level_of_the_pairwise_picture_can_be_chosen():
    differences, pvalues = [[0, 0.2], [0, 0]], [[1, 0.01], [1, 1]]
    ax = plotting.pairwise(["a", "b"], differences, pvalues, alpha=0.001)
    assert (cells(ax).compressed() < 0).all()
    assert ax.get_title(loc="right") == "grey: not significant at 0.1%"


def test_copies_of_one_target_are_drawn_as_equal(triple, picture_of):
    x, y, _ = triple
    ax = picture_of(reldep.rank(x, {"y": y, "copy": y}, n_simulations=400), -1)
    assert cells(ax).compressed().tolist() == [-1.0]


def test_names_that_differ_in_the_middle_stay_different():
    names = [f"the long name of gene number {i} in the table of the study" for i in range(20)]
    ax = plotting.heatmap(np.zeros((20, 20)), names)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"…{i}…" for i in range(20)]


NAMES = ["Danish", "Swedish", "Finnish", "Estonian"]


@pytest.fixture(scope="module")
def links():
    return linkage(np.array([[0.0], [0.2], [2.0], [2.3]]), "average")


def test_branches_are_those_of_scipy(links):
    ax = plotting.tree(links, NAMES)
    drawn = {tuple(np.sort(line.get_xdata())) for line in ax.lines}
    expected = {tuple(np.sort(corners)) for corners in dendrogram(links, no_plot=True)["dcoord"]}
    assert drawn == expected


def test_no_two_branches_cross(links):
    ax = plotting.tree(links, NAMES)
    written = dict(zip([t.get_text() for t in ax.get_yticklabels()], ax.get_yticks(), strict=True))
    assert abs(written["Danish"] - written["Swedish"]) == 1
    assert abs(written["Finnish"] - written["Estonian"]) == 1


def test_support_stands_at_every_group_but_the_whole(links):
    ax = plotting.tree(links, NAMES, supports=[0.984, 0.5, 1.0])
    assert [text.get_text() for text in ax.texts] == ["98%", "50%"]
    assert [text.xy[0] for text in ax.texts] == pytest.approx(links[:2, 2])
