"""Copies and formulas: a target that holds the source, in other units or words, or makes it up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import listing, quoted
from reldep.data.variables import Labels, Mixed, Numeric
from reldep.exceptions import CopyWarning, InputError
from reldep.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray, Variable

# Fewer rows may be in the same order by chance, or by a strong dependence: there only columns
# on a straight line are copies.
FEWEST_ORDERED = 20

# Columns of more rows are the same if so many evenly spaced rows are, and then all.
_COMPARED_FIRST = 64

# Numbers that are sorted at a time: about 40 MB.
_SORTED_AT_ONCE = 5_000_000

# What rounding leaves of a formula, as a share of the spread: more for a formula of two or three
# columns, which no measured dependence comes near.
LEFT_OF_FEW, LEFT_OF_MANY = 0.03, 1e-3
FEW_COLUMNS = 3
# A regression on so many columns of so many rows each fits nothing by chance.
ROWS_FOR_COLUMN, FEWEST_ROWS, MOST_ROWS, MOST_COLUMNS = 5, 12, 20_000, 200
# Columns that are left out of a formula without harm are no part of it.
NEEDED = 3.0


def same_columns(variables: Mapping[str, Variable]) -> list[dict[str, str]]:
    """Find the columns that several variables hold, value by value, with their names in each."""
    n = max(map(len, variables.values()), default=0)
    suspects = variables
    if n > _COMPARED_FIRST:
        rows = np.linspace(0, n - 1, _COMPARED_FIRST).astype(np.int64)
        few = {name: variable.take(rows) for name, variable in variables.items()}
        alike = {name for own in _shared_by(few) for name in own}
        suspects = {name: variables[name] for name in alike}
    return _shared_by(suspects)


def _shared_by(variables: Mapping[str, Variable]) -> list[dict[str, str]]:
    owners: dict[tuple[bool, bytes], dict[str, str]] = {}
    for name, variable in variables.items():
        for column, mark in _marks(variable):
            owners.setdefault(mark, {})[name] = column
    return [own for own in owners.values() if len(own) > 1]


def check_values_outside(
    same: Sequence[Mapping[str, str]], source: str, targets: Sequence[str]
) -> None:
    """Refuse a target that holds the source, given the columns that variables share."""
    of_source = [own for own in same if source in own]
    for target in targets if of_source else ():
        shared = [own[target] for own in of_source if target in own]
        if shared:
            raise _source_inside(source, target, shared)


def shared_columns(
    same: Sequence[Mapping[str, str]], pairs: Sequence[tuple[str, str]]
) -> tuple[CopyWarning, ...]:
    """Caution about pairs of blocks that hold the same column, if either has several."""
    found = [
        f"{x} and {y} both hold {quoted([own[x]])}"
        for x, y, own in _owned_by_both(same, pairs)
        if own[x] != x or own[y] != y
    ]
    if not found:
        return ()
    return (
        CopyWarning(
            f"{listed(found, 5)}: they depend on each other by construction.",
            "Leave the column out of one of them.",
        ),
    )


def functions_of_each_other(
    variables: Mapping[str, Variable], pairs: Sequence[tuple[str, str]]
) -> tuple[CopyWarning, ...]:
    """Caution about pairs of columns that determine each other: other units, other words."""
    owners: dict[bytes, dict[str, str]] = {}
    for name, variable in variables.items():
        levels = Levels.of(variable)
        for mark in () if levels is None else levels.marks():
            owners.setdefault(mark, {})[name] = name
    found = [f"{x} and {y}" for x, y, _ in _owned_by_both(owners.values(), pairs)]
    if not found:
        return ()
    return (
        CopyWarning(
            f"{listed(list(dict.fromkeys(found)), 5)}: each determines the other exactly, as a "
            "copy in other units or words does.",
            "If one is computed from the other, leave it out.",
        ),
    )


def copies_among(variables: Mapping[str, Variable], names: Sequence[str]) -> list[list[str]]:
    """Group the columns that determine each other."""
    owners: dict[bytes, list[str]] = {}
    for name in names:
        levels = Levels.of(variables[name])
        for mark in () if levels is None else levels.marks():
            owners.setdefault(mark, []).append(name)
    groups = dict.fromkeys(tuple(sorted(own)) for own in owners.values() if len(own) > 1)
    return [list(group) for group in groups]


def _owned_by_both(
    owners: Iterable[Mapping[str, str]], pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Find the pairs that have something in common, which few variables have."""
    held = [own for own in owners if len(own) > 1]
    if not held:
        return
    for x, y in pairs:
        for own in held:
            if x != y and x in own and y in own:
                yield x, y, own


def _marks(variable: Variable) -> Iterator[tuple[str, tuple[bool, bytes]]]:
    """Mark every column by its values; numbers that are codes of labels are not those labels."""
    labels = {part.name for part in _parts(variable) if isinstance(part, Labels)}
    for name, values in _columns(variable):
        yield name, (name in labels, values.tobytes())


