"""Files, data frames and mappings as tables: ``reldep.read`` and the argument `data`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack, cast

import numpy as np

from reldep.arguments import Argument, Interface, public
from reldep.data.checks import composed, listing, printable, repeated, translated
from reldep.data.frames import check_not_lazy, index_rows, is_frame, unwrapped, with_plain_names
from reldep.data.selectors import ColumnType, kind_of, quote_column
from reldep.exceptions import InputError, InputTypeError
from reldep.files.anndata import is_annotated, read_annotated, table_of_object
from reldep.files.byte_sources import FORMATS, Source, open_source, stem
from reldep.files.cells import (
    frame_without_codes,
    stated_kinds,
    typed_column,
)
from reldep.files.columnar import (
    is_dask,
    parquet_files,
    read_arrays,
    read_columnar,
    read_dask,
    read_parquet_files,
)
from reldep.files.join import join_tables
from reldep.files.reading import READING, STATED, Reading, codes_for_missing, completed, date_rule
from reldep.files.statistics_packages import read_package
from reldep.files.table import Table, at_once
from reldep.files.text import read_text
from reldep.files.workbook import read_workbook
from reldep.system import available_memory
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals as nw

    from reldep.data.selectors import Words

_THE_DATA = "the data"
DATA = Argument(
    "Delimited text (.csv, .tsv, .txt, .tab, also compressed), Parquet, Arrow and Feather files, a "
    "directory or pattern of Parquet files, lines of JSON, workbooks (.xlsx, .xls, .ods), NumPy "
    "archives (.npz), files of SPSS, Stata, SAS and R, AnnData (.h5ad), '-' for text from standard "
    "input; several files with `join`; a data frame of any library, or a mapping of names to "
    "columns.",
    shown="path, sequence of paths, file object, data frame, mapping or AnnData",
)
# The arguments of `read` that concern files only.
_OF_FILES = (
    *("join", "numbers", "date_columns", "delimiter", "decimal", "thousands", "encoding"),
    *("header", "skip_rows", "sheet", "layer", "drop_summary"),
)
_READERS: dict[str, Callable[[Source, Reading], Table]] = {
    "text": read_text,
    **dict.fromkeys(("workbook", "old workbook"), read_workbook),
    **dict.fromkeys(("parquet", "arrow", "jsonl"), read_columnar),
    "npz": read_arrays,
    "h5ad": read_annotated,
    **dict.fromkeys(("sav", "por", "dta", "sas7bdat", "xport", "rds", "rda"), read_package),
}
# Limits of a child process that reads a file. Libraries alone take a gigabyte of address space;
# R's values become objects of Python. The slowest reader takes a megabyte in a second.
_MEMORY, _MEMORY_PER_BYTE = 3_000_000_000, 40
_SECONDS, _BYTES_PER_SECOND = 60, 1_000_000
# Files that were tried, by what changes if they do: the page reads a file many times.
_SURVIVED: set[tuple[int | str, ...]] = set()
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from reldep.files import read; "
_PROGRAM += "read.read_in_child(*sys.argv[2:])"


@public
def read(
    data: Annotated[Any, DATA],
    **options: Unpack[Reading],
) -> Table:
    r"""Read a file or take a data frame as a table, for the argument `data` of every question.

    Parquet and Arrow files are not read before columns are asked for. Ambiguous files are rejected
    with the cells at fault and the argument that settles the question.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If the file is damaged or ambiguous, or an option does not fit it.
    OSError
        If the file does not exist or may not be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import reldep
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mice.csv"
    >>> _ = path.write_text("id,diet,C14,C16\n1,fish,0.5,0.7\n2,sun,0.4,NA\n")
    >>> mice = reldep.read(path, where="diet = 'fish'", id="id")
    >>> mice.to_frame("C*").rows(), str(mice.scope)
    ([(0.5, 0.7)], "the 1 of 2 rows with diet = 'fish'")
    """
    given = completed(options)
    survival = given["survival"]
    if isinstance(data, (list, tuple)) and all(map(_is_place, data)):
        table = _of_files([*data], given)
    elif _is_place(data):
        table = _of_files([data], given)
    elif is_annotated(data):
        table = table_of_object(data, given)
    elif is_dask(data):
        table = read_dask(data, given)
    else:
        table = _of_frame(_as_frame(data, given), given)
    table = table.with_lifetimes([survival] if isinstance(survival, str) else [*survival])
    if given["order"] is not None:
        table = table.with_orders(_orders(given["order"]))
    if given["where"] is not None:
        table = table.restricted(given["where"])
    if given["id"] is not None:
        table = table.named_by(given["id"])
    return replace(table, call=_call(data, options))


def as_table(data: Any) -> Table:
    """Return a table as it is, and a path, a data frame or a mapping as a table."""
    return data if isinstance(data, Table) else read(data)


def _is_place(data: Any) -> bool:
    is_file = callable(getattr(data, "read", None)) and not isinstance(data, Table)
    return isinstance(data, (str, os.PathLike)) or is_file


def _of_files(places: list[Any], options: Reading) -> Table:
    """Return the table of one file, or of several joined on a key."""
    join = options["join"]
    if not places:
        raise InputError("`data` names no file; name at least one.")
    names = [os.fspath(place) if isinstance(place, os.PathLike) else str(place) for place in places]
    if len(places) > 1 and join is None:
        raise InputError(
            f"{len(places)} files need a column to be joined on. Pass `join='id'` for the column "
            f"that identifies a row in {listing(names)}; to read Parquet files with the same "
            "columns as one table, name their directory, or put the pattern in quotes."
        )
    if len(places) == 1 and join is not None:
        raise InputError(f"`join={join!r}` needs at least two files; only {names[0]!r} is given.")
    if repeated(names):
        raise InputError(f"{listing(repeated(names))} is given more than once.")
    if join is None:
        files = parquet_files(places[0])
        if files is not None:
            return read_parquet_files(names[0], files, options)
    sources = [open_source(place) for place in places]
    if join is None:
        return read_source(sources[0], options)
    stems = [*map(stem, places)]
    # Which columns have a stated kind can only be said of the joined table.
    plain = cast("Reading", {**options, **dict.fromkeys(STATED)})
    tables = [read_source(source, plain) for source in sources]
    joined = join_tables(tables, stems, join)
    kinds = stated_kinds(options, joined.columns, joined.name)
    if not kinds:
        return joined
    again = [
        read_source(source, _with_kinds(plain, table, own, kinds))
        for source, table, own in zip(sources, tables, stems, strict=True)
    ]
    return join_tables(again, stems, join)


def _with_kinds(plain: Reading, table: Table, own: str, kinds: Mapping[str, str]) -> Reading:
    """Return the options of one table with the kinds that are stated for the joined one."""
    stated = {one: kinds.get(one, kinds.get(f"{own}_{one}")) for one in table.columns}
    chosen = {
        option: [quote_column(one) for one, found in stated.items() if found == kind] or None
        for option, kind in STATED.items()
    }
    return cast("Reading", {**plain, **chosen})


def read_source(source: Source, options: Reading, *, is_tried: bool = False) -> Table:
    """Return the table of one file or of standard input.

    Unless it `is_tried`, a reader that some files crash reads it in a child process first.
    """
    if source.format.is_foreign and not is_tried:
        _try_in_child(source, {"sheet": options["sheet"], "layer": options["layer"]})
    with source.reading():
        table = _READERS[source.format.name](source, options)
    source.check_unchanged()
    if not table.n_rows:
        n_columns = counted(len(table.columns), "column")
        raise InputError(f"{printable(table.name)} has {n_columns}, but no rows.")
    return table


def _try_in_child(source: Source, options: dict[str, str | int | None]) -> None:
    """Raise InputError for a file whose reader does not survive it.

    The readers of SPSS, Stata, SAS, R, old workbooks and HDF5 crash on some damaged files, or take
    all memory. What a child process survives within limits on memory and time is read again here.
    """
    key: tuple[int | str, ...] = (*source.stamp, json.dumps(options))
    if source.stamp and key in _SURVIVED:
        return
    root = str(Path(__file__).parents[2])
    memory = min(available_memory(), _MEMORY + _MEMORY_PER_BYTE * source.size)
    seconds = _SECONDS + source.size // _BYTES_PER_SECOND
    with source.on_disk() as path:
        words = [str(path.absolute()), source.format.name, json.dumps(options), str(memory)]
        command = [sys.executable, "-P", "-c", _PROGRAM, root, *words, str(seconds)]
        if _status(command, 2 * seconds) != 0:
            raise InputError(
                f"{printable(source.name)} is damaged, or too large to be read. Open it in its own "
                "program, and save it again or as CSV."
            )
    _SURVIVED.add(key)


def _status(command: list[str], seconds: int) -> int | None:
    """Return the exit status of a process; None if it took too long, and was ended.

    It belongs to the group of this process, so that whoever ends the group ends it too.
    """
    quiet = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    nowhere = subprocess.DEVNULL
    try:
        return subprocess.run(  # noqa: S603
            command, env=quiet, stdin=nowhere, stdout=nowhere, stderr=nowhere, timeout=seconds
        ).returncode
    except subprocess.TimeoutExpired:
        return None


def read_in_child(path: str, form: str, options: str, memory: str, seconds: str) -> None:
    """Read a file within limits; errors in words are raised again where they can be seen."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(memory),) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds),) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except ImportError:  # not on Windows
        pass
    try:
        source = Source(path, Path(path), FORMATS[form])
        table = read_source(source, completed(json.loads(options)), is_tried=True)
        table.load([*table.columns][:1] + [*table.columns][-1:])
    except (ValueError, OSError, ImportError):
        pass


