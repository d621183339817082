"""Variables: what every kind of data becomes before a kernel sees it.

A *variable* is a named block of observations. Whatever a person passes in is read
by :func:`reldep.data.objects.read_variable` into one of five frozen forms:

=============  ==========================================================
`Numeric`      an m×d table of numbers
`Sparse`       an m×d sparse matrix, never densified
`Labels`       one category per observation, as integer codes
`Mixed`        columns of different kinds side by side
`Items`        any other objects (texts, graphs, images), one per observation
=============  ==========================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from reldep.exceptions import NoVariationError
from reldep.words import listed

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.frames import TimeOrder


FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
SparseArray: TypeAlias = "csr_array"

# The code of a missing label, as in the categoricals of pandas.
MISSING_CODE = -1
# An unbiased HSIC has four different rows.
MINIMUM_OBSERVATIONS = 4

_PLURALS = {"row": "rows", "line": "lines"}


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
    >>> from reldep.data.variables import Rows
    >>> Rows.of(40).name(30)
    'row 30'
    >>> Rows.of(40).take([4, 2]).values()
    [4, 2]
    >>> Rows.labelled(["p7", "p9"], "patient").name(1)
    'patient p9'
    """

    positions: IntArray
    labels: Sequence[Any] | npt.NDArray[Any] | None = None
    noun: str = "row"
    time: TimeOrder | None = None

    @classmethod
    def of(cls, n: int) -> Rows:
        """Return `n` rows named by their positions."""
        return cls(np.arange(n, dtype=np.int64))

    @classmethod
    def labelled(cls, labels: Sequence[Any] | npt.NDArray[Any], noun: str = "row") -> Rows:
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


