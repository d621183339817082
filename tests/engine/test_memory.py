"""Amounts of memory in words and in bytes, and what the engines need."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from reldep.engine import Dense, Features, compute_influence
from reldep.kernels import Linear
from reldep.system import bytes_of, in_words


@pytest.mark.parametrize(
    ("written", "n_bytes"),
    [("512MB", 512_000_000), ("1.5 GiB", 1_610_612_736), (" .5kb ", 500), (1234, 1234)],
)
def test_amounts_are_read_as_written(written, n_bytes):
    assert bytes_of(written) == n_bytes


@pytest.mark.parametrize(
    ("n_bytes", "words"),
    [(12, "12 B"), (1_230, "1.23 KB"), (45_600_000, "45.6 MB"), (2e12, "2 TB")],
)
def test_amounts_are_written_with_a_unit_that_suits(n_bytes, words):
    assert in_words(n_bytes) == words


def test_more_columns_than_rows_are_turned_into_the_row_space():
    rng = np.random.default_rng(8)
    wide = {name: Linear().fit(rng.normal(size=(12, 5_000))) for name in "xy"}
    tracemalloc.start()
    found = compute_influence(wide, [("x", "y")], Features()).values
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = compute_influence(wide, [("x", "y")], Dense()).values
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert peak < 20e6  # a 5,000 × 5,000 product would take 200 MB
