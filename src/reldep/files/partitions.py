"""Tables that are never read as a whole: pieces of rows, or thousands of columns, some at a time.

A piece of Parquet files or of a dask data frame is read, cut down to the rows that a condition
keeps and that are complete, and handed out as plain arrays (:class:`Block`). Nothing here ever
holds more than the pieces in work.
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from reldep.data.checks import listing, printable
from reldep.data.selectors import ColumnType, kind_of, select_columns
from reldep.exceptions import InputError, InputTypeError
from reldep.files.errors import reading_errors, reason
from reldep.files.filters import parse_filter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl

    from reldep.data.variables import FloatArray, IntArray

Kind: TypeAlias = Literal["number", "label"]

# Rows of a Parquet file that are read at a time.
PIECE_ROWS = 2**18

# The number of a row in its piece, before any row is left out.
PLACE = "\0place"

# Whole numbers beyond this are not told apart as floating-point numbers.
LARGEST_WHOLE = 2**53

KINDS: dict[ColumnType, Kind] = {
    ColumnType.INTEGER: "number",
    ColumnType.NUMBER: "number",
    ColumnType.BOOLEAN: "label",
    ColumnType.TEXT: "label",
    ColumnType.CATEGORY: "label",
}


@dataclass(frozen=True)
class ParquetPiece:
    """Some rows of a Parquet file."""

    path: str
    start: int
    length: int

    def frame(self) -> pl.LazyFrame:
        """Give the rows, with their places; nothing is read yet."""
        import polars as pl

        whole = pl.scan_parquet(self.path, glob=False)
        return whole.slice(self.start, self.length).with_row_index(PLACE)

    def __str__(self) -> str:
        return printable(self.path)


def frame_of(piece: Any) -> pl.LazyFrame:
    """Give the rows of a piece of any kind, with their places."""
    import polars as pl

    if isinstance(piece, ParquetPiece):
        return piece.frame()
    # A partition of a dask data frame, as dask hands it to a task.
    return pl.from_pandas(piece).with_row_index(PLACE).lazy()


@dataclass(frozen=True, eq=False)
class Partitions:
    """A table in pieces.

    Attributes
    ----------
    name : str
        The files, as they were given, or "the data".
    columns : mapping of str to ColumnType
    pieces : tuple
        Of :class:`ParquetPiece`, or of what dask computes into pandas frames.
    in_dask : bool
    """

    name: str
    columns: Mapping[str, ColumnType]
    pieces: tuple[Any, ...] = field(repr=False)
    in_dask: bool = False

    def select(self, expression: str) -> list[str]:
        """Give the names of columns that an expression chooses, as a table in memory does."""
        return select_columns(expression, self.columns, source=self.name)

    def notes_about(self, columns: Iterable[str]) -> tuple[str, ...]:  # noqa: ARG002
        """Say what was understood about columns: nothing, for Parquet files know their types."""
        return ()

    def kind_of(self, name: str) -> Kind:
        """Tell whether a column holds numbers or labels; refuse any other kind."""
        kind = KINDS.get(self.columns[name])
        if kind is None:
            raise InputError(
                f"column {name!r} of {printable(self.name)} holds values of the kind "
                f"{self.columns[name].value}, and data in partitions can be numbers or labels. "
                "Turn it into numbers first, for instance a date into days."
            )
        return kind


def open_partitions(data: Any, memory: int) -> Partitions | None:
    """Recognise data that stay in pieces; None for anything that is read as a whole.

    Parameters
    ----------
    data : object
        A dask data frame, a pattern such as ``"folder/*.parquet"``, a directory of Parquet files,
        or a path of a Parquet file that is larger than a quarter of `memory`.
    memory : int
        Bytes that are available.
    """
    if type(data).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(
        data, "npartitions"
    ):
        return _from_dask(data)
    if not isinstance(data, (str, os.PathLike)):
        return None
    text = os.fspath(data)
    path = Path(text)
    if path.is_dir():
        return _from_files(text, _parquet_files(path))
    if glob.has_magic(text) and not path.exists():
        # In a fixed order: the file system's own may change, and the sums with it.
        return _from_files(text, sorted(map(Path, glob.glob(text))))  # noqa: PTH207
    if path.suffix.lower() in (".parquet", ".pq") and path.is_file():
        is_large = path.stat().st_size > memory / 4
        return _from_files(text, [path]) if is_large else None
    return None


def _parquet_files(folder: Path) -> list[Path]:
    """List the Parquet files of a directory and of those in it, but for hidden ones."""
    found = [path for end in ("parquet", "pq") for path in folder.rglob(f"*.{end}")]
    return sorted(
        path for path in found if not path.relative_to(folder).as_posix().startswith(("_", "."))
    )


def _from_files(name: str, files: Sequence[Path]) -> Partitions:
    import polars as pl

    if not files:
        raise FileNotFoundError(f"no Parquet files in {printable(name)}")
    others = [path for path in files if path.suffix.lower() not in (".parquet", ".pq")]
    if others:
        raise InputError(
            f"{printable(name)} stands for {len(files)} files, and not all of them are Parquet "
            f"files: {listing(map(str, others))}. Only Parquet files are read in pieces; write the "
            "others as Parquet first."
        )
    schemas = {}
    pieces: list[ParquetPiece] = []
    for path in files:
        try:
            schemas[str(path)] = dict(pl.read_parquet_schema(path))
            whole = pl.scan_parquet(path, glob=False)
            length = int(whole.select(pl.len()).collect().item())
        except reading_errors() as error:
            raise InputError(f"{printable(path)} cannot be read: {reason(error)}") from error
        pieces += [
            ParquetPiece(str(path), start, min(PIECE_ROWS, length - start))
            for start in range(0, length, PIECE_ROWS)
        ]
    if not pieces:
        raise InputError(f"{printable(name)} has no rows.")
    return Partitions(name, _common_columns(schemas), tuple(pieces))


def _common_columns(schemas: Mapping[str, Mapping[str, pl.DataType]]) -> dict[str, ColumnType]:
    """Give the columns of the first file, each with a kind that all files agree on.

    Whether every other file has it, and as the same kind, is checked when it is read.
    """
    import polars as pl

    first = next(iter(schemas.values()))
    found: dict[str, ColumnType] = {}
    for name in first:
        kinds = [
            kind_of(schema[name])
            for schema in schemas.values()
            if name in schema and schema[name] != pl.Null
        ]
        found[name] = kinds[0] if kinds else ColumnType.OTHER
        if ColumnType.NUMBER in kinds and found[name] is ColumnType.INTEGER:
            found[name] = ColumnType.NUMBER
    return found


def _from_dask(data: Any) -> Partitions:
    if not hasattr(data, "columns") or getattr(data, "ndim", 0) != 2:
        raise InputTypeError(
            "data is a dask series or array. Pass a dask data frame, and name its columns."
        )
    names = [str(name) for name in data.columns]
    if len(set(names)) < len(names):
        raise InputError("data has columns of the same name. Give every column its own name.")
    kinds = {str(name): _dask_kind(dtype) for name, dtype in data.dtypes.items()}
    return Partitions("the data", kinds, tuple(data.to_delayed()), in_dask=True)


def _dask_kind(dtype: Any) -> ColumnType:
    """Tell the kind of a column by its declared type; its pieces are checked when they come."""
    text = str(dtype).lower()
    kind = getattr(dtype, "kind", "O")
    if text == "category":
        return ColumnType.CATEGORY
    if kind == "b" or text.startswith("bool"):
        return ColumnType.BOOLEAN
    if kind in "iu":
        return ColumnType.INTEGER
    if kind == "f":
        return ColumnType.NUMBER
    return (
        ColumnType.TEXT
        if text in ("object", "string", "str") or "string" in text
        else (ColumnType.OTHER)
    )


@dataclass(frozen=True, eq=False)
class PiecesOf:
    """Some columns of a table in pieces: a variable that is not read yet."""

    partitions: Partitions
    columns: tuple[str, ...]
    where: str | None = None

    def __getitem__(self, name: str) -> PiecesOf:
        """Take one of the columns."""
        return PiecesOf(self.partitions, (name,), self.where)


def read_pieces(blocks: Mapping[str, Any], codes: Sequence[Any] = ()) -> dict[str, Any]:
    """Read variables in pieces into data frames and series, one piece after another.

    Parameters
    ----------
    blocks : mapping of str to data
        Those of the kind :class:`PiecesOf` are read, and must be all.
    codes : sequence of str or float
        Values that stand for missing ones.
    """
    import polars as pl

    if not all(isinstance(block, PiecesOf) for block in blocks.values()):
        raise InputError(
            "some variables are in partitions and others are not; name columns of the same data "
            "for all of them."
        )
    first = next(iter(blocks.values()))
    table, where = first.partitions, first.where
    columns = list(dict.fromkeys(name for block in blocks.values() for name in block.columns))
    layout = PieceLayout(
        table.name,
        {name: (name,) for name in columns},
        {name: table.kind_of(name) for name in columns},
        where,
        tuple(codes),
    )
    pieces = table.pieces
    if table.in_dask:
        pieces = tuple(piece.compute() for piece in pieces)
    read = [layout.frame(piece, number)[0] for number, piece in enumerate(pieces)]
    rows = pl.concat(read).select(
        pl.col(f"{name}\0{0}").alias(name)
        if kind == "number"
        else pl.col(f"{name}\0{0}").cast(pl.Categorical).alias(name)
        for name, kind in layout.kinds.items()
    )
    return {
        name: rows[block.columns[0]] if len(block.columns) == 1 else rows.select(block.columns)
        for name, block in blocks.items()
    }


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of one piece that are used.

    Attributes
    ----------
    number : int
        Of the piece.
    values : dict of str to ndarray
        By variable: numbers, shape (n, d), or the codes of labels, shape (n,).
    places : ndarray of int
        Where the rows stand in the piece.
    n_rows : int
        Rows of the piece before any was left out.
    """

    number: int
    values: dict[str, Any]
    places: IntArray
    n_rows: int

    def __len__(self) -> int:
        return len(self.places)

    def keys(self, seed: int) -> FloatArray:
        """Give every row a random number; those with the smallest are a sample of all rows."""
        return np.random.default_rng([seed, self.number]).random(len(self))


