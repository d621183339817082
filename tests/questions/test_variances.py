"""The older variances: what they are, and that they keep the level and gain power."""

import math

import numpy as np
import pytest

import reldep
from reldep.kernels import Gaussian
from reldep.stats.estimation import estimate_dependences
from reldep.stats.measures import pairs_needed

OLDER = ("fixed-kernel", "bandwidth-aware", "second-order", "full")
VARIANCES = ("jackknife", *OLDER)
PAIRS = (("x", "y"), ("x", "z"))
DIFFERENCE = np.array([1.0, -1.0])


def linear(rng, m, noise=1.0):
    x = rng.normal(size=m)
    return x, x + noise * rng.normal(size=m), x + noise * rng.normal(size=m)


def spirals(rng, m, noise=0.3):
    t = rng.uniform(0, 2 * np.pi, size=m)
    around = np.c_[t * np.cos(t), t * np.sin(t)]
    source = np.c_[t, np.sin(t)] + 0.3 * rng.normal(size=(m, 2))
    return (
        source,
        around + 0.3 * rng.normal(size=(m, 2)),
        around + noise * rng.normal(size=(m, 2)),
    )


def heavy_tailed(rng, m):
    x = rng.standard_t(2, size=m)
    return x, x + rng.standard_t(2, size=m), x + rng.standard_t(2, size=m)


def categorical_source(rng, m):
    group = rng.integers(0, 4, size=m)
    return np.array(list("abcd"))[group], group + rng.normal(size=m), group + rng.normal(size=m)


def independent(rng, m):
    return tuple(rng.normal(size=(3, m)))


def rejection_rates(generate, m, n_draws, variances, alternative="two-sided", seed=0, **options):
    """Test many samples at 5%, with every measure and variance on the same A."""
    rejected = {(measure, v): 0 for measure in ("hsic", "cka") for v in variances}
    for draw in range(n_draws):
        sample = generate(np.random.default_rng([seed, draw]), m, **options)
        data = dict(zip("xyz", sample, strict=True))
        influence = reldep.influence(
            data, pairs_needed(PAIRS, "cka"), variance="full", kernel="published"
        )
        for measure, variance in rejected:
            test = estimate_dependences(influence, PAIRS, measure, variance).test(DIFFERENCE)
            rejected[measure, variance] += test.pvalue(alternative) < 0.05
    return {key: count / n_draws for key, count in rejected.items()}


def binomial_error(rate, n_draws):
    """Three standard errors of a rate."""
    return 3 * math.sqrt(rate * (1 - rate) / n_draws)


class TestLevelAndPower:
    def test_following_the_bandwidth_gains_power_on_the_spirals(self):
        n_draws = 150
        rates = rejection_rates(
            spirals, 200, n_draws, ("fixed-kernel", "bandwidth-aware"), "greater", noise=0.6
        )
        expected = {
            ("hsic", "fixed-kernel"): 0.58,
            ("hsic", "bandwidth-aware"): 0.66,
            ("cka", "fixed-kernel"): 0.90,
            ("cka", "bandwidth-aware"): 0.91,
        }
        for key, rate in expected.items():
            assert rates[key] == pytest.approx(rate, abs=binomial_error(rate, n_draws)), key
        assert rates["hsic", "bandwidth-aware"] > rates["hsic", "fixed-kernel"] + 0.03

    @pytest.mark.parametrize("null", [linear, spirals, heavy_tailed, categorical_source])
    def test_the_bandwidth_aware_level_is_within_binomial_error_of_five_per_cent(self, null):
        n_draws = 200
        rates = rejection_rates(null, 100, n_draws, ("bandwidth-aware",))
        for rate in rates.values():
            assert rate == pytest.approx(0.05, abs=binomial_error(0.05, n_draws))

    def test_the_second_order_variance_is_less_conservative_under_weak_dependence(self):
        n_draws = 400
        rates = rejection_rates(linear, 60, n_draws, ("fixed-kernel", "second-order"), noise=3.0)
        for measure in ("hsic", "cka"):
            plain, corrected = rates[measure, "fixed-kernel"], rates[measure, "second-order"]
            assert plain + 0.01 < corrected < 0.05 + binomial_error(0.05, n_draws)

    def test_variances_under_independence(self):
        estimates, squares = [], {"fixed-kernel": [], "second-order": []}
        for draw in range(200):
            sample = independent(np.random.default_rng([1, draw]), 50)
            for variance, collected in squares.items():
                result = reldep.compare(
                    *sample, measure="hsic", kernel=Gaussian(1.0), variance=variance
                )
                collected.append(result.standard_error**2)
            estimates.append(result.estimate)
        # A variance from 200 draws is known to 10%. The plug-in is about twice the truth; the
        # larger of two noisy estimates of it lies between.
        truth = np.var(estimates)
        assert np.mean(squares["fixed-kernel"]) == pytest.approx(2.1 * truth, rel=0.25)
        assert truth < np.mean(squares["second-order"]) < 1.6 * truth


