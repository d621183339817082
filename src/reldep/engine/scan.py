"""Many variables, one after another, with a few fixed ones: what a scan needs of an engine.

A variable is filled, centred, multiplied with the fixed ones and with itself, and forgotten. Plain
columns with a Gaussian, Laplace or distance kernel go through compiled code; everything else is
computed one variable at a time. Of many rows the same is done in every block of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np

from reldep.data.variables import BoolArray, FloatArray, IntArray, Variable
from reldep.engine.blocks import LEAST_BLOCKS, SMALLEST_AUTO, Blocks, seconds_of_pair
from reldep.engine.centred import centre, conditional_means, hsic_of, is_constant, is_held
from reldep.engine.choose import SIZES, as_engine, choose
from reldep.engine.fitted_columns import Columns, Ready
from reldep.engine.influence import compute_influence
from reldep.engine.threads import at_work
from reldep.exceptions import InputError
from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.custom import FittedPrecomputed
from reldep.kernels.distances import evaluate, row_runs
from reldep.system import available_cores, on_all_cores


@dataclass(frozen=True, eq=False)
class Batch:
    """A for some variables, each with every fixed one and with itself.

    Attributes
    ----------
    means : ndarray, shape (n, f + 1, m)
        Conditional means, or the HSICs of m blocks of rows: with the fixed variables, then with
        itself.
    moves : ndarray, shape (n, f + 1, m)
        What bandwidths that the data chose add to the influence values.
    weights : ndarray, shape (m,), or None
        The rows of every block.
    """

    means: FloatArray
    moves: FloatArray
    weights: IntArray | None = None

    @property
    def is_held(self) -> BoolArray:
        """Whether the powers of a variable's conditional means are still numbers."""
        return is_held(self.means[:, :-1]).all(axis=1) & is_held(self.means[:, -1], own=True)

    @property
    def has_energy(self) -> BoolArray:
        """Whether a variable varies enough for a dependence to have a scale."""
        return np.asarray(np.average(self.means[:, -1], axis=1, weights=self.weights) > 0)

    def take(self, chosen: BoolArray) -> Batch:
        """Return some of the variables."""
        return replace(self, means=self.means[chosen], moves=self.moves[chosen])


def held(kernel: FittedKernel) -> FittedPrecomputed:
    """Return the whole matrix of a kernel, with those that its bandwidths need, evaluated once."""
    widths = kernel.bandwidths()
    parts = [part for width in widths for part in (width.slope, width.score)]
    own, *rest = map(FittedPrecomputed, evaluate([kernel, *parts], slice(0, len(kernel))))
    moved = zip(widths, rest[0::2], rest[1::2], strict=True)
    return replace(own, moving=tuple(replace(one, slope=a, score=b) for one, a, b in moved))


