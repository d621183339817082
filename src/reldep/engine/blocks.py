"""The blocks engine: HSICs of random blocks of rows, for any number of rows and any kernel.

The rows are dealt at random into G blocks of about b rows. A block is a small sample, and its HSICs
use all pairs of its rows. Averages over blocks are unbiased, and the blocks are independent, so
that their spread gives the standard error: G × pairs numbers are all that is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.engine.centred import Products, canonical, hsic_of
from reldep.engine.dense import Dense
from reldep.engine.program import make_program
from reldep.engine.threads import (
    OnProgress,
    Steps,
    SummingThreads,
    progress_bar,
    single_threaded_blas,
)
from reldep.engine.tiled import programs_of, sweep_twice
from reldep.exceptions import InputError
from reldep.system import available_cores

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.centred import Pair
    from reldep.kernels.base import FittedKernel

# Blocks of this many rows take 10⁶ rows of 10 columns in seconds and lose a few per cent of the
# standard error; fewer blocks than this make its estimate the larger loss.
BLOCK_ROWS, LEAST_BLOCKS = 2_000, 50

# Below this number of blocks Student's t has too few degrees of freedom; smaller blocks have
# HSICs of few 4-tuples.
FEWEST_BLOCKS, FEWEST_ROWS = 5, 8


@dataclass(frozen=True, eq=False)
class BlockTable:
    """HSICs of blocks of rows.

    Attributes
    ----------
    hsics : ndarray, shape (n_blocks, n_pairs)
        The unbiased HSICs of every block.
    sizes : ndarray of int, shape (n_blocks,)
        The rows of each block.
    pairs : tuple of (str, str)
        Which column belongs to which pair.
    """

    hsics: FloatArray
    sizes: IntArray
    pairs: tuple[Pair, ...]

    @property
    def weights(self) -> FloatArray:
        """The share of every block in all rows."""
        return np.asarray(self.sizes / self.sizes.sum())

    @property
    def means(self) -> FloatArray:
        """The HSICs of all pairs, averaged over blocks."""
        return np.asarray(self.weights @ self.hsics)

    def column(self, pair: Pair) -> int:
        """Return the column of a pair, in either order."""
        return [canonical(known) for known in self.pairs].index(canonical(pair))

    def note(self) -> str:
        """Return in words how the HSICs were computed."""
        rows = round(float(self.sizes.mean()))
        return (
            f"Computed in {len(self.sizes):,} random blocks of {rows:,} rows: unbiased, and the "
            "standard error is a little larger than with all pairs of rows. Larger blocks, as with "
            "engine=Blocks(size=...), bring it closer."
        )


@dataclass(frozen=True)
class Blocks:
    """Average the HSICs of random blocks of rows.

    Parameters
    ----------
    size : int or "auto", default "auto"
        Rows of a block; the default is at most 2,000, with at least 50 blocks.
    rng : int or numpy.random.Generator, optional
        Deals the rows; None is a fixed seed, so that answers repeat.
    threads : int, optional
        By default one for each core that this process may use. The result does not depend on it.
    on_progress : callable, optional
        Called with the number of blocks done and their total, in place of the bar.

    Examples
    --------
    >>> import numpy as np, reldep
    >>> from reldep.engine import Blocks
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=2000)
    >>> y, z = x + rng.normal(size=2000), rng.normal(size=2000)
    >>> bool(reldep.compare(x, y, z, engine=Blocks(size=100)).pvalue < 0.05)
    True
    """

    size: Any = "auto"
    rng: Any = None
    threads: int | None = None
    on_progress: OnProgress | None = field(default=None, compare=False)

    name: ClassVar[str] = "blocks"

    def __post_init__(self) -> None:
        is_number = isinstance(self.size, (int, np.integer)) and not isinstance(self.size, bool)
        if self.size != "auto" and not (is_number and self.size >= FEWEST_ROWS):
            raise InputError(
                f'size={self.size!r}; pass "auto" or a number of rows, at least {FEWEST_ROWS}.'
            )

    def number_of_blocks(self, n: int) -> int:
        """Return G for n rows."""
        if self.size == "auto":
            wanted = max(LEAST_BLOCKS, -(-n // BLOCK_ROWS))
        else:
            wanted = max(FEWEST_BLOCKS, round(n / self.size))
        most = n // FEWEST_ROWS
        if most < FEWEST_BLOCKS:
            raise InputError(
                f"{n} observations are too few for blocks; leave `engine` out: all pairs of so few "
                "rows take no time."
            )
        return min(wanted, most)

    def deal(self, n: int) -> list[IntArray]:
        """Return the rows of every block, at random; sizes differ by at most one."""
        rng = np.random.default_rng(0 if self.rng is None else self.rng)
        parts = np.array_split(rng.permutation(n), self.number_of_blocks(n))
        return [np.sort(rows) for rows in parts]

    def table(self, kernels: Mapping[str, FittedKernel], pairs: Sequence[Pair]) -> BlockTable:
        """Return the HSICs of all pairs in every block."""
        n = len(next(iter(kernels.values())))
        blocks, n_threads = self.deal(n), self.threads or available_cores()
        work = _Block(kernels, pairs)
        hsics = np.empty((len(blocks), len(pairs)))

        def some(numbers: Iterable[int]) -> int:
            for g in numbers:
                hsics[g] = work.hsics(blocks[g])
            return 1

        with (
            progress_bar("blocks", self.on_progress) as on_progress,
            SummingThreads[int](n_threads) as pool,
            single_threaded_blas(n_threads),
        ):
            steps = Steps(on_progress, len(blocks))
            pool.summed(some, [[g] for g in range(len(blocks))], steps.one_more)
        return BlockTable(hsics, np.array([len(rows) for rows in blocks]), tuple(pairs))


class _Block:
    """Kernels, ready to be evaluated on the rows of a block."""

    def __init__(self, kernels: Mapping[str, FittedKernel], pairs: Sequence[Pair]) -> None:
        names = list(dict.fromkeys(name for pair in pairs for name in pair))
        self.kernels = {name: kernels[name] for name in names}
        self.pairs = pairs
        self.programs = programs_of(list(self.kernels.values()))
        self.numbers = np.array([(names.index(x), names.index(y)) for x, y in pairs])

    def hsics(self, rows: IntArray) -> FloatArray:
        """Return the HSICs of all pairs on some rows."""
        if self.programs is None:
            return self._by_numpy(rows)
        program = make_program(self.programs, rows)
        q, _ = sweep_twice(program, self.numbers)
        return np.array([hsic_of(float(one.sum()), len(rows)) for one in q])

    def _by_numpy(self, rows: IntArray) -> FloatArray:
        taken = {name: kernel.take(rows) for name, kernel in self.kernels.items()}
        wanted = list(dict.fromkeys(canonical(pair) for pair in self.pairs))
        found: Products = Dense().products(taken, (), wanted)
        return np.array([hsic_of(found.total(pair), len(rows)) for pair in self.pairs])
