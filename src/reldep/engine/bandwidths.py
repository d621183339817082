"""What each observation adds to the HSICs by moving the bandwidths that the data chose.

Held fixed, a kernel lets observation i act on an HSIC through its own values only. A median
bandwidth σ moves with the observation as well and takes every HSIC along::

    psi_i += (∂H/∂σ) · IF_i(σ)

∂H/∂σ is the HSIC of the kernel's slope with the partner, and IF comes from the row means of one
more kernel (see :class:`~reldep.kernels.bandwidth.BandwidthProbe`). Up to
:data:`FOLLOWED_EXACTLY_UP_TO` observations both come out of the same sweeps as everything else.
Beyond that they need fewer digits than the HSICs have. A slope is the mean over blocks of rows of
the HSIC within the block: every row takes part, so that its first-order error is that of all pairs,
and what the pairs left out add is of the order ``1/√(m b)`` for blocks of b rows. The row means are
exact where that is cheap, and else taken over some thousand rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.blocks import Tile
from reldep.engine.recipe import Between
from reldep.engine.terms import Pair, Terms, Wanted, canonical, hsic, row_means
from reldep.engine.threads import over_runs
from reldep.engine.tiles import Outline, Sweeps
from reldep.kernels.machine import available_cores, numba_is_there
from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.bandwidth import BandwidthProbe
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.points import Points

# As long as whole matrices are held, see the planner.
FOLLOWED_EXACTLY_UP_TO = 1_999

# Slopes are taken within blocks of rows: about so many pairs in all, but not more rows in a block
# than the most nor fewer than the least.
SLOPE_PAIRS = 650_000
BLOCK_ROWS = (40, 500)

# Numbers that a row of a block weighs when blocks are dealt out to threads.
NUMBERS_A_ROW = 60

# Rows with which all rows are compared, for up to so many rows and for more: the standard error of
# a mean over so many vanishes in that of an HSIC.
REFERENCE_ROWS = {20_000: 6_000, 50_000: 4_000, 200_000: 2_000, None: 1_000}


@dataclass(frozen=True, eq=False)
class NamedProbe:
    """A probe under names that an engine can be asked for."""

    variable: str
    position: int
    probe: BandwidthProbe

    @property
    def slope(self) -> str:
        """The name of the slope; the NUL keeps it apart from every variable's name."""
        return f"\0slope {self.position} of {self.variable}"

    @property
    def side(self) -> str:
        """The name of the kernel that tells the side of the median."""
        return f"\0side {self.position} of {self.variable}"

    def kernels(self) -> dict[str, FittedKernel]:
        """Give the kernels an engine must evaluate beside the variables' own."""
        return {self.slope: self.probe.slope, self.side: self.probe.side}

    def partners(self, pair: Pair) -> tuple[str, ...]:
        """Name the other end of a pair, for each end that has this bandwidth."""
        first, second = pair
        ends = ((first, second), (second, first))
        return tuple(other for own, other in ends if own == self.variable)

    def slope_pairs(self, pairs: Iterable[Pair]) -> list[Pair]:
        """List the pairs whose HSIC gives the slope of an HSIC in this bandwidth."""
        return [(self.slope, other) for pair in pairs for other in self.partners(pair)]


def named_probes(
    kernels: Mapping[str, FittedKernel], pairs: Iterable[Pair]
) -> tuple[NamedProbe, ...]:
    """Find the data-driven bandwidths of the variables in these pairs."""
    variables = dict.fromkeys(name for pair in pairs for name in pair)
    return tuple(
        NamedProbe(name, position, probe)
        for name in variables
        for position, probe in enumerate(kernels[name].bandwidth_probes())
    )


def can_be_sampled(kernels: Mapping[str, FittedKernel], probes: Iterable[NamedProbe]) -> bool:
    """Whether all kernels that bandwidths touch can be had on some rows only."""
    row = np.zeros(1, dtype=np.int64)
    parts = [*kernels.values(), *(part for named in probes for part in named.kernels().values())]
    return all(part.take(row) is not None for part in parts)


def bandwidth_psi(terms: Terms, probes: Sequence[NamedProbe], pairs: Sequence[Pair]) -> FloatArray:
    """Finish what the bandwidths add to the influence values of every pair.

    Returns
    -------
    ndarray, shape (p, m)
        Rows sum to 0.
    """
    return _added(
        probes, pairs, terms.n, lambda pair: hsic(terms, pair), lambda n: row_means(terms, n.side)
    )


def sampled_bandwidth_psi(
    kernels: Mapping[str, FittedKernel], probes: Sequence[NamedProbe], pairs: Sequence[Pair]
) -> FloatArray:
    """Estimate what the bandwidths add, with slopes from blocks and row means from some rows."""
    n = len(next(iter(kernels.values())))
    if not probes:
        return np.zeros((len(pairs), n))
    slopes = {canonical(pair) for named in probes for pair in named.slope_pairs(pairs)}
    all_kernels = {**kernels, **{named.slope: named.probe.slope for named in probes}}
    found = block_hsics(all_kernels, sorted(slopes))
    n_references = next(k for most, k in REFERENCE_ROWS.items() if most is None or n <= most)
    drawn = np.random.default_rng(0).permutation(n)
    references = np.sort(drawn[:n_references])
    return _added(
        probes,
        pairs,
        n,
        lambda pair: found[canonical(pair)],
        lambda named: sampled_row_means(named.probe.side, references),
    )


