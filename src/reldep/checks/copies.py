"""Copies: variables that are related by construction, found by their values.

Two columns are the same if all their values are. They are one column in other units or words if
they put the rows in the same order, or divide them into the same levels (`Columns.orders`). A
source may also be computed from several targets, as a sum, a product or a ratio.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from reldep.checks.subjects import MOST_ROWS
from reldep.data.variables import Numeric
from reldep.exceptions import CopyWarning, InputError
from reldep.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.checks.subjects import Data, Tested
    from reldep.data.variables import FloatArray

# Share of the standard deviation that a regression may leave of a formula whose values are
# rounded, for tables of up to three columns, and of more: a body mass index written with one
# decimal leaves .01, and strong measured dependences leave more than .1.
LEFT_OF_THREE, LEFT_OF_MANY = 0.03, 1e-3
# Rows per column, so that a regression does not fit by chance, and columns that take no time.
ROWS_PER_COLUMN, MOST_COLUMNS = 5, 200
# A column is part of a formula if the residual without it is this many times as large; of a column
# that only fits by chance it is hardly larger.
NEEDED = 3.0
# A normalised dependence above this is that of a variable and its copy, but for 1% of noise; one
# above COPIED is that of a copy, of which nothing but rounding is left to carry.
NEARLY_COPIED, COPIED = 0.99, 1.0 - 1e-9


def check_source_outside(data: Data) -> None:
    """Raise an error if a target contains a column of the source."""
    source, columns = data.source, data.columns
    if source is None or source not in columns:
        return
    for target in columns:
        shared = columns[target].shared(columns[source]) if target != source else []
        if shared == [target]:
            raise InputError(f"the target {target!r} is the source itself; leave it out.")
        if shared:
            words = f"the target {target!r} contains {_quoted(shared)}, which is in the source"
            raise InputError(f"{words} {source!r} too; leave the column out of one of them.")


def copied(data: Data) -> Iterator[CopyWarning]:
    """Check for copies among the variables of a question, and for a source made of targets."""
    owners: dict[tuple[str, int], list[str]] = {}
    for name, columns in data.columns.items():
        for key in (*columns.values, *columns.orders):
            owners.setdefault(key, []).append(name)
    alike = {pair for names in owners.values() if len(names) > 1 for pair in combinations(names, 2)}
    if alike:
        yield from _named(data, [pair for pair in combinations(data.columns, 2) if pair in alike])
    if data.source is not None and data.source in data.columns:
        for formula in _formulas(data, data.source):
            yield CopyWarning(f"{formula}, up to rounding; if so, leave it out.")


def near_copies(tested: Tested) -> Iterator[CopyWarning]:
    """Check for pairs that are nearly as dependent as a variable and its copy."""
    found, columns = tested.found, tested.data.columns
    if not found.is_bounded or not (found.values > NEARLY_COPIED).any():
        return
    close = []
    for (x, y), value in zip(found.pairs, found.values, strict=True):
        # Copies have a caution of their own, unless they are copies in some of the rows only.
        said = x in columns and y in columns and not tested.where
        is_said = said and (columns[x].is_like(columns[y]) or columns[x].shared(columns[y]))
        if value > NEARLY_COPIED and not is_said:
            close.append(f"{x!r} and {y!r}")
    if close:
        yield CopyWarning(
            f"Nearly as dependent as copies of each other{tested.where}: {listed(close, 5)}; if "
            "one is computed or measured from the other, leave it out."
        )


def _named(data: Data, alike: list[tuple[str, str]]) -> Iterator[CopyWarning]:
    """Yield cautions about the pairs that the question compares, and all pairs of its targets."""
    asked, inside, copies = {frozenset(pair) for pair in data.pairs}, [], []
    for x, y in alike:
        if frozenset((x, y)) not in asked and (data.source is None or data.source in (x, y)):
            continue
        common = data.columns[x].shared(data.columns[y])
        if common and max(len(data.columns[name].values) for name in (x, y)) > 1:
            inside.append(f"{x!r} and {y!r} both contain {_quoted(common)}")
        else:
            copies.append(f"{x!r} and {y!r}")
    if inside:
        yield CopyWarning(f"{listed(inside, 5)}; leave the column out of one of them.")
    if copies:
        yield CopyWarning(
            f"One variable in two units or words, by its values: {listed(copies, 5)}; if one is "
            "computed from the other, leave it out."
        )


def _quoted(names: Sequence[str]) -> str:
    return listed(list(map(repr, names)), 5)


def _formulas(data: Data, source: str) -> Iterator[str]:
    """Yield in words how a source may be computed from targets.

    It may be a weighted sum, a product or a ratio of targets with one column, or a weighted sum of
    the columns of one target, as a part of a whole is of the other parts.
    """
    own = data.columns[source].only
    if own is None or len(own) > MOST_ROWS:
        return
    single: dict[str, FloatArray] = {}
    for name, columns in data.columns.items():
        block = columns.variable
        if name == source or not isinstance(block, Numeric):
            continue
        if columns.only is None:
            if _is_formula(_left(own, block.values), block.values, LEFT_OF_MANY):
                yield f"{source!r} is a weighted sum of the columns of {name!r}"
        elif not columns.is_like(data.columns[source]):
            single[name] = columns.only
    if len(single) > 1:
        table = np.column_stack(list(single.values()))
        needed, word = _needed(own, table), "weighted sum"
        if not needed and (own > 0).all() and (table > 0).all():
            needed, word = _needed(np.log(own), np.log(table)), "product or ratio"
        if needed:
            quoted = [repr(list(single)[i]) for i in needed]
            both = " and ".join(quoted) if len(quoted) == 2 else listed(quoted, 5)
            yield f"{source!r} is a {word} of {both}"


def _needed(own: FloatArray, table: FloatArray) -> list[int]:
    """Return the columns of a formula; none if there is no formula, or one column is enough."""
    allowed = LEFT_OF_THREE if table.shape[1] <= 3 else LEFT_OF_MANY
    left = _left(own, table)
    if not _is_formula(left, table, allowed):
        return []
    columns = range(table.shape[1])
    without = [_left(own, np.delete(table, i, axis=1)) for i in columns]
    needed = [i for i in columns if without[i] > max(NEEDED * left, allowed)]
    return needed if len(needed) > 1 else []


def _left(own: FloatArray, table: FloatArray) -> float:
    """Return the share of the spread that a regression leaves; infinity for too few rows."""
    n, p = table.shape
    if p > MOST_COLUMNS or n < ROWS_PER_COLUMN * (p + 1):
        return np.inf
    both = np.column_stack([own, table])
    both = both / np.maximum(np.abs(both).max(axis=0), np.finfo(float).tiny)
    both -= both.mean(axis=0)
    spread = np.abs(both).max(axis=0)
    both /= np.where(spread > 0, spread, 1.0)
    rest = both[:, 0] - both[:, 1:] @ np.linalg.lstsq(both[:, 1:], both[:, 0], rcond=None)[0]
    return float(np.linalg.norm(rest) / np.linalg.norm(both[:, 0])) if spread[0] > 0 else np.inf


def _is_formula(left: float, table: FloatArray, allowed: float) -> bool:
    """Return True if little is left, and not by accident, in rows that are repeated."""
    enough = ROWS_PER_COLUMN * (table.shape[1] + 1)
    return left <= allowed and len(np.unique(table, axis=0)) >= enough
