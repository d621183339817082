"""What a check looks at: the data of a question, what is tested, and the rest of the table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from reldep.data.dataset import AlignedData
from reldep.data.lifetimes import Lifetime
from reldep.data.variables import (
    BoolArray,
    FloatArray,
    IntArray,
    Items,
    Labels,
    Mixed,
    Numeric,
    Rows,
    Sparse,
    Variable,
)
from reldep.engine.centred import Pair
from reldep.engine.covariates import Conditioning
from reldep.engine.influence import Influence
from reldep.exceptions import ReldepWarning
from reldep.files.table import Table
from reldep.kernels.base import FittedKernel, FittedSelection, Kernel
from reldep.kernels.custom import Precomputed
from reldep.kernels.scale import Scale
from reldep.stats.estimates import Estimates
from reldep.stats.pairwise import Test

#: What a check yields.
Cautions = Iterator[ReldepWarning]

# Rows and columns of a variable that are looked at: correlations, orders and regressions of more
# differ from these by less than any threshold, and take time.
MOST_ROWS, MOST_COLUMNS = 20_000, 20

# The conventional level, at which checks ask whether two tests agree or something is left.
LEVEL = 0.05

# Levels are compared if they have this many rows on average: rows that are repeated two or three
# times divide any two variables into the same levels.
ROWS_PER_LEVEL = 5

# A scale of answers has at most this many levels. Numbers with more are also compared by order.
LEVELS_OF_A_SCALE = 10

# Fewer rows may be in the same order by chance, or because the dependence is strong: 1 in 20! of
# independent columns, but 1 in 6 of columns with a correlation of .99. Then only columns on a
# straight line are copies.
FEWEST_ORDERED = 20


class Levels(NamedTuple):
    """The different values of a column, the number of each row's value, and their counts."""

    values: FloatArray
    codes: IntArray
    counts: IntArray

    @classmethod
    def of(cls, column: FloatArray) -> Levels:
        """Return the levels of a column."""
        values, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        return cls(values, codes.reshape(-1), counts)