def _source_inside(source: str, target: str, shared: Sequence[str]) -> InputError:
    if list(shared) == [target]:
        return InputError(
            f"the target {target!r} is the source itself, on which it depends most by "
            "construction.",
            "Leave it out of the targets.",
        )
    return InputError(
        f"the target {target!r} holds {listing(shared)}, which is in the source {source!r} too: "
        "it depends on the source by construction.",
        "Leave the column out of one of them.",
    )


def near_copies(
    variables: Mapping[str, Variable], source: str, targets: Sequence[str]
) -> dict[str, list[CopyWarning]]:
    """Find targets that determine the source: a column in another unit, a label renamed.

    A numeric column does if it orders the observations as the source does, or the other way
    round. Labels do if every one of them goes with a single value of the source, and there are
    fewer labels than half of the observations; numbers of few levels, if the source has as many.
    """
    own = [values for _, values in _columns(variables[source])]
    found: dict[str, list[CopyWarning]] = {}
    for target in targets:
        labels = {part.name for part in _parts(variables[target]) if isinstance(part, Labels)}
        for name, values in _columns(variables[target], beside=own):
            if any(_determines(values, of_source, name in labels) for of_source in own):
                which = f"{name!r} of {target!r}" if name != target else f"{target!r}"
                caution = CopyWarning(
                    f"{which} determines {source!r} exactly: it may be a copy of it in other "
                    "units or words.",
                    "If it is, leave it out.",
                )
                found.setdefault(target, []).append(caution)
    return found


def _columns(
    variable: Variable, beside: Sequence[FloatArray] | None = None
) -> Iterator[tuple[str, FloatArray]]:
    """Give every column of numbers or labels as numbers, labels by first appearance.

    Of numbers only those are given that may determine one of `beside`, if there are such.
    """
    for part in _parts(variable):
        if isinstance(part, Labels):
            yield part.name, _renumbered(part.codes).astype(np.float64)
        elif isinstance(part, Numeric):
            names = part.columns or tuple(map(str, range(part.values.shape[1])))
            if part.values.shape[1] == 1 and not isinstance(variable, Mixed):
                names = (part.name,)
            chosen = range(len(names)) if beside is None else _may_determine(part.values, beside)
            for position in chosen:
                yield names[position], np.ascontiguousarray(part.values[:, position]) + 0.0


