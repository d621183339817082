"""Order statistics of the pairwise distances, exactly, without holding them.

A random sample brackets the rank that is sought; one pass over all distances counts those below
the bracket and collects those within. If the sample misled, or more fell into the bracket than
may be held, what the pass found gives a better bracket for the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.kernels.points import FEW_COLUMNS, Points
from reldep.system import (
    available_cores,
    numba_is_there,
    on_all_cores,
    thread_pool,
    worth_compiling,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reldep.data.variables import FloatArray, IntArray

# Pairs drawn where distances are cheap one by one, and rows where they come in blocks.
SAMPLED_PAIRS = 200_000
SAMPLED_ROWS = 1_000

# Points in a plane are put into boxes of about so many: the distances between two boxes are often
# all below a bracket, or all above. In more columns few are.
BOXED_COLUMNS = 2
BOX_POINTS = 32

# The bracket reaches this many standard errors of the sample to either side.
STANDARD_ERRORS = 4.0

# The most values that a pass may collect.
MOST_COLLECTED = 5_000_000

BLOCK_ROWS = 512

# Rows whose distances from one other row each are made at a time.
FOLLOWING_ROWS = 8_192


@dataclass(frozen=True, eq=False)
class Pass:
    """What one pass over all distances found out about a bracket.

    Attributes
    ----------
    low, high : float
        The bracket, both ends included.
    n_below, n_up_to : int
        How many values lie below it, and below or in it.
    inside : ndarray
        Values in the bracket, in any order: all, or a sample.
    """

    low: float
    high: float
    n_below: int
    n_up_to: int
    inside: FloatArray

    def value_at(self, rank: int) -> float | None:
        """Give the value of a rank, counted from 0, if the pass determines it."""
        if not self.n_below <= rank < self.n_up_to:
            return None
        if self.low == self.high:
            return self.low
        if len(self.inside) == self.n_up_to - self.n_below:
            place = rank - self.n_below
            return float(np.partition(self.inside, place)[place])
        return None


@dataclass(frozen=True, eq=False)
class RankBounds:
    """What is known of the value of a rank, and a sample to narrow it down with.

    Attributes
    ----------
    low, high : float
        It lies between, both included.
    n_below, n_up_to : int
        How many values come before those that it may be, and how many with them.
    sample : ndarray
        Some of those, in ascending order.
    n_independent : float
        The size of an independent sample that would be as good.
    """

    low: float
    high: float
    n_below: int
    n_up_to: int
    sample: FloatArray
    n_independent: float

    def after(self, found: Pass, rank: int) -> RankBounds:
        """Narrow down by what a pass found, though it did not determine the value."""
        if rank < found.n_below:
            rest = self.sample[self.sample < found.low]
            high = float(np.nextafter(found.low, -np.inf))
            return replace(self, high=high, n_up_to=found.n_below, sample=rest)
        if rank >= found.n_up_to:
            rest = self.sample[self.sample > found.high]
            low = float(np.nextafter(found.high, np.inf))
            return replace(self, low=low, n_below=found.n_up_to, sample=rest)
        # It is one of those in the bracket, of which the pass could hold a sample only.
        counts = (found.n_below, found.n_up_to)
        return RankBounds(found.low, found.high, *counts, np.sort(found.inside), len(found.inside))

    def bracket(self, rank: int) -> tuple[float, float]:
        """Choose two values that are likely to have the rank between them."""
        n = len(self.sample)
        share = (rank - self.n_below) / (self.n_up_to - self.n_below)
        margin = STANDARD_ERRORS * 0.5 / np.sqrt(max(1.0, self.n_independent))
        first, last = int((share - margin) * n) - 1, int((share + margin) * n) + 1
        low = float(self.sample[first]) if first >= 0 else self.low
        high = float(self.sample[last]) if last < n else self.high
        if n and (low, high) == (self.low, self.high):
            # Nothing would be gained; one value of the sample cuts the rest in two.
            low = high = float(self.sample[min(n - 1, int(share * n))])
        return low, high


@dataclass(frozen=True, eq=False)
class DistanceStream:
    """The squared distances between different points, by rank.

    Attributes
    ----------
    points : Points
    passes : list of Pass
        What is known from earlier questions.
    n_partners : int, optional
        Only the distances of each point from so many that follow it, in a circle, are looked at.
    """

    points: Points
    passes: list[Pass] = field(default_factory=list)
    n_partners: int | None = None

    @property
    def n_distances(self) -> int:
        """The number of pairs of points."""
        n = len(self.points)
        return n * (n - 1) // 2 if self.n_partners is None else n * self.n_partners

    def sums(self) -> tuple[float, float]:
        """Give the sum of the distances, and of their squares."""
        # Small samples never wait for the compiler.
        if self.n_partners and worth_compiling(len(self.points)) and self._is_cheap:
            return _compiled_sums(self.points, self.n_partners)
        total, squares = 0.0, 0.0
        for squared in _runs_of_distances(self.points, self.n_partners):
            total += float(np.sqrt(squared).sum())
            squares += float(squared.sum())
        return total, squares

    def squared_distance_at(self, rank: int) -> float:
        """Give the squared distance of a rank, counted from 0 for the smallest."""
        for known in self.passes:
            value = known.value_at(rank)
            if value is not None:
                return value
        sample, size = self._sampled()
        bounds = RankBounds(-1.0, np.inf, 0, self.n_distances, sample, size)
        while True:
            found = self._pass(*bounds.bracket(rank))
            value = found.value_at(rank)
            if value is not None:
                return value
            bounds = bounds.after(found, rank)

    def count_zeros(self) -> int:
        """Count the pairs of equal points."""
        return self._pass(0.0, 0.0).n_up_to

    @cached_property
    def _boxes(self) -> Boxes | None:
        """The points in boxes; None where most pairs of boxes would have to be opened."""
        if self.n_partners is not None or self.points.n_columns > BOXED_COLUMNS:
            return None
        return Boxes.of(np.asarray(self.points.rows))

    @property
    def _is_cheap(self) -> bool:
        """Whether distances are made one by one, in compiled code."""
        few = not self.points.is_sparse and self.points.n_columns <= FEW_COLUMNS
        return few and numba_is_there()

    def _pass(self, low: float, high: float) -> Pass:
        if self._is_cheap:
            found = _compiled_pass(self.points, low, high, self.n_partners, self._boxes)
        else:
            found = _block_pass(self.points, low, high, self.n_partners)
        self.passes.append(found)
        return found

    def _sampled(self) -> tuple[FloatArray, float]:
        """Draw squared distances, with the size of an independent sample as good as they are."""
        rng = np.random.default_rng(0)
        n = len(self.points)
        if self._is_cheap:
            # Rows in random order, each with some that follow it: no row is drawn more often.
            columns = np.asarray(self.points.rows)[rng.permutation(n)[:SAMPLED_PAIRS]].T.copy()
            n_drawn = columns.shape[1]
            squares = []
            for shift in range(1, min(-(-SAMPLED_PAIRS // n_drawn), n_drawn - 1) + 1):
                difference = columns[:, shift:] - columns[:, :-shift]
                squares.append(np.einsum("ij,ij->j", difference, difference))
            sample = np.sort(np.concatenate(squares))
            return sample, len(sample)
        if self.n_distances <= MOST_COLLECTED:
            # All can be held, and no sample is needed to choose some.
            return np.empty(0), 0
        half = min(SAMPLED_ROWS, n // 2)
        drawn = self.points.take(rng.permutation(n)[: 2 * half])
        block = drawn.squared_distances(slice(0, half), slice(half, 2 * half))
        return np.sort(block, axis=None), half


@dataclass(frozen=True, eq=False)
class Boxes:
    """Points in boxes with sides along the columns.

    Attributes
    ----------
    columns : ndarray, shape (n_columns, n)
        The coordinates, box by box.
    starts : ndarray of int, shape (n_boxes + 1,)
        Where each box begins.
    lows, highs : ndarray, shape (n_columns, n_boxes)
        The smallest and the largest coordinates in each box.
    """

    columns: FloatArray
    starts: IntArray
    lows: FloatArray
    highs: FloatArray

    @classmethod
    def of(cls, rows: FloatArray) -> Boxes:
        """Cut the points into slices along the first column, these along the next, and so on."""
        n, n_columns = rows.shape
        n_slices = max(1, round((n / BOX_POINTS) ** (1.0 / n_columns)))
        starts, order = np.array([0, n]), np.arange(n)
        for column in rows.T:
            for first, last in pairwise(starts.tolist()):
                own = order[first:last]
                order[first:last] = own[np.argsort(column[own])]
            cuts = [
                np.linspace(first, last, n_slices, endpoint=False).astype(np.int64)
                for first, last in pairwise(starts.tolist())
            ]
            starts = np.unique(np.append(np.concatenate(cuts), n))
        columns = np.ascontiguousarray(rows[order].T)
        lows = np.minimum.reduceat(columns, starts[:-1], axis=1)
        return cls(columns, starts, lows, np.maximum.reduceat(columns, starts[:-1], axis=1))


def _compiled_pass(
    points: Points, low: float, high: float, n_partners: int | None, boxes: Boxes | None
) -> Pass:
    """Count and collect in compiled code, the rows dealt out to threads like cards."""
    from reldep.kernels.compiled import (
        GROUP,
        count_and_collect,
        count_and_collect_boxed,
        count_and_collect_following,
    )

    n_parts = available_cores()
    collect: Any = count_and_collect
    data: list[Any] = [_columns(points, n_partners)] if boxes is None else []
    where: list[Any] = []
    if boxes is not None:
        collect = count_and_collect_boxed
        data = [boxes.columns, boxes.starts, boxes.lows, boxes.highs]
    elif n_partners is not None:
        collect, where = count_and_collect_following, [n_partners]

    def part(start: int) -> tuple[IntArray, FloatArray]:
        counts = np.zeros(2, dtype=np.int64)
        # Less than a group could come back empty, and the search would not get on.
        collected = np.empty(max(GROUP, MOST_COLLECTED // n_parts))
        n_collected = collect(*data, start, n_parts, *where, low, high, counts, collected)
        return counts, collected[:n_collected].copy()

    parts = on_all_cores(part, range(n_parts))
    inside = np.concatenate([values for _, values in parts])
    n_below, n_up_to = np.sum([counts for counts, _ in parts], axis=0).tolist()
    return Pass(low, high, n_below, n_up_to, inside)


def _compiled_sums(points: Points, n_partners: int) -> tuple[float, float]:
    """Add up distances and their squares in compiled code, on all cores."""
    from reldep.kernels.compiled import sum_distances

    columns, n = _columns(points, n_partners), len(points)
    n_parts = available_cores()

    def part(start: int) -> FloatArray:
        sums = np.zeros(2)
        sum_distances(columns, n, start, n_parts, n_partners, sums)
        return sums

    total, squares = np.sum(on_all_cores(part, range(n_parts)), axis=0)
    return float(total), float(squares)


def _columns(points: Points, n_partners: int | None) -> FloatArray:
    """Give the coordinates as rows; those that follow the last point are the first ones again.

    A copy: the read-only rows themselves would be another type to compile for.
    """
    columns = np.asarray(points.rows).T
    if n_partners is None:
        return np.array(columns, order="C")
    return np.concatenate([columns, columns[:, :n_partners]], axis=1)


def _block_pass(points: Points, low: float, high: float, n_partners: int | None) -> Pass:
    """Count and collect from blocks; of too many values every second one is kept, repeatedly."""
    n_below, n_up_to, stride = 0, 0, 1
    collected: list[FloatArray] = []
    for squared in _runs_of_distances(points, n_partners):
        below, up_to = squared < low, squared <= high
        n_below += int(np.count_nonzero(below))
        n_up_to += int(np.count_nonzero(up_to))
        collected.append(squared[up_to & ~below][::stride])
        while sum(map(len, collected)) > MOST_COLLECTED:
            collected = [np.concatenate(collected)[::2]]
            stride *= 2
    return Pass(low, high, n_below, n_up_to, np.concatenate(collected))


def _runs_of_distances(points: Points, n_partners: int | None) -> Iterator[FloatArray]:
    """Give all squared distances, or those from the points that follow, some at a time."""
    if n_partners is None:
        # Products of dense matrices run on all cores by themselves.
        pool = thread_pool(available_cores() if points.is_sparse else 1)
        yield from pool.map(lambda b: _above_diagonal(points, *b), _upper_blocks(len(points)))
        return
    rows: Any = points.rows
    for shift in range(1, n_partners + 1):
        others = np.roll(np.arange(len(points)), -shift)
        for start in range(0, len(points), FOLLOWING_ROWS):
            run = slice(start, start + FOLLOWING_ROWS)
            difference = rows[run] - rows[others[run]]
            if points.is_sparse:
                yield np.asarray(difference.multiply(difference).sum(axis=1)).ravel()
            else:
                yield np.einsum("ij,ij->i", difference, difference)


def _upper_blocks(n: int) -> Iterator[tuple[slice, slice]]:
    """Cover the upper triangle of an n×n matrix."""
    runs = [slice(start, min(start + BLOCK_ROWS, n)) for start in range(0, n, BLOCK_ROWS)]
    for i, rows in enumerate(runs):
        for cols in runs[i:]:
            yield rows, cols


def _above_diagonal(points: Points, rows: slice, cols: slice) -> FloatArray:
    """Give the squared distances of a block that belong to the upper triangle, as a list."""
    block = points.squared_distances(rows, cols)
    return block[np.triu_indices(len(block), k=1)] if rows == cols else block.ravel()