class Columns:
    """The columns of a variable, with what several checks need of them, computed once."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        self.parts = variable.parts if isinstance(variable, Mixed) else (variable,)
        #: The values of a numeric variable of one column.
        self.only: FloatArray | None = None
        if isinstance(variable, Numeric) and variable.values.shape[1] == 1:
            self.only = variable.values[:, 0]

    @cached_property
    def levels(self) -> Levels | None:
        """The levels of a variable of one column, from at most `MOST_ROWS` evenly spaced rows."""
        column = self.only
        if column is None:
            if not isinstance(self.variable, Labels):
                return None
            column = self.variable.codes.astype(np.float64)
        if len(column) > MOST_ROWS:
            column = column[np.linspace(0, len(column) - 1, MOST_ROWS).astype(np.int64)]
        return Levels.of(column)

    @cached_property
    def codes(self) -> IntArray | None:
        """The number of each row among the different rows; None for objects."""
        if self.levels is not None and len(self.levels.codes) == len(self.variable):
            return self.levels.codes
        codes: IntArray | None = None
        for part in self.parts:
            if not isinstance(part, (Labels, Numeric)):
                return None
            table = part.codes[None] if isinstance(part, Labels) else part.values.T[:MOST_COLUMNS]
            for column in table:
                _, own = np.unique(column, return_inverse=True)
                if codes is not None:
                    _, own = np.unique(codes * len(own) + own.reshape(-1), return_inverse=True)
                codes = own.reshape(-1)
                if codes.max(initial=0) + 1 == len(codes):
                    return codes
        return codes

    @cached_property
    def ranks(self) -> FloatArray | None:
        """The centred ranks of numbers and indicators of labels, by column; None for objects."""
        columns: list[FloatArray] = []
        for part in self.parts:
            if isinstance(part, Numeric):
                columns.extend(_ranks(part.values[:MOST_ROWS, :MOST_COLUMNS].T))
            elif isinstance(part, Labels):
                codes = part.codes[:MOST_ROWS]
                values, counts = np.unique(codes, return_counts=True)
                frequent = values[np.argsort(-counts, kind="stable")[:MOST_COLUMNS]]
                columns.extend((codes == frequent[:, None]).astype(np.float64))
            else:
                return None
        table = np.array(columns[:MOST_COLUMNS])
        return np.asarray(table - table.mean(axis=1, keepdims=True))

    @cached_property
    def values(self) -> dict[tuple[str, int], str]:
        """The name of each column by a hash of its values: columns of equal keys are equal."""
        found = {}
        for part in self.parts:
            if isinstance(part, Numeric):
                names = part.columns or tuple(map(str, range(part.values.shape[1])))
                if self.only is not None:
                    names = (part.name,)
                for name, column in zip(names, part.values.T, strict=True):
                    # Adding 0 turns -0.0, which equals 0.0, into it.
                    found["numbers", hash((column + 0.0).tobytes())] = name
            else:
                found[type(part).__name__, hash(tuple(_contents(part)))] = part.name
        return found

    @cached_property
    def orders(self) -> frozenset[tuple[str, int]]:
        """Keys of the levels and of the order of rows, for a variable of one column."""
        levels = self.levels
        if levels is None:
            return frozenset()
        found = []
        n, k, column = len(levels.codes), len(levels.values), self.only
        if ROWS_PER_LEVEL * k <= n and (k <= LEVELS_OF_A_SCALE or column is None):
            found.append(("levels", hash(_by_first_row(levels.codes).tobytes())))
        if column is not None:
            if n >= FEWEST_ORDERED:
                rising, falling = levels.codes, k - 1 - levels.codes
            else:
                size = np.abs(column).max() or 1.0
                centred = column / size - np.mean(column / size)
                rising = np.round(centred / (np.abs(centred).max() or 1.0), 9) + 0.0
                falling = 0.0 - rising
            found.append(("order", min(hash(rising.tobytes()), hash(falling.tobytes()))))
        return frozenset(found)

    def shared(self, other: Columns) -> list[str]:
        """Return the names of the columns that the other variable contains, too."""
        return [name for key, name in self.values.items() if key in other.values]

    def is_like(self, other: Columns) -> bool:
        """Return True if both are one column in other units or words."""
        return not self.orders.isdisjoint(other.orders)


def _ranks(columns: FloatArray) -> FloatArray:
    """Return mid-ranks along each row, up to a constant: of many columns as fast as of one."""
    order = np.argsort(columns, axis=1)
    ordered = np.take_along_axis(columns, order, axis=1)
    is_new = np.ones(columns.shape, dtype=bool)
    is_new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    # Levels and ranks are counted through all columns; the constant goes when they are centred.
    level = np.cumsum(is_new).reshape(columns.shape) - 1
    counts = np.bincount(level.ravel())
    middle = (np.cumsum(counts) - 0.5 * counts) / columns.shape[1]
    found = np.empty(columns.shape)
    np.put_along_axis(found, order, middle[level], axis=1)
    return found


def _by_first_row(codes: IntArray) -> IntArray:
    """Return codes numbered in order of appearance."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), dtype=np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    return numbers[inverse.reshape(-1)]


def _contents(part: Variable) -> Iterator[Any]:
    """Yield what the values of labels, sparse rows and objects consist of."""
    if isinstance(part, Labels):
        codes = _by_first_row(part.codes)
        _, first = np.unique(codes, return_index=True)
        yield codes.tobytes()
        yield from (repr(part.categories[c]) for c in part.codes[first].tolist() if c >= 0)
    elif isinstance(part, Sparse):
        yield from (
            one.tobytes() for one in (part.values.data, part.values.indices, part.values.indptr)
        )
    elif isinstance(part, Items):
        for item in part.items:
            if isinstance(item, np.ndarray) and item.dtype != object:
                yield item.shape, item.tobytes()
            else:
                # Objects such as graphs are equal only if they are the same.
                yield repr(item) if isinstance(item, (str, Lifetime)) else id(item)


