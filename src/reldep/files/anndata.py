"""AnnData: a matrix of cells by genes with a table about the cells, in a file or an object.

Files are read by h5py after the format's own description
(https://anndata.readthedocs.io/en/stable/fileformat-prose.html), so that neither anndata nor pandas
is needed. Genes are read when they are asked for. A file that refers to other files is refused
before any value is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from reldep.data.selectors import ColumnType
from reldep.data.variables import FloatArray
from reldep.exceptions import InputError
from reldep.files.byte_sources import Source, check_budget
from reldep.files.cells import table_of_columns
from reldep.files.columnar import series_of_pandas
from reldep.files.read import Reading
from reldep.files.table import Table, at_once
from reldep.system import import_extra
from reldep.words import hint, listing, printable, repeated

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
    h5py = import_extra("h5py", extra="anndata", purpose=f"reading {source.name}")
    file = h5py.File(source.file(), "r")
    _check_parts(file, source, set())
    for part in ("obs", "var"):
        if part in file and not isinstance(file[part], h5py.Group):
            raise InputError(
                f"{source.name} was written by an anndata older than 0.7. Use a newer one."
            )
    needed = ("obs", "var") if options["layer"] else ("obs", "var", "X")
    lacking = [part for part in needed if part not in file]
    if lacking:
        raise InputError(
            f"{source.name} has no {lacking[0]!r}: it is HDF5, but not an AnnData file."
        )
    cells = _obs_of_file(file["obs"], source)
    genes = _texts(file["var"][file["var"].attrs["_index"]], source)
    stored = _layer(file.get("X"), file.get("layers", {}), options["layer"], source.name)
    matrix = _matrix_of_file(stored, (len(cells[_CELLS]), len(genes)), source, most_held)
    return _table(source, cells, genes, matrix, options)


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


def table_of_object(data: Any, options: Reading) -> Table:
    """Return the table of an AnnData object, in memory or backed by a file."""
    matrix = _layer(data.X, data.layers, options["layer"], "the data")
    if matrix is None:
        raise InputError("the data have no X. Name a layer with `layer`.")
    if getattr(matrix, "format", None) == "csr" and hasattr(matrix, "tocsc"):
        matrix = matrix.tocsc()
    cells: dict[str, Any] = {_CELLS: [str(name) for name in data.obs_names]}
    for name in data.obs.columns:
        cells[str(name)] = series_of_pandas(str(name), data.obs[name])
    return _table(None, cells, [str(name) for name in data.var_names], matrix, options)


def _layer(plain: Any, layers: Any, name: str | None, source: str) -> Any:
    """Return the layer that is named, else the plain matrix."""
    if name is not None and name not in layers:
        near = hint(name, list(layers), kind="layers")
        raise InputError(f"`layer={name!r}`: no such layer in {source}; {near}.")
    return plain if name is None else layers[name]


def _table(
    source: Source | None,
    cells: Mapping[str, Any],
    genes: list[str],
    matrix: Any,
    options: Reading,
) -> Table:
    """Return one table of the columns about the cells and the genes; no source for an object.

    ``matrix[:, first:last]`` is read when genes are asked for.
    """
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
        read = _genes(matrix, sorted(shown[own] for own in names if own in shown))
        found = [pl.Series(own, read[shown[own]]) if own in shown else frame[own] for own in names]
        if source is not None:
            source.check_unchanged()
        return pl.DataFrame(found)

    return table_of_columns(
        name,
        dict(frame.schema) | dict.fromkeys(shown, pl.Float64()),
        at_once(load),
        frame.height,
        options,
        said=said,
        kinds=dict.fromkeys(shown, ColumnType.GENE),
    )


def _genes(matrix: Any, places: Sequence[int]) -> dict[int, FloatArray]:
    """Return columns of a matrix; those that lie close are read together."""
    found: dict[int, FloatArray] = {}
    gaps = np.flatnonzero(np.diff(places) > _LARGEST_GAP) + 1
    for run in np.split(np.asarray(places, dtype=np.int64), gaps) if places else ():
        first, last = int(run[0]), int(run[-1]) + 1
        read = matrix[:, first:last]
        block = np.asarray(read.toarray() if hasattr(read, "toarray") else read, dtype=np.float64)
        found |= {i: np.ascontiguousarray(block[:, i - first]) for i in run.tolist()}
    return found


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


def _matrix_of_file(stored: Any, shape: tuple[int, int], source: Source, most_held: int) -> Any:
    """Return a matrix of which neighbouring genes can be read, whatever way it is stored."""
    kind = stored.attrs.get("encoding-type", "array")
    is_sparse = kind[:3] in ("csc", "csr")
    own = tuple(map(int, stored.attrs["shape"] if is_sparse else stored.shape))
    if own != shape:
        raise InputError(
            f"the matrix of {source.name} has the shape {own}, not {shape} as cells and genes."
        )
    if not is_sparse:
        return stored
    return _StoredSparse(stored, shape, source, by_genes=kind[:3] == "csc", most_held=most_held)


class _StoredSparse:
    """A compressed sparse matrix in a file, of which neighbouring genes are read.

    Raises InputError if its lines, genes or cells, do not start where their values are, and when
    they are read if a value is outside of the matrix: SciPy would believe it.
    """

    def __init__(
        self, stored: Any, shape: tuple[int, int], source: Source, *, by_genes: bool, most_held: int
    ) -> None:
        self.source, self.by_genes = source, by_genes
        self.n_lines, self.width = shape[::-1] if by_genes else shape
        self.values, self.places = stored["data"], stored["indices"]
        self.starts = starts = _all(stored["indptr"], source)
        is_right = (
            starts.dtype.kind in "iu"
            and self.places.dtype.kind in "iu"
            and starts.shape == (self.n_lines + 1,)
            and self.values.shape == self.places.shape == (int(starts[-1]),)
            and starts[0] == 0
            and bool((np.diff(starts.astype(np.int64)) >= 0).all())
        )
        if not is_right:
            raise InputError(
                f"the sparse matrix of {source.name} is damaged: its lines overlap or end early."
            )
        self.size = 12.0 * len(self.values)
        n_pieces = max(1, ceil(self.size / most_held))
        self.edges = np.linspace(0, self.n_lines, n_pieces + 1).astype(int).tolist()
        self.held: Any = None

    def __getitem__(self, key: tuple[slice, slice]) -> Any:
        from scipy.sparse import vstack

        genes = key[1]
        if self.by_genes:
            return self._lines(genes.start, genes.stop).T
        if len(self.edges) > 2:
            return vstack([self._lines(*ends)[:, genes] for ends in pairwise(self.edges)])
        if self.held is None:
            self.source.check_budget(self.size, "the sparse matrix")
            self.held = self._lines(*self.edges).tocsc()
        return self.held[:, genes]

    def _lines(self, first: int, last: int) -> csr_array:
        from scipy.sparse import csr_array

        begin, end = int(self.starts[first]), int(self.starts[last])
        within = np.asarray(self.places[begin:end])
        if len(within) and not 0 <= int(within.min()) <= int(within.max()) < self.width:
            raise InputError(
                f"the sparse matrix of {self.source.name} has values outside of its shape."
            )
        own = self.starts[first : last + 1] - begin
        return csr_array((self.values[begin:end], within, own), shape=(last - first, self.width))
