"""A last row that sums up the others: no observation, but it counts as one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reldep.data.cells import ROW, Cleaned
from reldep.data.files.queries import collect, named

if TYPE_CHECKING:
    import polars as pl

    from reldep.data.rows import Places

_TOTAL = re.compile(
    r"((grand |sub)?(total|sum|mean|average|avg|median|std|sd|count|min|max)s?|"
    r"summe|(ins)?gesamt(summe)?|mittel(wert)?|durchschnitt|somme|moyenne|médiane|somma|totale|"
    r"suma|promedio|media|mediana|soma|média|totaal|gemiddelde|итого|всего|合计|总计|平均|合計):?",
    re.IGNORECASE,
)
# Numbers are added up only of tables that are read in no time.
_MOST_CELLS = 2_000_000
_FEWEST_ROWS = 5
# Means and sums are written with few digits: by so little of the spread, or of themselves, they
# may be off.
_OFF_SPREAD, _OFF_SUM = 0.02, 1e-3


def totals(cleaned: Cleaned, places: Places, n_rows: int) -> list[str]:
    """Say whether the last row looks like a sum or a mean of the others."""
    import polars as pl

    kinds = {name: kind for name, kind in cleaned.frame.collect_schema().items() if name != ROW}
    words = [name for name, kind in kinds.items() if kind == pl.String]
    if words:
        last = collect(cleaned.frame.select(named([*words, ROW])).tail(1), n_expressions=1)
        for name in words:
            text = last[name].item() if last.height else None
            if text is not None and _TOTAL.fullmatch(text.strip()):
                place = places.name(last[ROW].item())
                return [f"{place} looks like a row of totals ({text!r}), which is no observation"]
    numbers = [name for name, kind in kinds.items() if kind.is_numeric()]
    if len(numbers) < 2 or not 0 < n_rows * len(numbers) <= _MOST_CELLS:
        return []
    frame = collect(cleaned.frame.select(named([*numbers, ROW])), n_expressions=len(numbers))
    what = _sums_up(frame.drop(ROW))
    if what is None:
        return []
    place = places.name(frame[ROW][-1])
    return [f"{place} holds the {what} of the rows above it, and so is no observation"]


def _sums_up(frame: pl.DataFrame) -> str | None:
    """Tell whether the last row has the means, or the sums, of all columns that it fills."""
    above, last = frame[:-1], frame.row(-1)
    found: dict[str, list[bool]] = {"means": [], "sums": []}
    for series, value in zip(above.get_columns(), last, strict=True):
        n = series.count()
        spread = series.std() if n > 1 else None
        if value is None or n < _FEWEST_ROWS or not isinstance(spread, float) or not spread > 0:
            continue
        mean = float(series.mean())  # type: ignore[arg-type]
        found["means"].append(abs(value - mean) <= _OFF_SPREAD * spread)
        found["sums"].append(abs(value - mean * n) <= _OFF_SUM * abs(mean * n))
    for what, fits in found.items():
        if len(fits) > 1 and all(fits):
            return what
    return None
