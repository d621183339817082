"""The rows of the input: where each observation stands, what people call it, and whose it is.

One convention holds in errors, cautions, tables and reports. A row of a file is named by its line
in the file, counted from 1 with the header. A row of a Python object is named by the frame's own
index if it has one that says more than the position, else by its position, counted from 0. An
identifier that the user gives overrides both.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reldep.data.variables import IntArray

Labels: TypeAlias = Sequence[Any] | npt.NDArray[Any]

_PLURALS = {"row": "rows", "line": "lines"}

# Columns of numbers that are times, and columns of dates that do not order the rows.
_YEAR = re.compile(r"(calendar[ _.-]?)?(year|yr|date)", re.IGNORECASE)
_BIRTH = re.compile(r"birth|born|dob", re.IGNORECASE)
_DATE = re.compile(r"date|day|month|time", re.IGNORECASE)
_ISO_DATE = re.compile(r"\d{4}-\d\d(-\d\d)?(\D|$)")
# Rows per date, on average, in a series: monthly rows with the year alone.
_ROWS_PER_DATE = 12
# Rows that are put in the order of time to see whether adjacent ones are correlated.
_MOST_RANKED = 20_000


@dataclass(frozen=True)
class TimeOrder:
    """The column that dates the rows.

    Attributes
    ----------
    column : str
    is_sorted : bool
        Whether the rows are in the order of time, or in the reverse order.
    is_series : bool
        Whether they make one series: hardly more than one row per date.
    ranks : ndarray of int or None
        The place of every row in time, of a series that is not sorted.
    """

    column: str
    is_sorted: bool
    is_series: bool
    ranks: IntArray | None = None

    @classmethod
    def of(cls, column: str, values: Iterable[Any]) -> TimeOrder | None:
        """Return the order of dates or years; None if fewer than three are known."""
        listed = list(values)
        known = [value for value in listed if value is not None and value == value]
        n_dates = len(set(known))
        if n_dates < 3 or not all(map(_is_moment, known)):
            return None
        steps = list(itertools.pairwise(known))
        if all(a <= b for a, b in steps) or all(a >= b for a, b in steps):
            return cls(column, True, len(known) <= _ROWS_PER_DATE * n_dates)
        if n_dates < len(listed) or n_dates > _MOST_RANKED:
            return cls(column, False, False)
        ranks = np.empty(n_dates, dtype=np.int64)
        ranks[sorted(range(n_dates), key=known.__getitem__)] = np.arange(n_dates)
        return cls(column, False, True, ranks)

    def take(self, chosen: IntArray) -> TimeOrder:
        """Return the order of some of the rows."""
        return self if self.ranks is None else replace(self, ranks=self.ranks[chosen])


def _is_moment(value: Any) -> bool:
    """Return True for dates and numbers, and for strings that begin with a date as in ISO 8601."""
    return not isinstance(value, str) or _ISO_DATE.match(value) is not None


def dates_rows(name: str, *, is_date: bool, is_number: bool, is_text: bool = False) -> bool:
    """Return True if a column may date the rows, by its type and its name.

    Examples
    --------
    >>> dates_rows("Year", is_date=False, is_number=True)
    True
    >>> dates_rows("date_of_birth", is_date=True, is_number=False)
    False
    """
    if _BIRTH.search(name):
        return False
    by_name = (is_number and _YEAR.fullmatch(name)) or (is_text and _DATE.search(name))
    return is_date or bool(by_name)


def first_in_order(orders: Iterable[TimeOrder | None]) -> TimeOrder | None:
    """Return a column by which the rows are in order, else one by which they are not."""
    known = [one for one in orders if one is not None]
    return min(known, key=lambda one: (not one.is_series, not one.is_sorted), default=None)


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
    time : TimeOrder or None
        The column or index that dates the rows, if there is one.

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
    time: TimeOrder | None = None

    @classmethod
    def of(cls, n: int) -> Rows:
        """Return `n` rows named by their positions."""
        return cls(np.arange(n, dtype=np.int64))

    @classmethod
    def labelled(cls, labels: Labels, noun: str = "row") -> Rows:
        """Return rows named by `labels`, one each."""
        return cls(np.arange(len(labels), dtype=np.int64), labels, noun)

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, indices: Sequence[int] | IntArray) -> Rows:
        """Return some observations, in the order given."""
        chosen = np.asarray(indices, dtype=np.int64)
        labels = self.labels
        if labels is not None:
            labels = (
                labels[chosen]
                if isinstance(labels, np.ndarray)
                else [labels[index] for index in chosen]
            )
        time = None if self.time is None else self.time.take(chosen)
        return Rows(self.positions[chosen], labels, self.noun, time)

    def values(self) -> list[Any]:
        """Return the label of every observation, or its position: a column for a table."""
        labels = self.positions if self.labels is None else self.labels
        return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)

    def name(self, index: int) -> str:
        """Return the name of one observation.

        Examples
        --------
        >>> import numpy
        >>> Rows.labelled(numpy.array([21, 31]), "line").name(1)
        'line 31'
        """
        labels = self.positions if self.labels is None else self.labels
        return f"{self.noun} {labels[index]}"

    def names(self, indices: Sequence[int] | IntArray) -> str:
        """Return the names of the first few of some observations.

        Examples
        --------
        >>> Rows.of(40).names([3, 5]), Rows.of(40).names([3]), Rows.of(40).names(range(9))
        ('rows 3, 5', 'row 3', 'rows 0, 1, 2, 3, 4 and 4 more')
        """
        noun = self.noun if len(indices) == 1 else _PLURALS.get(self.noun, self.noun)
        labels = self.positions if self.labels is None else self.labels
        shown = ", ".join(str(labels[int(i)]) for i in indices[:5])
        return f"{noun} {shown}" + f" and {len(indices) - 5} more" * (len(indices) > 5)


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

    def take(self, records: IntArray) -> Places:
        """Return the places of some records."""
        places = self.first + records if self.numbers is None else self.numbers[records]
        return replace(self, numbers=places)

    def rows(self, records: IntArray) -> Rows:
        """Return the rows that are left, by the numbers of their records."""
        places = self.first + records if self.numbers is None else self.numbers[records]
        return Rows(places) if self.noun == "row" else Rows(records, places, self.noun)

    def name(self, record: int) -> str:
        """Return the name of one record."""
        return self.rows(np.array([record], dtype=np.int64)).name(0)
