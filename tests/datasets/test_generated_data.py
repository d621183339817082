"""Generated data: the curves, the noise, the truth, and the same bytes from the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from reldep.datasets import make_spirals, make_two_stimuli

GENERATORS = [make_spirals, make_two_stimuli]


@pytest.mark.parametrize("make", GENERATORS)
def test_the_same_seed_gives_the_same_bytes(make) -> None:
    first, again = make(50, rng=3), make(50, rng=np.random.default_rng(3))
    assert all(first[name].tobytes() == again[name].tobytes() for name in first)
    other = make(50, rng=4)
    assert not any(np.array_equal(first[name], other[name]) for name in first)
    unseeded = make(50), make(50)
    assert not np.array_equal(*(next(iter(dataset.values())) for dataset in unseeded))


def test_seeded_values_do_not_change_between_versions() -> None:
    spirals = make_spirals(4, rng=7)
    np.testing.assert_allclose(spirals.source[0], [3.79118942, -1.00502477], rtol=1e-8)
    stimuli = make_two_stimuli(3, rng=7)
    np.testing.assert_allclose(stimuli.response, [-0.82921808, 0.04719953, -1.01703493], rtol=1e-6)


def test_without_noise_the_blocks_lie_on_their_curves() -> None:
    spirals = make_spirals(200, gamma1=0, gamma2=0, gamma3=0, rng=1)
    t = spirals.source[:, 0]
    assert t.min() > 0.0
    assert t.max() < 2 * np.pi
    np.testing.assert_allclose(spirals.source[:, 1], np.sin(t))
    for name in ("first", "second"):
        np.testing.assert_allclose(spirals[name], np.column_stack([t * np.cos(t), t * np.sin(t)]))


def test_each_block_of_the_spirals_has_its_own_noise() -> None:
    n = 20_000
    clean = make_spirals(n, 0, 0, 0, rng=2)
    spirals = make_spirals(n, 0.5, 0.3, 0.6, rng=2)
    noise = np.hstack([spirals[name] - clean[name] for name in spirals])
    # Four standard errors of a standard deviation, and of a correlation, from n draws.
    expected = np.repeat([0.5, 0.3, 0.6], 2)
    np.testing.assert_allclose(noise.std(axis=0), expected, rtol=4 / np.sqrt(2 * n))
    correlations = np.corrcoef(noise.T)[np.triu_indices(6, 1)]
    np.testing.assert_allclose(correlations, 0.0, atol=4 / np.sqrt(n))


def test_the_response_is_the_weighted_sum_of_the_streams() -> None:
    stimuli = make_two_stimuli(100, 2.0, -0.5, noise=0, rng=1)
    np.testing.assert_allclose(stimuli.response, 2.0 * stimuli.visual - 0.5 * stimuli.audio)
    assert [block.shape for block in stimuli.values()] == [(100,)] * 3


@pytest.mark.parametrize("autocorrelation", [-0.5, 0.0, 0.8])
def test_streams_have_variance_one_and_the_asked_autocorrelation(autocorrelation: float) -> None:
    n = 40_000
    stimuli = make_two_stimuli(n, autocorrelation=autocorrelation, rng=2)
    error = stimuli.response - stimuli.visual - stimuli.audio
    # The standard error of a mean of squares grows by this factor under autocorrelation.
    grown = np.sqrt((1 + autocorrelation**2) / (1 - autocorrelation**2))
    for stream in (stimuli.visual, stimuli.audio, error):
        assert stream.var() == pytest.approx(1.0, abs=4 * grown * np.sqrt(2 / n))
        lagged = np.corrcoef(stream[1:], stream[:-1])[0, 1]
        assert lagged == pytest.approx(autocorrelation, abs=4 / np.sqrt(n))


def test_streams_are_in_balance_from_their_first_point_on() -> None:
    generator = np.random.default_rng(3)
    starts = np.array([make_two_stimuli(2, rng=generator).visual for _ in range(4000)])
    np.testing.assert_allclose(starts.var(axis=0), 1.0, atol=4 * np.sqrt(2 / 4000))
    assert np.corrcoef(starts.T)[0, 1] == pytest.approx(0.8, abs=4 * 0.36 / np.sqrt(4000))


@pytest.mark.parametrize(
    ("weights", "truth"),
    [
        ((1, 1), "equally on both"),
        ((-1, 1), "equally on both"),
        ((2, 1), "more on visual"),
        ((1, -3), "more on audio"),
    ],
)
def test_the_description_states_the_truth(weights: tuple[float, float], truth: str) -> None:
    assert truth in make_two_stimuli(5, *weights, rng=1).description
