"""What each observation adds to the HSICs by moving the bandwidths that the data chose.

With σ held fixed, an observation acts on an HSIC through its own values only. A bandwidth moves
with the observation as well and takes every HSIC along::

    psi_i += (∂H/∂log σ) · leverage_i

∂H/∂log σ is ``Σ K'∘L / (m(m-3))`` with K' the slope of the kernel and L the centred matrix of the
partner; K' need not be centred, because L is. Whole matrices give both factors exactly. For more
rows they come from blocks in which every row takes part once, so that their first-order error is
that of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.centred import hsic_of
from reldep.engine.dense import Dense
from reldep.engine.lines import Line
from reldep.engine.program import make_program
from reldep.engine.threads import over_runs
from reldep.engine.tiled import programs_of, sweep_once, sweep_twice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.centred import Pair
    from reldep.kernels.base import Bandwidth, FittedKernel

# Slopes are scalars: blocks of 500 rows give them to .5 % at 20,000 rows (measured), whereas a few
# large blocks of as many values are off by 6 %. Twice as many rows are enough for any sample.
SLOPE_BLOCK, SLOPE_ROWS = 500, 40_000

# Row means of a score are taken in larger blocks, because every row has its own error: blocks of
# 500 move the error of an HSIC at the median distance by 3 %, blocks of 2,000 by .8 % (measured).
PAIRS_FOR_SCORES = 40_000_000
SCORE_ROWS = (100, 4_000)


@dataclass(frozen=True, eq=False)
class Followed:
    """A bandwidth that is followed.

    Attributes
    ----------
    variable : str
    bandwidth : Bandwidth
    slopes : dict of str to float
        ∂H/∂log σ of the variable's pair with each partner, with the partner's kernel held fixed.
    score_means : ndarray, shape (m,)
        The row means of the score.
    """

    variable: str
    bandwidth: Bandwidth
    slopes: dict[str, float]
    score_means: FloatArray = field(repr=False)

    @property
    def leverage(self) -> FloatArray:
        """The influence of every observation on log σ."""
        return self.bandwidth.leverage(self.score_means)


def followed_bandwidths(
    kernels: Mapping[str, FittedKernel], pairs: Sequence[Pair]
) -> list[Followed]:
    """Return the bandwidths of the variables in these pairs that the data chose."""
    partners: dict[str, dict[str, float]] = {}
    for x, y in pairs:
        partners.setdefault(x, {})[y] = 0.0
        partners.setdefault(y, {})[x] = 0.0
    return [
        Followed(name, bandwidth, dict(own), np.zeros(len(kernels[name])))
        for name, own in partners.items()
        for bandwidth in kernels[name].bandwidths()
    ]


def moved_influence(followed: Sequence[Followed], pairs: Sequence[Pair], n: int) -> FloatArray:
    """Return what followed bandwidths add to the influence values; rows sum to 0."""
    moved = np.zeros((len(pairs), n))
    own: dict[str, list[Followed]] = {}
    for one in followed:
        own.setdefault(one.variable, []).append(one)
    leverages = {id(one): one.leverage for one in followed}
    for row, (x, y) in zip(moved, pairs, strict=True):
        # A self-pair has the bandwidth in both of its kernels.
        for variable, partner in ((x, y), (y, x)):
            for one in own.get(variable, ()):
                row += one.slopes[partner] * leverages[id(one)]
    return moved


def follow_in_blocks(kernels: Mapping[str, FittedKernel], followed: Sequence[Followed]) -> None:
    """Fill in slopes and row means of scores from blocks of rows."""
    if not followed:
        return
    n = len(next(iter(kernels.values())))
    order = np.random.default_rng(0).permutation(n)
    _fill_slopes(kernels, followed, cut(order[:SLOPE_ROWS], SLOPE_BLOCK))
    for one in followed:
        one.score_means[:] = _score_means(one.bandwidth.score, order)


def cut(order: IntArray, size: int) -> list[IntArray]:
    """Cut rows in random order into blocks of about this size."""
    return [np.sort(block) for block in np.array_split(order, max(1, len(order) // size))]


def _fill_slopes(
    kernels: Mapping[str, FittedKernel], followed: Sequence[Followed], blocks: list[IntArray]
) -> None:
    n = sum(map(len, blocks))
    names = list(dict.fromkeys(name for one in followed for name in one.slopes))
    pairs = [(k, partner) for k, one in enumerate(followed) for partner in one.slopes]
    slopes = [one.bandwidth.slope for one in followed]
    programs = programs_of([*slopes, *(kernels[name] for name in names)])
    numbers = np.array([(k, len(followed) + names.index(name)) for k, name in pairs])

    def compiled(rows: IntArray) -> FloatArray:
        program = make_program(programs or [], rows)
        q, _ = sweep_twice(program, numbers, plain=range(len(followed)))
        return np.array([hsic_of(float(one.sum()), len(rows)) for one in q])

    def by_numpy(rows: IntArray) -> FloatArray:
        taken = [
            replace(
                one,
                bandwidth=replace(
                    one.bandwidth,
                    slope=one.bandwidth.slope.take(rows),
                    score=one.bandwidth.score.take(rows),
                ),
                slopes=dict.fromkeys(one.slopes, 0.0),
                score_means=np.zeros(len(rows)),
            )
            for one in followed
        ]
        Dense().products({name: kernels[name].take(rows) for name in names}, (), (), taken)
        return np.array([slope for one in taken for slope in one.slopes.values()])

    found = _averaged(compiled if programs is not None else by_numpy, blocks, n)
    for (k, partner), slope in zip(pairs, found.tolist(), strict=True):
        followed[k].slopes[partner] = slope


def _averaged(
    of_block: Callable[[IntArray], FloatArray], blocks: list[IntArray], n: int
) -> FloatArray:
    """Return the mean of what is found in blocks, weighted by their rows."""

    def work(places: Iterable[slice]) -> FloatArray:
        parts = [len(rows) / n * of_block(rows) for place in places for rows in blocks[place]]
        return np.asarray(np.sum(parts, axis=0))

    return over_runs(work, len(blocks), len(blocks[0]) ** 2)


def _score_means(score: FittedKernel, order: IntArray) -> FloatArray:
    """Return row means of a score: exactly along a line, else within blocks."""
    line = Line.of(score)
    if line is not None:
        return np.asarray(line.row_sums / (len(order) - 1))
    means = np.empty(len(order))
    program = score.program()
    for rows in cut(order, int(np.clip(PAIRS_FOR_SCORES // len(order), *SCORE_ROWS))):
        if program is not None:
            sums = sweep_once(make_program([program], rows))[0]
        else:
            block = score.take(rows)(slice(0, len(rows)), slice(0, len(rows)))
            np.fill_diagonal(block, 0.0)
            sums = block.sum(axis=1)
        means[rows] = sums / (len(rows) - 1)
    return means
