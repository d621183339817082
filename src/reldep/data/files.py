"""The kinds of files that can be opened, and how each becomes a table."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING

from reldep.data.arrays import open_arrays
from reldep.data.cleaning import clean_words
from reldep.data.delimited import open_delimited
from reldep.data.dialect import refuse_duplicates
from reldep.data.failures import not_as_named, reading_errors
from reldep.data.lazy import tidy_numbers, typed_columns
from reldep.data.names import hint
from reldep.data.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

KINDS = (
    ".csv, .tsv, .txt or .tab (also .gz), .parquet or .pq, .arrow, .feather or .ipc, .xlsx, .npz, "
    "or - for standard input"
)
STANDARD_INPUT = "-"
# The endings of text files, with the delimiter that goes without saying.
_DELIMITERS = {"csv": None, "txt": None, "tsv": "\t", "tab": "\t"}


def open_file(path: Path) -> Table:
    """Open one file by the ending of its name; nothing but its columns is read if that can be.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
        If there is no such file, or it cannot be opened.
    ValueError
        If it is empty, of an unknown kind, or not what its name promises.
    """
    _check_readable(path)
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if ending in _DELIMITERS:
        return open_delimited(path, _DELIMITERS[ending])
    opener = None if path.suffix.lower() == ".gz" else _OPENERS.get(ending)
    if opener is None:
        raise ValueError(f"cannot tell what kind of file {path} is; expected {KINDS}")
    return opener(path)


def stem(path: str) -> str:
    """Return a file's name without directory and endings, for naming its columns.

    Examples
    --------
    >>> stem("data/lipids.csv.gz"), stem("-")
    ('lipids', 'stdin')
    """
    if path == STANDARD_INPUT:
        return "stdin"
    name = Path(path).name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


def _check_readable(path: Path) -> None:
    """Raise in plain words if a path is no file that can be read."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory; expected a file: {KINDS}")
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise ValueError(f"{path} is empty: it has no columns and no rows")
    except FileNotFoundError:
        folder = path.parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        near = hint(path.name, sorted(names), kind="files there") if names else "no files there"
        raise FileNotFoundError(f"no file {path}; {near}") from None
    except PermissionError:
        raise PermissionError(f"{path} may not be read: ask for permission to read it") from None


def _open_parquet(path: Path) -> Table:
    """Open a Parquet file."""
    import polars as pl

    return _scanned(path, "a Parquet file", b"PAR1", lambda: pl.scan_parquet(path, glob=False))


def _open_arrow(path: Path) -> Table:
    """Open an Arrow file, which is the same as a Feather file of the second version."""
    import polars as pl

    # Older versions of polars read the path as a glob, without asking.
    literal = glob.escape(str(path))
    return _scanned(
        path, "an Arrow (IPC) or Feather 2 file", b"ARROW1", lambda: pl.scan_ipc(literal)
    )


def _scanned(path: Path, expected: str, mark: bytes, scan: Callable[[], pl.LazyFrame]) -> Table:
    """Return the table of a file whose columns stand in its own schema."""
    try:
        frame = scan()
        schema = frame.collect_schema()
    except reading_errors() as error:
        raise not_as_named(path, expected, mark, error) from error
    return Table(
        name=str(path),
        frame=tidy_numbers(frame),
        columns=typed_columns(schema),
    )


def _open_excel(path: Path) -> Table:
    """Open the first sheet of an Excel file; it is read as a whole."""
    import polars as pl

    try:
        from fastexcel import FastExcelError
    except ImportError:
        raise ImportError(
            f"reading {path} needs an extra package: pip install 'reldep[excel]'"
        ) from None
    failures: tuple[type[BaseException], ...] = (*reading_errors(), FastExcelError)
    try:
        names = pl.read_excel(path, has_header=False, read_options={"n_rows": 1})
        header = [name for name in map(str, names.row(0)) if name != "None"]
        sheet = pl.read_excel(path, infer_schema_length=None)
    except pl.exceptions.NoDataError:
        raise ValueError(f"{path} is empty: its first sheet has no columns and no rows") from None
    except failures as error:
        raise not_as_named(path, "an Excel file (.xlsx)", b"PK", error) from error
    refuse_duplicates(header, str(path))
    frame, strays = clean_words(sheet.lazy(), sheet.schema)
    return Table(
        name=str(path),
        frame=tidy_numbers(frame),
        columns=typed_columns(frame.collect_schema(), strays),
        strays=strays,
    )


_OPENERS: dict[str, Callable[[Path], Table]] = {
    **dict.fromkeys(("parquet", "pq"), _open_parquet),
    **dict.fromkeys(("arrow", "feather", "ipc"), _open_arrow),
    "xlsx": _open_excel,
    "npz": open_arrays,
}
