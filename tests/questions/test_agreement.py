"""One number, however it is asked for: by other questions, and from one Influence."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep.engine import Blocks, Dense
from reldep.kernels import Laplace

M = 80
FEW = {"n_simulations": 400}
WEIGHTS = {("x", "y"): 1, ("x", "z"): -1}
NUMBERS = ("estimate", "standard_error", "statistic", "pvalue")

RNG = np.random.default_rng(0)
X = RNG.normal(size=M)
DATA = {"x": X, "y": X + 0.8 * RNG.normal(size=M), "z": X + 1.5 * RNG.normal(size=M)}
SUBJECT = np.repeat(np.arange(20), 4)
# Each with the questions for which it is not the same, or not there.
OPTIONS = {
    "cka": ({}, ""),
    "hsic": ({"measure": "hsic"}, ""),
    "dcor": ({"measure": "dcor"}, "sensitivity"),
    "fixed kernels": ({"variance": "fixed-kernel"}, "scan"),
    "fixed kernels, hsic": ({"variance": "fixed-kernel", "measure": "hsic"}, "scan"),
    "linear": ({"kernel": "linear"}, "sensitivity"),
    "blocks": ({"engine": Blocks(20), "kernel": Laplace(1.0)}, ""),
    "clusters": ({"clusters": SUBJECT}, "scan influence"),
    "crossed clusters": ({"clusters": (SUBJECT, np.tile(np.arange(4), 20))}, "scan influence"),
    "time": ({"max_lag": 2}, "scan influence"),
    "time, auto": ({"max_lag": "auto"}, "scan influence"),
    "given": ({"given": np.arange(M) % 7}, "influence"),
}


def of_influence(x, y, z, measure="cka", variance="jackknife", **options):
    pairs = [("y", "x"), ("x", "z"), *((name, name) for name in DATA)]
    options |= {"kernel": "distance"} if measure == "dcor" else {}
    computed = reldep.influence({"x": x, "y": y, "z": z}, pairs, variance=variance, **options)
    again = {"measure": measure, "variance": variance}
    ranked = reldep.rank("x", computed, **again, **FEW)
    found = reldep.contrast(computed, WEIGHTS, alternative="two-sided", **again)
    assert found.influence is ranked.influence is computed
    assert found.estimates == pytest.approx(ranked.estimates)
    return [getattr(found, name) for name in NUMBERS]


def of_contrast(x, y, z, **options):
    data = {"x": x, "y": y, "z": z}
    found = reldep.contrast(data, WEIGHTS, alternative="two-sided", **options)
    same = reldep.compare(x, y, z, alternative="two-sided", **options)
    assert found.power(300) == pytest.approx(same.power(300))
    return [getattr(found, name) for name in NUMBERS]


def of_rank(x, y, z, **options):
    row = reldep.rank(x, {"y": y, "z": z}, **FEW, **options).pairwise().row(0, named=True)
    # Simulated, but never above Bonferroni's bound, which for one difference is the p-value.
    assert row["adjusted_pvalue"] == pytest.approx(row["pvalue"], rel=1e-8)
    return [row[name] for name in NUMBERS]


def of_matrix(x, y, z, **options):
    cells = reldep.matrix({"x": x, "y": y, "z": z}, **FEW, **options)
    found = cells.compare(("y", "x"), ("x", "z"))  # pairs may be named in any order
    other = cells.compare(("x", "z"), ("x", "y"), alternative="less")
    assert other.estimate == -found.estimate
    assert other.pvalue == pytest.approx(found.pvalue / 2, rel=1e-9)
    return [getattr(found, name) for name in NUMBERS]


def of_sensitivity(x, y, z, **options):
    options = {"alternative": "two-sided", "factors": [0.5, 1, 2], **options}
    row = reldep.sensitivity(x, y, z, **options).to_frame().row(1, named=True)
    return [row[name] for name in NUMBERS]


def of_scan(x, y, z, **options):
    sources = {"x": x, "w": z**2}
    found = reldep.scan(sources, y, z, alternative="two-sided", **FEW, **options)
    row = found.to_frame().row(0, named=True)
    return [row[name] for name in NUMBERS]


ASKED = {
    "contrast": of_contrast,
    "influence": of_influence,
    "rank": of_rank,
    "matrix": of_matrix,
    "sensitivity": of_sensitivity,
    "scan": of_scan,
}
CASES = [
    (question, case)
    for question in ASKED
    for case, (_, other) in OPTIONS.items()
    if question not in other.split()
]


@pytest.mark.parametrize(("question", "case"), CASES, ids=str)
def test_a_difference_is_that_of_compare(question, case):
    options, _ = OPTIONS[case]
    direct = reldep.compare(*DATA.values(), alternative="two-sided", **options)
    found = ASKED[question](*DATA.values(), **options)
    assert found == pytest.approx([getattr(direct, name) for name in NUMBERS], rel=1e-8)


def cells_of(data, **options):
    return reldep.matrix(data, **FEW, **options).to_frame()


def targets_of(data, **options):
    targets = {name: data[name] for name in list(data)[1:]}
    return reldep.scan(data["x"], targets, **FEW, **options).to_frame()


KINDS = {
    **DATA,
    "counts": RNG.poisson(2, size=M),
    "labels": RNG.choice(["u", "v", "w"], M),
    "heavy": np.exp(1.5 * RNG.normal(size=M)),
}
BLOCK = {"block": RNG.normal(size=(M, 3)) + X[:, None]}


# With clusters and in time dependence has a test of its own; covariates have one regression for
# all variables of a question.
@pytest.mark.parametrize(
    ("ask", "data", "options"),
    [
        *((cells_of, KINDS | BLOCK, OPTIONS[case][0]) for case in list(OPTIONS)[:5]),
        *((targets_of, KINDS, OPTIONS[case][0]) for case in list(OPTIONS)[:3]),
    ],
)
def test_a_dependence_is_that_of_dependence(ask, data, options):
    found = ask(data, **options)
    for i, name in enumerate(list(data)[1:]):
        direct = reldep.dependence(data["x"], data[name], **options)
        for column in ("estimate", "standard_error", "pvalue"):
            assert found[column][i] == pytest.approx(getattr(direct, column), rel=1e-8, abs=1e-12)


def data(m=90, seed=0):
    rng = np.random.default_rng(seed)
    da = rng.normal(size=m)
    noise = {"sv": 0.5, "en": 0.9, "fr": 2.0}
    return {"da": da, **{name: da + s * rng.normal(size=m) for name, s in noise.items()}}


PAIRS = [("da", "sv"), ("da", "en"), ("da", "fr")]
SELVES = [(name, name) for name in ("da", "sv", "en", "fr")]


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
    with pytest.raises(reldep.exceptions.InputError, match="`max_lag` needs variables"):
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
