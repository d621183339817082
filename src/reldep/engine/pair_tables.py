"""HSICs of all pairs of many variables, from products of their centred matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine.terms import Pair

# Centred matrices that are held at a time take about this many bytes.
PACKED_BYTES = 400_000_000


class PairTable(Mapping["Pair", float]):
    """HSICs by pair, in either order, held as a square array.

    Parameters
    ----------
    names : sequence of str
    values : ndarray, shape (p, p)
    """

    def __init__(self, names: Sequence[str], values: FloatArray) -> None:
        self.values_by_number = values
        self._names = list(names)
        self._numbers = {name: i for i, name in enumerate(names)}

    def __getitem__(self, pair: Pair) -> float:
        first, second = pair
        return float(self.values_by_number[self._numbers[first], self._numbers[second]])

    def __iter__(self) -> Iterator[Pair]:
        for i, first in enumerate(self._names):
            for second in self._names[i:]:
                yield (first, second) if first <= second else (second, first)

    def __len__(self) -> int:
        p = len(self._names)
        return p * (p + 1) // 2


def block_size(m: int) -> int:
    """Say of how many variables of m observations the centred matrices are held at a time."""
    return max(1, PACKED_BYTES // (4 * m * (m - 1)))


def all_hsics(packed: Callable[[slice], FloatArray], p: int, m: int) -> FloatArray:
    """Compute the HSICs of all pairs of p variables, in bounded memory.

    Parameters
    ----------
    packed : callable
        Gives the centred matrices of a run of variables above the diagonal, one a row.
    p, m : int
        Numbers of variables and of observations.
    """
    size = block_size(m)
    runs = [slice(start, min(start + size, p)) for start in range(0, p, size)]
    hsics = np.empty((p, p))
    for i, rows in enumerate(runs):
        own = packed(rows)
        hsics[rows, rows] = own @ own.T
        # Matrices of other runs are made again: cheaper than to hold them all.
        for cols in runs[i + 1 :]:
            product = own @ packed(cols).T
            hsics[rows, cols], hsics[cols, rows] = product, product.T
    hsics *= 2.0 / (m * (m - 3))
    return hsics
