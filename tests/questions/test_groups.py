"""What an answer about groups says of the labels it was given."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep.exceptions import ReldepWarning


def test_groups_written_in_two_ways_and_rows_without_a_group_are_said():
    rng = np.random.default_rng(0)
    x = rng.normal(size=90)
    by = ["m", "M ", "w"] * 29 + [None] * 3
    with pytest.warns(ReldepWarning):
        answer = reldep.groups(x, x + rng.normal(size=90), by, missing="drop")
    said = " ".join(str(caution) for caution in answer.warnings)
    assert "by has labels that differ only in capitals or spaces ('m', 'M ')" in said
    assert "3 incomplete observations were dropped; 87 are used" in said
    assert answer.n_observations == 87
