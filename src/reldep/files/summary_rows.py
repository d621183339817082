"""Rows that sum up others: totals and means are not observations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reldep.data.variables import FloatArray

_WORD = (
    r"(?i)^\s*((grand |sub)?(total|sum|mean|average|avg|median|std|sd|count|min|max)s?|"
    r"summe|(ins)?gesamt(summe)?|mittel(wert)?|durchschnitt|somme|moyenne|médiane|somma|totale|"
    r"suma|promedio|media|mediana|soma|média|totaal|gemiddelde|итого|всего|合计|总计|平均|合計):?\s*$"
)
# Numbers are added up only of tables that are read in no time.
_MOST_CELLS = 2_000_000
# Means and sums are written with few digits: by this share of the spread, or of themselves, they
# may be off.
_OFF_SPREAD, _OFF_SUM = 0.02, 1e-3


def summary_rows(
    columns: Mapping[str, pl.Series], place: Callable[[int], str]
) -> tuple[list[int], list[str]]:
    """Return the rows that sum up others, and notes about them.

    The last row is one if it says so, or has the sums or means of the rows above. Any other is one
    if it says so and has the sums or means of the rows since the one before.

    Parameters
    ----------
    columns : mapping of str to polars.Series
    place : callable
        Return the name of a row.
    """
    words = [series for series in columns.values() if series.dtype == pl.String]
    numbers = [series for series in columns.values() if series.dtype.is_numeric()]
    n_rows = len(next(iter(columns.values()), ()))
    if not n_rows:
        return [], []
    is_small = len(numbers) > 1 and n_rows * len(numbers) <= _MOST_CELLS
    table = (
        pl.DataFrame(numbers).select(pl.all().cast(pl.Float64).fill_null(np.nan)).to_numpy()
        if is_small
        else np.empty((n_rows, 0))
    )
    rows, notes, start = [], [], 0
    for row, word in _marked(words).items():
        what = _sums_up(table[start:row], table[row], fewest=2) if is_small else None
        if what is not None or row == n_rows - 1:
            rows.append(row)
            notes.append(
                f"{place(row)} looks like a row of totals ({word!r}), which is no observation"
            )
            start = row + 1
    last = n_rows - 1
    what = (
        _sums_up(np.delete(table[:last], rows, axis=0), table[last]) if last not in rows else None
    )
    if what is not None:
        rows.append(last)
        notes.append(
            f"{place(last)} holds the {what} of the rows above it, and so is no observation"
        )
    return rows, notes


def _marked(words: list[pl.Series]) -> dict[int, str]:
    """Return the rows in which a word says that they sum up others, with the word."""
    found: dict[int, str] = {}
    for series in words:
        for row in series.str.contains(_WORD).fill_null(value=False).arg_true().to_list():
            found.setdefault(row, series[row])
    return dict(sorted(found.items()))


def _sums_up(above: FloatArray, row: FloatArray, fewest: int = 5) -> str | None:
    """Return "means" or "sums" if a row has those of all columns that it fills.

    Of fewer than five rows without a word, they may be so by accident.
    """
    found: dict[str, list[bool]] = {"means": [], "sums": []}
    for column, value in zip(above.T, row.tolist(), strict=True):
        present = column[np.isfinite(column)]
        if not np.isfinite(value) or len(present) < fewest or not np.ptp(present) > 0:
            continue
        mean = float(present.mean())
        total = mean * len(present)
        found["means"].append(abs(value - mean) <= _OFF_SPREAD * float(present.std(ddof=1)))
        found["sums"].append(abs(value - total) <= _OFF_SUM * abs(total))
    for what, fits in found.items():
        if len(fits) > 1 and all(fits):
            return what
    return None
