"""Files of other programs: SPSS, Stata, SAS and R, and AnnData in a file or an object.

AnnData is a matrix of cells by genes, with a table about the cells. Files are read by h5py after
the format's own description
(https://anndata.readthedocs.io/en/stable/fileformat-prose.html), so that neither anndata nor pandas
is needed. Genes are read when they are asked for, and only those.
"""

from __future__ import annotations

import lzma
import struct
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.cells import ROW, Cleaned
from reldep.data.checks import hint, listing, printable, repeated
from reldep.data.files.queries import reading_errors, reason, typed_columns
from reldep.data.files.table import Table, finished_table, with_categories
from reldep.data.selectors import ColumnType
from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from reldep.data.files.options import ReadingOptions
    from reldep.data.variables import FloatArray

    ReadGenes = Callable[[slice], FloatArray]

# The column with the names of the cells.
CELLS = "obs_names"

# A sparse matrix by rows is turned into one by columns in memory if it takes no more than this;
# else all of it is read again for every block of genes, so many rows at a time.
MOST_HELD = 2_000_000_000
ROWS_AT_A_TIME = 4_096

# Genes that lie further apart than this are read by themselves.
LARGEST_GAP = 64

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


def is_annotated(data: Any) -> bool:
    """Tell an AnnData object from everything else, without importing anndata."""
    return type(data).__name__ == "AnnData" and hasattr(data, "obs_names")


def open_annotated(path: Path, options: ReadingOptions) -> Table:
    """Open an AnnData file: the columns of ``obs``, then the genes of ``X`` or of a layer."""
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"reading {printable(path)} needs an extra package: pip install 'reldep[anndata]'"
        ) from None
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"{printable(path)} is no AnnData file (HDF5): {error}") from None
    for part in ("obs", "var", "X"):
        if part not in file and not (part == "X" and options.layer):
            raise InputError(
                f"{printable(path)} has no {part!r}: it is HDF5, but no AnnData file. Write it "
                "with anndata.write_h5ad."
            )
    for part in ("obs", "var"):
        if not isinstance(file[part], h5py.Group):
            raise InputError(
                f"{printable(path)} was written by an anndata older than 0.7. Read and write it "
                "again with a newer one."
            )
    genes = _texts(file["var"][file["var"].attrs["_index"]])
    stored = _layer(file.get("layers", {}), options.layer, printable(path)) or file["X"]
    cells = _obs_of_file(file["obs"])
    return _table(str(path), cells, genes, _reader_of_file(stored), options)


def annotated_table(data: Any, options: ReadingOptions) -> Table:
    """Make a table of an AnnData object, in memory or backed by a file."""
    stored = _layer(data.layers, options.layer, "the data")
    matrix = data.X if stored is None else stored
    if matrix is None:
        raise InputError("the data have no X. Name a layer with `layer`.")
    if getattr(matrix, "format", None) == "csr" and hasattr(matrix, "tocsc"):
        matrix = matrix.tocsc()

    def read(genes: slice) -> FloatArray:
        block = matrix[:, genes]
        return np.asarray(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)

    cells: dict[str, Any] = {CELLS: [str(name) for name in data.obs_names]}
    for name in data.obs.columns:
        cells[str(name)] = _series_of_pandas(str(name), data.obs[name])
    return _table("the data", cells, [str(name) for name in data.var_names], read, options)


def _series_of_pandas(name: str, column: Any) -> pl.Series:
    import polars as pl

    values = column.astype(object).where(column.notna(), None).to_list()
    if type(column.dtype).__name__ == "CategoricalDtype":
        words = [None if value is None else str(value) for value in values]
        return pl.Series(name, words, dtype=pl.String).cast(pl.Categorical)
    return pl.Series(name, values, strict=False)


def _layer(layers: Any, name: str | None, source: str) -> Any:
    if name is None:
        return None
    if name not in layers:
        raise InputError(
            f"`layer={name!r}` no such layer in {source}; "
            f"{hint(name, list(layers), kind='layers')}."
        )
    return layers[name]


def _table(
    name: str,
    cells: Mapping[str, Any],
    genes: list[str],
    read: ReadGenes,
    options: ReadingOptions,
) -> Table:
    """Put the columns about the cells and the genes into one table that is read when needed."""
    import polars as pl
    from polars.io.plugins import register_io_source

    if repeated(genes):
        raise InputError(
            f"{printable(name)} has several genes of one name: {listing(repeated(genes)[:5])}. "
            "Make the names unique first: adata.var_names_make_unique()."
        )
    plain = pl.DataFrame(dict(cells)).with_row_index(ROW)
    # Conditions, missing codes and cycles are about the cells; labels may be genes too.
    about = finished_table(name, Cleaned(plain.lazy()), replace(options, categories=None))
    frame = about.frame.collect(engine="in-memory")
    clashes = [gene for gene in genes if gene in frame.columns]
    shown = {f"X:{gene}" if gene in frame.columns else gene: i for i, gene in enumerate(genes)}
    schema = dict(frame.schema) | dict.fromkeys(shown, pl.Float64())

    def source(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,  # noqa: ARG001 (a hint)
    ) -> Iterator[pl.DataFrame]:
        wanted = list(schema) if with_columns is None else with_columns or [ROW]
        made = _columns(frame, wanted, shown, read)
        chosen = made if predicate is None else made.filter(predicate)
        yield chosen if n_rows is None else chosen.head(n_rows)

    lazy = register_io_source(source, schema=schema)
    kinds = typed_columns(frame.schema) | dict.fromkeys(shown, ColumnType.GENE)
    said: tuple[str, ...] = ()
    if clashes:
        said = (
            f"genes that have the name of a column of obs are called X:{clashes[0]} and so on "
            f"({len(clashes)} of them)",
        )
    table = Table(name=name, frame=lazy, columns=kinds, said=said)
    if options.categories is None:
        return table
    return with_categories(table, table.select(options.categories))


