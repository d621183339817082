"""The dense engine: whole matrices, or some rows of all of them, for small samples.

Every kernel is evaluated once if all matrices fit, else twice: first for the row effects. A row of
all centred matrices is a table of variables by observations, and its product with itself is q of
all pairs in that row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.engine.centred import Products, hsic_of, row_effects, subtract_effects
from reldep.engine.values import fill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine.bandwidths import Followed
    from reldep.engine.centred import Pair
    from reldep.kernels.base import FittedKernel

# Bytes of the matrices, or of their rows, that are held at a time.
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
        kernels: Mapping[str, FittedKernel],
        pairs: Sequence[Pair],
        totals: Sequence[Pair] = (),
        followed: Sequence[Followed] = (),
    ) -> Products:
        """Return q of pairs and Σq of further pairs; fill in what followed bandwidths need.

        Parameters
        ----------
        kernels : mapping of str to FittedKernel
        pairs, totals : sequence of Pair
            Canonical and distinct.
        followed : sequence of Followed
        """
        partners = [(name, name) for one in followed for name in one.slopes]
        names = list(dict.fromkeys(name for pair in (*pairs, *totals, *partners) for name in pair))
        used = {name: kernels[name] for name in names}
        return _Work(used, followed, self.held).run(pairs, totals)


@dataclass(frozen=True, eq=False)
class _Work:
    """Centred matrices of some kernels, a run of rows at a time."""

    kernels: Mapping[str, FittedKernel]
    followed: Sequence[Followed]
    held: int
    sizes: dict[str, float] = field(default_factory=dict)
    effects: dict[str, FloatArray] = field(default_factory=dict)
    known: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(next(iter(self.kernels.values())))

    def run(self, pairs: Sequence[Pair], totals: Sequence[Pair]) -> Products:
        n, place = self.n, {name: k for k, name in enumerate(self.kernels)}
        q, sums = np.empty((len(pairs), n)), np.zeros(len(totals))
        size = max(1, self.held // (8 * n * len(place) * (1 + bool(self.followed))))
        runs = [slice(start, min(start + size, n)) for start in range(0, n, size)]
        if len(runs) > 1:
            for run in runs:
                self._take_sums(run)
            self._finish_effects()
        rows_of, totals_of = ([(place[x], place[y]) for x, y in part] for part in (pairs, totals))
        for run in runs:
            self.known.clear()
            held = self._centred(run, whole=len(runs) == 1)
            q[:, run] = row_sums(held, rows_of)
            sums += whole_sums(held, totals_of)
            self._follow(run, held, place)
        return Products(
            dict(zip(pairs, q, strict=True)),
            dict(zip(totals, sums.tolist(), strict=True)),
            self.sizes,
            {"dense": None},
        )

    def _take_sums(self, run: slice) -> None:
        """Add up rows, and squares, before anything is taken off."""
        names = list(self.kernels)
        for k, block in fill(list(self.kernels.values()), run, slice(0, self.n)):
            without_diagonal(block, run)
            self.effects.setdefault(names[k], np.empty(self.n))[run] = block.sum(axis=1)
            self.sizes[names[k]] = self.sizes.get(names[k], 0.0) + _squares(block)

    def _finish_effects(self) -> None:
        for name, sums in self.effects.items():
            self.effects[name] = row_effects(sums)
            self.sizes[name] = float(np.sqrt(self.sizes[name] / (self.n * (self.n - 1))))

    def _centred(self, run: slice, *, whole: bool) -> FloatArray:
        names = list(self.kernels)
        held = np.empty((len(names), run.stop - run.start, self.n))
        # Slopes of followed bandwidths have the same distances.
        known = self.known if self.followed else None
        for k, block in fill(list(self.kernels.values()), run, slice(0, self.n), known):
            without_diagonal(block, run)
            if whole:
                self.sizes[names[k]] = float(np.sqrt(_squares(block) / (self.n * (self.n - 1))))
                self.effects[names[k]] = row_effects(block.sum(axis=1))
            effects = self.effects[names[k]]
            held[k] = without_diagonal(subtract_effects(block, effects[run], effects), run)
        return held

    def _follow(self, run: slice, held: FloatArray, place: Mapping[str, int]) -> None:
        """Add what a run of rows gives to slopes and row means."""
        widths = [one.bandwidth for one in self.followed]
        parts = [part for width in widths for part in (width.slope, width.score)]
        for k, block in fill(parts, run, slice(0, self.n), self.known):
            one = self.followed[k // 2]
            without_diagonal(block, run)
            if k % 2:
                one.score_means[run] = block.sum(axis=1) / (self.n - 1)
                continue
            for partner in one.slopes:
                total = float(np.einsum("ij,ij->", block, held[place[partner]]))
                one.slopes[partner] += hsic_of(total, self.n)


def _squares(block: FloatArray) -> float:
    return float(np.einsum("ij,ij->", block, block))


def without_diagonal(block: FloatArray, run: slice) -> FloatArray:
    """Set the diagonal of the whole matrix to 0 in a run of its rows, in place."""
    own = np.arange(run.start, run.stop)
    block[own - run.start, own] = 0.0
    return block


def is_many(n_pairs: int, n_variables: int) -> bool:
    """Return True if all pairs are multiplied at once."""
    return n_pairs >= max(MANY_PAIRS, DENSE_PAIRS * n_variables**2)


def row_sums(held: FloatArray, pairs: Sequence[tuple[int, int]]) -> FloatArray:
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


def whole_sums(held: FloatArray, pairs: Sequence[tuple[int, int]]) -> FloatArray:
    """Return Σq of pairs in the rows of `held`."""
    if not is_many(len(pairs), len(held)):
        return np.array([np.einsum("ij,ij->", held[x], held[y]) for x, y in pairs])
    flat = held.reshape(len(held), -1)
    first, second = np.array(pairs).T
    return np.asarray((flat @ flat.T)[first, second])