class TestDefinition:
    @pytest.mark.parametrize("measure", ["hsic", "cka", "dcor"])
    @pytest.mark.parametrize("variance", ["second-order", "full"])
    def test_second_order_is_the_larger_of_the_rest_and_the_component(self, measure, variance):
        sample = linear(np.random.default_rng(0), 40, noise=2.0)
        result = reldep.compare(*sample, measure=measure, variance=variance)
        first_only = {"second-order": "fixed-kernel", "full": "bandwidth-aware"}[variance]
        plug_in = reldep.compare(*sample, measure=measure, variance=first_only).standard_error ** 2
        part = DIFFERENCE @ result.dependences.second @ DIFFERENCE
        assert part > 0
        assert result.standard_error**2 == pytest.approx(max(plug_in - part, part))

    @pytest.mark.parametrize("variance", VARIANCES)
    @pytest.mark.parametrize("method", ["joint", "split"])
    @pytest.mark.parametrize("generate", [linear, independent])
    def test_the_covariance_gives_the_standard_error(self, variance, method, generate):
        sample = generate(np.random.default_rng(1), 50)
        result = reldep.compare(*sample, measure="cka", variance=variance, method=method)
        spread = DIFFERENCE @ result.covariance @ DIFFERENCE
        assert result.standard_error == pytest.approx(math.sqrt(spread))
        assert (np.linalg.eigvalsh(result.covariance) > 0).all()
        assert result.variance == variance

    def test_cka_scales_the_second_component_of_the_hsic(self):
        sample = dict(zip("xyz", linear(np.random.default_rng(2), 40), strict=True))
        A = reldep.influence(sample, pairs_needed(PAIRS, "cka"), variance="second-order")
        hsic = estimate_dependences(A, PAIRS, "hsic", "second-order").second
        cka = estimate_dependences(A, PAIRS, "cka", "second-order").second
        energy = {name: A.estimates[A.row((name, name))] for name in "xyz"}
        scale = np.sqrt([energy["x"] * energy["y"], energy["x"] * energy["z"]])
        assert cka == pytest.approx(hsic / np.outer(scale, scale))

    @pytest.mark.parametrize("variance", ["bandwidth-aware", "second-order", "full"])
    def test_the_variances_of_the_halves_add_up_in_a_split(self, variance):
        x, y, z = linear(np.random.default_rng(3), 61)
        options = {"measure": "hsic", "variance": variance}
        split = reldep.compare(x, y, z, method="split", rng=2, **options)
        order = np.random.default_rng(2).permutation(61)
        one, other = np.sort(order[:30]), np.sort(order[30:])
        halves = [
            reldep.dependence(x[one], y[one], **options),
            reldep.dependence(x[other], z[other], **options),
        ]
        assert split.estimate == pytest.approx(halves[0].estimate - halves[1].estimate)
        assert split.covariance[0, 1] == pytest.approx(0.0, abs=1e-18)
        if variance == "bandwidth-aware":
            expected = sum(half.standard_error**2 for half in halves)
            assert split.standard_error**2 == pytest.approx(expected)
        else:
            parts = [half.dependences.second[0, 0] for half in halves]
            assert split.dependences.second == pytest.approx(np.diag(parts))
            whole = sum(half.dependences.plug_in[0, 0] for half in halves)
            assert split.standard_error**2 == pytest.approx(max(whole - sum(parts), sum(parts)))

    def test_a_given_bandwidth_needs_no_correction(self):
        sample = linear(np.random.default_rng(4), 40)
        fixed, aware = (
            reldep.compare(*sample, kernel=Gaussian(1.0), variance=variance)
            for variance in ("fixed-kernel", "bandwidth-aware")
        )
        assert aware.standard_error == fixed.standard_error

    def test_mixed_variables_follow_the_bandwidth_of_their_numbers(self):
        import polars as pl

        rng = np.random.default_rng(5)
        x, y, z = linear(rng, 80)
        frame = pl.DataFrame({"number": x, "label": np.where(rng.random(80) < 0.5, "a", "b")})
        fixed, aware = (
            reldep.compare(frame, y, z, variance=variance)
            for variance in ("fixed-kernel", "bandwidth-aware")
        )
        assert aware.standard_error != pytest.approx(fixed.standard_error, rel=1e-3)

    @pytest.mark.parametrize("measure", ["hsic", "cka"])
    def test_contrasts_and_dependences_take_the_same_variances(self, measure):
        sample = dict(zip("xyz", linear(np.random.default_rng(6), 40), strict=True))
        weights = {("x", "y"): 1, ("x", "z"): -1}
        for variance in VARIANCES:
            options = {"measure": measure, "variance": variance}
            compared = reldep.compare(*sample.values(), **options)
            contrasted = reldep.contrast(sample, weights, **options)
            assert contrasted.standard_error == pytest.approx(compared.standard_error)
        found = {
            variance: reldep.dependence(
                sample["x"], sample["y"], measure=measure, variance=variance
            )
            for variance in VARIANCES
        }
        assert len({one.standard_error for one in found.values()}) == len(VARIANCES)
        # Independence is tested by the correlation, whatever the variance of the estimate.
        assert len({one.pvalue for one in found.values()}) == 1


