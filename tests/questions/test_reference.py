"""The authors' program, Monte-Carlo calibration and other independent checks of compare."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from synthetic import spirals


def blocks(reference):
    return [np.array(reference[name]) for name in "xyz"]


def kernel_of(reference):
    return tuple(reference["kernels"][name]["kind"] for name in "xyz")


def test_hsic_covariance_and_p_are_those_of_the_authors_program(reference):
    result = reldep.paper_test(*blocks(reference), kernel=kernel_of(reference))
    expected = reference["expected"]
    np.testing.assert_allclose(
        result.estimates, [expected["hsic_xy"], expected["hsic_xz"]], rtol=1e-10
    )
    np.testing.assert_allclose(result.covariance, expected["cov"], rtol=1e-10)
    # Their p is 1 - normcdf(z): what is left of its digits depends on p itself.
    lost = 4e-16 / expected["pvalue"]
    assert result.pvalue == pytest.approx(expected["pvalue"], rel=max(1e-10, lost))


def test_median_bandwidths_are_those_of_the_authors_program(reference):
    result = reldep.paper_test(*blocks(reference), kernel=kernel_of(reference))
    fitted = result.provenance.kernels.values()
    for name, kernel in zip("xyz", fitted, strict=True):
        bandwidth = reference["kernels"][name]["bandwidth"]
        if bandwidth is not None:
            assert kernel["bandwidth"] == pytest.approx(bandwidth, rel=1e-12)


def test_size_at_five_percent_on_the_papers_null_is_within_binomial_error():
    draws = 500
    rejections = sum(
        reldep.paper_test(*spirals(200, 0.3, seed)).pvalue < 0.05 for seed in range(draws)
    )
    three_sigma = 3 * np.sqrt(0.05 * 0.95 / draws)
    assert abs(rejections / draws - 0.05) < three_sigma


def test_joint_beats_split_by_far():
    draws = 60

    def power(method):
        data = (spirals(200, 0.7, 10_000 + seed) for seed in range(draws))
        return np.mean([reldep.paper_test(*d, method=method).pvalue < 0.05 for d in data])

    assert power("joint") - power("split") > 0.4


def test_tail_p_values_do_not_underflow_early():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1600, 1))
    weak = rng.normal(size=(1600, 1))
    data = x, x + 0.01 * rng.normal(size=x.shape), weak
    published = reldep.paper_test(*data)
    assert published.statistic > 30
    assert 0 < published.pvalue < 1e-200
    # Where the p-value is smaller than any number, its logarithm is still told.
    result = reldep.compare(*data)
    assert result.statistic > 300
    assert result.pvalue == 0
    assert -np.inf < result.log10_pvalue < -308
    assert "p < 1e-300" in result.sentence()
