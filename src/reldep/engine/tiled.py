"""The tiled engine: all pairs of rows in memory of the order of the rows.

Two sweeps over strips of the upper triangle: row sums, then products of centred values. Strips are
added in order, so that the result is the same to the last bit for any number of threads. Kernels
without a program are evaluated by NumPy, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.engine.centred import Products, row_effects
from reldep.engine.dense import Dense
from reldep.engine.program import make_program
from reldep.engine.threads import (
    OnProgress,
    Steps,
    SummingThreads,
    progress_bar,
    single_threaded_blas,
)
from reldep.exceptions import InputError
from reldep.system import available_cores, bytes_of, in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.centred import Pair
    from reldep.engine.program import Program
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.program import Factor

# Pairs that are summed in one sweep: their sums and those of a strip stay in memory per thread.
PAIRS_AT_A_TIME = 100

# A sweep is cut into about this many pieces, whatever the number of threads.
PIECES = 64


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
        value: Any = self.threads
        is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if value is not None and not (is_whole and value >= 1):
            raise InputError(f"threads={value!r}; pass a whole number, at least 1.")

    @property
    def n_threads(self) -> int:
        """The number of threads that are used."""
        return self.threads or available_cores()

    def needed(self, n: int, n_kernels: int, n_pairs: int) -> int:
        """Return the bytes that a job needs besides the data."""
        sums = n_kernels + min(n_pairs, PAIRS_AT_A_TIME)
        return 8 * n * (sums * (2 * self.n_threads + 2) + n_pairs)

    def products(
        self,
        kernels: Mapping[str, FittedKernel],
        pairs: Sequence[Pair],
        totals: Sequence[Pair] = (),
    ) -> Products:
        """Return q of pairs and Σq of further pairs, all canonical and distinct."""
        n = len(next(iter(kernels.values())))
        self._check_memory(n, len(kernels), len(pairs) + len(totals))
        wanted, found = [*pairs, *totals], Products(engines={"tiled": None})
        groups = [
            wanted[start : start + PAIRS_AT_A_TIME]
            for start in range(0, len(wanted), PAIRS_AT_A_TIME)
        ]
        with (
            progress_bar("tiles", self.on_progress) as on_progress,
            SummingThreads[int](self.n_threads) as pool,
            single_threaded_blas(self.n_threads),
        ):
            steps = Steps(on_progress, 2 * len(groups) * len(pieces_of(n)))
            for group in groups:
                found = found.join(self._group(kernels, group, pool, steps))
        q = {pair: found.q[pair] for pair in pairs}
        sums = {pair: float(found.q[pair].sum()) for pair in totals}
        return Products(q, sums, found.sizes, {"tiled": None})

    def _group(
        self,
        kernels: Mapping[str, FittedKernel],
        pairs: Sequence[Pair],
        pool: SummingThreads[int],
        steps: Steps,
    ) -> Products:
        names = list(dict.fromkeys(name for pair in pairs for name in pair))
        programs = programs_of([kernels[name] for name in names])
        if programs is None:
            return Dense(self._held()).products(kernels, pairs)
        program = make_program(programs)
        n = len(program.left)

        def sweep(work: Callable[[Iterable[int]], FloatArray], n: int) -> FloatArray:
            return pool.summed(work, pieces_of(n), steps.one_more)

        numbers = np.array([[names.index(x), names.index(y)] for x, y in pairs], dtype=np.int64)
        q, sums = sweep_twice(program, numbers, sweep)
        sizes = np.abs(sums).mean(axis=1) / (n - 1)
        return Products(
            dict(zip(pairs, q, strict=True)), {}, dict(zip(names, sizes.tolist(), strict=True))
        )

    def _held(self) -> int:
        """Return the bytes of rows that NumPy may hold."""
        return Dense().held if self.memory is None else max(1, bytes_of(self.memory) // 4)

    def _check_memory(self, n: int, n_kernels: int, n_pairs: int) -> None:
        needed = self.needed(n, n_kernels, n_pairs)
        if self.memory is not None and needed > bytes_of(self.memory):
            raise InputError(
                f"memory={self.memory!r} is not enough: {n} observations and {n_kernels} kernels "
                f"need at least {in_words(needed)} with {self.n_threads} threads. Allow more, or "
                "pass fewer threads or fewer pairs."
            )


def programs_of(kernels: Sequence[FittedKernel]) -> list[list[Factor]] | None:
    """Return the programs of all kernels, or None if one has none."""
    found = [kernel.program() for kernel in kernels]
    return None if any(one is None for one in found) else [one for one in found if one is not None]


def pieces_of(n: int) -> list[list[int]]:
    """Return the first columns of all strips, in pieces of work."""
    from reldep.engine.loops import WIDTH

    starts = list(range(0, n, WIDTH))
    size = -(-len(starts) // PIECES)
    return [starts[k : k + size] for k in range(0, len(starts), size)]


Sweep = Callable[[Callable[[Iterable[int]], "FloatArray"], int], "FloatArray"]


def at_once(work: Callable[[Iterable[int]], FloatArray], n: int) -> FloatArray:
    """Return what the work makes of all strips of n columns, without threads."""
    return work(start for piece in pieces_of(n) for start in piece)


def swept(program: Program, pairs: IntArray, effects: FloatArray, sweep: Sweep) -> FloatArray:
    """Return row sums of products of kernels less effects."""
    from reldep.engine.loops import strip

    m = len(program.left)

    def work(starts: Iterable[int]) -> FloatArray:
        out = np.zeros((len(pairs), m))
        for j0 in starts:
            strip(program, pairs, effects, j0, out)
        return out

    return sweep(work, m)


def sweep_once(program: Program, sweep: Sweep = at_once) -> FloatArray:
    """Return the row sums of all kernels."""
    n = program.n_kernels
    alone = np.array([(k, -1) for k in range(n)], dtype=np.int64)
    return swept(program, alone, np.zeros((n, len(program.left))), sweep)


def sweep_twice(
    program: Program, pairs: IntArray, sweep: Sweep = at_once, *, plain: Sequence[int] = ()
) -> tuple[FloatArray, FloatArray]:
    """Return q of pairs of numbered kernels, and the row sums of all kernels.

    Parameters
    ----------
    program : Program
    pairs : ndarray of int, shape (n_pairs, 2)
    sweep : callable
        Adds up what its argument makes of the first columns of all strips.
    plain : sequence of int
        Kernels that are not centred, such as slopes.
    """
    sums = sweep_once(program, sweep)
    effects = row_effects(sums)
    effects[list(plain)] = 0.0
    return swept(program, pairs, effects, sweep), sums
