"""Independent groups: quasi-likelihood, Welch's F, intervals of differences."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import f, f_oneway
from scipy.stats import t as student_law

from reldep.stats.estimates import Estimates
from reldep.stats.groups import LENT_DF, Groups, QuasiLikelihood, TwoDependences
from reldep.stats.units import Units

# Estimates, jackknife variances, second components and rows of three groups.
VALUES, VARIANCES = [0.3, 0.1, 0.2], [0.01, 0.02, 0.004]
SECONDS, SIZES = [0.0005, 0.0008, 0.0002], [40, 30, 80]


def group(value, variance, n, seed, measure="hsic", second=None):
    """A group with one value and deviations of normal shape."""
    x = np.random.default_rng(seed).normal(size=n)
    x -= x.mean()
    x *= np.sqrt(variance * n / (n - 1) / (x @ x))
    values, places = np.array([value]), np.array([[0], [1]])
    # Two uncorrelated variables of unit energy; their second component has this variance.
    hsics = np.diag(np.full(2, 1.0 if second is None else np.sqrt(second)))
    constant = 0.0 if second is None else (1.0 if measure == "hsic" else second)
    units = Units("rows", ["x", "y"], hsics, places, x[None], constant, n / (n - 4), True, n - 1.0)
    return Estimates((("x", "y"),), measure, values, x[None], values, np.ones(1), places, units)


def three_groups(measure):
    rows = zip(VALUES, VARIANCES, SIZES, SECONDS, strict=True)
    return [group(e, v, n, n, measure, c) for e, v, n, c in rows]


def variances_by_the_formula(found, measure):
    """Every group's variance as a function of the truth, one number at a time."""
    df = [float(one.df(one.kurtosis)[0]) for one in found]
    bends = [(1 - e) ** 2 if measure == "cka" else 1.0 for e in VALUES]
    rows = [
        n * (v - (n / (n - 4) + 1) * c) / bend
        for v, c, n, bend in zip(VARIANCES, SECONDS, SIZES, bends, strict=True)
    ]
    total = sum(SIZES)
    mean_rows = sum(n * r for n, r in zip(SIZES, rows, strict=True)) / total
    mean_value = sum(n * e for n, e in zip(SIZES, VALUES, strict=True)) / total
    curves = []
    for e, c, n, r, d in zip(VALUES, SECONDS, SIZES, rows, df, strict=True):
        slope = (d * r + LENT_DF * mean_rows) / (d * e + LENT_DF * mean_value) / n
        if measure == "cka":
            curves.append(
                lambda x, c=c, e=e, slope=slope: (
                    c * ((1 - x**2) / (1 - e**2)) ** 2 + slope * x * (1 - x) ** 2
                )
            )
        else:
            curves.append(lambda x, c=c, slope=slope: c + slope * x)
    return curves, df


@pytest.mark.parametrize("measure", ["cka", "hsic"])
def test_equality_of_groups_against_the_formulas_one_number_at_a_time(measure):
    found = three_groups(measure)
    curves, df = variances_by_the_formula(found, measure)

    def spread(x):
        return sum(
            2 * quad(lambda t, e=e, V=V: (e - t) / V(t), x, e)[0]
            for e, V in zip(VALUES, curves, strict=True)
        )

    least = minimize_scalar(spread, bounds=(0.1, 0.3), method="bounded", options={"xatol": 1e-9})
    weights = np.array([1 / V(least.x) for V in curves])
    noise = sum((1 - w / weights.sum()) ** 2 / d for w, d in zip(weights, df, strict=True))
    statistic = least.fun / 2 / (1 + 2 * noise / 8)
    test = Groups.of(found).test()
    assert test.common == pytest.approx(least.x, abs=1e-6)
    assert test.statistic == pytest.approx(statistic, rel=1e-8)
    assert test.df_within == pytest.approx(8 / (3 * noise), rel=1e-5)
    assert test.pvalue == pytest.approx(f.sf(statistic, 2, 8 / (3 * noise)), rel=1e-6)


