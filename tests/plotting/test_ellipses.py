from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import reldep
from reldep import plotting
from reldep.plotting.ellipse import ellipse_outline


def test_outline_is_two_standard_deviations_from_the_centre_in_every_direction():
    centre = np.array([0.3, 0.1])
    covariance = np.array([[0.04, 0.01], [0.01, 0.02]])
    away = ellipse_outline(centre, covariance) - centre[:, None]
    squared = np.einsum("ik,ij,jk->k", away, np.linalg.inv(covariance), away)
    np.testing.assert_allclose(squared, 4.0, rtol=1e-12)


def test_outline_of_singular_covariance_is_a_segment():
    away = ellipse_outline(np.zeros(2), np.ones((2, 2)))
    np.testing.assert_allclose(away[0], away[1], atol=1e-12)


def test_axes_and_sides_carry_the_names_of_the_variables(joint, texts_of):
    ax = joint.plot()
    assert ax.get_xlabel() == "CKA(source, first)"
    assert ax.get_ylabel() == "CKA(source, second)"
    assert {"more on first", "more on second"} <= set(texts_of(ax))


def test_point_is_the_estimate_and_diagonal_is_equality(joint):
    ax = joint.plot()
    _outline, point, diagonal = ax.lines
    np.testing.assert_array_equal(point.get_xydata(), [joint.estimates])
    np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert ax.get_xlim() == ax.get_ylim()


def test_joint_and_split_share_one_axes_and_differ_without_colour(joint, split):
    ax = plotting.ellipses({"joint": joint, "split": split})
    outlines = [line for line in ax.lines if len(line.get_xdata()) == 181]
    assert len(outlines) == 2
    assert len({line.get_linestyle() for line in outlines}) == 2
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [text.split(":")[0] for text in labels] == ["joint", "split", "equal dependence"]
    assert f"{split.statistic_name()} = {split.statistic:.2f}" in labels[1]


def test_draws_become_dots_inside_the_limits(joint, split):
    rng = np.random.default_rng(1)
    cloud = rng.normal(joint.estimates, 0.1, size=(30, 2))
    ax = plotting.ellipses({"joint": joint, "split": split}, draws={"split": cloud})
    (dots,) = [line for line in ax.lines if line.get_gid() == "draws"]
    np.testing.assert_array_equal(dots.get_xydata(), cloud)
    assert ax.get_xlim()[0] < cloud.min()
    assert cloud.max() < ax.get_xlim()[1]


def test_draws_of_one_result_need_no_label(joint):
    ax = plotting.ellipses(joint, draws=[[0.1, 0.2]])
    assert sum(line.get_gid() == "draws" for line in ax.lines) == 1


def test_comparisons_of_different_questions_get_general_axis_names(joint, odd_names):
    ax = plotting.ellipses({"a": joint, "b": odd_names})
    assert ax.get_xlabel() == "CKA(source, first target)"


def test_comparisons_of_different_measures_name_both(joint, triple):
    raw = reldep.compare(*triple, measure="hsic")
    ax = plotting.ellipses({"raw": raw, "normalised": joint})
    assert ax.get_xlabel() == "CKA or HSIC with the first"


def test_names_are_shown_as_text_never_as_formulas(odd_names):
    ax = odd_names.plot()
    assert r"\$x_1\$" in ax.get_xlabel()
    ax.figure.canvas.draw()
    assert ax.xaxis.label._preprocess_math(ax.get_xlabel()) == (
        "CKA($x_1$, <script>…/script>)",
        False,
    )


def test_an_empty_figure_is_filled_without_pyplot(joint):
    figure = Figure(layout="constrained")
    ax = plotting.ellipses(joint, figure)
    assert ax.figure is figure
    assert tuple(figure.get_size_inches()) == (4.8, 5.0)
    assert plt.get_fignums() == []


def test_given_axes_are_used(joint):
    figure, ax = plt.subplots()
    assert plotting.ellipses(joint, ax) is ax
    assert len(figure.axes) == 1


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        ({"other": [[0, 1]]}, "draws has 'other', which results has not: .'joint'."),
        ([[1.0, 2.0, 3.0]], r"draws of 'joint' has shape \(1, 3\); pass finite pairs"),
        ([[1.0, np.nan]], "pass finite pairs"),
    ],
)
def test_wrong_draws_are_refused(joint, draws, message):
    with pytest.raises(ValueError, match=message):
        plotting.ellipses(joint, draws=draws)


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="results is empty; pass at least one comparison"):
        plotting.ellipses({})
