"""The feature engine: exact where kernels have features, honest where it approximates."""

from __future__ import annotations

import pickle
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import reldep
from cautioned import cautioned
from reldep.data.objects import read_variable
from reldep.data.variables import Labels
from reldep.engine import Dense, Wanted, compute_influence, threads
from reldep.engine.near_linear import features
from reldep.engine.near_linear.features import Features, split_wanted
from reldep.engine.terms import hsic
from reldep.exceptions import ApproximationWarning
from reldep.kernels import Delta, Gaussian, Laplace, Linear
from reldep.kernels.categorical import FittedDelta
from reldep.kernels.dot import FittedDot

BOTH = Wanted(pairs=(("x", "y"),))


def exact_hsic_of_numbers(x, y):
    """HSIC of linear kernels of two columns of integers, in rational arithmetic."""
    x, y = [int(v) for v in x], [int(v) for v in y]
    m = len(x)
    sum_x, sum_y = sum(x), sum(y)
    k = [v * (sum_x - v) for v in x]
    l = [v * (sum_y - v) for v in y]  # noqa: E741
    products = [a * b for a, b in zip(x, y, strict=True)]
    trace = sum(products) ** 2 - sum(p * p for p in products)
    crossed = sum(a * b for a, b in zip(k, l, strict=True))
    total = trace + Fraction(sum(k) * sum(l), (m - 1) * (m - 2)) - Fraction(2 * crossed, m - 2)
    return total / (m * (m - 3))


def relative_gap(value, exact):
    """|value - exact| / |exact| without rounding the exact value."""
    return float(abs(Fraction(value) - exact) / abs(exact))


def test_hsic_of_100_000_numbers_agrees_with_rational_arithmetic():
    rng = np.random.default_rng(3)
    x = rng.integers(-50, 50, 100_000)
    y = x // 10 + rng.integers(-60, 60, 100_000)
    kernels = {k: Linear().fit(read_variable(v + 1_000.0, k)) for k, v in (("x", x), ("y", y))}
    terms = Features().terms(kernels, BOTH)
    exact = exact_hsic_of_numbers(x, y)
    assert relative_gap(hsic(terms, ("x", "y")), exact) < 1e-12
    by_rows = compute_influence(kernels, [("x", "y")], Features()).estimates[0]
    assert relative_gap(float(by_rows), exact) < 1e-10


def test_features_far_from_the_origin_keep_their_digits():
    # FittedDot is given raw rows here: no kernel has centred them.
    rng = np.random.default_rng(4)
    x = rng.integers(-50, 50, 50_000)
    y = x + rng.integers(-60, 60, 50_000)
    kernels = {
        "x": FittedDot(x[:, None] + 1e6, "raw"),
        "y": FittedDot(sparse.csr_array(y[:, None] * 1.0), "raw"),
    }
    found = hsic(Features().terms(kernels, BOTH), ("x", "y"))
    assert relative_gap(found, exact_hsic_of_numbers(x, y)) < 1e-9


def test_hsic_of_labels_is_that_of_their_table_of_counts():
    rng = np.random.default_rng(5)
    x = rng.integers(0, 7, 200_000)
    y = (x + rng.integers(0, 5, 200_000)) % 6
    kernels = {
        name: FittedDelta(Labels(name, codes, tuple(range(7))))
        for name, codes in zip("xy", (x, y), strict=True)
    }
    found = hsic(Features().terms(kernels, BOTH), ("x", "y"))
    table = np.zeros((7, 6), dtype=object)
    np.add.at(table, (x, y), 1)
    m, rows, cols = len(x), table.sum(axis=1), table.sum(axis=0)
    trace = (table * (table - 1)).sum()
    k, l = rows - 1, cols - 1  # noqa: E741
    crossed = (table * np.multiply.outer(k, l)).sum()
    total = trace + Fraction(int((rows * k).sum() * (cols * l).sum()), (m - 1) * (m - 2))
    total -= Fraction(2 * int(crossed), m - 2)
    assert relative_gap(found, total / (m * (m - 3))) < 1e-10


