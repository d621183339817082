"""Files of SPSS, Stata, SAS and R."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from reldep.data.checks import listing
from reldep.exceptions import InputError
from reldep.files.cells import table_of_columns
from reldep.files.table import at_once
from reldep.system import import_extra
from reldep.words import listed

if TYPE_CHECKING:
    from reldep.files.byte_sources import Source
    from reldep.files.read import Reading
    from reldep.files.table import Table

# Bytes of a value in memory while it is read: an object of Python in a list.
_VALUE = 40


def read_package(source: Source, options: Reading) -> Table:
    """Return the table of a file of SPSS, Stata, SAS or R; it is read as a whole.

    A column all of whose values have labels becomes these labels; of others the labels are said,
    of which one may mean missing. Missing values that the user
    of the other program defined are missing, and so are empty strings.
    """
    name = source.name
    is_r = source.format.name in ("rds", "rda")
    module, extra = ("rdata", "rda") if is_r else ("pyreadstat", "surveys")
    library = import_extra(module, extra=extra, purpose=f"reading {name}")
    read = getattr(library, f"read_{source.format.name}")
    frame, notes = (_from_r if is_r else _from_readstat)(source, read)
    return table_of_columns(
        source.name,
        frame.schema,
        at_once(frame.select),
        frame.height,
        options,
        said=source.notes,
        column_said=notes,
    )


def _from_readstat(source: Source, read: Any) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Read a file of SPSS, Stata or SAS."""
    with source.on_disk() as path:
        about = read(str(path), metadataonly=True)[1]
        n_values = (about.number_rows or 0) * (about.number_columns or 0)
        source.check_budget(_VALUE * n_values, f"{n_values:,} values")
        columns, about = read(str(path), output_format="dict")
    notes: dict[str, list[str]] = {}
    kept = []
    for name, values in columns.items():
        labels = about.variable_value_labels.get(name, {})
        cells = [None if value == "" else value for value in values]
        present = {value for value in cells if value is not None and value == value}
        if labels and present and present <= labels.keys():
            cells = [labels.get(value) for value in cells]
            kept.append(pl.Series(name, cells, dtype=pl.String).cast(pl.Categorical))
            notes[name] = ["the labels of its values were read, not their numbers"]
        else:
            kept.append(pl.Series(name, cells, strict=False))
            known = [
                f"{value:g} is {labels[value]!r}"
                for value in labels
                if value in present and isinstance(value, float)
            ]
            if known:
                notes[name] = [
                    f"numbers were read, for some have no label ({listed(known, 5)}); if one means "
                    "missing, pass `na`"
                ]
    return pl.DataFrame(kept), notes


def _from_r(source: Source, read: Any) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Read the one data frame of a file of R."""
    found = read(source.file())
    frames: dict[str, Any] = found if isinstance(found, dict) else {"": found}
    tables = {own: value for own, value in frames.items() if hasattr(value, "columns")}
    if len(tables) != 1:
        raise InputError(
            f"{source.name} holds {len(tables)} data frames "
            f"({listing(tables) or 'none'}). Save the one you want with saveRDS()."
        )
    table = next(iter(tables.values()))
    return pl.DataFrame([series_of_pandas(str(own), table[own]) for own in table.columns]), {}


def series_of_pandas(name: str, column: Any) -> pl.Series:
    """Return a column of pandas; categories stay such."""
    values = column.astype(object).where(column.notna(), None).to_list()
    if hasattr(column, "cat"):
        words = [None if value is None else str(value) for value in values]
        return pl.Series(name, words, dtype=pl.String).cast(pl.Categorical)
    return pl.Series(name, values, strict=False)