@dataclass(frozen=True, eq=False, kw_only=True)
class Data:
    """The variables of a question on the same complete rows.

    Attributes
    ----------
    dataset : AlignedData
    kernels : mapping of str to Kernel
    pairs : tuple of Pair
        The dependences that are asked about.
    source : str, optional
        The variable that is compared with all others, if there is one.
    automatic : frozenset of str
        The variables whose kernels the user did not choose.
    conditioning : Conditioning, optional
        The covariates that are held fixed; the data are what they leave.
    given : tuple of Variable
        The columns of the covariates.
    takes_clusters : bool
        Whether the question has the options `clusters` and `max_lag`.
    """

    dataset: AlignedData
    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = ()
    source: str | None = None
    automatic: frozenset[str] = frozenset()
    conditioning: Conditioning | None = None
    given: tuple[Variable, ...] = ()
    takes_clusters: bool = True

    @cached_property
    def n(self) -> int:
        """The number of rows."""
        return len(self.dataset)

    @property
    def rows(self) -> Rows:
        """The places and names of the rows."""
        return self.dataset.rows

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """The variables whose values are known: not kernel matrices that were passed in."""
        own = self.dataset.variables
        return {
            n: one for n, one in own.items() if not isinstance(self.kernels.get(n), Precomputed)
        }

    @cached_property
    def fitted(self) -> Mapping[str, FittedKernel]:
        """The kernels with their data."""
        return {n: kernel.fit(self.dataset.variables[n]) for n, kernel in self.kernels.items()}

    @cached_property
    def columns(self) -> dict[str, Columns]:
        """The columns of every variable."""
        return {name: Columns(one) for name, one in self.variables.items()}

    @cached_property
    def parts(self) -> list[Variable]:
        """Every variable, parts of mixed ones by themselves, covariates, clusters and groups."""
        own = [part for one in self.columns.values() for part in one.parts]
        return [*own, *self.given, *self.dataset.labels.values()]

    @cached_property
    def texts(self) -> dict[str, str]:
        """How the texts of every variable of texts are prepared."""
        ways = {
            name: kernel.preparation(self.variables[name])
            for name, kernel in self.kernels.items()
            if isinstance(self.variables.get(name), (Labels, Items))
        }
        return {name: way for name, way in ways.items() if way is not None}

    @cached_property
    def bandwidths(self) -> dict[str, Scale]:
        """The bandwidth of every numeric variable whose kernel has one, and its rule."""
        found = {}
        for name, kernel in self.fitted.items():
            whole = kernel.kernel if isinstance(kernel, FittedSelection) else kernel
            chosen = getattr(whole, "chosen", None)
            if chosen is not None and isinstance(self.variables.get(name), Numeric):
                found[name] = chosen
        return found


@dataclass(frozen=True, eq=False)
class Tested:
    """Dependences and what is tested about them.

    Attributes
    ----------
    data : Data
    influence : Influence
    found : Estimates
        The dependences of ``data.pairs``.
    weights : ndarray, shape (k, p)
        The weights of the dependences in everything that is tested.
    where : str
        Which part of the rows this is about, such as " in 'treated'".
    """

    data: Data
    influence: Influence
    found: Estimates
    weights: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    where: str = ""

    def without(self, left_out: IntArray) -> Test | None:
        """Return the test of the first weights without some rows; None if it cannot be had."""
        raise NotImplementedError

    @cached_property
    def is_difference(self) -> bool:
        """Whether one difference of two dependences is tested, both on the same rows."""
        is_one = len(self.weights) == 1 and sorted(self.weights[0].tolist()) == [-1.0, 1.0]
        return is_one and self.found.pairs == self.data.pairs

    @cached_property
    def psi(self) -> FloatArray | None:
        """The influence of every row on everything that is tested, shape (k, rows).

        None for blocks of rows, which do not keep it.
        """
        return np.asarray(self.weights @ self.found.psi) if self.found.keeps_rows else None


@dataclass(frozen=True, eq=False)
class Scanned:
    """Many columns, each tested by itself next to the same variables.

    Attributes
    ----------
    data : Data
        The variables.
    names : sequence of str
        The columns.
    psi : ndarray, shape (columns, rows), or None
        The influence of every row on what is tested; None where it is not known.
    claimed : ndarray of bool, shape (columns,)
        The columns of which something is claimed.
    """

    data: Data
    names: Sequence[str]
    psi: FloatArray | None
    claimed: BoolArray
    where: str = ""


@dataclass(frozen=True, eq=False)
class Beside:
    """A table next to the columns of it that a question uses.

    Attributes
    ----------
    table : Table
    used : collection of str
        The columns that the question uses.
    has_clusters, takes_clusters : bool
        Whether it names clusters, and whether it has the option.
    """

    table: Table
    used: Collection[str]
    has_clusters: bool = False
    takes_clusters: bool = True

    @property
    def unused(self) -> list[str]:
        """The other columns."""
        return [name for name in self.table.columns if name not in self.used]
