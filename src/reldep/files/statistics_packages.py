"""Files of SPSS, Stata, SAS and R."""

from __future__ import annotations

import lzma
import struct
import zlib
from typing import TYPE_CHECKING, Any

from reldep.data.checks import listing, printable
from reldep.exceptions import InputError
from reldep.files.errors import missing_package, reading_errors, reason
from reldep.files.typed import table_of_columns

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from reldep.files.byte_sources import Source
    from reldep.files.options import CellOptions
    from reldep.files.table import Table

_READERS = {
    "sav": "read_sav",
    "por": "read_por",
    "dta": "read_dta",
    "sas7bdat": "read_sas7bdat",
    "xpt": "read_xport",
}
# What the parser of R's files raises for files that are not what they should be.
_DAMAGES = (
    *(ValueError, NotImplementedError, EOFError, OSError, LookupError, TypeError, ArithmeticError),
    *(AttributeError, RecursionError, MemoryError, zlib.error, lzma.LZMAError, struct.error),
)


def read_package(source: Source, reading: CellOptions) -> Table:
    """Return the table of a file of SPSS, Stata, SAS or R; it is read as a whole.

    A column all of whose values have labels becomes these labels. Missing values that the user
    of the other program defined are missing.
    """
    if source.format in ("rds", "rda"):
        frame, notes = _from_r(source), dict[str, list[str]]()
    else:
        frame, notes = _from_readstat(source)
    return table_of_columns(
        source.name,
        frame.schema,
        frame.select,
        frame.height,
        reading,
        said=source.notes,
        column_said=notes,
    )


def _from_readstat(source: Source) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Read a file of SPSS, Stata or SAS."""
    try:
        import pyreadstat
    except ImportError:
        raise missing_package(source.name, "surveys") from None
    import polars as pl

    failures = (*reading_errors(), pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError)
    try:
        reader = getattr(pyreadstat, _READERS[source.format])
        columns, about = _on_disk(source, lambda path: reader(path, output_format="dict"))
    except failures as error:
        raise InputError(f"{printable(source.name)} cannot be read: {reason(error)}") from error
    labels = about.variable_value_labels
    notes: dict[str, list[str]] = {}
    kept = []
    for name, values in columns.items():
        names = labels.get(name, {})
        present = {value for value in list(values) if value is not None and value == value}
        if names and present and present <= names.keys():
            words = [names.get(value) for value in list(values)]
            kept.append(pl.Series(name, words, dtype=pl.String).cast(pl.Categorical))
            notes[name] = ["the labels of its values were read, not their numbers"]
        else:
            kept.append(pl.Series(name, list(values), strict=False))
    return pl.DataFrame(kept), notes


def _on_disk(source: Source, read: Any) -> Any:
    """Call a reader that takes paths only."""
    import tempfile
    from pathlib import Path

    if not isinstance(source.content, bytes):
        return read(str(source.content))
    with tempfile.TemporaryDirectory() as folder:
        path: Path = Path(folder) / f"data.{source.format}"
        path.write_bytes(source.content)
        return read(str(path))


def _from_r(source: Source) -> pl.DataFrame:
    """Read the one data frame of a file of R."""
    try:
        import rdata
    except ImportError:
        raise missing_package(source.name, "rda") from None
    import polars as pl

    name = printable(source.name)
    try:
        reader = rdata.read_rds if source.format == "rds" else rdata.read_rda
        found = reader(source.file())
    except _DAMAGES as error:
        raise InputError(f"{name} cannot be read: {reason(error)}") from error
    frames: dict[str, Any] = found if isinstance(found, dict) else {"": found}
    tables = {own: value for own, value in frames.items() if hasattr(value, "columns")}
    if len(tables) != 1:
        raise InputError(
            f"{name} holds {len(tables)} data frames ({listing(tables) or 'none'}). Save the one "
            "you want with saveRDS()."
        )
    table = next(iter(tables.values()))
    return pl.DataFrame({str(own): _values(table[own]) for own in table.columns})


def _values(series: Any) -> pl.Series:
    """Return a column of R; factors stay categories."""
    import polars as pl

    values = [None if value is None or value != value else value for value in series.tolist()]
    if hasattr(series, "cat"):
        words = [None if value is None else str(value) for value in values]
        return pl.Series(words, dtype=pl.String).cast(pl.Categorical)
    return pl.Series(values, strict=False)
