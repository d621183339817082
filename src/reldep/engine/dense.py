"""The dense engine: whole matrices, or some rows of all of them, for small samples.

Every kernel is evaluated once if all matrices fit, else twice: first for the row effects. A row of
all centred matrices is a table of variables by observations, and its product with itself is q of
all pairs in that row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.data.variables import FloatArray, IntArray
from reldep.engine.centred import Places, Products, centre, hsic_of, row_effects, subtract_effects
from reldep.exceptions import InputError
from reldep.kernels.base import FittedKernel
from reldep.kernels.distances import evaluate, row_runs

if TYPE_CHECKING:
    from reldep.engine.influence import Followed

# Bytes of the matrices, or of their rows, that are held at a time: eight matrices of 3,000 rows.
HELD_BYTES = 600_000_000

# Where pairs are at least this share of the square of the variables, one matrix product is faster
# than one sum per pair (measured); and there must be this many.
DENSE_PAIRS, MANY_PAIRS = 1 / 16, 50


@dataclass(frozen=True)
class Dense:
    """Evaluate whole kernel matrices; any kernel, nothing compiled.

    Parameters
    ----------
    held : int, default 600,000,000
        Bytes of matrices that are held at a time; beyond, every kernel is evaluated twice.
    """

    held: int = field(default=HELD_BYTES, repr=False)

    name: ClassVar[str] = "dense"

    def memory(self, n: int, n_kernels: int, n_pairs: int) -> int:
        """Return the bytes that a job needs besides the data."""
        return 8 * n * (3 * n + n_pairs) + min(self.held, 16 * n**2 * n_kernels)

    def products(
        self,
        kernels: Sequence[FittedKernel],
        pairs: Places,
        totals: Places = (),
        followed: Sequence[Followed] = (),
    ) -> Products:
        """Return q of pairs and Σq of further pairs; fill in what followed bandwidths need."""
        n, k = len(kernels[0]), len(kernels)
        q, sums = np.empty((len(pairs), n)), np.zeros(len(totals))
        squares, effects = np.zeros(k), np.empty((k, n))
        size = max(1, self.held // (8 * n * (k + len(followed))))
        runs = row_runs(n, 1, size)
        is_whole = len(runs) == 1
        if not is_whole:
            for run in runs:
                for i, kernel in enumerate(kernels):
                    (block,) = evaluate([kernel], run)
                    squares[i] += np.einsum("ij,ij->", block, block)
                    effects[i, run] = block.sum(axis=1)
            effects = row_effects(effects)
        for run in runs:
            # One array: the memory of many small ones would go back and come again at each call.
            both = np.empty((k + len(followed), run.stop - run.start, n))
            held, slopes = both[:k], both[k:]
            for i, kernel in enumerate(kernels):
                own = [j for j, one in enumerate(followed) if one.variable == i]
                widths = [followed[j].bandwidth for j in own]
                parts = [kernel, *(one.slope for one in widths), *(one.score for one in widths)]
                block, *moving = evaluate(parts, run, [held[i], *(slopes[j] for j in own)])
                if is_whole:
                    squares[i] = np.einsum("ij,ij->", block, block)
                    effects[i] = row_effects(block.sum(axis=1))
                subtract_effects(block, effects[i], run)
                for j, score in zip(own, moving[len(own) :], strict=True):
                    followed[j].score_means[run] = score.sum(axis=1) / (n - 1)
            for one, slope in zip(followed, slopes, strict=True):
                for partner in one.slopes:
                    total = float(np.einsum("ij,ij->", slope, held[partner]))
                    one.slopes[partner] += total / (n * (n - 3))
            q[:, run] = row_sums(held, pairs)
            sums += whole_sums(held, totals)
        return Products(q, sums, np.sqrt(squares / (n * (n - 1))))


def is_many(n_pairs: int, n_variables: int) -> bool:
    """Return True if all pairs are multiplied at once."""
    return n_pairs >= max(MANY_PAIRS, DENSE_PAIRS * n_variables**2)


def row_sums(held: FloatArray, pairs: Places) -> FloatArray:
    """Return q of pairs in the rows of `held`, shape (variables, rows, m)."""
    q = np.empty((len(pairs), held.shape[1]))
    if not is_many(len(pairs), len(held)):
        for p, (x, y) in enumerate(pairs):
            np.einsum("ij,ij->i", held[x], held[y], out=q[p])
        return q
    first, second = np.array(pairs).T
    for i in range(held.shape[1]):
        q[:, i] = (held[:, i] @ held[:, i].T)[first, second]
    return q


def whole_sums(held: FloatArray, pairs: Places) -> FloatArray:
    """Return Σq of pairs in the rows of `held`."""
    if not is_many(len(pairs), len(held)):
        return np.array([np.einsum("ij,ij->", held[x], held[y]) for x, y in pairs])
    flat = held.reshape(len(held), -1)
    first, second = np.array(pairs).T
    return np.asarray((flat @ flat.T)[first, second])


def permuted_hsics(
    first: FittedKernel,
    second: FittedKernel,
    orders: Iterable[IntArray],
    most_rows: int = 4_096,
    gathered: int = 128,
) -> FloatArray:
    """Return the HSIC of `first` with `second` in every order of its observations.

    Centring commutes with a permutation, so each kernel is evaluated once. Two matrices of 4,096
    rows take 256 MB, and a permutation a twentieth of a second; 128 rows of a permuted matrix at a
    time stay in the cache.
    """
    n = len(first)
    if n > most_rows:
        raise InputError(
            f"`test='permutation'` shuffles whole kernel matrices, and {n:,} observations are more "
            f"than {most_rows:,}; use `test='chi-square'`."
        )
    fixed, moved = (centre(kernel(slice(0, n), slice(0, n))) for kernel in (first, second))
    totals = []
    for order in orders:
        total = 0.0
        for start in range(0, n, gathered):
            block = moved[order[start : start + gathered]].take(order, axis=1)
            # Not a BLAS dot: its threads would cost more than such a small block.
            total += float(np.einsum("ij,ij->", fixed[start : start + gathered], block))
        totals.append(total)
    return hsic_of(np.array(totals), n)
