"""Amounts of memory in words and in bytes."""

from __future__ import annotations

import pytest

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