@dataclass(frozen=True, eq=False)
class Variable(ABC):
    """A named block of observations.

    Attributes
    ----------
    name : str
        What it is called.
    notes : tuple of str
        What was understood about its values beyond what they plainly say.
    """

    name: str
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of observations."""

    @abstractmethod
    def take(self, rows: IntArray) -> Variable:
        """Return some observations, in the order given."""

    @abstractmethod
    def missing(self) -> BoolArray:
        """Return True for the observations that are incomplete (NaN, infinite or None)."""

    def unlike(self, row: int) -> BoolArray | None:  # noqa: ARG002 (for subclasses)
        """Return True for the observations that differ from this one; None if not known."""
        return None

    def odd_rows(self) -> IntArray | None:
        """Return the observations unlike all others, which are the same, if there is at most one.

        None if there are more, or if it is not known.
        """
        # One of the first two is like all others.
        for row in (0, 1):
            unlike = self.unlike(row)
            if unlike is None:
                return None
            n_unlike = int(np.count_nonzero(unlike))
            if n_unlike == 0 or (n_unlike == 1 and len(unlike) > 2):
                return np.flatnonzero(unlike)
            if n_unlike < len(unlike) - 1:
                return None
        return None

    def is_constant(self) -> bool:
        """Return True if all observations are the same."""
        odd = self.odd_rows()
        return odd is not None and not len(odd)

    def lone(self) -> int | None:
        """Return the observation that alone differs from all others, which are the same."""
        odd = self.odd_rows()
        return int(odd[0]) if odd is not None and len(odd) else None

    def describe_missing(self, rows: Rows | None = None) -> str:
        """Return how many values are missing and in which of the `rows`, in words."""
        gaps = np.flatnonzero(self.missing())
        noun = "missing value" if len(gaps) == 1 else "missing values"
        return f"{len(gaps)} {noun} in {_names(gaps, rows)}"


@dataclass(frozen=True, eq=False)
class Numeric(Variable):
    """Numbers: one row an observation, one column a measurement.

    `columns` names every column, if they have names; a nested column of a frame gives its name
    to all the columns that it becomes.
    """

    values: FloatArray
    columns: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: IntArray) -> Numeric:
        return replace(self, values=self.values[rows])

    def missing(self) -> BoolArray:
        return np.asarray(~np.isfinite(self.values).all(axis=1))

    def unlike(self, row: int) -> BoolArray:
        return np.asarray((self.values != self.values[row]).any(axis=1))

    def describe_missing(self, rows: Rows | None = None) -> str:
        bad = ~np.isfinite(self.values)
        n_nan, n_infinite = int(np.isnan(self.values).sum()), int(np.isinf(self.values).sum())
        kinds = " and ".join(
            f"{n} {kind}" for n, kind in ((n_nan, "NaN"), (n_infinite, "infinite")) if n
        )
        places = _names(np.flatnonzero(bad.any(axis=1)), rows)
        names = [
            name
            for name, hit in zip(self.columns, np.any(bad, axis=0).tolist(), strict=False)
            if hit
        ]
        return f"{kinds} in {places}" + (f" (columns {listed(names, 5)})" if names else "")


@dataclass(frozen=True, eq=False)
class Sparse(Variable):
    """Numbers in a sparse matrix; only the stored entries are ever held."""

    values: csr_array

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def take(self, rows: IntArray) -> Sparse:
        return replace(self, values=self.values[rows])

    def missing(self) -> BoolArray:
        incomplete = np.zeros(len(self), dtype=bool)
        stored_row = np.repeat(np.arange(len(self)), np.diff(self.values.indptr))
        incomplete[stored_row[~np.isfinite(self.values.data)]] = True
        return incomplete

    def odd_rows(self) -> IntArray | None:
        smallest, largest = self.values.min(axis=0), self.values.max(axis=0)
        return None if (smallest != largest).nnz else np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Labels(Variable):
    """Categories: a code per observation and the category each code stands for.

    `doubt` says why the values may be no labels after all. A kernel that is chosen by the kind
    of the data refuses them with these words; one that is asked for by name takes them. A
    `caution` is less: such a kernel takes them, and says so. `order` lists all categories from
    lowest to highest where the data say that they have an order.
    """

    codes: IntArray
    categories: tuple[Any, ...]
    doubt: str | None = field(default=None, kw_only=True)
    caution: str | None = field(default=None, kw_only=True)
    order: tuple[Any, ...] | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: IntArray) -> Labels:
        return replace(self, codes=self.codes[rows])

    def missing(self) -> BoolArray:
        return np.asarray(self.codes == MISSING_CODE)

    def unlike(self, row: int) -> BoolArray:
        return np.asarray(self.codes != self.codes[row])

    def values(self) -> list[Any]:
        """Return the category of every observation."""
        return [self.categories[code] for code in self.codes]


@dataclass(frozen=True, eq=False)
class Mixed(Variable):
    """Columns of different kinds: one part for the numbers, one for each label column."""

    parts: tuple[Numeric | Labels, ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, rows: IntArray) -> Mixed:
        return replace(self, parts=tuple(part.take(rows) for part in self.parts))

    def missing(self) -> BoolArray:
        return np.asarray(np.any([part.missing() for part in self.parts], axis=0))

    def unlike(self, row: int) -> BoolArray:
        return np.asarray(np.any([part.unlike(row) for part in self.parts], axis=0))

    def describe_missing(self, rows: Rows | None = None) -> str:
        return "; ".join(
            f"{part.name!r}: {part.describe_missing(rows)}"
            for part in self.parts
            if part.missing().any()
        )

    def numbers(self) -> Numeric | None:
        """Return the numeric part, if there is one."""
        return next((part for part in self.parts if isinstance(part, Numeric)), None)

    def labels(self) -> Labels | None:
        """Return the label columns as one: two rows agree if all their labels agree."""
        columns = [part for part in self.parts if isinstance(part, Labels)]
        if not columns:
            return None
        if len(columns) == 1:
            return columns[0]
        names = ", ".join(column.name for column in columns)
        return joint_labels(names, [column.codes for column in columns])


@dataclass(frozen=True, eq=False)
class Items(Variable):
    """Objects that only a kernel made for them understands.

    Whether they are equal may be costly to find, or undefined; the engine still notices a kernel
    without variation.
    """

    items: Sequence[Any] | npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.items)

    def take(self, rows: IntArray) -> Items:
        if isinstance(self.items, np.ndarray):
            return replace(self, items=self.items[rows])
        return replace(self, items=[self.items[row] for row in rows])

    def missing(self) -> BoolArray:
        if isinstance(self.items, np.ndarray) and self.items.dtype.kind == "f":
            axes = tuple(range(1, self.items.ndim))
            return np.asarray(~np.isfinite(self.items).all(axis=axes))
        return np.array([item is None for item in self.items], dtype=bool)

    def is_ragged(self) -> bool:
        """Return True if these are plain rows that do not have the same length."""
        present = [item for item in self.items if item is not None]
        plain = all(isinstance(item, (list, tuple, np.ndarray)) for item in present)
        return plain and len({len(item) for item in present}) > 1

    def in_words(self) -> str:
        """Return what the observations are, in words."""
        if isinstance(self.items, np.ndarray):
            return f"arrays of shape {self.items.shape[1:]}"
        present = [item for item in self.items if item is not None]
        if self.is_ragged():
            sizes = [len(item) for item in present]
            return f"rows of different lengths ({min(sizes)} to {max(sizes)})"
        kinds = sorted({type(item).__name__ for item in present})
        return f"objects of type {listed(kinds, 5)}"


def joint_labels(name: str, columns: Sequence[npt.NDArray[Any]]) -> Labels:
    """Return the distinct rows of several columns as labels; a missing code stays missing."""
    table = np.column_stack(columns)
    distinct, codes = np.unique(table, axis=0, return_inverse=True)
    codes = codes.reshape(-1).astype(np.int64)
    if table.dtype.kind == "i":
        codes[(table == MISSING_CODE).any(axis=1)] = MISSING_CODE
    return Labels(name, codes, tuple(map(tuple, distinct.tolist())))


def check_varies(variable: Variable) -> None:
    """Raise InputError for a constant: its HSIC with anything is 0 by construction."""
    if variable.is_constant():
        raise constant_in_words([variable.name], len(variable))


def constant_in_words(names: Sequence[str], n: int) -> NoVariationError:
    """Return the error for variables whose n observations are all the same."""
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return NoVariationError(
        f"{', '.join(names[:6])} {verb} constant: all {n} observations are the same, so "
        f"nothing can depend on {them} (an HSIC is 0 by construction). Leave {them} out."
    )


def rows_in_words(positions: IntArray) -> str:
    """Return the names of the first few rows, by position."""
    return _names(positions, None)


def _names(positions: IntArray, rows: Rows | None) -> str:
    return (rows or Rows(positions=np.arange(positions[-1] + 1))).names(positions)
