"""The kinds of files that can be opened, and how paths become a table."""

from __future__ import annotations

import glob
import os
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reldep.data.cells import ROW, Cleaned
from reldep.data.checks import listing, printable, repeated
from reldep.data.files.delimited import open_text, usual_form
from reldep.data.files.dialect import refuse_duplicates
from reldep.data.files.foreign import SURVEYS, open_annotated, open_survey
from reldep.data.files.joining import join_tables
from reldep.data.files.kinds import with_kinds
from reldep.data.files.options import ReadingOptions
from reldep.data.files.queries import not_as_named, reading_errors
from reldep.data.files.sources import (
    KINDS,
    STANDARD_INPUT,
    check_archive,
    is_stream,
    read_standard_input,
    read_stream,
    stem,
    text_content,
)
from reldep.data.files.table import Table, finished_table, with_lifetimes
from reldep.data.files.workbooks import open_workbook
from reldep.exceptions import InputError
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

# The endings of text files, with the delimiter that goes without saying.
_DELIMITERS = {"csv": None, "txt": None, "zip": None, "tsv": "\t", "tab": "\t"}


def open_table(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    join: str | None = None,
    categories: str | None = None,
    options: ReadingOptions | None = None,
) -> Table:
    r"""Open a file, or several joined on a key, as one table.

    Text, Parquet and Arrow files are not read before columns are asked for,
    and then only those columns; compressed text, standard input and all
    other kinds are read as a whole.

    Parameters
    ----------
    paths : path or sequence of paths
        Delimited text (``.csv``, ``.tsv``, ``.txt``, ``.tab``, also ``.gz``),
        Parquet (``.parquet``, ``.pq``), Arrow (``.arrow``, ``.feather``,
        ``.ipc``), workbooks (``.xlsx``, ``.xls``, ``.ods``, need ``reldep[excel]``),
        NumPy archives (``.npz``), files of SPSS (``.sav``, ``.zsav``, ``.por``), Stata
        (``.dta``) and SAS (``.sas7bdat``, ``.xpt``), which need ``reldep[surveys]``, of R
        (``.rds``, ``.rda``, need ``reldep[rda]``), AnnData (``.h5ad``, needs
        ``reldep[anndata]``), or ``-`` for text from standard input.
    join : str, optional
        The column that identifies a row; needed for several files. Rows that are
        not matched in every file are left out and counted in ``Table.join``; the
        rows stay in the order of the first file. A column whose name is in two
        files gets its file's name in front (``lipids_C14``).
    categories : str, optional
        Columns, as an expression, whose values are labels even if they look like
        numbers: ``"group,batch_*"``. Short for ``ReadingOptions(categories=...)``.
    options : ReadingOptions, optional
        How to read the files, where they do not say so themselves.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If a file is not what it should be, or the files cannot be joined.
    OSError
        If a file does not exist, is a directory, or may not be read.

    Notes
    -----
    In text files and Excel sheets, blanks and ``NA``, ``N/A``, ``NaN``,
    ``nan``, ``NULL`` and ``null`` are missing values. Text is expected in
    UTF-8; blank lines are skipped. Numbers with percent signs, units, currencies
    or marks between thousands are understood where a whole column is written so,
    which ``Table.cautions`` says. The types of columns are found by looking at all
    of a text file below 50 MB, and at the first 10,000 rows of a larger one, whose
    integers are taken as numbers with decimals.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mice.csv"
    >>> _ = path.write_text("id,diet,C14,C16\n1,fish,0.5,0.7\n2,sun,0.4,NA\n")
    >>> table = open_table(path)
    >>> table.read(table.select("C*"), where="diet = 'fish'").rows()
    [(0.5, 0.7)]
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    places = [os.fspath(path) for path in given]
    _check_request(places, join)
    reading = options or ReadingOptions()
    if categories is not None:
        reading = replace(reading, categories=categories)
    if join is None:
        return _of_stated_kinds(_open_place(places[0], reading), reading)
    # Which columns are labels can only be said of the joined table.
    tables = [_open_place(place, replace(reading, categories=None)) for place in places]
    joined = join_tables(tables, [*map(stem, places)], join, categories=reading.categories)
    return _of_stated_kinds(joined, reading)


def _of_stated_kinds(table: Table, reading: ReadingOptions) -> Table:
    """Give columns the kinds that the options state."""
    if reading.numbers is not None or reading.date_columns is not None:
        usual = usual_form(table.texts[0].dialect, reading) if table.texts else None
        table = with_kinds(table, reading, usual)
    return with_lifetimes(table, reading)


def _check_request(places: list[str], join: str | None) -> None:
    """Raise if the number of files does not fit the request."""
    if not places:
        raise InputError("paths: name at least one file.")
    if len(places) > 1 and join is None:
        raise InputError(
            f"{len(places)} files need a column to be joined on. Pass `join='id'` for the column "
            f"that identifies a row in {listing(places)}; to read Parquet files with the same "
            "columns as one table, name their directory, or put the pattern in quotes."
        )
    if len(places) == 1 and join is not None:
        raise InputError(f"`join={join!r}` needs at least two files; only {places[0]!r} is given.")
    if repeated(places):
        raise InputError(f"{listing(repeated(places))} is given more than once.")


def _open_place(place: str, options: ReadingOptions) -> Table:
    """Open one file or standard input; raise if it has no rows."""
    if place == STANDARD_INPUT:
        table = open_text(read_standard_input(), "standard input", options)
    else:
        table = open_file(Path(place), options)
    if not table.has_rows():
        raise InputError(
            f"{printable(table.name)} has {counted(len(table.columns), 'column')}, but no rows."
        )
    return table


def open_file(path: Path, options: ReadingOptions) -> Table:
    """Open one file by the ending of its name; nothing but its columns is read if that can be.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
        If there is no such file, or it cannot be opened.
    ValueError
        If it is empty, of an unknown kind, or not what its name promises.
    """
    if is_stream(path):
        return open_text(read_stream(path), str(path), options)
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if ending in _DELIMITERS:
        delimiter = options.delimiter or _DELIMITERS[ending]
        return open_text(text_content(path), str(path), replace(options, delimiter=delimiter))
    opener = None if path.suffix.lower() == ".gz" else _OPENERS.get(ending)
    if opener is None:
        raise InputError(f"cannot tell what kind of file {printable(path)} is; expected {KINDS}.")
    return opener(path, options)


def _open_parquet(path: Path, options: ReadingOptions) -> Table:
    """Open a Parquet file."""
    import polars as pl

    def scan() -> pl.LazyFrame:
        return pl.scan_parquet(path, glob=False, row_index_name=ROW)

    return _scanned(path, "a Parquet file", b"PAR1", scan, options)


def _open_arrow(path: Path, options: ReadingOptions) -> Table:
    """Open an Arrow file, which is the same as a Feather file of the second version."""
    import polars as pl

    # Older versions of polars read the path as a glob, without asking.
    literal = glob.escape(str(path))

    def scan() -> pl.LazyFrame:
        return pl.scan_ipc(literal, row_index_name=ROW)

    return _scanned(path, "an Arrow (IPC) or Feather 2 file", b"ARROW1", scan, options)


def _scanned(
    path: Path,
    expected: str,
    mark: bytes,
    scan: Callable[[], pl.LazyFrame],
    options: ReadingOptions,
) -> Table:
    """Return the table of a file whose columns stand in its own schema."""
    try:
        frame = scan()
        frame.collect_schema()
    except reading_errors() as error:
        raise not_as_named(path, expected, mark, error) from error
    return finished_table(str(path), Cleaned(frame), options)


# boolean, integers, floats, text, bytes, dates
_COLUMN_KINDS = "biufUSM"
_DAMAGES = (ValueError, OSError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def _open_arrays(path: Path, options: ReadingOptions) -> Table:
    """Open an NPZ archive: its rows are the first axis of every array.

    A 1-D array `x` becomes the column ``x``; a 2-D array `x` becomes ``x_0``,
    ``x_1`` and so on. The archive is read as a whole.
    """
    import polars as pl

    check_archive(path)
    arrays = _load(path)
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) != 1:
        found = ", ".join(f"{name!r}: {length}" for name, length in lengths.items())
        raise InputError(
            f"the arrays of {path} must have equally many rows; they have {found or 'none'}"
        )
    columns = [
        (label, values)
        for name, array in arrays.items()
        for label, values in _columns_of(name, array)
    ]
    refuse_duplicates([label for label, _ in columns], str(path))
    frame = pl.DataFrame([pl.Series(label, values) for label, values in columns])
    return finished_table(str(path), Cleaned(frame.with_row_index(ROW).lazy()), options)


def _load(path: Path) -> dict[str, NDArray[np.generic]]:
    """Load the arrays of an archive; raise if one is no column or block of columns."""
    import numpy as np

    arrays: dict[str, NDArray[np.generic]] = {}
    try:
        # NumPy would take what is no archive for pickled objects, and say so.
        zipfile.ZipFile(path).close()
        archive = np.load(path, allow_pickle=False)
    except _DAMAGES as error:
        raise not_as_named(path, "an NPZ archive (numpy.savez)", b"PK", error) from error
    with archive:
        for name in archive.files:
            try:
                array = archive[name]
            except _DAMAGES as error:
                raise InputError(_unreadable(path, name, error)) from error
            arrays[name] = _as_column_values(array, f"{name!r} of {path}")
    return arrays


def _unreadable(path: Path, name: str, error: BaseException) -> str:
    if "allow_pickle" in str(error):
        return (
            f"array {name!r} of {path} holds pickled Python objects, which are never loaded: "
            "they may run any program. Save numbers or text instead, as with "
            f"{name}.astype(float) or {name}.astype(str)"
        )
    return f"array {name!r} of {path} is damaged: {error}"


def _as_column_values(array: object, what: str) -> NDArray[np.generic]:
    """Return an array in a type that polars takes; raise if it cannot be columns."""
    import numpy as np

    if not isinstance(array, np.ndarray) or array.dtype.kind not in _COLUMN_KINDS:
        found = array.dtype if isinstance(array, np.ndarray) else "no array"
        raise InputError(f"{what} is {found}; expected numbers, booleans, text or dates")
    if array.ndim not in (1, 2):
        raise InputError(
            f"array {what} has {array.ndim} dimensions, its shape is {array.shape}; expected one "
            "column (1-D) or a block of columns (2-D), as array.reshape(len(array), -1) gives"
        )
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "S":
        try:
            return np.char.decode(array, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"array {what} holds bytes that are not UTF-8 text") from None
    if kind == "f" and size not in (4, 8):
        return array.astype(np.float64)
    if kind == "M" and array.dtype != np.dtype("M8[D]"):
        return array.astype("M8[us]")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _columns_of(name: str, array: NDArray[np.generic]) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Yield the columns of an array, each with its name."""
    if array.ndim == 1:
        yield name, array
        return
    for position in range(array.shape[1]):
        yield f"{name}_{position}", array[:, position]


_OPENERS: dict[str, Callable[[Path, ReadingOptions], Table]] = {
    **dict.fromkeys(("parquet", "pq"), _open_parquet),
    **dict.fromkeys(("arrow", "feather", "ipc"), _open_arrow),
    **dict.fromkeys(("xlsx", "xlsm", "xls", "ods"), open_workbook),
    **dict.fromkeys(SURVEYS, open_survey),
    "npz": _open_arrays,
    "h5ad": open_annotated,
}