def _may_determine(columns: FloatArray, sources: Sequence[FloatArray]) -> IntArray:
    """Find the columns with few levels, and those whose first rows rise or fall with a source."""
    n, p = columns.shape
    may = np.zeros(p, dtype=np.bool_)
    for source in sources:
        ordered = columns[:50][np.argsort(source[:50])]
        before, after = ordered[:-1], ordered[1:]
        may |= (after >= before).all(axis=0) | (after <= before).all(axis=0)
    step = max(1, _SORTED_AT_ONCE // n)
    for start in range(0, p, step):
        ordered = np.sort(columns[:, start : start + step], axis=0)
        n_levels = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
        may[start : start + step] |= 2 * n_levels <= n
    return np.flatnonzero(may)


def _renumbered(codes: IntArray) -> IntArray:
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return np.asarray(order[inverse.reshape(-1)], dtype=np.int64)


def _on_one_scale(column: FloatArray) -> list[bytes]:
    """Give what columns have in common that are the same but for unit and zero, and sign."""
    centred = column - column.mean()
    spread = float(np.abs(centred).max())
    if not spread > 0:
        return []
    plain = np.round(centred / spread, 9) + 0.0
    return [plain.tobytes(), (-plain + 0.0).tobytes()]


def _parts(variable: Variable) -> tuple[Variable, ...]:
    return variable.parts if isinstance(variable, Mixed) else (variable,)


def _determines(target: FloatArray, source: FloatArray, is_label: bool) -> bool:
    """Tell whether a target fixes the source: in order, or level by level.

    Numbers that were measured once for several rows fix whatever else was: they are copies only
    if the source has as many levels.
    """
    if np.array_equal(target, source):
        return True
    levels, of_target = np.unique(target, return_inverse=True)
    if 2 * len(levels) <= len(target):
        levels_of_source, of_source = np.unique(source, return_inverse=True)
        if not is_label and len(levels_of_source) != len(levels):
            return False
        pairs = np.unique(of_target.reshape(-1) * (len(source) + 1) + of_source.reshape(-1))
        return len(pairs) == len(levels)
    if len(target) < FEWEST_ORDERED:
        return bool(set(_on_one_scale(target)) & set(_on_one_scale(source)))
    others, of_source = np.unique(source, return_inverse=True)
    if len(others) != len(levels):
        return False
    first, second = of_target.reshape(-1), of_source.reshape(-1)
    return bool((first == second).all() or (first + second == len(levels) - 1).all())


class Levels:
    """The different values of one column, as numbers in their order."""

    def __init__(self, codes: IntArray, sizes: IntArray, lines: list[bytes]) -> None:
        self.codes, self.sizes, self._lines = codes, sizes, lines

    @classmethod
    def of(cls, variable: Variable) -> Levels | None:
        """Give numbers to the values; None where there is not one column of them."""
        if isinstance(variable, Labels):
            column: Any = variable.codes
        elif isinstance(variable, Numeric) and variable.values.shape[1] == 1:
            column = variable.values[:, 0]
        else:
            return None
        _, codes, sizes = np.unique(column, return_inverse=True, return_counts=True)
        few = isinstance(variable, Numeric) and len(column) < FEWEST_ORDERED
        lines = _on_one_scale(column) if few else []
        return cls(codes.reshape(-1).astype(np.int64), sizes, lines)

    @property
    def n_distinct(self) -> int:
        """How many different values there are."""
        return len(self.sizes)

    @property
    def tied(self) -> float:
        """The share of pairs of observations with equal values."""
        n = len(self.codes)
        return float((self.sizes * (self.sizes - 1.0)).sum() / (n * (n - 1.0)))

    def marks(self) -> list[bytes]:
        """Give what columns have in common that are functions of each other.

        Few different values may be renamed in any way; many must rise or fall together, for any
        two columns without ties are functions of each other.
        """
        if self.n_distinct > len(self.codes) / 2:
            if len(self.codes) < FEWEST_ORDERED:
                return self._lines
            return [self.codes.tobytes(), (self.n_distinct - 1 - self.codes).tobytes()]
        _, first = np.unique(self.codes, return_index=True)
        return [np.argsort(np.argsort(first))[self.codes].tobytes()]


def computed_from(
    variables: Mapping[str, Variable], source: str, targets: Sequence[str]
) -> tuple[CopyWarning, ...]:
    """Caution about a source that is a weighted sum, a product or a ratio of targets.

    Of a block it is a weighted sum of the columns, as a part of a whole is of the other parts.
    """
    own = _column(variables[source])
    if own is None or not FEWEST_ROWS <= len(own) <= MOST_ROWS:
        return ()
    said = []
    single = {name: one for name in targets if (one := _column(variables[name])) is not None}
    if len(single) > 1:
        said += _formula_of(source, own, single)
    for name in targets:
        block = variables[name]
        if name in single or not isinstance(block, Numeric):
            continue
        if _fits(own, block.values, LEFT_OF_MANY):
            said.append(f"{source} is a weighted sum of the columns of {name}")
    return tuple(
        CopyWarning(
            f"{text}, as far as rounding lets tell: it depends on them by construction.",
            "If it was computed from them, or they are parts of one whole, leave it out.",
        )
        for text in said
    )


def _formula_of(source: str, own: FloatArray, single: Mapping[str, FloatArray]) -> list[str]:
    """Name the columns that a source is a sum, or a product of powers, of."""
    table = np.column_stack(list(single.values()))
    needed = _needed(own, table)
    if needed:
        return [f"{source} is a weighted sum of {_both(single, needed)}"]
    if not ((own > 0).all() and (table > 0).all()):
        return []
    needed = _needed(np.log(own), np.log(table))
    if not needed:
        return []
    return [f"{source} is a product or ratio of {_both(single, needed)}"]


def _both(single: Mapping[str, FloatArray], needed: Sequence[int]) -> str:
    names = [list(single)[i] for i in needed]
    return " and ".join(names) if len(names) == 2 else listed(names, 5)


def _needed(own: FloatArray, table: FloatArray) -> list[int]:
    """Find the columns of a formula; none if there is no formula, or one column is enough."""
    allowed = LEFT_OF_FEW if table.shape[1] <= FEW_COLUMNS else LEFT_OF_MANY
    left = _left(own, table)
    if left is None or left > allowed:
        return []
    everyone = range(table.shape[1])
    without = [_left(own, np.delete(table, i, axis=1)) for i in everyone]
    needed = [i for i in everyone if (without[i] or 0.0) > max(NEEDED * left, allowed)]
    return needed if len(needed) > 1 else []


def _fits(own: FloatArray, table: FloatArray, allowed: float) -> bool:
    left = _left(own, table)
    return left is not None and left <= allowed


def _left(own: FloatArray, table: FloatArray) -> float | None:
    """Give what a regression leaves of a column, as a share of its spread; None if unsure."""
    n, p = table.shape
    if p > MOST_COLUMNS or n < ROWS_FOR_COLUMN * (p + 1):
        return None
    centred, around = own - own.mean(), table - table.mean(axis=0)
    spread = np.abs(around).max(axis=0)
    scaled = around / np.where(spread > 0, spread, 1.0)
    rest = centred - scaled @ np.linalg.lstsq(scaled, centred, rcond=None)[0]
    total = float(np.linalg.norm(centred))
    return float(np.linalg.norm(rest)) / total if total > 0 else None


def _column(variable: Variable) -> FloatArray | None:
    if isinstance(variable, Numeric) and variable.values.shape[1] == 1:
        return variable.values[:, 0]
    return None
