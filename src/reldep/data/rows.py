"""The rows of the input: where each observation stands, what people call it, and whose it is.

One convention holds in errors, cautions, tables and reports. A row of a file is named by its line
in the file, counted from 1 with the header. A row of a Python object is named by the frame's own
index if it has one that says more than the position, else by its position, counted from 0. An
identifier that the user gives overrides both. Several rows of one subject are noticed by the names
of columns, and by identifiers that repeat.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from reldep.exceptions import DependentRowsWarning, Option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reldep.data.variables import IntArray

Labels: TypeAlias = Sequence[Any] | npt.NDArray[Any]

_SHOWN = 5
_PLURALS = {"row": "rows", "line": "lines"}

# Columns that name what was measured, perhaps more than once.
_SUBJECT = re.compile(
    r"(patient|subject|participant|person|individual|proband|donor|animal|mouse|rat|fish|dog|"
    r"monkey|plant|tree|family|litter|cage|sample|specimen|tumou?r|biopsy|case|pid)s?"
    r"([ _.-]?(id|no|nr|num|number|code|name|key)\.?)?",
    re.IGNORECASE,
)
# Fewer rows than this share have a subject of their own.
_MOST_DISTINCT = 0.95


@dataclass(frozen=True, eq=False)
class Rows:
    """Observations by their place in the input and by name.

    Attributes
    ----------
    positions : ndarray of int
        The position of each observation in the input, counted from 0.
    labels : sequence or None
        What each observation is called: its line in a file, its entry in a frame's index, its
        identifier. None if positions are all that is known.
    noun : str
        What the labels are: ``"row"``, ``"line"``, or the name of the column of identifiers.

    Examples
    --------
    >>> from reldep.data.rows import Rows
    >>> Rows.of(40).name(30)
    'row 30'
    >>> Rows.of(40).take([4, 2]).values()
    [4, 2]
    >>> Rows.labelled(["p7", "p9"], "patient").name(1)
    'patient p9'
    """

    positions: IntArray
    labels: Labels | None = None
    noun: str = "row"

    @classmethod
    def of(cls, n: int) -> Rows:
        """Name `n` rows by their positions."""
        return cls(np.arange(n, dtype=np.int64))

    @classmethod
    def labelled(cls, labels: Labels, noun: str = "row") -> Rows:
        """Name rows by `labels`, one each."""
        return cls(np.arange(len(labels), dtype=np.int64), labels, noun)

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, indices: Sequence[int] | IntArray) -> Rows:
        """Keep some observations, in the order given."""
        chosen = np.asarray(indices, dtype=np.int64)
        labels = self.labels
        if labels is not None:
            labels = (
                labels[chosen]
                if isinstance(labels, np.ndarray)
                else [labels[index] for index in chosen]
            )
        return Rows(self.positions[chosen], labels, self.noun)

    def values(self) -> list[Any]:
        """Give the label of every observation, or its position: a column for a table."""
        labels = self.positions if self.labels is None else self.labels
        return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)

    def name(self, index: int) -> str:
        """Name one observation.

        Examples
        --------
        >>> import numpy
        >>> Rows.labelled(numpy.array([21, 31]), "line").name(1)
        'line 31'
        """
        return f"{self.noun} {_shown(self.positions[index], self.labels, index)}"

    def names(self, indices: Sequence[int] | IntArray) -> str:
        """Name the first few of some observations.

        Examples
        --------
        >>> Rows.of(40).names([3, 5]), Rows.of(40).names([3]), Rows.of(40).names(range(9))
        ('rows 3, 5', 'row 3', 'rows 0, 1, 2, 3, 4 and 4 more')
        """
        noun = self.noun if len(indices) == 1 else _PLURALS.get(self.noun, self.noun)
        shown = [_shown(self.positions[i], self.labels, i) for i in indices[:_SHOWN]]
        more = f" and {len(indices) - _SHOWN} more" if len(indices) > _SHOWN else ""
        return f"{noun} {', '.join(shown)}{more}"


@dataclass(frozen=True)
class Places:
    """Where the records of a file stand.

    Attributes
    ----------
    noun : str
        What a place is called: the line of a text file or the row of a sheet is a ``"line"``.
    first : int
        The place of the first record.
    numbers : ndarray of int or None
        The place of each record, if they do not simply follow each other.
    """

    noun: str = "row"
    first: int = 0
    numbers: IntArray | None = None

    def rows(self, records: IntArray) -> Rows:
        """Name the rows that are left, by the numbers of their records."""
        if self.noun == "row":
            return Rows(records)
        places = self.first + records if self.numbers is None else self.numbers[records]
        return Rows(records, places, self.noun)

    def name(self, record: int) -> str:
        """Name one record."""
        return self.rows(np.array([record], dtype=np.int64)).name(0)


def _shown(position: np.int64, labels: Labels | None, index: int | np.int64) -> str:
    return str(position if labels is None else labels[int(index)])


def subject_column(names: Iterable[str], used: Sequence[str]) -> str | None:
    """Find a column that the question does not use and that names subjects."""
    return next((name for name in names if name not in used and _SUBJECT.fullmatch(name)), None)


def repeated_subjects(name: str, values: Sequence[Any]) -> tuple[DependentRowsWarning, ...]:
    """Caution if subjects come several times.

    Examples
    --------
    >>> bool(repeated_subjects("mouse", ["m1", "m1", "m2", "m2", "m3"]))
    True
    """
    present = [value for value in values if value is not None]
    n_different = len(set(map(str, present)))
    if len(present) < 2 or not 1 < n_different < _MOST_DISTINCT * len(present):
        return ()
    return (
        DependentRowsWarning(
            f"{name!r} has {n_different:,} different values in {len(present):,} rows. If rows with "
            "the same one come from one subject they are not independent, and the p-value is too "
            "small.",
            [
                "Pass ",
                Option("clusters", name),
                " where the question takes it, or keep one row of each.",
            ],
        ),
    )