def _as_frame(data: Any, options: Reading) -> nw.DataFrame[Any]:
    """Return a data frame or a mapping as a frame of narwhals; options about files raise."""
    import narwhals as nw

    kind, given = type(data).__name__, cast("Mapping[str, Any]", options)
    if isinstance(data, Table):
        raise InputTypeError(
            "`data` is a table already. Pass the options of both calls to one `read`."
        )
    if isinstance(data, Mapping):
        import polars as pl

        with translated("data does not make a table"):
            data = pl.DataFrame(
                {
                    str(name): values if isinstance(values, np.ndarray) else list(values)
                    for name, values in data.items()
                }
            )
    data = unwrapped(data)
    check_not_lazy(data, "data")
    if not is_frame(data):
        raise InputTypeError(
            f"data is of type {kind}; pass a path, a data frame or a mapping of names to columns."
        )
    astray = [name for name in _OF_FILES if given[name] != READING[name].default]
    if astray:
        raise InputError(
            f"`{astray[0]}` is about files, and `data` is of type {kind}. Leave it out; a data "
            "frame has its own ways to do so."
        )
    return nw.from_native(with_plain_names(data, "data"), eager_only=True)


def _of_frame(frame: nw.DataFrame[Any], options: Reading) -> Table:
    """Return a table that keeps a frame in its own library, unless dates become circles."""
    import narwhals as nw

    rows = index_rows(frame.to_native())
    kinds = {name: kind_of(dtype) for name, dtype in frame.schema.items()}
    labels = list(stated_kinds(options, kinds, _THE_DATA))
    if labels:
        frame = frame.with_columns(nw.col(*labels).cast(nw.String).cast(nw.Categorical))
        kinds |= dict.fromkeys(labels, ColumnType.CATEGORY)
    frame = frame_without_codes(frame, codes_for_missing(options["na"]))
    cyclic = [
        name
        for name, kind in kinds.items()
        if kind is ColumnType.DATE and date_rule(options, name) != "elapsed"
    ]
    found = {
        name: typed_column(frame[name].to_polars(), ColumnType.DATE, name, options)
        for name in cyclic
    }
    if found:
        made = frame.to_polars().with_columns([one.values.alias(own) for own, one in found.items()])
        frame = nw.from_native(made, eager_only=True)
    return Table(
        _THE_DATA,
        kinds | {name: column.kind for name, column in found.items()},
        at_once(lambda names: frame.select(*names).to_native()),
        len(frame),
        row_names=None if rows is None else (rows.noun, rows.values()),
        dated=None if rows is None else rows.time,
        column_said={name: column.notes for name, column in found.items()},
    )


