"""Series: how many independent rows they are worth, and whether they have a season."""

import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import rankdata

import reldep
from reldep.stats.series import Memory, season_of

PAIR = (("x", "y"),)


def autoregression(rng, n, rho):
    return lfilter([1.0], [1.0, -rho], rng.normal(size=n + 500) * np.sqrt(1 - rho**2))[500:]


def ranks(values):
    found = rankdata(values) / len(values)
    return (found - found.mean())[None]


def wave(n, period):
    return np.sin(2 * np.pi * np.arange(n) / period + 1.0)


@pytest.mark.parametrize(("rho", "noise"), [(0.0, 0.0), (0.5, 0.0), (0.9, 0.0), (0.95, 0.7)])
def test_rows_are_worth_what_bartletts_formula_says(rho, noise):
    n, rng = 20_000, np.random.default_rng(1)
    data = {name: ranks(autoregression(rng, n, rho) + noise * rng.normal(size=n)) for name in "xy"}
    # Ranks of normal values with correlation r have the correlation 6/π asin(r/2).
    normal = rho ** np.arange(1, 2000) / (1 + noise**2)
    expected = n / (1 + 2 * np.sum((6 / np.pi * np.arcsin(normal / 2)) ** 2))
    found = Memory.of(data, PAIR, n)
    assert found.worth == pytest.approx(expected, rel=0.1)
    assert found.most_df == pytest.approx(found.worth / 2 - 1)
    assert found.seasonal is None


def test_a_short_slow_series_is_not_worth_more_because_its_mean_is_estimated():
    rng = np.random.default_rng(2)
    worth = [
        Memory.of({name: ranks(autoregression(rng, 80, 0.97)) for name in "xy"}, PAIR, 80).worth
        for _ in range(100)
    ]
    assert np.median(worth) < 6  # about 80 (1 - 0.94)/(1 + 0.94)


@pytest.mark.parametrize("period", [4, 7, 12, 24, 52])
def test_a_season_is_found_by_its_period(period):
    n, rng = 5 * period + 30, np.random.default_rng(period)
    assert season_of(ranks(2 * wave(n, period) + rng.normal(size=n))) == period
    both = {name: ranks(2 * wave(n, period) + rng.normal(size=n)) for name in "xy"}
    found = Memory.of(both | {"z": ranks(rng.normal(size=n))}, [("z", "x"), ("x", "y")], n)
    assert (found.seasonal, found.season) == (("x", "y"), period)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.95])
def test_series_without_a_season_have_none(rho):
    rng = np.random.default_rng(3)
    found = [season_of(ranks(autoregression(rng, 120, rho))) for _ in range(300)]
    assert np.count_nonzero(found) <= 4


def test_an_answer_about_a_slow_or_seasonal_series_says_so_and_is_wider():
    rng, n = np.random.default_rng(4), 84
    slow = autoregression(rng, n, 0.97)
    y, z = (slow + 0.7 * rng.normal(size=n) for _ in range(2))
    with pytest.warns(reldep.ReldepWarning):
        answer = reldep.compare(slow, y, z, max_lag="auto")
    assert answer.df < 7
    assert any("move so slowly" in str(caution) for caution in answer.warnings)
    season = 2 * wave(n, 12)
    x, y, z = (season + rng.normal(size=n) for _ in range(3))
    with pytest.warns(reldep.exceptions.DependentRowsWarning):
        answer = reldep.compare(x, y, z, max_lag="auto")
    assert any("a season of 12 rows in common" in str(caution) for caution in answer.warnings)
    assert any("`given=month`" in str(caution) for caution in answer.warnings)


@pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")
def test_a_season_that_is_held_fixed_keeps_the_level():
    """Series of 84 months: without the month a fifth of true nulls are rejected."""
    months, n = np.array([f"month {i % 12}" for i in range(84)]), 60
    rejected = {"plain": 0, "given": 0}
    for seed in range(n):
        rng = np.random.default_rng([6, seed])
        x, y = (2 * wave(84, 12) + autoregression(rng, 84, 0.5) for _ in range(2))
        for kind, given in (("plain", None), ("given", months)):
            found = reldep.dependence(x, y, max_lag="auto", given=given)
            rejected[kind] += found.pvalue < 0.05
    assert rejected["plain"] / n > 0.13
    assert rejected["given"] / n < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


@pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")
def test_slow_series_with_noise_keep_the_level():
    """80 rows of an autoregression of .97 with noise: 15% were rejected with the blocks' own df."""
    rejected, n = 0, 200
    for seed in range(n):
        rng = np.random.default_rng([5, seed])

        def noisy(rng=rng):
            return autoregression(rng, 80, 0.97) + 0.5 * rng.normal(size=80)

        x = noisy()
        rejected += reldep.compare(x, x + noisy(), x + noisy(), max_lag="auto").pvalue < 0.05
    assert rejected / n < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
