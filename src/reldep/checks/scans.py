"""Checks of a scan: those of single variables, over thousands of columns, said once for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from reldep.checks import neighbours, variables
from reldep.checks.answers import influential_share
from reldep.checks.copies import Marks
from reldep.checks.rows import CORRELATED, DEVIATIONS, FEWEST_FOR_CORRELATION
from reldep.checks.subjects import Data
from reldep.exceptions import CopyWarning, DependentRowsWarning, InfluentialWarning
from reldep.stats.influential import largest_shares
from reldep.words import listed, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.data.variables import BoolArray, FloatArray, Variable
    from reldep.exceptions import ReldepWarning

# By chance the influence of adjacent rows has a correlation of two deviations in one of forty
# sources; where it is one in ten, or more, rows are correlated.
SHARED_DEVIATIONS, SHARED = 2.0, 0.1

_SHOWN = 5


@dataclass
class ColumnChecks:
    """The checks of single variables, mapped over columns.

    Attributes
    ----------
    fixed : Data
        The variables that all columns are compared with.
    role : str
        What the columns are: "sources" or "targets".
    n_columns : int
    """

    fixed: Data
    role: str
    n_columns: int
    #: Columns that are a fixed variable in other units or words, by its name.
    copies: dict[str, list[str]] = field(default_factory=dict)
    found: dict[type[ReldepWarning], dict[str, ReldepWarning]] = field(default_factory=dict)

    def look(self, name: str, variable: Variable) -> list[str]:
        """Check one column; return the names of the fixed variables whose values it has."""
        data = Data(variables={name: variable}, rows=self.fixed.rows, automatic={name})
        for check in (variables.missing_codes, variables.kinds):
            for caution in check(data):
                self.found.setdefault(type(caution), {}).setdefault(name, caution)
        marks = Marks.of(variable)
        for other, known in self.fixed.marks.items():
            if known.is_like(marks):
                self.copies.setdefault(other, []).append(name)
        return [other for other, known in self.fixed.marks.items() if marks.shared(known)]

    def cautions(self) -> Iterator[ReldepWarning]:
        """Yield one caution per kind, with how many columns it is about."""
        for kind, by_name in self.found.items():
            first = next(iter(by_name.values()))
            if len(by_name) == 1:
                yield first
            else:
                yield kind(f"{self._counted(list(by_name))}, for one: {first}")
        for other, names in self.copies.items():
            yield CopyWarning(
                f"By its values, {self._counted(names)} may be {other!r} in other units or words; "
                "if it is, leave it out."
            )

    def _counted(self, names: Sequence[str]) -> str:
        return f"{len(names):,} of {self.n_columns:,} {self.role} ({listed(names, _SHOWN)})"


def dependent_rows(fixed: Data, deviations: FloatArray) -> Iterator[DependentRowsWarning]:
    """Check whether adjacent rows are correlated in the fixed variables and in many tests.

    Parameters
    ----------
    fixed : Data
    deviations : ndarray, shape (tests, rows)
        The influence of every row on every estimate.
    """
    n = deviations.shape[1]
    ranked = {name: neighbours.ranked_columns(one) for name, one in fixed.variables.items()}
    columns = {name: values for name, values in ranked.items() if values is not None}
    if n < FEWEST_FOR_CORRELATION or not columns:
        return
    largest = max(neighbours.correlation(values) for values in columns.values())
    bar = max(CORRELATED, DEVIATIONS / np.sqrt(min(n, neighbours.MOST_ROWS)))
    if not largest > bar or neighbours.only_sorted(columns):
        return
    harm = neighbours.lag_correlations(deviations)
    if len(harm) and np.mean(harm > SHARED_DEVIATIONS / np.sqrt(n)) > SHARED:
        yield DependentRowsWarning(
            f"Adjacent rows are correlated ({largest:.2f}), so that all p-values may be too small; "
            "keep one row per subject, or ask compare() with `max_lag='auto'`."
        )


def influential(
    fixed: Data, names: Sequence[str], deviations: FloatArray, claimed: BoolArray
) -> Iterator[InfluentialWarning]:
    """Check whether single rows may have made the claims."""
    places = np.flatnonzero(claimed)
    share, top = largest_shares(deviations[places])
    found = [
        f"{names[place]} ({fixed.rows.name(int(row))}, {percent(round(float(one), 2))})"
        for place, one, row in zip(places.tolist(), share, top, strict=True)
        if one > influential_share(len(fixed))
    ]
    if found:
        yield InfluentialWarning(
            f"One row carries much of the variance in {len(found):,} of {len(places):,} claims: "
            f"{listed(found, _SHOWN)}; look at it, and at the answer without it."
        )