@pytest.mark.parametrize("measure", ["cka", "hsic"])
def test_differences_of_two_groups_agree_with_their_intervals(measure):
    groups = Groups.of(three_groups(measure))
    differences = groups.differences(2000, np.random.default_rng(0))
    for level in (0.1, 0.5, 0.9, 0.99):
        low, high = differences.intervals(level, simultaneous=False)
        assert ((low > 0) | (high < 0)).tolist() == (differences.pvalue < 1 - level).tolist()
        assert ((low < differences.estimate) & (differences.estimate < high)).all()
        wide_low, wide_high = differences.intervals(level)
        assert (wide_low <= low).all()
        assert (wide_high >= high).all()
    assert (differences.adjusted >= differences.pvalue).all()
    assert differences.estimate / differences.standard_error == pytest.approx(differences.statistic)


@pytest.mark.parametrize("bounded", [True, False])
def test_the_limits_of_an_interval_are_differences_that_are_just_rejected(bounded):
    both = QuasiLikelihood(
        np.array([[0.5, 0.1], [0.02, -0.03], [0.9, 0.85]]),
        np.array([[4e-4, 2e-4], [1e-3, 3e-4], [1e-4, 2e-4]]),
        np.array([[0.05, 0.01], [0.02, 0.03], [0.03, 0.04]]),
        bounded,
    )
    pairs = TwoDependences(both, np.array([[20.0, 80.0], [15.0, 40.0], [9.0, 30.0]]))
    for limit in pairs.intervals(1.959963984540054):
        root, df = pairs.roots(limit)
        inside = np.abs(limit) < 1
        assert 2 * student_law.sf(np.abs(root), df)[inside] == pytest.approx(0.05, rel=1e-6)


def test_equal_estimates_are_no_evidence():
    one, two = group(0.2, 0.01, 40, 1, "cka", 5e-4), group(0.2, 0.02, 30, 2, "cka", 8e-4)
    found = Groups.of([one, two]).differences(400, np.random.default_rng(0))
    assert found.pvalue[0] == 1.0
    assert found.standard_error[0] > 0
    low, high = found.intervals(0.95, simultaneous=False)
    assert low[0] < 0 < high[0]


def test_many_rows_and_equal_variances_give_the_one_way_analysis_of_variance():
    """HSICs far from 0 in units of their error have a variance that hardly moves."""
    rng = np.random.default_rng(0)
    samples = [rng.normal(1000.0, 1.0, size=400) for _ in range(4)]
    groups = Groups.of(
        [group(x.mean(), x.var(ddof=1) / len(x), len(x), i) for i, x in enumerate(samples)]
    )
    assert groups.test().pvalue == pytest.approx(f_oneway(*samples).pvalue, rel=0.05)


def test_large_groups_keep_their_own_variance():
    """What groups lend to each other is worth four degrees of freedom, whatever their sizes."""
    quiet, loud = group(0.3, 1e-5, 20_000, 1, "cka"), group(0.3, 4e-5, 20_000, 2, "cka")
    groups = Groups.of([quiet, loud])
    here = groups.likelihood.variance(groups.likelihood.estimate)[0]
    assert here == pytest.approx([1e-5, 4e-5], rel=1e-3)


def test_a_small_group_is_not_skewed_to_one_side():
    """Estimates of a weak dependence are skewed; half of the claims are to be in either tail.

    Rank one: an estimate is a square of a normal number less its mean, with the variance that the
    jackknife has there. The level is .05 and each tail .025, within three binomial errors.
    """
    rng = np.random.default_rng(3)
    sizes, truth, draws = np.array([40, 160]), 0.3, 4_000
    u = np.sqrt(truth * sizes) + rng.normal(size=(draws, 2))
    both = QuasiLikelihood(
        (u**2 - 1) / sizes,
        np.broadcast_to(2.0 / sizes**2, u.shape),
        np.broadcast_to(4.0 / sizes, u.shape),
        bounded=False,
    )
    root, _ = TwoDependences(both, np.full(u.shape, 1e9)).roots()
    for side in (1, -1):
        assert np.mean(side * root > 1.96) == pytest.approx(0.025, abs=3 * np.sqrt(0.025 / draws))
