"""How many observations a next study needs."""

import numpy as np
import pytest
from scipy.stats import nct, norm
from scipy.stats import t as student_law

from reldep.exceptions import InputError
from reldep.stats.pairwise import Test
from reldep.stats.student import Pilot, careful_effect


def test_power_is_that_of_a_noncentral_t():
    pilot = Pilot(0.3, 1.0, 1.0, 1.0)
    n = 84
    bar = student_law.ppf(0.95, 80)
    expected = nct.sf(bar, 80, 0.3 * np.sqrt(n))
    assert pilot.power(n, 0.05, "greater") == pytest.approx(expected, rel=1e-6)
    assert pilot.power(n, 0.05, "less") < 0.001
    both = nct.sf(student_law.ppf(0.975, 80), 80, 0.3 * np.sqrt(n))
    assert pilot.power(n, 0.05, "two-sided") == pytest.approx(both, rel=1e-4)


def test_with_many_rows_power_is_normal():
    pilot = Pilot(0.01, 1.0, 1.0, 1.0)
    expected = norm.cdf(0.01 * np.sqrt(60_000) - norm.ppf(0.95))
    assert pilot.power(60_000, 0.05, "greater") == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_a_sample_size_is_the_smallest_that_reaches_the_power(alternative):
    pilot = Pilot.of(Test(0.2, 0.1**2, 0.12**2, 40.0), 50)
    n = pilot.sample_size(0.8, 0.05, alternative)
    assert pilot.power(n, 0.05, alternative) >= 0.8 > pilot.power(n - 1, 0.05, alternative)


def test_no_sample_is_large_enough_for_an_effect_that_points_elsewhere():
    pilot = Pilot.of(Test(-0.2, 0.1**2, 0.12**2, 40.0), 50)
    with pytest.raises(InputError, match="does not point towards `alternative='greater'`"):
        pilot.sample_size(0.8, 0.05, "greater")


def test_a_careful_plan_takes_more_rows():
    test = Test(0.2, 0.08**2, 0.08**2, 40.0)
    effect = careful_effect(test, "greater")
    # A one-sided 80% limit.
    assert effect == pytest.approx(0.2 - 0.08 * student_law.ppf(0.8, 40), rel=1e-9)
    careful = Pilot.of(test, 50, effect).sample_size(0.8, 0.05, "greater")
    assert careful > Pilot.of(test, 50).sample_size(0.8, 0.05, "greater")
    mirrored = Test(-0.2, 0.08**2, 0.08**2, 40.0)
    assert careful_effect(mirrored, "less") == -effect
    assert careful_effect(mirrored, "two-sided") == -effect
    # A pilot that shows nothing has no careful plan.
    assert careful_effect(Test(0.01, 0.08**2, 0.08**2, 40.0), "greater") == 0
