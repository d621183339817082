"""Checks on groups: few rows, and variables that vary more in one group than in another."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.checks.rows import FEW_ROWS as ROWS_IN_ALL
from reldep.data.variables import Numeric
from reldep.exceptions import FewUnitsWarning, UnequalWarning
from reldep.words import listed, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reldep.checks.subjects import Data
    from reldep.data.variables import FloatArray

# P-values and intervals of a group with fewer rows are rough (docs/calibration.md).
FEW_ROWS = 20

# A variable varies more in one group than in another if its spread is this many times as large and
# a test of equal spread (Brown and Forsythe) rejects at this level.
UNLIKE_SPREADS, SPREAD_LEVEL = 2.0, 0.01


def few_rows(groups: Mapping[str, Data]) -> Iterator[FewUnitsWarning]:
    """Check the number of rows of every group."""
    small = [f"{name} ({len(data)})" for name, data in groups.items() if len(data) < FEW_ROWS]
    # Few rows in all have a caution of their own.
    if small and sum(map(len, groups.values())) >= ROWS_IN_ALL:
        yield FewUnitsWarning(
            f"P-values are approximate for groups of few rows: {listed(small, 5)}; "
            "`test='permutation'` suits small groups."
        )


def spreads(groups: Mapping[str, Data]) -> Iterator[UnequalWarning]:
    """Check whether variables have the same range in every group.

    Over a narrow range of a variable its dependence on others is weaker, or none.
    """
    for name in next(iter(groups.values())).variables:
        variables = {group: data.variables[name] for group, data in groups.items()}
        values = {g: one.values for g, one in variables.items() if isinstance(one, Numeric)}
        if len(values) < len(groups):
            continue
        if _do_not_overlap([one[:, 0] for one in values.values() if one.shape[1] == 1]):
            yield UnequalWarning(
                f"The groups do not overlap in {name!r}, and over a part of its range its relation "
                "to others is weaker; choose groups by something else."
            )
            continue
        away = {group: _distances(one) for group, one in values.items()}
        spread = {group: float(np.mean(one)) for group, one in away.items()}
        wide, narrow = max(spread, key=spread.__getitem__), min(spread, key=spread.__getitem__)
        if not spread[wide] > UNLIKE_SPREADS * spread[narrow]:
            continue
        if scipy.stats.f_oneway(*away.values()).pvalue < SPREAD_LEVEL:
            yield UnequalWarning(
                f"{name!r} varies {number(spread[wide] / spread[narrow], 2)} times as much in "
                f"{wide!r} as in {narrow!r}, which alone makes its relation to others stronger "
                "there; compare over one range."
            )


def _distances(values: FloatArray) -> FloatArray:
    """Return the distance of every row from the median of its group."""
    return np.asarray(np.linalg.norm(values - np.median(values, axis=0), axis=1))


def _do_not_overlap(columns: list[FloatArray]) -> bool:
    ends = sorted((float(column.min()), float(column.max())) for column in columns)
    return len(ends) > 1 and all(high < low for (_, high), (low, _) in pairwise(ends))
