from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest

import reldep
from reldep import plotting


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_joint_curve_is_the_power_of_the_result(joint):
    ax = plotting.power(joint, n=[50, 100, 200])
    heights = ax.lines[0].get_ydata()
    np.testing.assert_allclose(heights, [joint.power(n) for n in (50, 100, 200)])


def test_split_curve_needs_relative_efficiency_times_more_observations(joint):
    factor = joint.relative_efficiency()
    ax = plotting.power(joint, n=[round(100 * factor)])
    assert legend(ax) == ["joint", "split"]
    # The number of observations is rounded, so the two agree nearly.
    assert ax.lines[1].get_ydata()[0] == pytest.approx(joint.power(100), rel=1e-3)
    assert ax.lines[1].get_ydata()[0] < ax.lines[0].get_ydata()[0]


def test_curve_reaches_eighty_percent_in_sight(joint, texts_of):
    ax = plotting.power(joint)
    assert ax.lines[0].get_ydata().max() > 0.8
    assert {"80%", "pilot"} <= set(texts_of(ax))


def test_small_effects_widen_the_range(triple):
    x, y, _ = triple
    near = reldep.compare(x, y, y + 0.1 * np.sin(np.arange(80)))
    ax = plotting.power(near)
    assert ax.get_xlim()[1] == pytest.approx(1.3 * near.sample_size(), rel=0.01)


def test_estimate_the_other_way_draws_a_falling_curve(triple):
    x, y, z = triple
    ax = plotting.power(reldep.compare(x, z, y, alternative="greater"))
    assert ax.lines[0].get_ydata()[-1] < 0.05
    assert ax.get_xlim()[1] == 160


def test_several_pilots_are_drawn_under_their_labels(joint, split):
    ax = plotting.power({"together": joint, "apart": split})
    assert legend(ax) == ["together", "apart"]


def test_one_dependence_has_one_curve(triple):
    ax = plotting.power(reldep.dependence(triple[0], triple[2]))
    assert legend(ax) == ["test"]


def test_level_stands_on_the_axis(joint):
    ax = plotting.power(joint, alpha=0.01)
    assert ax.get_ylabel() == "power at the 1% level"


def test_wrong_input_is_refused(joint):
    with pytest.raises(ValueError, match="results is empty"):
        plotting.power({})
    with pytest.raises(ValueError, match="alpha"):
        plotting.power(joint, alpha=2)


def test_sensitivity_draws_z_over_the_bandwidth_with_its_critical_lines(sensitive):
    ax = plotting.sensitivity(sensitive)
    (curve,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(curve.get_xydata()[:, 1], sensitive.statistics)
    assert ax.get_xscale() == "log"
    heights = {round(float(line.get_ydata()[0]), 3) for line in ax.lines if line is not curve}
    assert {-1.645, 1.645} <= heights
    assert ax.texts[0].get_text() == "z = ±1.64"


def test_the_grey_band_allows_for_all_bandwidths(sensitive):
    ax = plotting.sensitivity(sensitive)
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (-2.2, 2.2)


def test_sign_change_is_marked_where_the_curve_crosses_zero(sensitive):
    ax = plotting.sensitivity(sensitive)
    (mark,) = [line for line in ax.lines if line.get_label().startswith("sign changes")]
    # Halfway between 0.5 and 1 on the logarithmic axis: z is -2 and 2 there.
    np.testing.assert_allclose(mark.get_xdata(), 0.5**0.5)
    assert legend(ax) == ["sign changes at 0.71 times the bandwidth"]


def changed(answer, **attributes):
    other = copy.copy(answer)
    vars(other).update(attributes)
    return other


def test_steady_sign_has_no_mark(sensitive):
    steady = changed(sensitive, statistics=np.abs(sensitive.statistics), sign_changes=())
    assert plotting.sensitivity(steady).get_legend() is None


def test_two_sided_sensitivity_has_wider_lines(sensitive):
    both = changed(sensitive, alternative="two-sided")
    assert plotting.sensitivity(both, alpha=0.01).texts[0].get_text() == "z = ±2.58"


def test_few_degrees_of_freedom_have_wider_lines_under_the_name_of_their_law(sensitive):
    from scipy.stats import t

    comparisons = [SimpleNamespace(df=df) for df in (5.0, 6.0, 7.0, 8.0)]
    student = changed(sensitive, comparisons=comparisons, headings=lambda: {"statistic": "t"})
    ax = plotting.sensitivity(student)
    (upper,) = [
        line for line in ax.lines if line.get_linestyle() == "--" and line.get_ydata()[0] > 0
    ]
    np.testing.assert_allclose(upper.get_ydata(), t.isf(0.05, [5, 6, 7, 8]))
    assert ax.get_ylabel() == "t, positive: more on first"
