"""Jaccard and MinMax: values by hand, on every form of input, and every refusal."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.metrics import jaccard_score

from reldep.kernels import Jaccard, MinMax

RNG = np.random.default_rng(3)
COUNTS = RNG.poisson(0.8, (12, 6)).astype(float)
MARKS = (COUNTS > 0).astype(float)


def minmax_by_hand(rows):
    shared = np.minimum(rows[:, None], rows[None]).sum(axis=2)
    either = np.maximum(rows[:, None], rows[None]).sum(axis=2)
    return np.where(either > 0, shared / np.where(either > 0, either, 1), 1.0)


def test_jaccard_equals_scikit_learn():
    sets = [set(np.flatnonzero(row)) for row in MARKS]
    expected = [[jaccard_score(a, b, zero_division=1.0) for b in MARKS] for a in MARKS]
    np.testing.assert_allclose(Jaccard()(sets), expected)


def test_jaccard_takes_sets_lists_and_rows_of_0_and_1():
    sets = [set(np.flatnonzero(row).tolist()) for row in MARKS]
    expected = Jaccard()(sets)
    lists = [sorted(s) * 2 for s in sets]
    frame = pd.DataFrame(MARKS > 0).add_prefix("has ")
    for data in (list(map(frozenset, sets)), lists, MARKS, sp.csr_array(MARKS), MARKS > 0, frame):
        np.testing.assert_array_equal(Jaccard()(data), expected)


def test_lists_of_equal_length_are_sets():
    lists = [["tea", "milk"], ["milk", "rice"], ["rice", "rice"]]
    np.testing.assert_allclose(Jaccard()(lists), Jaccard()(list(map(set, lists))))


def test_two_empty_sets_are_the_same_and_unlike_all_others():
    values = Jaccard()([set(), set(), {1}, {1, 2}])
    assert values[0].tolist() == [1, 1, 0, 0]


def test_minmax_takes_rows_sparse_rows_and_counters():
    expected = minmax_by_hand(COUNTS)
    counters = [Counter({j: n for j, n in enumerate(row) if n}) for row in COUNTS]
    long = sp.csr_array(COUNTS)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for data in (COUNTS, sp.csr_array(COUNTS), long, counters):
        np.testing.assert_allclose(MinMax()(data), expected, atol=1e-14)


def test_minmax_of_0_and_1_is_jaccard():
    np.testing.assert_allclose(MinMax()(MARKS), Jaccard()(MARKS), atol=1e-14)


def test_set_kernels_tell_apart_all_distributions_on_a_small_universe():
    """On all 16 sets of four elements no weights give the same mean as any others."""
    rows = np.array([[(i >> bit) & 1 for bit in range(4)] for i in range(16)])
    for kernel in (Jaccard(), MinMax()):
        assert np.linalg.eigvalsh(kernel(rows)).min() > 0.01
