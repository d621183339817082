"""AnnData: a matrix of cells by genes with a table about the cells, in a file or an object.

Files are read by h5py after the format's own description
(https://anndata.readthedocs.io/en/stable/fileformat-prose.html), so that neither anndata nor pandas
is needed. Genes are read when they are asked for. A file that refers to other files is refused
before any value is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from reldep.data.checks import hint, listing, printable, repeated
from reldep.data.selectors import ColumnType
from reldep.exceptions import InputError
from reldep.files.columnar import check_memory
from reldep.files.errors import missing_package, reason
from reldep.files.typed import table_of_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from reldep.data.variables import FloatArray, IntArray
    from reldep.files.byte_sources import Source
    from reldep.files.options import CellOptions
    from reldep.files.table import Table

ReadGenes: TypeAlias = "Callable[[slice], FloatArray]"

# The column with the names of the cells.
_CELLS = "obs_names"

# A sparse matrix by rows is turned into one by columns in memory if it takes no more bytes than
# this; else all of it is read again for every block of genes, this many rows at a time.
MOST_HELD = 2_000_000_000
ROWS_AT_A_TIME = 4_096

# Genes that lie further apart than this are read by themselves.
_LARGEST_GAP = 64
# What h5py raises for files that are not what they should be.
_DAMAGES = (
    *(KeyError, ValueError, TypeError, OSError, RuntimeError, AttributeError, IndexError),
    *(OverflowError, MemoryError),
)


def is_annotated(data: Any) -> bool:
    """Return True for an AnnData object, without importing anndata."""
    return type(data).__name__ == "AnnData" and hasattr(data, "obs_names")


def read_annotated(source: Source, reading: CellOptions) -> Table:
    """Return the table of an AnnData file: the columns of ``obs``, then the genes."""
    try:
        import h5py
    except ImportError:
        raise missing_package(source.name, "anndata") from None
    name = printable(source.name)
    try:
        file = h5py.File(source.file(), "r")
        _check_links(file, name)
        return _of_file(file, name, source, reading)
    except InputError:
        raise
    except _DAMAGES as error:
        raise InputError(
            f"{name} is damaged, or no AnnData file (HDF5): {reason(error)}"
        ) from error


def _check_links(group: Any, name: str) -> None:
    """Raise InputError if groups or datasets refer to other files."""
    import h5py

    for key in group:
        if not isinstance(group.get(key, getlink=True), h5py.HardLink):
            raise _refers_elsewhere(name, f"{group.name}/{key}")
        part = group[key]
        if isinstance(part, h5py.Group):
            _check_links(part, name)
        elif isinstance(part, h5py.Dataset) and (part.external or part.is_virtual):
            raise _refers_elsewhere(name, part.name)


def _refers_elsewhere(name: str, part: str) -> InputError:
    return InputError(
        f"{printable(part)!r} of {name} refers to another place or file, which is not read. Copy "
        "the data into one file: anndata.read_h5ad(…).write_h5ad(…)."
    )


def _of_file(file: Any, name: str, source: Source, reading: CellOptions) -> Table:
    import h5py

    for part in ("obs", "var", "X"):
        if part not in file and not (part == "X" and reading.layer):
            raise InputError(
                f"{name} has no {part!r}: it is HDF5, but no AnnData file. Write it with "
                "anndata.write_h5ad."
            )
    for part in ("obs", "var"):
        if not isinstance(file[part], h5py.Group):
            raise InputError(
                f"{name} was written by an anndata older than 0.7. Read and write it again with "
                "a newer one."
            )
    genes = _texts(file["var"][file["var"].attrs["_index"]], name)
    stored = _layer(file.get("layers", {}), reading.layer, name)
    cells = _obs_of_file(file["obs"], name)
    n_cells = len(cells[_CELLS])
    read = _reader_of_file(file["X"] if stored is None else stored, (n_cells, len(genes)), name)
    return _table(source.name, cells, genes, read, reading, source.notes)


def table_of_object(data: Any, reading: CellOptions) -> Table:
    """Return the table of an AnnData object, in memory or backed by a file."""
    stored = _layer(data.layers, reading.layer, "the data")
    matrix = data.X if stored is None else stored
    if matrix is None:
        raise InputError("the data have no X. Name a layer with `layer`.")
    if getattr(matrix, "format", None) == "csr" and hasattr(matrix, "tocsc"):
        matrix = matrix.tocsc()

    def read(genes: slice) -> FloatArray:
        block = matrix[:, genes]
        return np.asarray(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)

    cells: dict[str, Any] = {_CELLS: [str(name) for name in data.obs_names]}
    for name in data.obs.columns:
        cells[str(name)] = _series_of_pandas(str(name), data.obs[name])
    return _table("the data", cells, [str(name) for name in data.var_names], read, reading)


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
        near = hint(name, list(layers), kind="layers")
        raise InputError(f"`layer={name!r}`: no such layer in {source}; {near}.")
    return layers[name]


def _table(
    name: str,
    cells: Mapping[str, Any],
    genes: list[str],
    read: ReadGenes,
    reading: CellOptions,
    notes: Sequence[str] = (),
) -> Table:
    """Return one table of the columns about the cells and the genes."""
    import polars as pl

    if repeated(genes):
        raise InputError(
            f"{printable(name)} has several genes of one name: {listing(repeated(genes)[:5])}. "
            "Make the names unique first: adata.var_names_make_unique()."
        )
    frame = pl.DataFrame(dict(cells))
    clashes = [gene for gene in genes if gene in frame.columns]
    shown = {f"X:{gene}" if gene in frame.columns else gene: i for i, gene in enumerate(genes)}
    said = list(notes)
    if clashes:
        said.append(
            f"genes that have the name of a column of obs are called X:{clashes[0]} and so on "
            f"({len(clashes)} of them)"
        )

    def load(names: list[str]) -> pl.DataFrame:
        check_memory(printable(name), frame.height, len(names))
        try:
            return _columns(frame, names, shown, read)
        except InputError:
            raise
        except _DAMAGES as error:
            raise InputError(f"cannot read {printable(name)}: {reason(error)}") from error

    return table_of_columns(
        name,
        dict(frame.schema) | dict.fromkeys(shown, pl.Float64()),
        load,
        frame.height,
        reading,
        said=said,
        kinds=dict.fromkeys(shown, ColumnType.GENE),
    )


def _columns(
    frame: pl.DataFrame, wanted: Sequence[str], genes: Mapping[str, int], read: ReadGenes
) -> pl.DataFrame:
    """Return the columns that are wanted, in their order."""
    import polars as pl

    places = sorted(genes[name] for name in wanted if name in genes)
    values: dict[int, FloatArray] = {}
    for run in _runs(places):
        block, held = read(run), set(places)
        values |= {i: block[:, i - run.start] for i in range(run.start, run.stop) if i in held}
    return pl.DataFrame(
        [
            pl.Series(name, np.ascontiguousarray(values[genes[name]]))
            if name in genes
            else frame[name]
            for name in wanted
        ]
    )


def _runs(places: Sequence[int]) -> Iterator[slice]:
    """Yield runs of places that are read at once, with those between them that lie close."""
    start = 0
    for i in range(1, len(places) + 1):
        if i == len(places) or places[i] - places[i - 1] > _LARGEST_GAP:
            yield slice(places[start], places[i - 1] + 1)
            start = i


def _all(dataset: Any, name: str) -> Any:
    """Return all values of a dataset, if there is room for them."""
    check_memory(name, int(dataset.size), 1)
    return dataset[()]


def _texts(dataset: Any, name: str) -> list[str]:
    values = _all(dataset, name)
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]


def _obs_of_file(obs: Any, name: str) -> dict[str, Any]:
    """Read the table about the cells."""
    index = obs.attrs["_index"]
    cells: dict[str, Any] = {_CELLS: _texts(obs[index], name)}
    for own in obs.attrs["column-order"]:
        old_categories = obs.get("__categories", {})
        cells[str(own)] = _series_of_file(str(own), obs[own], old_categories, name)
    return cells


def _series_of_file(
    own: str, stored: Any, old_categories: Mapping[str, Any], name: str
) -> pl.Series:
    """Read a column about the cells: numbers, text, labels, or values with a mask."""
    import polars as pl

    kind = stored.attrs.get("encoding-type", "")
    if kind == "categorical" or own in old_categories:
        codes = stored["codes"] if kind == "categorical" else stored
        levels = stored["categories"] if kind == "categorical" else old_categories[own]
        words = _texts(levels, name)
        picked = [None if code < 0 else words[code] for code in _all(codes, name)]
        return pl.Series(own, picked, dtype=pl.String).cast(pl.Categorical)
    if kind.startswith("nullable"):
        values = _plain_values(stored["values"], name)
        mask = _all(stored["mask"], name)
        return pl.Series(
            own, [None if m else v for v, m in zip(values, mask, strict=True)], strict=False
        )
    return pl.Series(own, _plain_values(stored, name), strict=False)


def _plain_values(dataset: Any, name: str) -> Any:
    return _texts(dataset, name) if dataset.dtype.kind in "OS" else _all(dataset, name).tolist()


def _reader_of_file(stored: Any, shape: tuple[int, int], name: str) -> ReadGenes:
    """Return a function that reads some neighbouring genes, whatever way the matrix is stored."""
    kind = stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "array"))
    sparse = {"csc_matrix": "csc", "csc": "csc", "csr_matrix": "csr", "csr": "csr"}.get(kind)
    own = tuple(stored.shape) if sparse is None else _shape(stored)
    if own != shape:
        raise InputError(
            f"the matrix of {name} has the shape {own}, but there are {shape[0]} cells and "
            f"{shape[1]} genes."
        )
    if sparse is None:
        return lambda genes: np.asarray(stored[:, genes], dtype=np.float64)
    starts = _all(stored["indptr"], name)
    n_lines, n_places = (shape[1], shape[0]) if sparse == "csc" else shape
    _check_starts(starts, n_lines, stored, name)
    if sparse == "csc":
        return _columns_of_sparse(stored, starts, n_places, name)
    if 12 * len(stored["data"]) > MOST_HELD:
        return _columns_by_rows(stored, starts, shape, name)
    return _columns_in_memory(stored, starts, shape, name)


def _shape(stored: Any) -> tuple[int, int]:
    rows, columns = stored.attrs["shape" if "shape" in stored.attrs else "h5sparse_shape"]
    return int(rows), int(columns)


def _check_starts(starts: IntArray, n_lines: int, stored: Any, name: str) -> None:
    """Raise InputError if the lines of a sparse matrix do not start where its values are."""
    n_values = len(stored["data"])
    is_right = (
        len(starts) == n_lines + 1
        and starts[0] == 0
        and starts[-1] == n_values == len(stored["indices"])
        and bool((np.diff(starts.astype(np.int64)) >= 0).all())
    )
    if not is_right:
        raise InputError(f"the sparse matrix of {name} is damaged: its lines overlap or end early.")


def _places(stored: Any, first: int, last: int, n_places: int, name: str) -> IntArray:
    """Return the places of values within their lines; refuse places outside of the matrix."""
    places = np.asarray(stored["indices"][first:last])
    if len(places) and not 0 <= int(places.min()) <= int(places.max()) < n_places:
        raise InputError(
            f"the sparse matrix of {name} has values outside of its {n_places} places."
        )
    return places


def _columns_of_sparse(stored: Any, starts: IntArray, n_rows: int, name: str) -> ReadGenes:
    from scipy.sparse import csc_array

    def read(genes: slice) -> FloatArray:
        first, last = int(starts[genes.start]), int(starts[genes.stop])
        own = starts[genes.start : genes.stop + 1] - first
        places = _places(stored, first, last, n_rows, name)
        block = csc_array(
            (stored["data"][first:last], places, own), shape=(n_rows, genes.stop - genes.start)
        )
        return np.asarray(block.toarray(), dtype=np.float64)

    return read


def _columns_in_memory(
    stored: Any, starts: IntArray, shape: tuple[int, int], name: str
) -> ReadGenes:
    from scipy.sparse import csr_array

    held: list[Any] = []

    def read(genes: slice) -> FloatArray:
        if not held:
            n_values = len(stored["data"])
            places = _places(stored, 0, n_values, shape[1], name)
            held.append(csr_array((stored["data"][()], places, starts), shape=shape).tocsc())
        return np.asarray(held[0][:, genes].toarray(), dtype=np.float64)

    return read


def _columns_by_rows(stored: Any, starts: IntArray, shape: tuple[int, int], name: str) -> ReadGenes:
    from scipy.sparse import csr_array

    n_rows, n_columns = shape

    def read(genes: slice) -> FloatArray:
        made = np.empty((n_rows, genes.stop - genes.start))
        for row in range(0, n_rows, ROWS_AT_A_TIME):
            stop = min(row + ROWS_AT_A_TIME, n_rows)
            first, last = int(starts[row]), int(starts[stop])
            own = starts[row : stop + 1] - first
            places = _places(stored, first, last, n_columns, name)
            block = csr_array((stored["data"][first:last], places, own), (stop - row, n_columns))
            made[row:stop] = block[:, genes].toarray()
        return made

    return read
