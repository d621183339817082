"""A kernel object is a function of two samples, and the first sample decides its parameters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

import reldep.kernels as rk
from reldep import kernels
from reldep.data.objects import read_variable

ALL = slice(None)
TREES = ["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig"]

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(7, 3)), RNG.normal(size=(4, 3)) * 3.0
FAR = cdist(X, Y)
MEDIAN = np.median(cdist(X, X)[np.triu_indices(7, 1)])
TEXTS = ["one red apple", "two green apples", "red and green", "one two three"]
FRAME = pd.DataFrame({"size": X[:, 0], "kind": list("abaabba")})
OTHER = pd.DataFrame({"size": Y[:, 0], "kind": list("abcd")})
SAME_KIND = np.equal.outer(FRAME["kind"].to_numpy(), OTHER["kind"].to_numpy())
NEAR_SIZE = np.exp(-0.5 * (X[:, :1] - Y[:, 0]) ** 2)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (rk.Gaussian(2.0), np.exp(-(FAR**2) / 8)),
        (rk.Gaussian(), np.exp(-(FAR**2) / (2 * MEDIAN**2))),
        (rk.Laplace(factor=2.0), np.exp(-FAR / (2 * MEDIAN))),
        (rk.Distance(1.5), -(FAR**1.5)),
        (rk.Linear(), X @ Y.T),
        (rk.Polynomial(3, 2.0, 0.5), (0.5 * X @ Y.T + 2.0) ** 3),
        (rk.Standardized(rk.Gaussian(1.0)), np.exp(-0.5 * cdist(X / X.std(0), Y / X.std(0)) ** 2)),
        (rk.Gaussian(2.0) + rk.Linear(), np.exp(-(FAR**2) / 8) + X @ Y.T),
        (rk.Gaussian(2.0) * rk.Laplace(1.0), np.exp(-(FAR**2) / 8 - FAR)),
        (rk.FunctionKernel(lambda A, B: A @ B.T + 1), X @ Y.T + 1),
        (rk.Embedding(lambda rows: rows[:, :2], kernel="linear"), X[:, :2] @ Y[:, :2].T),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_kernel_of_numbers_gives_its_formula(kernel, expected):
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (rk.Gaussian(1.0) * rk.Delta(), NEAR_SIZE * SAME_KIND),
        (rk.Gaussian(1.0) + rk.Delta(), NEAR_SIZE + SAME_KIND),
        (rk.Columns({"size": rk.Gaussian(1.0), "kind": "delta"}), NEAR_SIZE * SAME_KIND),
        (rk.Columns({"kind": "delta"}, others="drop"), 1.0 * SAME_KIND),
    ],
)
def test_frames_are_evaluated_column_by_column(kernel, expected):
    np.testing.assert_allclose(kernel(FRAME, OTHER), expected, rtol=1e-12)


def test_labels_compare_by_value_and_not_by_code():
    np.testing.assert_array_equal(rk.Delta()(["b", "a"], ["a", "c"]), [[0, 0], [1, 0]])
    np.testing.assert_array_equal(rk.Distance()(["b", "a"], ["a", "c"]), [[-1, -1], [0, -1]])


def test_text_weights_come_from_the_first_sample():
    from sklearn.feature_extraction.text import TfidfVectorizer

    first, second = TEXTS, ["green red blue", "apple"]
    vectorizer = TfidfVectorizer(token_pattern=r"[^\W\d_]{2,}", max_df=0.5)  # noqa: S106
    rows = vectorizer.fit_transform(first)
    expected = (rows @ vectorizer.transform(second).T).toarray()
    np.testing.assert_allclose(rk.Text(kernel="linear")(first, second), expected, atol=1e-12)


def test_single_observations_are_enough_where_nothing_is_estimated():
    assert rk.Jaccard()([{1, 2}], [{2, 3}]).item() == pytest.approx(1 / 3)
    assert rk.EditDistance(1.0)(["ab"], ["ac"]).item() == pytest.approx(np.exp(-1))
    assert rk.TimeSeries(2.0)([[1.0, 2.0]], [[1.0, 2.0]]).item() == pytest.approx(1.0)
    assert rk.Haversine(100.0)([[0.0, 0.0]], [[0.0, 0.0]]).item() == 1.0


@pytest.mark.parametrize(
    ("kernel", "draw"),
    [
        (kernels.Gaussian(), lambda r: r.normal(size=(80, 2))),
        (kernels.Laplace("mean"), lambda r: r.normal(size=80)),
        (kernels.Standardized(kernels.Laplace("mean")), lambda r: r.normal(size=(80, 3)) * 9),
        (kernels.Gaussian() * kernels.Laplace("mean"), lambda r: r.normal(size=(80, 2))),
        (kernels.Delta(), lambda r: r.choice(["a", "b", "c"], 80)),
        (kernels.Spectrum(2), lambda r: ["".join(r.choice(list("ACGT"), 9)) for _ in range(80)]),
        (
            kernels.Text(),
            lambda r: [" ".join(r.choice(TREES, 3)) for _ in range(80)],
        ),
        (kernels.EditDistance(), lambda r: ["".join(r.choice(list("ab"), 7)) for _ in range(80)]),
    ],
    ids=lambda value: getattr(type(value), "__name__", ""),
)
def test_a_frozen_kernel_gives_other_rows_the_parameters_of_its_own(kernel, draw):
    rng = np.random.default_rng(3)
    first, second = (read_variable(draw(rng), name) for name in "xy")
    frozen, expected = kernel.frozen(first), kernel.between(first, second)
    assert np.allclose(frozen.between(first, second), expected)
    # Between rows of the second sample there is nothing left for them to decide.
    own = frozen.fit(second)(ALL, ALL)
    assert np.allclose(own, frozen.between(second, second))
    if isinstance(kernel, (kernels.Gaussian, kernels.Laplace)):
        width = kernel.fit(first).describe()["bandwidth"]
        assert np.allclose(own, type(kernel)(width).fit(second)(ALL, ALL))