class Batches:
    """Fixed variables, with which any number of others is compared.

    Parameters
    ----------
    fixed : mapping of str to FittedKernel
    engine : str or engine, default "dense"
        With "dense", whole matrices of the fixed variables are held.
    own_units : bool, default False
        As for `Ready`.
    n_threads : int, optional
        By default one for each core.
    """

    def __init__(
        self,
        fixed: Mapping[str, FittedKernel],
        engine: Any = "dense",
        *,
        own_units: bool = False,
        n_threads: int | None = None,
    ) -> None:
        self._engine, self._own_units = engine, own_units
        self._n_threads = n_threads or available_cores()
        self._is_held = isinstance(engine, str) and engine == "dense"
        self._fixed = {name: held(one) if self._is_held else one for name, one in fixed.items()}
        names = list(fixed)
        self.n = len(fixed[names[0]])
        pairs = [(name, name) for name in names]
        further = list(combinations(names, 2))
        found = compute_influence(self._fixed, pairs, engine, bandwidths=True, means=further)
        self.hsics = np.array([[found.hsic((a, b)) for b in names] for a in names])
        self.own_means, self.own_moves = found.values, found.bandwidth_psi

    @cached_property
    def _tables(self) -> tuple[FloatArray, FloatArray, list[tuple[int, FloatArray]]]:
        """Centred matrices of the fixed variables; slopes of bandwidths; their leverages.

        With each leverage goes the number of its variable.
        """
        every, slopes, leverages = slice(0, self.n), np.empty((0, self.n, self.n)), []
        for i, kernel in enumerate(self._fixed.values()):
            for one in kernel.bandwidths():
                slopes = np.concatenate([slopes, one.slope(every, every)[None]])
                means = one.score(every, every).sum(axis=1) / (self.n - 1)
                leverages.append((i, one.leverage(means)))
        matrices = [centre(kernel(every, every)) for kernel in self._fixed.values()]
        return np.array(matrices), slopes, leverages

    def batch(self, kernels: Sequence[Kernel], variables: Sequence[Variable]) -> Batch:
        """Compute A for some variables, each with a kernel that is fitted to it."""
        ready = Ready.of(
            kernels, variables, own_units=self._own_units, is_one_by_one=not self._is_held
        )
        return self.finish(ready)

    def finish(self, ready: Ready) -> Batch:
        """Compute A for variables on the rows of the fixed ones; NaN for one that has none."""
        made = Batch(*np.full((2, ready.n, len(self._fixed) + 1, self.n), np.nan))
        for members, columns in ready.plain:
            self._compile(columns, members, made)
        # A name that no fixed variable has.
        own = "".join(self._fixed) + "'"
        pairs = [*((own, name) for name in self._fixed), (own, own)]
        for i, fitted in ready.alone.items():
            with suppress(InputError):  # values that cannot be added up: skipped in a scan
                every = {**self._fixed, own: fitted}
                found = compute_influence(every, pairs, self._engine, bandwidths=True)
                made.means[i], made.moves[i] = found.values, found.bandwidth_psi
        return made

    def _compile(self, columns: Columns, members: IntArray, made: Batch) -> None:
        """Send plain columns through compiled code."""
        from reldep.engine.loops import scan_columns

        fixed, slopes, leverages = self._tables
        n, m, f, e = len(members), self.n, len(fixed), len(slopes)
        q, moved, sizes = np.empty((n, f + 1, m)), np.empty((n, e + f + 1)), np.empty(n)

        def work(run: slice) -> None:
            scan_columns(
                columns.values[run],
                columns.function,
                columns.widths[run],
                fixed,
                slopes,
                columns.leverage is not None,
                q[run],
                moved[run],
                sizes[run],
            )

        runs = row_runs(n, 1, max(1, min(64, n // self._n_threads)))
        if self._n_threads > 1:
            on_all_cores(work, runs)
        else:
            for run in runs:
                work(run)
        means = conditional_means(q)
        means[is_constant(means[:, -1].mean(axis=1), sizes)] = 0.0
        made.means[members] = means
        change, moves = hsic_of(moved, m), np.zeros((n, f + 1, m))
        for own, (variable, leverage) in zip(change.T, leverages, strict=False):
            moves[:, variable] += np.multiply.outer(own, leverage)
        if columns.leverage is not None:
            # With itself a variable has the bandwidth in both of its kernels.
            change[:, -1] *= 2.0
            moves += change[:, e:, None] * columns.leverage[:, None, :]
        made.moves[members] = moves


class BlockBatches:
    """The same in blocks of rows: HSICs of blocks take the place of conditional means.

    Parameters
    ----------
    fixed : mapping of str to FittedKernel
    blocks : ndarray of int, shape (m,)
        The block of every row.
    own_units : bool
        As for `Ready`.

    Attributes
    ----------
    sizes : ndarray of int
        The rows of every block.
    """

    def __init__(
        self, fixed: Mapping[str, FittedKernel], blocks: IntArray, *, own_units: bool = False
    ) -> None:
        self._fixed, self._own_units = fixed, own_units
        self.sizes = np.bincount(blocks)
        order = np.argsort(blocks, kind="stable")
        self._blocks = np.split(order, np.cumsum(self.sizes)[:-1])
        self.n = len(blocks)
        hsics = np.array(self._over_blocks(lambda rows: self._on(rows).hsics))
        self.hsics = np.average(hsics, axis=0, weights=self.sizes)
        self.own_means = np.einsum("gaa->ag", hsics)
        self.own_moves = np.zeros_like(self.own_means)

    def _on(self, rows: IntArray) -> Batches:
        taken = {name: kernel.take(rows) for name, kernel in self._fixed.items()}
        return Batches(taken, n_threads=1)

    def _over_blocks(self, work: Callable[[IntArray], FloatArray]) -> list[FloatArray]:
        with at_work(available_cores()) as results:
            return list(results(work, self._blocks))

    def batch(self, kernels: Sequence[Kernel], variables: Sequence[Variable]) -> Batch:
        """Compute HSICs for some variables."""
        ready = Ready.of(kernels, variables, own_units=self._own_units, is_followed=False)

        def work(rows: IntArray) -> FloatArray:
            return np.asarray(self._on(rows).finish(ready.take(rows)).means.mean(axis=2))

        means = np.stack(self._over_blocks(work), axis=2)
        return Batch(means, np.zeros_like(means), self.sizes)


def deal_for_scan(
    fixed: Mapping[str, FittedKernel],
    engine: Any,
    column: FittedKernel,
    n_columns: int,
    n: int,
    seconds: float = SIZES.tiled_seconds,
) -> IntArray | None:
    """Return the block of every row, if blocks of rows are asked for or spare much time.

    Parameters
    ----------
    fixed : mapping of str to FittedKernel
    engine : str or engine
    column : FittedKernel
        One of the variables, for all of them.
    n_columns : int
        Their number.
    n : int
        The rows that are dealt, of which the kernels may have some.
    seconds : float
        What all pairs of rows may take, by "auto".
    """
    is_auto = isinstance(engine, str) and engine == "auto"
    chosen = as_engine(engine) if not is_auto else Blocks()
    if chosen.name != "blocks":
        return None
    is_short = n < LEAST_BLOCKS * SMALLEST_AUTO
    if is_auto and (is_short or _seconds_of(fixed, column) * n_columns < seconds):
        return None
    one = seconds_of_pair([column], [(0, 0)]) / chosen.n_threads
    label = np.empty(n, dtype=np.int64)
    for number, rows in enumerate(chosen.deal(n, one * n_columns).blocks):
        label[rows] = number
    return label


def _seconds_of(fixed: Mapping[str, FittedKernel], column: FittedKernel) -> float:
    """Return the seconds that one variable takes with all pairs of rows; infinite if many."""
    kernels, own = [*fixed.values(), column], "".join(fixed) + "'"
    places = [(i, len(fixed)) for i in range(len(kernels))]
    if choose(kernels, places, (), dependence={})[0].engine.name == "blocks":
        return np.inf
    spent = np.inf
    for _ in range(2):  # the first may load compiled code
        started = perf_counter()
        pairs = [(name, own) for name in [*fixed, own]]
        compute_influence({**fixed, own: column}, pairs, bandwidths=True)
        spent = min(spent, perf_counter() - started)
    return spent


def make_batches(
    fixed: Mapping[str, FittedKernel],
    engine: Any = "auto",
    *,
    blocks: IntArray | None = None,
    own_units: bool = False,
) -> Batches | BlockBatches:
    """Hold whole matrices of the fixed variables where that is possible and allowed.

    `blocks` are those of every row, if blocks of rows are used.
    """
    if blocks is not None:
        return BlockBatches(fixed, blocks, own_units=own_units)
    n = len(next(iter(fixed.values())))
    is_small = isinstance(engine, str) and engine == "auto" and n <= SIZES.dense_rows
    return Batches(fixed, "dense" if is_small else engine, own_units=own_units)
