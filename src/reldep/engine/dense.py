"""The dense engine: whole matrices, for samples that fit in memory.

Thousands of pairs are taken together, by matrix products over a few rows at a time. With centred
matrices, whose rows sum to 0, the row sums of products are all that is needed. For one row of all
matrices these are a Gram matrix; for sums over all rows it is added up. Only a few rows of every
matrix are held, and every kernel is evaluated twice. Where only the HSICs are needed, a
:class:`PairTable` holds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.engine.blocks import (
    fill_blocks,
    levelling_effects,
    nanoseconds_of,
    off_row_means,
    subtract_effects,
)
from reldep.engine.terms import Cost, Pair, Terms, Wanted
from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.terms import Pair, Wanted
    from reldep.kernels.base import FittedKernel

# Temporary matrices beside those that are kept.
TEMPORARY_MATRICES = 2

# Nanoseconds for adding an entry, or a product of two, to a sum.
SUM_VALUE = 0.8

# From so many pairs on products of matrices are quicker than pair by pair.
MANY_PAIRS = 500

# Bytes of the rows that are held at a time.
HELD_BYTES = 200_000_000

# Nanoseconds for a multiplication and an addition in a product of matrices, on one core.
PRODUCT_VALUE = 0.08


@dataclass(frozen=True)
class Dense:
    """Hold every kernel matrix; each is evaluated once however many pairs use it.

    Kernels on the same points share their distances.
    """

    name: ClassVar[str] = "dense"

    def terms(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Terms:
        """Produce what is wanted from the fitted kernels."""
        if has_many_pairs(wanted):
            return gram_terms(kernels, wanted)
        names = wanted.names()
        n = len(kernels[names[0]])
        found = _Sums(wanted)
        everything = slice(0, n)
        for group in groups_of(kernels, wanted):
            filled = fill_blocks([kernels[name] for name in group], everything, everything)
            for i, matrix in filled:
                found.take(group[i], matrix, kernels[group[i]])
        return found.terms(n)

    def cost(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Cost:
        """Estimate the job: every matrix is filled once, on one core, and held while needed."""
        names = wanted.names()
        n = len(kernels[names[0]])
        value = sum(nanoseconds_of(kernels[name]) for name in names)
        if has_many_pairs(wanted):
            return gram_cost(wanted, n, value)
        value += SUM_VALUE * wanted.n_sums()
        held = most_held(groups_of(kernels, wanted), wanted.product_pairs())
        memory = 8 * (held + TEMPORARY_MATRICES) * n**2 + 8 * wanted.n_sums() * n
        return Cost(memory, value * n**2 * 1e-9)


def groups_of(kernels: Mapping[str, FittedKernel], wanted: Wanted) -> list[list[str]]:
    """Put kernels that share their points together, those with the most partners first.

    The source of many targets then stays while each target comes and goes.
    """
    partners: dict[str, int] = dict.fromkeys(wanted.names(), 0)
    for x, y in wanted.product_pairs():
        partners[x] += 1
        partners[y] += 1
    groups: dict[int, list[str]] = {}
    for name in sorted(partners, key=lambda name: -partners[name]):
        kernel = kernels[name]
        shared = kernel.points if isinstance(kernel, FittedRadial) else kernel
        groups.setdefault(id(shared), []).append(name)
    return list(groups.values())


def most_held(groups: Sequence[Sequence[str]], pairs: Sequence[Pair]) -> int:
    """Count the matrices that are held at the same time."""
    left = Counter(name for pair in pairs for name in set(pair))
    seen: set[str] = set()
    partners: dict[str, set[str]] = {name: set() for group in groups for name in group}
    for x, y in pairs:
        partners[x].add(y)
        partners[y].add(x)
    held, most = 0, 0
    for group in groups:
        for name in group:
            seen.add(name)
            held += 1
            most = max(most, held)
            for other in partners[name] & seen:
                for one in {name, other}:
                    left[one] -= 1
            done = [one for one in (*(partners[name] & seen), name) if left[one] == 0]
            for one in set(done):
                left[one] = -1
                held -= 1
    return most


class _Sums:
    """Sums over matrices that come one by one and go when their last pair is done."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._crossed_pairs = set(wanted.crossed_pairs())
        self._waiting: dict[str, set[Pair]] = {name: set() for name in wanted.names()}
        for pair in wanted.product_pairs():
            for name in pair:
                self._waiting[name].add(pair)
        self._matrices: dict[str, FloatArray] = {}
        self._row_sums: dict[str, FloatArray] = {}
        self._shifts: dict[str, float | FloatArray] = {}
        self._sizes: dict[str, float] = {}
        self._spreads: dict[str, float] = {}
        self._products: dict[Pair, FloatArray] = {}
        self._crossed: dict[Pair, FloatArray] = {}

    def take(self, name: str, matrix: FloatArray, kernel: FittedKernel) -> None:
        """Shift the matrix of a kernel, and finish its pairs with those that are there."""
        if not self._waiting[name]:
            np.fill_diagonal(matrix, 0.0)
            self._row_sums[name] = matrix.sum(axis=1)
            return
        self._sizes[name] = 1.0 if kernel.in_unit_interval else size_of(matrix)
        matrix, self._shifts[name] = shifted(matrix, has_effects=not kernel.is_bounded)
        if (name, name) not in self._waiting[name]:
            self._spreads[name] = size_of(matrix)
        self._row_sums[name] = matrix.sum(axis=1)
        self._matrices[name] = matrix
        ready = {pair for pair in self._waiting[name] if all(x in self._matrices for x in pair)}
        for x, y in ready:
            K, L = self._matrices[x], self._matrices[y]
            self._products[x, y] = np.einsum("ij,ij->i", K, L)
            if (x, y) in self._crossed_pairs:
                k, l = self._row_sums[x], self._row_sums[y]  # noqa: E741
                self._crossed[x, y] = K @ l + L @ k if x != y else 2.0 * (K @ k)
        for pair in ready:
            for member in pair:
                self._waiting[member].discard(pair)
        for known in [known for known in self._matrices if not self._waiting[known]]:
            del self._matrices[known]

    def terms(self, n: int) -> Terms:
        """Name the finished sums."""
        return Terms(
            n,
            self._row_sums,
            self._products,
            self._crossed,
            self._shifts,
            self._sizes,
            spreads=self._spreads,
        )


def size_of(matrix: FloatArray) -> float:
    """Give the root mean square of the largest row, off the diagonal."""
    squares = np.einsum("ij,ij->i", matrix, matrix) - np.diagonal(matrix) ** 2
    return float(np.sqrt(max(0.0, float(squares.max())) / (len(matrix) - 1)))


def shifted(
    matrix: FloatArray, *, has_effects: bool = False
) -> tuple[FloatArray, float | FloatArray]:
    """Set the diagonal to 0 and move the other entries towards 0, in place.

    Neither changes a result; without it sums of order m³ cancel down to m³·HSIC. A kernel without
    bounds loses the effect of each row, so that all rows sum to 0; one in [0, 1] its mean.

    Returns
    -------
    matrix : ndarray
    shift : float or ndarray
        What was taken off the mean of each row over the others.
    """
    m = len(matrix)
    np.fill_diagonal(matrix, 0.0)
    if has_effects:
        effects = levelling_effects(matrix.sum(axis=1))
        subtract_effects(matrix, effects, effects)
        shift: float | FloatArray = off_row_means(effects)
    else:
        shift = float(matrix.sum() / (m * (m - 1)))
        matrix -= shift
    np.fill_diagonal(matrix, 0.0)
    return matrix, shift


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
