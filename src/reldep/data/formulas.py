"""Variables that are computed from others: sums, ratios, parts of a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.data.variables import Numeric
from reldep.exceptions import CopyWarning
from reldep.words import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, Variable

# What rounding leaves of a formula, as a share of the spread: more for a formula of two or three
# columns, which no measured dependence comes near.
LEFT_OF_FEW, LEFT_OF_MANY = 0.03, 1e-3
FEW_COLUMNS = 3
# A regression on so many columns of so many rows each fits nothing by chance.
ROWS_FOR_COLUMN, FEWEST_ROWS, MOST_ROWS, MOST_COLUMNS = 5, 12, 20_000, 200
# Columns that are left out of a formula without harm are no part of it.
NEEDED = 3.0


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