def _orders(order: Mapping[str, str | Sequence[str]] | Words) -> dict[str, list[str]]:
    """Return the orders of labels, from ``{"size": "s<m<l"}`` or ``"size=s<m<l"``."""
    if not isinstance(order, Mapping):
        pairs = [text.rpartition("=") for text in ([order] if isinstance(order, str) else order)]
        order = {name.strip(): labels for name, _, labels in pairs}
    found = {}
    for name, labels in order.items():
        split = labels.split("<") if isinstance(labels, str) else labels
        found[name] = [composed(str(label).strip()) for label in split]
        if len(set(found[name])) < max(2, len(found[name])):
            raise InputError(
                f"`order` of column {name!r} is {labels!r}. Name every label once, from the lowest "
                "to the highest: 's<m<l'."
            )
    return found


def _call(data: Any, options: Mapping[str, Any]) -> str:
    """Return the call that repeats a table; empty for data in memory."""
    places = data if isinstance(data, (list, tuple)) else [data]
    if not all(isinstance(place, (str, os.PathLike)) for place in places):
        return ""
    written = [os.fspath(place) for place in places]
    named = written if isinstance(data, (list, tuple)) else written[0]
    others = Interface.of(read).code(options).removeprefix("reldep.read(")
    return f"reldep.read({named!r}{', ' if others != ')' else ''}{others}"