@dataclass(frozen=True, eq=False)
class PieceLayout:
    """Which columns of every piece are read, and as what.

    Attributes
    ----------
    name : str
        Of the table.
    blocks : mapping of str to tuple of str
        The columns of every variable.
    kinds : mapping of str to "number" or "label"
        Of every variable.
    where : str or None
        A condition on the rows.
    codes : tuple of str or float
        Values that stand for missing ones.
    categories : mapping of str to tuple of str
        All labels of the variables that hold labels, once they are known.
    """

    name: str
    blocks: Mapping[str, tuple[str, ...]]
    kinds: Mapping[str, Kind]
    where: str | None = None
    codes: tuple[Any, ...] = ()
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def frame(self, piece: Any, number: int) -> tuple[pl.DataFrame, int]:
        """Read the columns of a piece, cast to what they should be, and count its rows.

        Numbers become doubles and labels strings; what is missing, infinite or stands for a
        missing value becomes null.
        """
        import polars as pl

        rows = frame_of(piece)
        where = f"{piece}" if isinstance(piece, ParquetPiece) else f"partition {number} of the data"
        try:
            schema = rows.collect_schema()
            expressions = [
                self._cast(name, kind, schema, where).alias(f"{variable}\0{i}")
                for variable, kind in self.kinds.items()
                for i, name in enumerate(self.blocks[variable])
            ]
            # Places stand for rows before the condition, and the last is there to count them.
            n_rows = int(rows.select(pl.len()).collect().item())
            if self.where is not None:
                known = {name: dtype for name, dtype in schema.items() if name != PLACE}
                rows = rows.filter(parse_filter(self.where, known))
            return rows.select(PLACE, *expressions).collect(), n_rows
        except reading_errors() as error:
            raise InputError(f"{where} cannot be read: {reason(error)}") from error

    def _cast(self, name: str, kind: Kind, schema: pl.Schema, where: str) -> pl.Expr:
        import polars as pl
        import polars.selectors as cs

        if name not in schema:
            raise InputError(
                f"{where} has no column {name!r}, which other pieces of {printable(self.name)} "
                "have. Write all files with the same columns, or leave that file out."
            )
        dtype = schema[name]
        found = None if dtype == pl.Null else KINDS.get(kind_of(dtype))
        # Numbers can be labels where a kernel for labels is asked for, never the other way round.
        if dtype != pl.Null and (found is None or (found == "label" and kind == "number")):
            raise InputError(
                f"column {name!r} holds values of the type {dtype} in {where}, and numbers in "
                "other pieces. Write the column with one type in all files."
            )
        values = cs.by_name(name).as_expr()
        if found == "number" or dtype == pl.Null:
            doubles = _number(values, self.codes)
            if kind == "number":
                return doubles
            # 1 and 1.0 are one label; whole numbers that no double holds stay apart.
            return (
                pl.when(values.is_between(-LARGEST_WHOLE, LARGEST_WHOLE) | doubles.is_null())
                .then(doubles.cast(pl.String))
                .otherwise(values.cast(pl.String))
            )
        text = values.cast(pl.String)
        words = [str(code) for code in self.codes]
        return pl.when(text.is_in(words)).then(None).otherwise(text) if words else text


def _number(values: pl.Expr, codes: Sequence[Any]) -> pl.Expr:
    """Give doubles, null where they are no numbers or stand for missing ones."""
    import polars as pl

    doubles = values.cast(pl.Float64)
    doubles = pl.when(doubles.is_finite()).then(doubles).otherwise(None)
    numbers = [float(code) for code in codes if _is_number(code)]
    return pl.when(doubles.is_in(numbers)).then(None).otherwise(doubles) if numbers else doubles


def _is_number(code: Any) -> bool:
    try:
        float(code)
    except (TypeError, ValueError):
        return False
    return True
