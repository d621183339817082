"""Copies: variables that are related by construction, found by their values.

Two columns are the same if all their values are. They are one column in other units or words if
they put the rows in the same order, or divide them into the same levels. A source may also be
computed from several targets, as a sum, a product or a ratio.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.lifetimes import Lifetime
from reldep.data.variables import Items, Labels, Mixed, Numeric, Sparse
from reldep.exceptions import CopyWarning, InputError
from reldep.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reldep.checks.subjects import Data
    from reldep.data.variables import FloatArray, IntArray, Variable

# Fewer rows may be in the same order by chance, or because the dependence is strong: 1 in 20! of
# independent columns, but 1 in 6 of columns with a correlation of .99. Then only columns on a
# straight line are copies.
FEWEST_ORDERED = 20

# Levels count as renamed ones if they have this many rows on average. Rows that are repeated two
# or three times divide any two variables into the same levels.
ROWS_PER_LEVEL = 5

# Numbers with more levels than a scale of answers has must be in the same order, too.
LEVELS_OF_A_SCALE = 10

# Order and levels are compared on at most this many evenly spaced rows: no measured dependence
# puts thousands of rows in the same order.
MOST_ROWS = 5_000

# Share of the standard deviation that a regression may leave of a formula, for rounded values:
# more for two or three columns, which no measured dependence comes near.
LEFT_OF_FEW, LEFT_OF_MANY = 0.03, 1e-3
FEW_COLUMNS = 3
# Rows per column, and limits, so that a regression does not fit by chance and takes no time.
ROWS_PER_COLUMN, FEWEST_ROWS, MOST_ROWS_FITTED, MOST_COLUMNS = 5, 12, 20_000, 200
# A column is part of a formula if the residual without it is this many times as large.
NEEDED = 3.0


@dataclass(frozen=True)
class Marks:
    """What identifies the columns of a variable: columns with equal marks are copies.

    Attributes
    ----------
    values : dict of bytes to str
        The name of each column by a digest of its values.
    levels : frozenset of bytes
        Digests of the order and of the levels, for a variable of one column.
    """

    values: dict[bytes, str]
    levels: frozenset[bytes]

    @classmethod
    def of(cls, variable: Variable) -> Marks:
        """Compute the marks of a variable."""
        return cls(
            {mark: name for name, mark in _values(variable)}, frozenset(_levels_of(variable))
        )

    def shared(self, other: Marks) -> list[str]:
        """Return the names of the columns that the other variable contains, too."""
        return [name for mark, name in self.values.items() if mark in other.values]

    def is_like(self, other: Marks) -> bool:
        """Return True if both are one column in other units or words."""
        return bool(self.levels & other.levels)


def check_source_outside(marks: Mapping[str, Marks], source: str, targets: Sequence[str]) -> None:
    """Raise an error if a target contains a column of the source."""
    for target in targets:
        shared = marks[target].shared(marks[source])
        if not shared:
            continue
        if shared == [target]:
            raise InputError(
                f"the target {target!r} is the source itself. Leave it out of the targets."
            )
        raise InputError(
            f"the target {target!r} contains {listed(list(map(repr, shared)), 5)}, which is in the "
            f"source {source!r} too. Leave the column out of one of them."
        )


def copied(data: Data) -> Iterator[CopyWarning]:
    """Check for copies among the variables of a question, and for a source made of targets."""
    targets = [name for name in data.variables if data.source is not None and name != data.source]
    pairs = [(x, y) for x, y in data.pairs if x in data.marks and y in data.marks]
    yield from copies(data.marks, pairs, among=targets)
    if data.source is None or data.source not in data.variables:
        return
    apart = [name for name in targets if not data.marks[name].is_like(data.marks[data.source])]
    for formula in formulas(data.variables, data.source, apart):
        yield CopyWarning(f"{formula}, up to rounding; if so, leave it out.")


def copies(
    marks: Mapping[str, Marks], pairs: Iterable[tuple[str, str]], among: Sequence[str] = ()
) -> Iterator[CopyWarning]:
    """Check whether variables share a column, or are one column in other units or words.

    Parameters
    ----------
    marks : mapping of str to Marks
    pairs : iterable of (str, str)
        The pairs to look at.
    among : sequence of str
        Variables of which all pairs are looked at as well.
    """
    owners: dict[bytes, list[str]] = {}
    for name, one in marks.items():
        for mark in (*one.values, *one.levels):
            owners.setdefault(mark, []).append(name)
    suspects = {name for names in owners.values() if len(names) > 1 for name in names}
    targets = [name for name in among if name in suspects]
    all_pairs = dict.fromkeys((*pairs, *combinations(targets, 2)))
    both = [(x, y) for x, y in all_pairs if x != y and x in suspects and y in suspects]
    inside, alike = [], []
    for x, y in both:
        common = marks[x].shared(marks[y])
        if common and (len(marks[x].values) > 1 or len(marks[y].values) > 1):
            inside.append(f"{x!r} and {y!r} both contain {listed(list(map(repr, common)), 5)}")
        elif common or marks[x].is_like(marks[y]):
            alike.append(f"{x!r} and {y!r}")
    if inside:
        yield CopyWarning(f"{listed(inside, 5)}; leave the column out of one of them.")
    if alike:
        yield CopyWarning(
            f"One variable in two units or words, by its values: {listed(alike, 5)}; if one is "
            "computed from the other, leave it out."
        )


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.digest()


def _values(variable: Variable) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the digest of every column."""
    for part in variable.parts if isinstance(variable, Mixed) else (variable,):
        if isinstance(part, Labels):
            order, codes = _by_first_row(part.codes)
            words = "\0".join(repr(part.categories[code]) for code in order.tolist() if code >= 0)
            yield part.name, _digest(b"labels", words.encode(), codes.tobytes())
        elif isinstance(part, Numeric):
            names = part.columns or tuple(map(str, range(part.values.shape[1])))
            if part.values.shape[1] == 1 and part is variable:
                names = (part.name,)
            for name, column in zip(names, part.values.T, strict=True):
                # Adding 0 turns -0.0, which equals 0.0, into it.
                yield name, _digest(b"numbers", (np.ascontiguousarray(column) + 0.0).tobytes())
        elif isinstance(part, Sparse):
            table = part.values
            arrays = (table.data, table.indices, table.indptr)
            yield part.name, _digest(b"sparse", *(one.tobytes() for one in arrays))
        elif isinstance(part, Items):
            yield part.name, _digest(b"items", *map(_bytes_of, part.items))


