"""Files of other statistics programs: SPSS, Stata, SAS and R."""

from __future__ import annotations

import lzma
import struct
import zlib
from typing import TYPE_CHECKING, Any

from reldep.data.cells import ROW, Cleaned
from reldep.data.checks import listing, printable
from reldep.data.files.queries import reading_errors, reason
from reldep.data.files.table import Table, finished_table
from reldep.exceptions import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from reldep.data.files.options import ReadingOptions

_READERS = {
    "sav": "read_sav",
    "zsav": "read_sav",
    "por": "read_por",
    "dta": "read_dta",
    "sas7bdat": "read_sas7bdat",
    "xpt": "read_xport",
}
# What the parser of R's files raises for files that are not what they should be.
_DAMAGES = (
    *(ValueError, NotImplementedError, EOFError, OSError, LookupError, TypeError, ArithmeticError),
    *(AttributeError, RecursionError, zlib.error, lzma.LZMAError, struct.error),
)
_OF_R = ("rds", "rda", "rdata")
SURVEYS = (*_READERS, *_OF_R)
"""The endings of these files."""


def open_survey(path: Path, options: ReadingOptions) -> Table:
    """Open a file of SPSS, Stata, SAS or R; it is read as a whole.

    A column all of whose values have labels becomes these labels. Missing values that the user
    of the other program defined are missing.
    """
    ending = path.suffix.lower().removeprefix(".")
    frame, said = _from_r(path) if ending in _OF_R else _from_readstat(path, _READERS[ending])
    return finished_table(str(path), Cleaned(frame.with_row_index(ROW).lazy(), said=said), options)


def _from_readstat(path: Path, reader: str) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Read a file of SPSS, Stata or SAS."""
    try:
        import pyreadstat
    except ImportError:
        raise ImportError(
            f"reading {printable(path)} needs an extra package: pip install 'reldep[surveys]'"
        ) from None
    import polars as pl

    failures = (*reading_errors(), pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError)
    try:
        columns, about = getattr(pyreadstat, reader)(str(path), output_format="dict")
    except failures as error:
        raise InputError(f"{printable(path)} cannot be read: {reason(error)}") from error
    labels = about.variable_value_labels
    said: dict[str, list[str]] = {}
    kept = []
    for name, values in columns.items():
        names = labels.get(name, {})
        present = {value for value in list(values) if value is not None and value == value}
        if names and present and present <= names.keys():
            words = [names.get(value) for value in list(values)]
            kept.append(pl.Series(name, words, dtype=pl.String).cast(pl.Categorical))
            said[name] = ["the labels of its values were read, not their numbers"]
        else:
            kept.append(pl.Series(name, list(values), strict=False))
    return pl.DataFrame(kept), said


def _from_r(path: Path) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Read the one data frame of a file of R."""
    try:
        import rdata
    except ImportError:
        raise ImportError(
            f"reading {printable(path)} needs an extra package: pip install 'reldep[rda]'"
        ) from None
    import polars as pl

    try:
        found = rdata.read_rds(path) if path.suffix.lower() == ".rds" else rdata.read_rda(path)
    except _DAMAGES as error:
        raise InputError(f"{printable(path)} cannot be read: {reason(error)}") from error
    frames: dict[str, Any] = found if isinstance(found, dict) else {path.stem: found}
    tables = {name: value for name, value in frames.items() if hasattr(value, "columns")}
    if len(tables) != 1:
        raise InputError(
            f"{printable(path)} holds {len(tables)} data frames ({listing(tables) or 'none'}).",
            "Save the one you want with saveRDS().",
        )
    table = next(iter(tables.values()))
    return pl.DataFrame({str(name): _values(table[name]) for name in table.columns}), {}


def _values(series: Any) -> pl.Series:
    """Turn a column of R into one of polars; factors stay categories."""
    import polars as pl

    values = [None if value is None or value != value else value for value in series.tolist()]
    if hasattr(series, "cat"):
        words = [None if value is None else str(value) for value in values]
        return pl.Series(words, dtype=pl.String).cast(pl.Categorical)
    return pl.Series(values, strict=False)