def test_two_large_sets_of_labels_never_make_a_dense_table():
    # 40,000 × 40,000 counts would fill 12.8 GB.
    rng = np.random.default_rng(6)
    x = rng.permutation(80_000) // 2
    kernels = {
        "x": FittedDelta(Labels("x", x, tuple(range(40_000)))),
        "y": FittedDelta(Labels("y", np.roll(x, 1), tuple(range(40_000)))),
    }
    tracemalloc.start()
    Features().terms(kernels, Wanted(pairs=(("x", "y"), ("x", "x"))))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_sparse_rows_with_many_entries_agree_with_dense_matrices():
    rng = np.random.default_rng(7)
    kernels = {
        name: Linear().fit(
            read_variable(sparse.random_array((90, 300), density=0.05, rng=rng, format="csr"), name)
        )
        for name in "xy"
    }
    wanted = [("x", "y"), ("x", "x")]
    expected = compute_influence(kernels, wanted, Dense())
    found = compute_influence(kernels, wanted, Features())
    np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-13)


def test_more_columns_than_rows_are_turned_into_the_row_space():
    rng = np.random.default_rng(8)
    wide = {name: FittedDot(rng.normal(size=(12, 5_000)), "wide") for name in "xy"}
    tracemalloc.start()
    found = compute_influence(wide, [("x", "y")], Features()).values
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = compute_influence(wide, [("x", "y")], Dense()).values
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert peak < 20e6  # a 5,000 × 5,000 product would take 200 MB


def gaussian_kernels(m, seed=9):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, 2))
    data = {"x": x, "y": x + rng.normal(size=(m, 2)), "z": np.sign(x[:, 0]) + rng.normal(size=m)}
    return {name: Gaussian(bandwidth=2.0).fit(read_variable(v, name)) for name, v in data.items()}


@pytest.mark.parametrize(("method", "tolerance"), [("nystroem", 1e-4), ("fourier", 0.25)])
def test_approximate_features_come_near_and_report_how_near(method, tolerance, monkeypatch):
    monkeypatch.setattr(features, "CHECKED_ROWS", 600)
    kernels = gaussian_kernels(900)
    pairs = [("x", "y"), ("x", "z")]
    exact = compute_influence(kernels, pairs, Dense()).estimates
    found = compute_influence(kernels, pairs, Features(approximate=method, n_components=200))
    errors = np.abs(found.estimates / exact - 1)
    assert (errors < tolerance).all()
    (note,) = found.notes
    assert isinstance(note, ApproximationWarning)
    reported = np.array([note.relative_errors[pair] for pair in pairs])
    # Two thirds of the rows are looked at: the report is near the truth, not equal to it.
    assert (np.abs(reported - errors) < 0.03).all()
    assert f"(x, z) {reported[1]:.2g}" in str(note)
    assert "600 observations" in str(note)


def test_the_error_is_the_true_one_when_all_rows_are_looked_at():
    kernels = gaussian_kernels(400)
    engine = Features(approximate="fourier", n_components=50)
    exact = compute_influence(kernels, [("x", "y")], Dense()).estimates[0]
    found = compute_influence(kernels, [("x", "y")], engine)
    reported = found.notes[0].relative_errors["x", "y"]
    assert reported == pytest.approx(abs(found.estimates[0] / exact - 1), rel=1e-3)


def test_the_seed_decides_every_byte():
    kernels = gaussian_kernels(200)

    def values(seed):
        engine = Features(approximate="fourier", n_components=20, rng=seed)
        return compute_influence(kernels, [("x", "y")], engine).values

    np.testing.assert_array_equal(values(0), values(0))
    assert not np.array_equal(values(0), values(1))


def test_only_pairs_with_an_approximate_side_carry_an_error():
    kernels = {**gaussian_kernels(150), "c": Delta().fit(read_variable(list("abc" * 50), "c"))}
    kernels["d"] = Delta().fit(read_variable(list("aabbc" * 30), "d"))
    pairs = [("c", "d"), ("c", "x")]
    found = compute_influence(kernels, pairs, Features("nystroem", 30))
    assert set(found.notes[0].relative_errors) == {("c", "x")}
    exact = compute_influence(kernels, pairs, Dense()).values
    np.testing.assert_allclose(found.values[0], exact[0], rtol=0, atol=1e-14)
    for wanted in (Wanted((("c", "d"),)), Wanted((("c", "d"),), row_sums=("x",))):
        assert Features("nystroem", 30).terms(kernels, wanted).notes == ()


def test_a_report_of_many_pairs_lists_the_worst():
    kernels = gaussian_kernels(100)
    pairs = [(a, b) for a in "xyz" for b in "xyz" if a <= b]
    (note,) = compute_influence(kernels, pairs, Features("fourier", 20)).notes
    assert len(note.relative_errors) == 6
    assert "and 1 smaller ones" in str(note)


