"""The tiled engine: all pairs of rows in memory of the order of the rows.

Two sweeps over strips of the upper triangle: row sums, then products of centred values. Strips are
added in order, so that the result is the same to the last bit for any number of threads. Kernels
without a program are evaluated by NumPy, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np

from reldep.arguments import check_count
from reldep.data.variables import FloatArray, IntArray
from reldep.engine.centred import Places, Products, centre, hsic_of, is_constant, row_effects
from reldep.engine.dense import HELD_BYTES, Dense
from reldep.engine.threads import OnProgress, Results, added, at_work, progress_bar
from reldep.exceptions import InputError
from reldep.kernels.base import FittedKernel
from reldep.kernels.distances import Program, evaluate, make_program
from reldep.system import available_cores, bytes_of, in_words

# Pairs that are summed in one sweep: their sums and those of a strip stay in memory per thread.
PAIRS_AT_A_TIME = 100


@dataclass(frozen=True)
class Tiled:
    """Sum tiles of the upper triangle; no kernel matrix is ever held.

    Parameters
    ----------
    memory : str or int, optional
        The most the engine may use, as ``"512MB"`` or a number of bytes; by default half of what
        is free.
    threads : int, optional
        By default one for each core that this process may use.
    on_progress : callable, optional
        Called with the number of pieces of work done and their total, in place of the bar.

    Notes
    -----
    The result is the same to the last bit for any number of threads.

    Examples
    --------
    >>> import numpy as np, reldep
    >>> from reldep.engine import Tiled
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> y, z = x + rng.normal(size=100), rng.normal(size=100)
    >>> bool(reldep.compare(x, y, z, engine=Tiled(threads=1)).pvalue < 0.05)
    True
    """

    memory: str | int | None = None
    threads: int | None = None
    on_progress: OnProgress | None = field(default=None, compare=False)

    name: ClassVar[str] = "tiled"

    def __post_init__(self) -> None:
        if self.memory is not None:
            bytes_of(self.memory)
        if self.threads is not None:
            check_count("threads", self.threads, at_least=1)

    @property
    def n_threads(self) -> int:
        """The number of threads that are used."""
        return self.threads or available_cores()

    def needed(self, n: int, n_kernels: int, n_pairs: int) -> int:
        """Return the bytes that a job needs besides the data."""
        sums = n_kernels + min(n_pairs, PAIRS_AT_A_TIME)
        return 8 * n * (sums * (2 * self.n_threads + 2) + n_pairs)

    def products(
        self, kernels: Sequence[FittedKernel], pairs: Places, totals: Places = ()
    ) -> Products:
        """Return q of pairs and Σq of further pairs."""
        n, wanted = len(kernels[0]), [*pairs, *totals]
        self._check_memory(n, len(kernels), len(wanted))
        if any(kernel.program() is None for kernel in kernels):
            held = HELD_BYTES if self.memory is None else max(1, bytes_of(self.memory) // 4)
            return Dense(held).products(kernels, pairs, totals)
        q, sums, sizes = np.empty((len(pairs), n)), np.empty(len(totals)), np.empty(len(kernels))
        groups = range(0, len(wanted), PAIRS_AT_A_TIME)
        steps = 2 * len(groups) * len(strips_of(n))
        with (
            progress_bar("tiles", self.on_progress) as on_progress,
            at_work(self.n_threads, steps, on_progress) as results,
        ):
            for start in groups:
                group = wanted[start : start + PAIRS_AT_A_TIME]
                used = sorted({i for pair in group for i in pair})
                places = np.searchsorted(used, np.array(group))
                program = cast("Program", make_program([kernels[i] for i in used]))
                own = row_sums(program, results)
                sizes[used] = np.abs(own).mean(axis=1) / (n - 1)
                for p, one in enumerate(swept(program, places, row_effects(own), results), start):
                    if p < len(q):
                        q[p] = one
                    else:
                        sums[p - len(q)] = one.sum()
        return Products(q, sums, sizes)

    def _check_memory(self, n: int, n_kernels: int, n_pairs: int) -> None:
        needed = self.needed(n, n_kernels, n_pairs)
        if self.memory is not None and needed > bytes_of(self.memory):
            raise InputError(
                f"`memory={self.memory!r}` is not enough: {n} observations and {n_kernels} kernels "
                f"need at least {in_words(needed)} with {self.n_threads} threads. Allow more, or "
                "pass fewer threads or fewer pairs."
            )


def strips_of(n: int) -> range:
    """Return the first columns of all strips, the longest first: threads then end together."""
    from reldep.engine.loops import WIDTH

    return range(0, n, WIDTH)[::-1]


def swept(
    program: Program, pairs: IntArray, effects: FloatArray, results: Results | None = None
) -> FloatArray:
    """Return row sums of products of kernels less effects.

    Parameters
    ----------
    program : Program
    pairs : ndarray of int, shape (n_pairs, 2)
        Numbers of kernels; -1 for the second stands for 1.
    effects : ndarray, shape (n_kernels, m)
    results : callable, optional
        Maps work over strips, see :func:`reldep.engine.threads.at_work`; by default there is one
        thread.
    """
    from reldep.engine.loops import strip

    m = len(program.left)
    starts = strips_of(m)

    def work(several: Iterable[int]) -> FloatArray:
        out = np.zeros((len(pairs), m))
        for j0 in several:
            strip(program, pairs, effects, j0, out)
        return out

    if results is None:
        return work(starts)
    return np.asarray(added(results(work, ([j0] for j0 in starts))))


def row_sums(program: Program, results: Results | None = None) -> FloatArray:
    """Return the row sums of all kernels."""
    k = program.n_kernels
    alone = np.column_stack([np.arange(k), np.full(k, -1)])
    return swept(program, alone, np.zeros((k, len(program.left))), results)


def products_of_rows(
    kernels: Sequence[FittedKernel], pairs: Places, rows: IntArray, n_plain: int = 0
) -> FloatArray:
    """Return q of pairs on some rows, in this thread: compiled where all kernels are programs.

    The first `n_plain` kernels are not centred: slopes, whose partners are. Kernels whose own pair
    shows that they are constant among these rows have products of exactly 0.
    """
    n, program = len(rows), make_program(kernels, rows)
    if program is not None:
        sums = row_sums(program)
        sizes, effects = np.abs(sums).mean(axis=1) / (n - 1), row_effects(sums)
        effects[:n_plain] = 0.0
        q = swept(program, np.array(pairs), effects)
    else:
        held = evaluate([kernel.take(rows) for kernel in kernels], slice(0, n))
        sizes = np.array([np.abs(block).mean() for block in held])
        for block in held[n_plain:]:
            centre(block)
        q = np.array([np.einsum("ij,ij->i", held[x], held[y]) for x, y in pairs])
    own = np.full(len(kernels), np.inf)
    for p, (x, y) in enumerate(pairs):
        if x == y:
            own[x] = hsic_of(q[p].sum(), n)
    zero = is_constant(own, sizes)
    q[[bool(zero[x] or zero[y]) for x, y in pairs]] = 0.0
    return q


def sums_of_rows(kernel: FittedKernel, rows: IntArray) -> FloatArray:
    """Return the sums of kernel values of some rows with each other, in this thread."""
    program = make_program([kernel], rows)
    if program is not None:
        return np.asarray(row_sums(program)[0])
    (block,) = evaluate([kernel.take(rows)], slice(0, len(rows)))
    return np.asarray(block.sum(axis=1))
