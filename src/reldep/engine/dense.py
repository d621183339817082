"""The dense engine: whole matrices, for samples that fit in memory."""

from __future__ import annotations

from collections import Counter
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
from reldep.engine.many.gram import gram_cost, gram_terms, has_many_pairs
from reldep.engine.terms import Cost, Pair, Terms, Wanted
from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray
    from reldep.kernels.base import FittedKernel

# Temporary matrices beside those that are kept.
TEMPORARY_MATRICES = 2

# Nanoseconds for adding an entry, or a product of two, to a sum.
SUM_VALUE = 0.8


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
                found.take(group[i], matrix, bounded=kernels[group[i]].in_unit_interval)
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

    def take(self, name: str, matrix: FloatArray, *, bounded: bool) -> None:
        """Shift a matrix, and finish its pairs with those that are there."""
        if not self._waiting[name]:
            np.fill_diagonal(matrix, 0.0)
            self._row_sums[name] = matrix.sum(axis=1)
            return
        self._sizes[name] = 1.0 if bounded else size_of(matrix)
        matrix, self._shifts[name] = shifted(matrix, has_effects=not bounded)
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