def test_a_warning_keeps_its_errors_when_pickled():
    note = ApproximationWarning("rough", {("x", "y"): 0.1})
    copy = pickle.loads(pickle.dumps(note))  # noqa: S301
    assert (str(copy), copy.relative_errors) == ("rough", {("x", "y"): 0.1})
    assert ApproximationWarning("rough").relative_errors == {}


def test_random_features_are_never_held_for_all_rows(monkeypatch):
    monkeypatch.setattr(features, "CHECKED_ROWS", 100)
    monkeypatch.setattr(threads, "RUN_BYTES", 2_000_000)
    kernels = gaussian_kernels(20_000)
    tracemalloc.start()
    compute_influence(kernels, [("x", "y")], Features("fourier", 300))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # In single precision the features of x and y fill 2 × 20,000 × 300 × 4 bytes = 48 MB.
    assert peak < 16e6


def test_a_variable_without_features_takes_its_partners_along():
    wanted = Wanted(
        pairs=(("a", "g"), ("a", "b"), ("c", "d"), ("c", "c")),
        means=(("b", "e"), ("d", "f")),
        row_sums=("e", "f", "h"),
    )
    explicit, implicit = split_wanted(wanted, set("abcdefh"))
    assert explicit == Wanted((("c", "d"), ("c", "c")), (("d", "f"),), ("f", "h"))
    assert implicit == Wanted((("a", "g"), ("a", "b")), (("b", "e"),), ("e",))


def test_pairs_with_an_implicit_side_are_exact_too():
    rng = np.random.default_rng(10)
    x = rng.normal(size=(61, 2))
    kernels = {
        "x": Linear().fit(read_variable(x, "x")),
        "y": Laplace().fit(read_variable(x + rng.normal(size=(61, 2)), "y")),
        "c": Delta().fit(read_variable(list("abc" * 20 + "a"), "c")),
        "d": Delta().fit(read_variable(list("ab" * 30 + "a"), "d")),
    }
    pairs = [("x", "y"), ("x", "x"), ("c", "d")]
    expected = compute_influence(kernels, pairs, Dense()).values
    for engine in (Features(), Features(approximate="fourier")):
        found = compute_influence(kernels, pairs, engine)
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
        assert found.notes == ()
    alone = compute_influence(kernels, pairs[:1], Features()).values
    np.testing.assert_allclose(alone, expected[:1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"approximate": "furier"},
            ValueError,
            "`approximate='furier'` is not known (did you mean",
        ),
        ({"n_components": 0}, ValueError, "`n_components=0`; pass a whole number, at least 1."),
        ({"n_components": 2.5}, TypeError, "`n_components=2.5`; pass a whole number."),
        ({"rng": -1}, ValueError, "`rng=-1`; pass a whole number, at least 0."),
        ({"rng": None}, TypeError, "`rng=None`; pass a whole number."),
    ],
)
def test_wrong_options_are_named(arguments, error, message):
    with pytest.raises(error) as caught:
        Features(**arguments)
    assert message in str(caught.value)


def test_approximation_without_scikit_learn_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.kernel_approximation", None)
    with pytest.raises(ImportError, match=r"pip install 'reldep\[features\]'"):
        Features("fourier").terms(gaussian_kernels(50), BOTH)


def test_progress_counts_the_runs_of_both_passes(monkeypatch):
    monkeypatch.setattr(threads, "RUN_BYTES", 8 * 3 * 50)
    steps = []
    engine = Features(on_progress=lambda *step: steps.append(step))
    data = np.random.default_rng(12).normal(size=(120, 3))
    kernels = {
        "x": Linear().fit(read_variable(data[:, :2], "x")),
        "y": Linear().fit(read_variable(data[:, 2], "y")),
    }
    engine.terms(kernels, BOTH)
    assert steps == [(done, 6) for done in range(1, 7)]  # 120 rows in runs of 50, twice


def test_the_error_of_an_approximation_comes_with_the_result():
    rng = np.random.default_rng(13)
    x = rng.normal(size=200)
    y, z = x + rng.normal(size=200), rng.normal(size=200)
    fixed = {"kernel": "gaussian", "variance": "fixed-kernel"}
    with cautioned(ApproximationWarning, match="Nyström method"):
        result = reldep.compare(x, y, z, engine=Features("nystroem", 20), **fixed)
    assert any(isinstance(caution, ApproximationWarning) for caution in result.warnings)
    assert result.pvalue == pytest.approx(reldep.compare(x, y, z, **fixed).pvalue, rel=0.01)
