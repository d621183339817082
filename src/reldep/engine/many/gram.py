"""Thousands of pairs of whole matrices, by matrix products over a few rows at a time.

With centred matrices, whose rows sum to 0, the row sums of products are all that is needed. For
one row of all matrices these are a Gram matrix; for sums over all rows it is added up. Only a few
rows of every matrix are held, and every kernel is evaluated twice. Where only the HSICs are
needed, a :class:`PairTable` holds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.blocks import fill_blocks, levelling_effects, off_row_means
from reldep.engine.terms import Cost, Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.terms import Pair, Wanted
    from reldep.kernels.base import FittedKernel


# From so many pairs on products of matrices are quicker than pair by pair.
MANY_PAIRS = 500

# Bytes of the rows that are held at a time.
HELD_BYTES = 200_000_000

# Nanoseconds for a multiplication and an addition in a product of matrices, on one core.
PRODUCT_VALUE = 0.08


def has_many_pairs(wanted: Wanted) -> bool:
    """Tell whether a job is large enough for products of matrices."""
    return len(wanted.product_pairs()) >= MANY_PAIRS


@dataclass(frozen=True, eq=False)
class PairLayout:
    """Which matrices are multiplied.

    Attributes
    ----------
    names : list of str
        All matrices that are multiplied: those of pairs first.
    n_crossed : int
        How many of them are in pairs whose row sums are wanted.
    n_right : int
        How many, from the first on, hold a member of every pair whose total is wanted.
    pairs, totals : tuple of Pair
        Whose row sums, and whose totals, are wanted.
    """

    names: list[str]
    n_crossed: int
    n_right: int
    pairs: tuple[Pair, ...]
    totals: tuple[Pair, ...]

    @classmethod
    def of(cls, wanted: Wanted) -> PairLayout:
        """Order the matrices of a job."""
        pairs = wanted.crossed_pairs()
        known = set(pairs)
        totals = tuple(pair for pair in wanted.product_pairs() if pair not in known)
        crossed = dict.fromkeys(name for pair in pairs for name in pair)
        apart = [pair for pair in totals if pair[0] not in crossed and pair[1] not in crossed]
        right = dict.fromkeys([*crossed, *(name for name, _ in apart)])
        names = dict.fromkeys([*right, *(name for pair in totals for name in pair)])
        return cls(list(names), len(crossed), len(right), pairs, totals)

    def numbers(self, pairs: Sequence[Pair]) -> tuple[IntArray, IntArray]:
        """Give the places of the members of some pairs."""
        place = {name: i for i, name in enumerate(self.names)}
        codes = np.array([(place[x], place[y]) for x, y in pairs], dtype=np.int64).reshape(-1, 2)
        return codes[:, 0], codes[:, 1]


def gram_terms(kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Terms:
    """Produce what is wanted from the fitted kernels.

    Of pairs whose HSIC alone is wanted the sum over all rows is given, as one number.
    """
    names = wanted.names()
    n = len(kernels[names[0]])
    layout = PairLayout.of(wanted)
    effects, sizes = _effects(kernels, names, n)
    rows, totals = _products(kernels, layout, effects, n)
    nothing = np.zeros(n)
    products = dict(zip(layout.pairs, rows, strict=True))
    products |= dict(zip(layout.totals, totals[:, None], strict=True))
    return Terms(
        n,
        dict.fromkeys(names, nothing),
        products,
        dict.fromkeys(layout.pairs, nothing),
        {name: off_row_means(effects[name]) for name in names},
        sizes,
    )


def gram_cost(wanted: Wanted, n: int, nanoseconds: float) -> Cost:
    """Estimate the job; `nanoseconds` are for one value of every kernel."""
    layout = PairLayout.of(wanted)
    multiplied = layout.n_crossed**2 + len(layout.names) * layout.n_right
    seconds = (2.0 * nanoseconds + PRODUCT_VALUE * multiplied) * n**2 * 1e-9
    memory = 2 * HELD_BYTES + 8 * n * (len(layout.pairs) + 4 * len(wanted.names()))
    return Cost(memory, seconds)


def _runs(n: int, n_matrices: int) -> list[slice]:
    size = max(1, HELD_BYTES // (8 * n * max(1, n_matrices)))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _effects(
    kernels: Mapping[str, FittedKernel], names: Sequence[str], n: int
) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Find what makes the rows of every matrix sum to 0, and the size of its values."""
    sums, squares = np.zeros((len(names), n)), np.zeros(len(names))
    fitted = [kernels[name] for name in names]
    for run in _runs(n, 4):
        own = np.arange(run.start, run.stop)
        for i, block in fill_blocks(fitted, run, slice(0, n)):
            block[own - run.start, own] = 0.0
            sums[i, run] = block.sum(axis=1)
            squares[i] += np.vdot(block, block)
    effects = levelling_effects(sums)
    sizes = np.sqrt(squares / (n * (n - 1)))
    return dict(zip(names, effects, strict=True)), dict(zip(names, sizes.tolist(), strict=True))


def _products(
    kernels: Mapping[str, FittedKernel],
    layout: PairLayout,
    effects: Mapping[str, FloatArray],
    n: int,
) -> tuple[FloatArray, FloatArray]:
    """Multiply all centred matrices, a few rows at a time."""
    q, v, w = len(layout.names), layout.n_crossed, layout.n_right
    first, second = layout.numbers(layout.pairs)
    rows, sums = np.empty((len(layout.pairs), n)), np.zeros((q, w))
    fitted = [kernels[name] for name in layout.names]
    for run in _runs(n, q):
        own = np.arange(run.start, run.stop)
        held = np.empty((q, len(own), n))
        for i, block in fill_blocks(fitted, run, slice(0, n)):
            effect = effects[layout.names[i]]
            np.subtract(block, effect[run, None], out=held[i])
            held[i] -= effect
            held[i, own - run.start, own] = 0.0
        for place, i in enumerate(own):
            slices = held[:v, place]
            rows[:, i] = (slices @ slices.T)[first, second]
        if layout.totals:
            flat = held.reshape(q, -1)
            sums += flat @ flat[:w].T
    left, right = layout.numbers(layout.totals)
    # One member of every pair is among the first w.
    swapped = right >= w
    return rows, sums[np.where(swapped, right, left), np.where(swapped, left, right)]


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