def block_hsics(kernels: Mapping[str, FittedKernel], pairs: Sequence[Pair]) -> dict[Pair, float]:
    """Average the unbiased HSICs of each pair within blocks of rows drawn at random."""
    wanted = Wanted((), tuple(pairs))
    n = len(kernels[wanted.names()[0]])
    size = _block_size(n)
    n_blocks = n // size
    blocks = np.random.default_rng(0).permutation(n)[: n_blocks * size].reshape(n_blocks, size)

    def added(places: Iterable[slice]) -> FloatArray:
        return sum((_sum_of_hsics(kernels, wanted, blocks[p]) for p in places), np.zeros(1))

    totals = over_runs(added, n_blocks, NUMBERS_A_ROW * size)
    return dict(zip(wanted.product_pairs(), (totals / n_blocks).tolist(), strict=True))


def _block_size(n: int) -> int:
    """Choose the number of rows in a block, so that few are left over."""
    least, most = BLOCK_ROWS
    n_blocks = max(1, n // int(np.clip(2 * SLOPE_PAIRS // n, least, most)))
    return n // n_blocks


def following_seconds(
    kernels: Mapping[str, FittedKernel], probes: Sequence[NamedProbe], pairs: Sequence[Pair]
) -> float:
    """Estimate what slopes from blocks will take, on all cores."""
    if not probes:
        return 0.0
    slopes = tuple(pair for named in probes for pair in named.slope_pairs(pairs))
    all_kernels = {**kernels, **{named.slope: named.probe.slope for named in probes}}
    outline = Outline.of(all_kernels, Wanted((), slopes))
    share = _block_size(outline.n) / outline.n
    return share * outline.seconds(keeps=False) / available_cores()


def _sum_of_hsics(
    kernels: Mapping[str, FittedKernel], wanted: Wanted, blocks: IntArray
) -> FloatArray:
    """Add up the HSICs of each pair within some blocks of rows, one block a row."""
    n_blocks, m = blocks.shape
    sharing: dict[int, Points] = {}
    taken = {name: _taken(kernels[name], blocks.ravel(), sharing) for name in wanted.names()}
    sweeps = Sweeps.prepare(taken, wanted, compiled=numba_is_there(), shifted=False)
    places = [slice(start, start + m) for start in range(0, n_blocks * m, m)]
    sums = sweeps.first([Tile(place, place) for place in places]).reshape(-1, n_blocks, m)
    row_sums = dict(zip(sweeps.names, sums, strict=False))
    return np.array(
        [
            _sum_of_hsic(row_sums[x], row_sums[y], q)
            for (x, y), q in zip(wanted.product_pairs(), sums[len(row_sums) :], strict=True)
        ]
    )


def _sum_of_hsic(k: FloatArray, l: FloatArray, q: FloatArray) -> float:  # noqa: E741
    """Add up the unbiased HSICs of blocks of row sums, one block a row."""
    m = k.shape[1]
    total = q.sum(axis=1) + k.sum(axis=1) * l.sum(axis=1) / ((m - 1) * (m - 2))
    total -= 2.0 * (k * l).sum(axis=1) / (m - 2)
    return float(total.sum() / (m * (m - 3)))


def _taken(
    kernel: FittedKernel, rows: IntArray, sharing: dict[int, Points] | None = None
) -> FittedKernel:
    """Keep some rows; kernels on the same points go on sharing them, and so their distances."""
    if sharing is not None and type(kernel) is FittedRadial:
        owner = id(kernel.points)
        sharing.setdefault(owner, kernel.points.take(rows))
        return replace(kernel, points=sharing[owner])
    taken = kernel.take(rows)
    if taken is None:
        raise NotImplementedError(f"{kernel.label} cannot be had on some rows only.")
    return taken


def _added(
    probes: Sequence[NamedProbe],
    pairs: Sequence[Pair],
    n: int,
    slope_of: Callable[[Pair], float],
    side_means: Callable[[NamedProbe], FloatArray],
) -> FloatArray:
    """Add up slope times influence; a self-pair has the bandwidth in both of its kernels."""
    added = np.zeros((len(pairs), n))
    rows_of = places_by_name(pairs)
    for named in probes:
        moves = named.probe.influence(side_means(named))
        for i in rows_of[named.variable]:
            added[i] += moves * sum(slope_of(slope) for slope in named.slope_pairs([pairs[i]]))
    return added


def places_by_name(pairs: Sequence[Pair]) -> dict[str, list[int]]:
    """List, for every variable, the pairs it is in."""
    found: dict[str, list[int]] = {}
    for i, pair in enumerate(pairs):
        for name in dict.fromkeys(pair):
            found.setdefault(name, []).append(i)
    return found


def sampled_row_means(side: FittedKernel, references: IntArray) -> FloatArray:
    """Give the mean of each row: exactly where it is cheap, else over some reference rows."""
    exact = side.exact_row_means() if isinstance(side, FittedRadial) else None
    if exact is not None:
        return exact
    n, between = len(side), Between.of(side)
    means = np.empty(n)
    others = between.points(references) if between is not None else None

    def fill(places: Iterable[slice]) -> int:
        for place in places:
            if between is not None and others is not None:
                means[place] = between.means(between.points(place), others)
            else:
                both = np.concatenate([np.arange(place.start, place.stop), references])
                size = place.stop - place.start
                block = _taken(side, both)(slice(0, size), slice(size, len(both)))
                means[place] = block.mean(axis=1)
        return 1

    # A run is as long as its block of values may be large.
    over_runs(fill, n, len(references))
    return means