class TestInfluence:
    def test_one_influence_answers_for_all_variances(self):
        sample = dict(zip("xyz", linear(np.random.default_rng(7), 40), strict=True))
        A = reldep.influence(sample, pairs_needed(PAIRS, "cka"), variance="full")
        for variance in VARIANCES:
            test = estimate_dependences(A, PAIRS, "cka", variance).test(DIFFERENCE)
            direct = reldep.compare(*sample.values(), measure="cka", variance=variance)
            assert test.standard_error == pytest.approx(direct.standard_error)

    @pytest.mark.parametrize("variance", ["jackknife", "bandwidth-aware", "second-order", "full"])
    def test_an_influence_without_the_corrections_says_what_is_missing(self, variance):
        sample = dict(zip("xyz", linear(np.random.default_rng(8), 20), strict=True))
        A = reldep.influence(sample, PAIRS, variance="fixed-kernel")
        # The screens of few variables bring the HSICs of second order along; these alone.
        bare = reldep.Influence(A.values, A.pairs, A.names, 20)
        with pytest.raises(ValueError, match=f"compute them with variance='{variance}'"):
            estimate_dependences(bare, PAIRS, "hsic", variance)

    def test_a_misspelt_variance_is_named(self):
        with pytest.raises(ValueError, match="did you mean 'second-order'"):
            reldep.influence({"x": [1, 2, 3, 4]}, [("x", "x")], variance="second order")


def test_identical_targets_are_refused_with_every_variance():
    x, y, _ = linear(np.random.default_rng(9), 30)
    for variance in VARIANCES:
        with pytest.raises(ValueError, match="variance of the contrast"):
            reldep.compare(x, y, y.copy(), variance=variance)


@pytest.mark.parametrize("variance", VARIANCES)
def test_units_and_order_of_rows_do_not_matter(variance):
    rng = np.random.default_rng(10)
    x, y, z = linear(rng, 60)
    order = rng.permutation(60)
    plain = reldep.compare(x, y, z, variance=variance)
    moved = reldep.compare(1000 * x[order] + 3, y[order], -0.01 * z[order], variance=variance)
    assert moved.standard_error == pytest.approx(plain.standard_error, rel=1e-9)