def _bytes_of(item: Any) -> bytes:
    """Return the value of an item; objects such as graphs are equal only if they are the same."""
    if isinstance(item, np.ndarray) and item.dtype != object:
        return repr(item.shape).encode() + item.tobytes()
    return repr(item if isinstance(item, (str, Lifetime)) else id(item)).encode()


def _levels_of(variable: Variable) -> Iterator[bytes]:
    """Yield digests of the order and the levels of a variable of one column."""
    if isinstance(variable, Labels):
        column = variable.codes.astype(np.float64)
    elif isinstance(variable, Numeric) and variable.values.shape[1] == 1:
        column = variable.values[:, 0]
    else:
        return
    if len(column) > MOST_ROWS:
        column = column[np.linspace(0, len(column) - 1, MOST_ROWS).astype(np.int64)]
    values, codes = np.unique(column, return_inverse=True)
    n, k = len(column), len(values)
    is_numeric = isinstance(variable, Numeric)
    if ROWS_PER_LEVEL * k <= n and (k <= LEVELS_OF_A_SCALE or not is_numeric):
        yield _digest(b"levels", _by_first_row(codes.reshape(-1))[1].tobytes())
    if is_numeric and n >= FEWEST_ORDERED:
        yield _either_way(codes.reshape(-1), k - 1 - codes.reshape(-1))
    elif is_numeric:
        centred = column - column.mean()
        scaled = np.round(centred / (np.abs(centred).max() or 1.0), 9)
        yield _either_way(scaled + 0.0, -scaled + 0.0)


def _either_way(rising: FloatArray | IntArray, falling: FloatArray | IntArray) -> bytes:
    """Return one digest for a column and for the same column turned round."""
    return min(_digest(b"order", one.tobytes()) for one in (rising, falling))


def _by_first_row(codes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different codes in order of appearance, and codes numbered in that order."""
    values, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    numbers = np.empty(len(values), dtype=np.int64)
    numbers[order] = np.arange(len(values))
    return values[order], numbers[inverse.reshape(-1)]


def formulas(
    variables: Mapping[str, Variable], source: str, targets: Sequence[str]
) -> Iterator[str]:
    """Yield in words how a source may be computed from targets.

    It may be a weighted sum, a product or a ratio of targets with one column, or a weighted sum of
    the columns of one target, as a part of a whole is of the other parts.
    """
    own = _column(variables[source])
    if own is None or not FEWEST_ROWS <= len(own) <= MOST_ROWS_FITTED:
        return
    single = {name: one for name in targets if (one := _column(variables[name])) is not None}
    if len(single) > 1:
        table = np.column_stack(list(single.values()))
        needed, word = _needed(own, table), "weighted sum"
        if not needed and (own > 0).all() and (table > 0).all():
            needed, word = _needed(np.log(own), np.log(table)), "product or ratio"
        if needed:
            quoted = [repr(list(single)[i]) for i in needed]
            both = " and ".join(quoted) if len(quoted) == 2 else listed(quoted, 5)
            yield f"{source!r} is a {word} of {both}"
    for name in targets:
        block = variables[name]
        if name not in single and isinstance(block, Numeric):
            left = _left(own, block.values)
            if left is not None and left <= LEFT_OF_MANY and _enough(block.values):
                yield f"{source!r} is a weighted sum of the columns of {name!r}"


def _needed(own: FloatArray, table: FloatArray) -> list[int]:
    """Return the columns of a formula; none if there is no formula, or one column is enough."""
    allowed = LEFT_OF_FEW if table.shape[1] <= FEW_COLUMNS else LEFT_OF_MANY
    left = _left(own, table)
    if left is None or left > allowed or not _enough(table):
        return []
    columns = range(table.shape[1])
    without = [_left(own, np.delete(table, i, axis=1)) for i in columns]
    needed = [i for i in columns if (without[i] or 0.0) > max(NEEDED * left, allowed)]
    return needed if len(needed) > 1 else []


def _left(own: FloatArray, table: FloatArray) -> float | None:
    """Return the share of the spread that a regression leaves; None for too few rows."""
    n, p = table.shape
    if p > MOST_COLUMNS or n < ROWS_PER_COLUMN * (p + 1):
        return None
    centred, around = own - own.mean(), table - table.mean(axis=0)
    spread = np.abs(around).max(axis=0)
    scaled = around / np.where(spread > 0, spread, 1.0)
    rest = centred - scaled @ np.linalg.lstsq(scaled, centred, rcond=None)[0]
    total = float(np.linalg.norm(centred))
    return float(np.linalg.norm(rest)) / total if total > 0 else None


def _enough(table: FloatArray) -> bool:
    """Return True if a formula is not an accident of rows that are repeated."""
    n_different = len(np.unique(table, axis=0))
    return bool(n_different >= ROWS_PER_COLUMN * (table.shape[1] + 1))


def _column(variable: Variable) -> FloatArray | None:
    if isinstance(variable, Numeric) and variable.values.shape[1] == 1:
        return variable.values[:, 0]
    return None
