"""What every loader, reader and generator returns: named blocks with their story."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.words import counted

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Mapping[str, Any]):
    """Blocks of variables measured on the same observations, row by row.

    A dataset is a read-only mapping from block name to data; each block is an
    attribute as well, so ``mice["lipid"]`` and ``mice.lipid`` are the same thing.

    Parameters
    ----------
    name : str
        Short name of the dataset.
    blocks : mapping of str to frame, series, array or sparse array
        The data. Row ``i`` of every block belongs to the same observation.
    description : str
        In plain words: what was measured, where it comes from, its licence as far as
        it is known, and how it was prepared.
    reference : str
        What to cite when the data are used.

    Examples
    --------
    >>> from reldep.datasets import make_spirals
    >>> spirals = make_spirals(5, rng=1)
    >>> spirals
    Dataset 'spirals': 5 observations
      source  5 × 2
      first   5 × 2
      second  5 × 2
    >>> list(spirals)
    ['source', 'first', 'second']
    >>> spirals.first is spirals["first"]
    True
    """

    name: str
    blocks: Mapping[str, Any]
    description: str
    reference: str

    def __post_init__(self) -> None:
        # A private copy behind a read-only view: nobody can swap a block afterwards.
        object.__setattr__(self, "blocks", MappingProxyType(dict(self.blocks)))

    @property
    def n_observations(self) -> int:
        """How many observations every block has."""
        return int(next(iter(self.blocks.values())).shape[0])

    def __getitem__(self, block: str) -> Any:
        try:
            return self.blocks[block]
        except KeyError:
            raise KeyError(self._unknown(block)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.blocks)

    def __len__(self) -> int:
        return len(self.blocks)

    def __getattr__(self, block: str) -> Any:
        # Only called for names that are no field. Copying and pickling ask for private
        # names before the fields exist, and must get a plain AttributeError.
        if block.startswith("_"):
            raise AttributeError(block)
        try:
            return self.blocks[block]
        except KeyError:
            raise AttributeError(self._unknown(block)) from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.blocks})

    def __reduce__(self) -> tuple[Any, ...]:
        # The read-only view cannot be pickled; the dictionary behind it can.
        return type(self), (self.name, dict(self.blocks), self.description, self.reference)

    def __repr__(self) -> str:
        width = max(len(block) for block in self.blocks)
        lines = [f"Dataset {self.name!r}: {counted(self.n_observations, 'observation')}"]
        for block, data in self.blocks.items():
            shape = " × ".join(str(size) for size in data.shape)
            lines.append(f"  {block:<{width}}  {shape}")
        return "\n".join(lines)

    def _unknown(self, block: str) -> str:
        nearest = difflib.get_close_matches(str(block), self.blocks, n=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        known = ", ".join(self.blocks)
        return f"dataset {self.name!r} has no block {block!r}; its blocks are {known}.{hint}"


def frames_or_arrays(
    frames: Mapping[str, pl.DataFrame | pl.Series], *, as_frame: bool
) -> Mapping[str, Any]:
    """Return blocks as they are, or as the NumPy arrays that ``as_frame=False`` promises."""
    return frames if as_frame else {name: _array(block) for name, block in frames.items()}


def _array(block: pl.DataFrame | pl.Series) -> np.ndarray[Any, Any]:
    """Return the NumPy form of a block: labels become text, mixed columns a structured array."""
    import polars as pl

    if isinstance(block, pl.Series):
        if block.dtype == pl.String:
            return np.array(block.fill_null("").to_list(), dtype=np.str_)
        return block.cast(pl.Float64).to_numpy()
    if all(dtype.is_numeric() for dtype in block.dtypes):
        return block.to_numpy()
    columns = {column.name: _array(column) for column in block}
    rows = np.empty(block.height, dtype=[(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        rows[name] = values
    return rows
