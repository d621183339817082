"""Checks of a scan: those of single variables, over thousands of columns, said once for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from reldep.checks import variables as of_variables
from reldep.checks.subjects import FEWEST_ORDERED, Data
from reldep.checks.variables import CODE_LEVELS
from reldep.data.dataset import AlignedData
from reldep.data.missing_codes import have_codes_at_ends
from reldep.data.variables import Numeric
from reldep.exceptions import CopyWarning
from reldep.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.data.variables import BoolArray, FloatArray, Variable
    from reldep.exceptions import ReldepWarning


def plain_columns(variables: Sequence[Variable]) -> tuple[list[int], FloatArray]:
    """Return which variables are single columns of numbers, and their values, one row each."""
    own = {i: one.values for i, one in enumerate(variables) if isinstance(one, Numeric)}
    plain = [i for i, values in own.items() if values.shape[1] == 1]
    return plain, np.array([own[i][:, 0] for i in plain])


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

    def are_odd(self, variables: Sequence[Variable]) -> BoolArray:
        """Return which columns some check may concern, or cannot be tested; a superset of them.

        Numbers without gaps, with more levels than codes and scales have, no code at their ends
        and another order than the fixed variables, by some of the rows, are not among them.
        """
        odd = np.ones(len(variables), dtype=bool)
        plain, table = plain_columns(variables)
        if not plain or table.shape[1] < FEWEST_ORDERED:
            return odd
        some = np.sort(table[:, : 4 * CODE_LEVELS[1]], axis=1)
        is_odd = (some[:, 1:] > some[:, :-1]).sum(axis=1) < CODE_LEVELS[1]
        is_odd |= np.isnan(table.sum(axis=1)) | have_codes_at_ends(table)
        steps = np.sign(np.diff(table[:, :FEWEST_ORDERED], axis=1))
        for other in self.fixed.parts:
            for column in other.values.T if isinstance(other, Numeric) else ():
                own = np.sign(np.diff(column[:FEWEST_ORDERED]))
                is_odd |= (steps == own).all(axis=1) | (steps == -own).all(axis=1)
        odd[plain] = is_odd
        return odd

    def look(self, name: str, variable: Variable) -> list[str]:
        """Check one column; return the names of the fixed variables whose values it has."""
        own = AlignedData({name: variable}, self.fixed.rows)
        data = Data(dataset=own, automatic=frozenset({name}))
        for check in (of_variables.missing_codes, of_variables.kinds):
            for caution in check(data):
                self.found.setdefault(type(caution), {}).setdefault(name, caution)
        columns = data.columns[name]
        for other, known in self.fixed.columns.items():
            if known.is_like(columns):
                self.copies.setdefault(other, []).append(name)
        return [other for other, known in self.fixed.columns.items() if columns.shared(known)]

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
        return f"{len(names):,} of {self.n_columns:,} {self.role} ({listed(names, 5)})"