def _columns(
    frame: pl.DataFrame, wanted: Sequence[str], genes: Mapping[str, int], read: ReadGenes
) -> pl.DataFrame:
    """Read the columns that are wanted, in their order."""
    import polars as pl

    places = sorted(genes[name] for name in wanted if name in genes)
    values: dict[int, FloatArray] = {}
    for run in _runs(places):
        block = read(run)
        held = set(places)
        values |= {i: block[:, i - run.start] for i in range(run.start, run.stop) if i in held}
    return pl.DataFrame(
        [
            pl.Series(name, np.ascontiguousarray(values[genes[name]])).fill_nan(None)
            if name in genes
            else frame[name]
            for name in wanted
        ]
    )


def _runs(places: Sequence[int]) -> Iterator[slice]:
    """Cut places into runs that are read at once, with those between them that lie close."""
    start = 0
    for i in range(1, len(places) + 1):
        if i == len(places) or places[i] - places[i - 1] > LARGEST_GAP:
            yield slice(places[start], places[i - 1] + 1)
            start = i


def _texts(dataset: Any) -> list[str]:
    return [value.decode() if isinstance(value, bytes) else str(value) for value in dataset[()]]


def _obs_of_file(obs: Any) -> dict[str, Any]:
    """Read the table about the cells."""
    index = obs.attrs["_index"]
    cells: dict[str, Any] = {CELLS: _texts(obs[index])}
    for name in obs.attrs["column-order"]:
        cells[str(name)] = _series_of_file(str(name), obs[name], obs.get("__categories", {}))
    return cells


def _series_of_file(name: str, stored: Any, old_categories: Mapping[str, Any]) -> pl.Series:
    """Read a column about the cells: numbers, text, labels, or values with a mask."""
    import polars as pl

    kind = stored.attrs.get("encoding-type", "")
    if kind == "categorical" or name in old_categories:
        codes = stored["codes"] if kind == "categorical" else stored
        levels = stored["categories"] if kind == "categorical" else old_categories[name]
        words = _texts(levels)
        picked = [None if code < 0 else words[code] for code in codes[()]]
        return pl.Series(name, picked, dtype=pl.String).cast(pl.Categorical)
    if kind.startswith("nullable"):
        values = _plain_values(stored["values"])
        mask = stored["mask"][()]
        return pl.Series(
            name, [None if m else v for v, m in zip(values, mask, strict=True)], strict=False
        )
    return pl.Series(name, _plain_values(stored), strict=False)


def _plain_values(dataset: Any) -> Any:
    return _texts(dataset) if dataset.dtype.kind in "OS" else dataset[()].tolist()


def _reader_of_file(stored: Any) -> ReadGenes:
    """Give a function that reads some neighbouring genes, whatever way the matrix is stored."""
    kind = stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "array"))
    if kind in ("csc_matrix", "csc"):
        return _columns_of_sparse(stored)
    if kind not in ("csr_matrix", "csr"):
        return lambda genes: np.asarray(stored[:, genes], dtype=np.float64)
    if 12 * len(stored["data"]) > MOST_HELD:
        return _columns_by_rows(stored)
    from scipy.sparse import csr_array

    held: list[Any] = []

    def read(genes: slice) -> FloatArray:
        if not held:
            parts = (stored[part][()] for part in ("data", "indices", "indptr"))
            held.append(csr_array(tuple(parts), shape=_shape(stored)).tocsc())
        return np.asarray(held[0][:, genes].toarray(), dtype=np.float64)

    return read


def _shape(stored: Any) -> tuple[int, int]:
    rows, columns = stored.attrs["shape" if "shape" in stored.attrs else "h5sparse_shape"]
    return int(rows), int(columns)


def _columns_of_sparse(stored: Any) -> ReadGenes:
    from scipy.sparse import csc_array

    starts = stored["indptr"][()]
    n_rows = _shape(stored)[0]

    def read(genes: slice) -> FloatArray:
        first, last = starts[genes.start], starts[genes.stop]
        own = starts[genes.start : genes.stop + 1] - first
        parts = (stored["data"][first:last], stored["indices"][first:last], own)
        block = csc_array(parts, shape=(n_rows, genes.stop - genes.start))
        return np.asarray(block.toarray(), dtype=np.float64)

    return read


def _columns_by_rows(stored: Any) -> ReadGenes:
    from scipy.sparse import csr_array

    starts = stored["indptr"][()]
    n_rows, n_columns = _shape(stored)

    def read(genes: slice) -> FloatArray:
        made = np.empty((n_rows, genes.stop - genes.start))
        for row in range(0, n_rows, ROWS_AT_A_TIME):
            stop = min(row + ROWS_AT_A_TIME, n_rows)
            first, last = starts[row], starts[stop]
            own = starts[row : stop + 1] - first
            parts = (stored["data"][first:last], stored["indices"][first:last], own)
            block = csr_array(parts, shape=(stop - row, n_columns))
            made[row:stop] = block[:, genes].toarray()
        return made

    return read


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
            f"{printable(path)} holds {len(tables)} data frames ({listing(tables) or 'none'}). "
            "Save the one you want with saveRDS()."
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
