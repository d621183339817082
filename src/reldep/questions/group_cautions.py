"""What to beware of where one dependence is compared between groups."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.data.dataset import SMALL_SAMPLE
from reldep.data.variables import Numeric
from reldep.exceptions import (
    DataWarning,
    DependentRowsWarning,
    InputError,
    SmallSampleWarning,
)
from reldep.questions.cautions import influential, nearly_copies
from reldep.words import listed, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reldep.data.variables import FloatArray, Variable
    from reldep.exceptions import ReldepWarning
    from reldep.questions.study import Computed, Study

# A variable is said to vary more in one group than in another if its spread is so many times as
# large and a test of equal spread (Brown and Forsythe) rejects at this level.
UNLIKE_SPREADS, SPREAD_LEVEL = 2.0, 0.01


def check_groups_vary(studies: Mapping[str, Study]) -> None:
    """Refuse groups in which a variable does not vary: it has no dependence there."""
    still = []
    for group, study in studies.items():
        for name, variable in study.dataset.variables.items():
            if variable.is_constant():
                still.append(f"{name} in {group}")
            elif (row := variable.lone()) is not None:
                still.append(f"{name} in {group}, but for {study.dataset.rows.name(row)}")
    if still:
        raise InputError(
            f"in some groups all observations are the same: {listed(still, 5)}. What does not vary "
            "within a group cannot depend on anything there. Leave such groups out, or ask about "
            "other variables."
        )


def cautions_about_groups(
    studies: Mapping[str, Study], parts: Mapping[str, Computed], test: str
) -> tuple[ReldepWarning, ...]:
    """Screen the groups: small ones, ranges and spreads that differ, rows, copies."""
    return (
        *_small(parts, test),
        *_spreads(studies),
        *_copies(parts),
        *_neighbours(parts),
        *_influential(parts),
    )


def _small(parts: Mapping[str, Computed], test: str) -> Iterable[SmallSampleWarning]:
    sizes = {group: part.dependences.n_observations for group, part in parts.items()}
    small = [f"{group} ({size})" for group, size in sizes.items() if size < SMALL_SAMPLE]
    # Fewer observations in all have a caution of their own.
    if not small or sum(sizes.values()) < SMALL_SAMPLE:
        return
    suits = "" if test == "permutation" else " `test='permutation'` suits small groups."
    yield SmallSampleWarning(
        f"groups with fewer than {SMALL_SAMPLE} observations: {listed(small, 5)}. P-values and "
        f"intervals are rough there.{suits}"
    )


def _spreads(studies: Mapping[str, Study]) -> Iterable[DataWarning]:
    """Notice a variable that varies much more in one group than in another.

    Over a narrow range of a variable its dependence on others is weaker, or none.
    """
    names = next(iter(studies.values())).dataset.variables
    for name in names:
        found = {group: _values(study.dataset.variables[name]) for group, study in studies.items()}
        within = {group: values for group, values in found.items() if values is not None}
        if len(within) < len(found):
            continue
        if _are_ranges([values[:, 0] for values in within.values() if values.shape[1] == 1]):
            yield DataWarning(
                f"the groups do not overlap in {name}. Where groups are made by cutting a "
                "variable, its dependence on others within them is weaker than over all of it, "
                "and differs with the range. If they were made so, choose groups by something "
                f"else than {name}."
            )
            continue
        away = {group: _distances(values) for group, values in within.items()}
        spread = {group: float(np.mean(one)) for group, one in away.items()}
        wide, narrow = max(spread, key=spread.__getitem__), min(spread, key=spread.__getitem__)
        if not spread[wide] > UNLIKE_SPREADS * spread[narrow]:
            continue
        if scipy.stats.f_oneway(*away.values()).pvalue < SPREAD_LEVEL:
            yield DataWarning(
                f"{name} varies {number(spread[wide] / spread[narrow], 2)} times as much in {wide} "
                f"as in {narrow}. Where a variable varies less, its dependence on others is weaker "
                f"for that reason alone. Compare the groups over the same range of {name}."
            )


def _values(variable: Variable) -> FloatArray | None:
    return variable.values if isinstance(variable, Numeric) else None


def _distances(values: FloatArray) -> FloatArray:
    """Give the distance of every observation from the median of its group."""
    return np.asarray(np.linalg.norm(values - np.median(values, axis=0), axis=1))


def _are_ranges(columns: list[FloatArray]) -> bool:
    """Tell whether no two groups overlap in a column."""
    ends = sorted((float(column.min()), float(column.max())) for column in columns)
    return len(ends) > 1 and all(high < low for (_, high), (low, _) in pairwise(ends))


def _copies(parts: Mapping[str, Computed]) -> Iterable[ReldepWarning]:
    for group, part in parts.items():
        yield from nearly_copies(part.dependences, f" in {group}", exact=True)


def _neighbours(parts: Mapping[str, Computed]) -> Iterable[DependentRowsWarning]:
    """Say once that rows next to each other are alike, with the groups in which they are."""
    found = {
        group: caution
        for group, part in parts.items()
        if part.neighbours is not None
        for caution in part.neighbours.cautions(part.dependences.psi)
    }
    if found:
        yield DependentRowsWarning(
            f"rows next to each other are alike within groups ({listed(list(found), 5)}). If the "
            "rows are a series in time, or several belong to one subject, the p-value is too "
            "small. Keep one row of each subject; if the file is only sorted, ignore this."
        )


def _influential(parts: Mapping[str, Computed]) -> Iterable[ReldepWarning]:
    for group, part in parts.items():
        named = {f"the estimate in {group}": np.ones(1)}
        yield from influential(part.provenance.rows, part.dependences, named)
