"""AnnData: a matrix of cells by genes with a table about the cells, in a file or an object.

Files are read by h5py after the format's own description
(https://anndata.readthedocs.io/en/stable/fileformat-prose.html), so that neither anndata nor pandas
is needed. Genes are read when they are asked for. A file that refers to other files is refused
before any value is read.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from reldep.data.checks import hint, listing, printable, repeated
from reldep.data.selectors import ColumnType
from reldep.exceptions import InputError
from reldep.files.byte_sources import check_budget
from reldep.files.cells import table_of_columns
from reldep.files.statistics_packages import series_of_pandas
from reldep.files.table import at_once
from reldep.system import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray
    from reldep.files.byte_sources import Source
    from reldep.files.read import Reading
    from reldep.files.table import Table

ReadGenes: TypeAlias = "Callable[[slice], FloatArray]"

# The column with the names of the cells.
_CELLS = "obs_names"
# A sparse matrix by rows is turned into one by columns in memory if it takes no more bytes than
# this, as 20,000 cells with 8,000 genes each do; else it is read again in such pieces for every
# block of genes.
_MOST_HELD = 2_000_000_000
# Genes that lie further apart than this are read by themselves: a chunk of HDF5 often has as many.
_LARGEST_GAP = 64


def is_annotated(data: Any) -> bool:
    """Return True for an AnnData object, without importing anndata."""
    return type(data).__name__ == "AnnData" and hasattr(data, "obs_names")


def read_annotated(source: Source, options: Reading, most_held: int = _MOST_HELD) -> Table:
    """Return the table of an AnnData file: the columns of ``obs``, then the genes."""
    name = source.name
    h5py = import_extra("h5py", extra="anndata", purpose=f"reading {name}")
    file = h5py.File(source.file(), "r")
    _check_parts(file, source, set())
    return _of_file(file, source, options, most_held)


def _check_parts(group: Any, source: Source, seen: set[int]) -> None:
    """Raise InputError if groups or datasets refer to other files, or unpack to too much."""
    import h5py

    for key in group:
        is_here = isinstance(group.get(key, getlink=True), h5py.HardLink)
        part = group[key] if is_here else None
        is_dataset = isinstance(part, h5py.Dataset)
        if part is None or (is_dataset and (part.external or part.is_virtual)):
            raise InputError(
                f"'{printable(group.name.rstrip('/'))}/{printable(key)}' of "
                f"{source.name} refers to another place or file, which is not read. "
                "Copy the data into one file: anndata.read_h5ad(…).write_h5ad(…)."
            )
        address = h5py.h5o.get_info(part.id).addr
        if is_dataset and part.chunks:
            chunk = float(np.prod(part.chunks)) * part.dtype.itemsize
            source.check_budget(chunk, f"a piece of {printable(part.name)!r}")
        elif isinstance(part, h5py.Group) and address not in seen:
            seen.add(address)  # a group may contain itself
            _check_parts(part, source, seen)


def _of_file(file: Any, source: Source, options: Reading, most_held: int) -> Table:
    import h5py

    name, layer = source.name, options["layer"]
    for part in ("obs", "var", "X"):
        if part not in file and not (part == "X" and layer):
            raise InputError(
                f"{name} has no {part!r}: it is HDF5, but not an AnnData file. Write it with "
                "anndata.write_h5ad."
            )
        if part != "X" and not isinstance(file[part], h5py.Group):
            raise InputError(
                f"{name} was written by an anndata older than 0.7. Read and write it again with a "
                "newer one."
            )
    genes = _texts(file["var"][file["var"].attrs["_index"]], source)
    stored = _layer(file.get("layers", {}), layer, name)
    cells = _obs_of_file(file["obs"], source)
    shape = len(cells[_CELLS]), len(genes)
    matrix = file["X"] if stored is None else stored
    read = _reader_of_file(matrix, shape, source, most_held)
    return _table(source, cells, genes, read, options)


def table_of_object(data: Any, options: Reading) -> Table:
    """Return the table of an AnnData object, in memory or backed by a file."""
    stored = _layer(data.layers, options["layer"], "the data")
    matrix = data.X if stored is None else stored
    if matrix is None:
        raise InputError("the data have no X. Name a layer with `layer`.")
    if getattr(matrix, "format", None) == "csr" and hasattr(matrix, "tocsc"):
        matrix = matrix.tocsc()
    cells: dict[str, Any] = {_CELLS: [str(name) for name in data.obs_names]}
    for name in data.obs.columns:
        cells[str(name)] = series_of_pandas(str(name), data.obs[name])
    genes = [str(name) for name in data.var_names]
    return _table(None, cells, genes, lambda some: _dense(matrix[:, some]), options)


def _layer(layers: Any, name: str | None, source: str) -> Any:
    if name is None:
        return None
    if name not in layers:
        near = hint(name, list(layers), kind="layers")
        raise InputError(f"`layer={name!r}`: no such layer in {source}; {near}.")
    return layers[name]


def _table(
    source: Source | None,
    cells: Mapping[str, Any],
    genes: list[str],
    read: ReadGenes,
    options: Reading,
) -> Table:
    """Return one table of the columns about the cells and the genes; no source for an object."""
    name = "the data" if source is None else source.name
    if repeated(genes):
        raise InputError(
            f"{name} has several genes of one name: {listing(repeated(genes)[:5])}. "
            "Make the names unique first: adata.var_names_make_unique()."
        )
    frame = pl.DataFrame(dict(cells))
    clashes = [gene for gene in genes if gene in frame.columns]
    shown = {f"X:{gene}" if gene in frame.columns else gene: i for i, gene in enumerate(genes)}
    said = [] if source is None else list(source.notes)
    if clashes:
        said.append(
            f"genes that have the name of a column of obs are called X:{clashes[0]} and so on "
            f"({len(clashes)} of them)"
        )

    def load(names: list[str]) -> pl.DataFrame:
        needed = 8 * frame.height * len(names)
        what = f"{len(names):,} columns of {frame.height:,} cells of {name}"
        check_budget(needed, needed if source is None else source.size, what)
        found = _columns(frame, names, shown, read)
        if source is not None:
            source.check_unchanged()
        return found

    return table_of_columns(
        name,
        dict(frame.schema) | dict.fromkeys(shown, pl.Float64()),
        at_once(load),
        frame.height,
        options,
        said=said,
        kinds=dict.fromkeys(shown, ColumnType.GENE),
    )


def _columns(
    frame: pl.DataFrame, wanted: Sequence[str], genes: Mapping[str, int], read: ReadGenes
) -> pl.DataFrame:
    """Return the columns that are wanted, in their order."""
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


def _all(dataset: Any, source: Source) -> Any:
    """Return all values of a dataset, if there is room for them; a text takes some 64 bytes."""
    width = max(dataset.dtype.itemsize, 64 if dataset.dtype.kind in "OSV" else 0)
    source.check_budget(float(dataset.size) * width, f"{printable(dataset.name)!r}")
    return dataset[()]


def _texts(dataset: Any, source: Source) -> list[str]:
    values = _all(dataset, source)
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]


def _obs_of_file(obs: Any, source: Source) -> dict[str, Any]:
    """Read the table about the cells."""
    old_categories = obs.get("__categories", {})
    cells: dict[str, Any] = {_CELLS: _texts(obs[obs.attrs["_index"]], source)}
    for own in obs.attrs["column-order"]:
        cells[str(own)] = _series_of_file(str(own), obs[own], old_categories, source)
    return cells


def _series_of_file(
    own: str, stored: Any, old_categories: Mapping[str, Any], source: Source
) -> pl.Series:
    """Read a column about the cells: numbers, text, labels, or values with a mask."""
    kind = stored.attrs.get("encoding-type", "")
    if kind == "categorical" or own in old_categories:
        codes = stored["codes"] if kind == "categorical" else stored
        levels = stored["categories"] if kind == "categorical" else old_categories[own]
        words = _texts(levels, source)
        picked = [None if code < 0 else words[code] for code in _all(codes, source)]
        return pl.Series(own, picked, dtype=pl.String).cast(pl.Categorical)
    if kind.startswith("nullable"):
        values, mask = _plain_values(stored["values"], source), _all(stored["mask"], source)
        values = [None if m else v for v, m in zip(values, mask, strict=True)]
    else:
        values = _plain_values(stored, source)
    return pl.Series(own, values, strict=False)


def _plain_values(dataset: Any, source: Source) -> Any:
    return _texts(dataset, source) if dataset.dtype.kind in "OS" else _all(dataset, source).tolist()


def _reader_of_file(
    stored: Any, shape: tuple[int, int], source: Source, most_held: int
) -> ReadGenes:
    """Return a function that reads some neighbouring genes, whatever way the matrix is stored."""
    kind = stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "array"))
    sparse = {"csc_matrix": "csc", "csc": "csc", "csr_matrix": "csr", "csr": "csr"}.get(kind)
    key = "shape" if "shape" in stored.attrs else "h5sparse_shape"
    own = tuple(map(int, stored.shape if sparse is None else stored.attrs[key]))
    if own != shape:
        raise InputError(
            f"the matrix of {source.name} has the shape {own}, but there are {shape[0]} "
            f"cells and {shape[1]} genes."
        )
    if sparse is None:
        return lambda genes: np.asarray(stored[:, genes], dtype=np.float64)
    if sparse == "csc":
        by_genes = _line_reader(stored, shape[::-1], source)
        return lambda genes: _dense(by_genes(genes.start, genes.stop).T)
    by_cells = _line_reader(stored, shape, source)
    needed = 12.0 * len(stored["data"])
    edges = np.linspace(0, shape[0], max(1, ceil(needed / most_held)) + 1).astype(int).tolist()
    held: list[Any] = []

    def read(genes: slice) -> FloatArray:
        if len(edges) == 2:
            if not held:
                source.check_budget(needed, "the sparse matrix")
                held.append(by_cells(*edges).tocsc())
            return _dense(held[0][:, genes])
        made = np.empty((shape[0], genes.stop - genes.start))
        for first, last in pairwise(edges):
            made[first:last] = _dense(by_cells(first, last)[:, genes])
        return made

    return read


def _line_reader(
    stored: Any, shape: tuple[int, int], source: Source
) -> Callable[[int, int], csr_array]:
    """Return a function that reads some lines, rows or columns, of a compressed sparse matrix.

    Raises InputError if the lines do not start where their values are, and when they are read if a
    value is outside of the matrix: SciPy would believe it.
    """
    from scipy.sparse import csr_array

    what = f"the sparse matrix of {source.name}"
    values, places, starts = stored["data"], stored["indices"], _all(stored["indptr"], source)
    is_right = (
        starts.dtype.kind in "iu"
        and places.dtype.kind in "iu"
        and starts.shape == (shape[0] + 1,)
        and values.shape == places.shape == (int(starts[-1]),)
        and starts[0] == 0
        and bool((np.diff(starts.astype(np.int64)) >= 0).all())
    )
    if not is_right:
        raise InputError(f"{what} is damaged: its lines overlap or end early.")

    def read(first: int, last: int) -> csr_array:
        begin, end = int(starts[first]), int(starts[last])
        within = np.asarray(places[begin:end])
        if len(within) and not 0 <= int(within.min()) <= int(within.max()) < shape[1]:
            raise InputError(f"{what} has values outside of its {shape[1]} places.")
        own = starts[first : last + 1] - begin
        return csr_array((values[begin:end], within, own), shape=(last - first, shape[1]))

    return read


def _dense(block: Any) -> FloatArray:
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block, dtype=np.float64)
