"""One Influence, many questions: the same answers as from the data, and no second sweep."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep.engine import Dense


def data(m=90, seed=0):
    rng = np.random.default_rng(seed)
    da = rng.normal(size=m)
    noise = {"sv": 0.5, "en": 0.9, "fr": 2.0}
    return {"da": da, **{name: da + s * rng.normal(size=m) for name, s in noise.items()}}


PAIRS = [("da", "sv"), ("da", "en"), ("da", "fr")]
SELVES = [(name, name) for name in ("da", "sv", "en", "fr")]


def test_a_group_average_against_one_is_the_papers_weighted_test():
    # Is Danish nearer to {Swedish, English} than to French? Weights (1, 1, -2) as in the paper.
    weights = {("da", "sv"): 1, ("da", "en"): 1, ("da", "fr"): -2}
    result = reldep.contrast(data(), weights)
    rotated = reldep.rotation(result.weights)
    direction = rotated @ result.estimates
    spread = rotated @ result.covariance @ rotated.T
    assert result.statistic == pytest.approx(direction[0] / np.sqrt(spread[0, 0]))
    halved = reldep.contrast(data(), {pair: w / 2 for pair, w in weights.items()})
    assert halved.statistic == pytest.approx(result.statistic)
    assert halved.estimate == pytest.approx(result.estimates[:2].mean() - result.estimates[2])


def test_asking_again_evaluates_no_kernel(monkeypatch):
    computed = reldep.influence(data(), [*PAIRS, *SELVES])
    monkeypatch.setattr(Dense, "products", None)
    for target in ("en", "fr"):
        result = reldep.contrast(computed, {("da", "sv"): 1, ("da", target): -1})
        assert result.influence is computed
    assert reldep.rank("da", computed).influence is computed


def test_clusters_may_be_chosen_when_asking_but_series_need_the_data():
    computed = reldep.influence(data(), [*PAIRS, *SELVES])
    weights = {("da", "sv"): 1, ("da", "fr"): -1}
    groups = np.repeat(np.arange(30), 3)
    # Without the kernels the jackknife leaves clusters out of A to first order.
    first_order, exact = (reldep.contrast(A, weights, clusters=groups) for A in (computed, data()))
    assert first_order.estimate == pytest.approx(exact.estimate, rel=0.1)
    assert first_order.standard_error == pytest.approx(exact.standard_error, rel=0.25)
    with pytest.raises(reldep.exceptions.InputError, match="`max_lag` needs the variables"):
        reldep.contrast(computed, weights, max_lag=3)


def test_an_influence_gives_hsics_and_a_frame_with_names():
    computed = reldep.influence(data(), PAIRS)
    blocks = data()
    assert (computed.pairs, computed.n_observations) == (tuple(PAIRS), 90)
    np.testing.assert_allclose(computed.psi.sum(axis=1), 0, atol=1e-12)
    assert computed.row(("en", "da")) == 1
    assert computed.hsic(("sv", "da")) == pytest.approx(reldep.hsic(blocks["da"], blocks["sv"]))
    # The screens' pairs come along as plain numbers.
    assert computed.hsic(("en", "fr")) == pytest.approx(reldep.hsic(blocks["en"], blocks["fr"]))
    frame = computed.to_frame()
    assert frame.columns == ["row", "da ~ sv", "da ~ en", "da ~ fr"]
    assert frame["row"].to_list() == list(range(90))
    with pytest.raises(KeyError):
        computed.hsic(("da", "xx"))
