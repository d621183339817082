"""Rankings of many targets: matrix products give the numbers of the general way."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep.engine import dense
from reldep.engine.many import leads
from reldep.kernels import Gaussian, Laplace

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")


def data(m=30, n=26, seed=0):
    rng = np.random.default_rng(seed)
    source = rng.normal(size=m)
    noise = np.linspace(0.3, 3.0, n)
    return source, source[:, None] + noise * rng.normal(size=(m, n))


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
@pytest.mark.parametrize(
    "kernel", ["auto", Gaussian(), {"source": Laplace(), "target 3": "linear"}]
)
def test_many_targets_are_ranked_as_few_are(measure, kernel, monkeypatch):
    if measure == "dcor":
        kernel = "auto"
    source, targets = data()
    many = reldep.rank(source, targets, measure=measure, kernel=kernel)
    monkeypatch.setattr("reldep.questions.targets.MANY_TARGETS", 1000)
    few = reldep.rank(source, targets, measure=measure, kernel=kernel)
    for name in ("values", "standard_errors", "psi"):
        np.testing.assert_allclose(
            getattr(many.dependences, name), getattr(few.dependences, name), rtol=1e-9, atol=1e-13
        )
    np.testing.assert_allclose(many.comparisons.score, few.comparisons.score, rtol=1e-8, atol=1e-9)
    assert many.best == few.best
    assert [str(one) for one in many.warnings] == [str(one) for one in few.warnings]


def test_blocks_of_targets_do_not_change_the_hsics(monkeypatch):
    source, targets = data()
    whole = reldep.rank(source, targets)
    monkeypatch.setattr(dense, "block_size", lambda _: 7)
    pieces = reldep.rank(source, targets)
    one, other = (answer.influence.means.values_by_number for answer in (whole, pieces))
    np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-15)


def test_a_table_of_pairs_is_a_mapping_in_either_order():
    table = dense.PairTable(["b", "a"], np.array([[1.0, 2.0], [2.0, 3.0]]))
    assert dict(table) == {("b", "b"): 1.0, ("a", "b"): 2.0, ("a", "a"): 3.0}
    assert table["b", "a"] == 2.0
    assert len(table) == 3
    assert ("a", "c") not in table


@pytest.mark.parametrize("p", [120, 121, 123])
def test_compiled_leads_are_those_of_plain_loops(p):
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(p, 19)).astype(np.float32)
    inverse = rng.uniform(size=(p, p)).astype(np.float32)
    inverse += inverse.T
    np.fill_diagonal(inverse, 0.0)
    gaps = np.abs(drawn[:, None] - drawn[None]) * inverse[:, :, None]
    np.testing.assert_allclose(leads.largest_leads(drawn, inverse), gaps.max(axis=1), rtol=1e-6)


def test_rows_that_depend_on_each_other_go_the_general_way():
    source, targets = data(60)
    clusters = np.repeat(np.arange(20), 3)
    result = reldep.rank(source, targets, clusters=clusters)
    assert result.n_clusters == 20
