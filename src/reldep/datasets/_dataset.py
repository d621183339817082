"""What every loader and generator returns: named blocks with a description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reldep.words import counted


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Mapping[str, Any]):
    """Blocks of variables measured on the same observations, row by row.

    A dataset is a mapping from names of blocks to data. Each block is an attribute as well:
    ``mice["lipid"]`` and ``mice.lipid`` are the same object.

    Parameters
    ----------
    name : str
        Short name of the dataset.
    blocks : mapping of str to frame, series, array or sparse array
        The data. Row ``i`` of every block belongs to the same observation.
    description : str
        What was measured, where it comes from, its licence as far as it is known, and how it
        was prepared.
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
        object.__setattr__(self, "blocks", dict(self.blocks))

    @property
    def n_observations(self) -> int:
        """Number of observations in every block."""
        return int(next(iter(self.blocks.values())).shape[0])

    def __getitem__(self, block: str) -> Any:
        if block not in self.blocks:
            known = ", ".join(self.blocks)
            raise KeyError(f"dataset {self.name!r} has no block {block!r}; its blocks are {known}.")
        return self.blocks[block]

    def __iter__(self) -> Iterator[str]:
        return iter(self.blocks)

    def __len__(self) -> int:
        return len(self.blocks)

    def __getattr__(self, block: str) -> Any:
        # Called for names that are not fields. Copying and pickling ask for private names
        # before the fields exist, and must get a plain AttributeError.
        if block.startswith("_"):
            raise AttributeError(block)
        try:
            return self[block]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.blocks})

    def __repr__(self) -> str:
        width = max(len(block) for block in self.blocks)
        lines = [f"Dataset {self.name!r}: {counted(self.n_observations, 'observation')}"]
        for block, data in self.blocks.items():
            shape = " × ".join(str(size) for size in data.shape)
            lines.append(f"  {block:<{width}}  {shape}")
        return "\n".join(lines)
