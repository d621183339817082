"""Influence: the matrix A that everything else is a light function of.

With a bandwidth σ held fixed, an observation acts on an HSIC through its own values only. A
bandwidth that the data chose moves with the observation and takes every HSIC along::

    psi_i += (∂H/∂log σ) · leverage_i

∂H/∂log σ is ``Σ K'∘L / (m(m-3))`` with K' the slope of the kernel and L the centred matrix of the
partner; K' need not be centred, because L is. Whole matrices give both factors exactly. For more
rows they come from blocks in which every row takes part once, so that their first-order error is
that of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.frames import make_frame
from reldep.data.variables import FloatArray, IntArray, Rows
from reldep.engine.block_table import BlockTable
from reldep.engine.centred import Pair, Products, canonical, check_held, finish, hsic_of, numbered
from reldep.engine.choose import SIZES, Part, Sizes, choose
from reldep.engine.dense import Dense
from reldep.engine.lines import Line
from reldep.engine.threads import added, at_work
from reldep.engine.tiled import Tiled, products_of_rows, sums_of_rows
from reldep.exceptions import ReldepWarning, UnknownPairError
from reldep.kernels.base import Bandwidth, FittedKernel
from reldep.system import available_cores

if TYPE_CHECKING:
    from reldep.engine.centred import Places
    from reldep.engine.covariates import Conditioning


@dataclass(frozen=True, eq=False)
class Influence:
    """Conditional means of the HSIC U-statistic: one row per pair, one column per observation.

    Attributes
    ----------
    values : ndarray, shape (n_pairs, n_observations)
        A. The mean of a row is the unbiased HSIC of its pair.
    pairs : tuple of (str, str)
        Which row belongs to which pair.
    names : tuple of str
        The variables.
    n_observations : int
    engine : str
        The engine that summed the kernels.
    notes : tuple of str
        Facts about the computation: approximations.
    bandwidth_psi : ndarray, shape (n_pairs, n_observations), or None
        What is added to `psi` where bandwidths chosen by the data move too, if asked for.
    means : mapping of (str, str) to float
        HSICs of further pairs, of which no conditional means were needed.
    kernels : mapping of str to dict
        The fitted kernel of every variable, with its parameters.
    rows : Rows or None
        The position in the input and the name of every observation; None if all were used.
    library : str or None
        The data frame library in which `to_frame` answers.
    conditioning : Conditioning or None
        The covariates that were held fixed.
    blocks : BlockTable or None
        The HSICs of random blocks of rows, if these were used. `values` then has one column per
        block.
    cautions : tuple of ReldepWarning
        About pairs of which rounding leaves few digits.
    """

    values: FloatArray
    pairs: tuple[Pair, ...]
    names: tuple[str, ...]
    n_observations: int
    engine: str = ""
    notes: tuple[str, ...] = ()
    bandwidth_psi: FloatArray | None = None
    means: Mapping[Pair, float] = field(default_factory=dict)
    kernels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rows: Rows | None = None
    library: str | None = None
    conditioning: Conditioning | None = None
    blocks: BlockTable | None = None
    cautions: tuple[ReldepWarning, ...] = ()

    @property
    def estimates(self) -> FloatArray:
        """The unbiased HSIC of every pair."""
        weights = None if self.blocks is None else self.blocks.weights
        return np.asarray(np.average(self.values, axis=1, weights=weights))

    @property
    def psi(self) -> FloatArray:
        """Influence values ``4 (a_i - HSIC)``: what each observation adds to each HSIC.

        What a block adds is the deviation of its own HSIC.
        """
        factor = 4 if self.blocks is None else 1
        return factor * (self.values - self.estimates[:, None])

    @property
    def share(self) -> float:
        """The share of the rows that the data are worth, where they are residuals."""
        return 1.0 if self.conditioning is None else self.conditioning.share

    def unevenness(self, pair: Pair) -> float:
        """Return by how much products of both kernels vary more than the variances of both say."""
        if self.conditioning is None:
            return 1.0
        known = self.conditioning.unevenness
        return known.get(pair, known.get((pair[1], pair[0]), 1.0))

    @property
    def block_sizes(self) -> IntArray | None:
        """The rows of every block, if random blocks of rows were used."""
        return None if self.blocks is None else self.blocks.sizes

    def row(self, pair: Pair) -> int:
        """Return the row of a pair, in either order."""
        wanted: Any = pair
        found = self._rows.get(wanted) if isinstance(wanted, tuple) else None
        if found is None:
            raise UnknownPairError(
                f"the Influence has no conditional means of {pair!r}; add the pair to those of "
                "reldep.influence()."
            )
        return found

    @cached_property
    def _rows(self) -> dict[Pair, int]:
        # Of a pair that is listed twice the first row counts.
        found: dict[Pair, int] = {}
        for i, (x, y) in enumerate(self.pairs):
            found.setdefault((x, y), i)
            found.setdefault((y, x), i)
        return found

    def hsic(self, pair: Pair) -> float:
        """Return the unbiased HSIC of a pair, in either order."""
        if pair not in self._rows and canonical(pair) in self.means:
            return self.means[canonical(pair)]
        weights = None if self.blocks is None else self.blocks.weights
        return float(np.average(self.values[self.row(pair)], weights=weights))

    def observations(self) -> Rows:
        """Return the position in the input and the name of every observation."""
        return Rows.of(self.n_observations) if self.rows is None else self.rows

    def to_frame(self) -> Any:
        """Return a data frame of the influence values.

        One row per observation, named by its row in the input, its line or its identifier, and
        one column ``x ~ y`` per pair.
        """
        columns = {
            f"{x} ~ {y}": values for (x, y), values in zip(self.pairs, self.psi, strict=True)
        }
        if self.blocks is not None:
            return make_frame(
                {"block": list(range(len(self.blocks.sizes))), **columns}, self.library
            )
        rows = self.observations()
        return make_frame({rows.noun: rows.values(), **columns}, self.library)


def compute_influence(
    kernels: Mapping[str, FittedKernel],
    pairs: Sequence[Pair],
    engine: Any = "auto",
    *,
    bandwidths: bool = False,
    means: Sequence[Pair] = (),
    dependence: Mapping[str, Any] | None = None,
    sizes: Sizes = SIZES,
) -> Influence:
    """Choose engines, and finish the conditional means of every pair.

    Parameters
    ----------
    kernels : mapping of str to FittedKernel
    pairs : sequence of Pair
    engine : str or engine, default "auto"
        As for :func:`reldep.compare`.
    bandwidths : bool, default False
        Whether to follow the bandwidths that the data chose; blocks of rows follow none.
    means : sequence of Pair
        Further pairs of which the HSIC alone is needed.
    dependence : mapping of str to Any, optional
        Which rows depend on each other, for blocks of rows: `clusters` and `max_lag`, empty for
        independent rows. Without it `auto` does not use blocks.
    sizes : Sizes
        Where another algorithm takes over.
    """
    names, used, places, totals, at = numbered(kernels, pairs, means)
    # What overflows is found below, once for all engines.
    with np.errstate(over="ignore", invalid="ignore"):
        parts = choose(used, places, totals, engine, dependence=dependence, sizes=sizes)
        if parts[0].engine.name == "blocks":
            both = [*places, *totals]
            named = [(names[x], names[y]) for x, y in both]
            table = parts[0].engine.table(used, both, named, **(dependence or {}))
            return from_blocks(table, pairs, tuple(kernels))
        followed = followed_bandwidths(used, places) if bandwidths else []
        found = _products(used, places, totals, parts, followed, sizes)
        values, hsics, cautions = finish(names, used, places, totals, found)
    moved = None if not bandwidths else moved_influence(followed, places, values.shape[1])
    return Influence(
        values[at],
        tuple(pairs),
        tuple(kernels),
        values.shape[1],
        " and ".join(part.engine.name for part in parts),
        bandwidth_psi=None if moved is None else moved[at],
        means={
            canonical(pair): float(hsics[names.index(pair[0]), names.index(pair[1])])
            for pair in means
        },
        cautions=cautions,
    )


def _products(
    kernels: Sequence[FittedKernel],
    places: Places,
    totals: Places,
    parts: Sequence[Part],
    followed: Sequence[Followed],
    sizes: Sizes,
) -> Products:
    """Return what the engines compute, each of its own pairs, and follow bandwidths."""
    n = len(kernels[0])
    exactly = n <= sizes.followed_rows
    if len(parts) == 1 and parts[0].engine.name == "dense":
        engine = parts[0].engine
        found: Products = engine.products(kernels, places, totals, followed if exactly else ())
    else:
        found = Products(np.empty((len(places), n)), np.empty(len(totals)), np.empty(len(kernels)))
        for part in parts:
            lost = _fill_in(found, part, kernels, places, totals)
            if n <= sizes.again_rows and (lost.pairs or lost.totals):
                # Features lost digits that sums over pairs of rows keep.
                again = replace(lost, engine=Dense() if n <= sizes.dense_rows else Tiled())
                _fill_in(found, again, kernels, places, totals)
        if exactly and followed:
            Dense().products(kernels, (), (), followed)
    if not exactly:
        follow_in_blocks(kernels, followed)
    return found


def _fill_in(
    found: Products, part: Part, kernels: Sequence[FittedKernel], places: Places, totals: Places
) -> Part:
    """Compute the pairs of a part with the kernels it needs; return those that lost digits."""
    wanted = [*(places[p] for p in part.pairs), *(totals[p] for p in part.totals)]
    used = sorted({i for pair in wanted for i in pair})
    number = {i: k for k, i in enumerate(used)}
    own = [(number[x], number[y]) for x, y in wanted]
    n_pairs = len(part.pairs)
    made = part.engine.products([kernels[i] for i in used], own[:n_pairs], own[n_pairs:])
    found.q[part.pairs] = made.q
    found.sums[part.totals] = made.sums
    found.sizes[used] = made.sizes
    return Part(
        part.engine,
        [part.pairs[p] for p in made.lost if p < n_pairs],
        [part.totals[p - n_pairs] for p in made.lost if p >= n_pairs],
    )


def from_blocks(table: BlockTable, pairs: Sequence[Pair], names: Sequence[str]) -> Influence:
    """Return the HSICs of blocks in place of conditional means."""
    values = np.array([table.hsics[:, table.column(pair)] for pair in pairs])
    check_held(pairs, values)
    return Influence(
        values,
        tuple(pairs),
        tuple(names),
        table.n_rows,
        "blocks",
        (table.note(),),
        np.zeros_like(values),
        means={canonical(p): h for p, h in zip(table.pairs, table.means.tolist(), strict=True)},
        blocks=table,
    )


@dataclass(frozen=True, eq=False)
class Followed:
    """A bandwidth that is followed; an engine fills in what it shows of it.

    Attributes
    ----------
    variable : int
        The number of its kernel.
    bandwidth : Bandwidth
    slopes : dict of int to float
        ∂H/∂log σ of the variable's pair with each partner, with the partner's kernel held fixed.
    score_means : ndarray, shape (m,)
        The row means of the score.
    """

    variable: int
    bandwidth: Bandwidth
    slopes: dict[int, float]
    score_means: FloatArray = field(repr=False)


def followed_bandwidths(kernels: Sequence[FittedKernel], pairs: Places) -> list[Followed]:
    """Return the bandwidths of the variables in these pairs that the data chose."""
    partners: dict[int, dict[int, float]] = {}
    for x, y in pairs:
        partners.setdefault(x, {})[y] = 0.0
        partners.setdefault(y, {})[x] = 0.0
    return [
        Followed(x, bandwidth, dict(own), np.zeros(len(kernels[x])))
        for x, own in partners.items()
        for bandwidth in kernels[x].bandwidths()
    ]


def moved_influence(followed: Sequence[Followed], pairs: Places, n: int) -> FloatArray:
    """Return what followed bandwidths add to the influence values; rows sum to 0."""
    moved = np.zeros((len(pairs), n))
    for one in followed:
        leverage = one.bandwidth.leverage(one.score_means)
        for row, pair in zip(moved, pairs, strict=True):
            # A self-pair has the bandwidth in both of its kernels.
            for variable, partner in (pair, pair[::-1]):
                if one.variable == variable:
                    row += one.slopes[partner] * leverage
    return moved


def follow_in_blocks(
    kernels: Sequence[FittedKernel],
    followed: Sequence[Followed],
    slope_block: int = 500,
    slope_rows: int = 40_000,
    score_block: int = 2_000,
) -> None:
    """Fill in slopes and row means of scores from blocks of rows.

    Slopes are scalars: blocks of 500 rows give them to .5 % at 20,000 rows (measured), whereas a
    few large blocks of as many values are off by 6 %; twice as many rows are enough for any sample.
    Row means of a score are taken in larger blocks, because every row has its own error: blocks of
    500 move the error of an HSIC at the median distance by 3 %, blocks of 2,000 by .8 % (measured).
    """
    if not followed:
        return
    n, n_slopes = len(kernels[0]), len(followed)
    order = np.random.default_rng(0).permutation(n)
    blocks = cut(order[:slope_rows], slope_block)
    used = sorted({partner for one in followed for partner in one.slopes})
    moving = [*(one.bandwidth.slope for one in followed), *(kernels[i] for i in used)]
    wanted = [(k, partner) for k, one in enumerate(followed) for partner in one.slopes]
    places = [(k, n_slopes + used.index(partner)) for k, partner in wanted]

    def slopes_of(rows: IntArray) -> FloatArray:
        q = products_of_rows(moving, places, rows, n_slopes)
        return hsic_of(q.sum(axis=1), len(rows)) * len(rows)

    with at_work(available_cores()) as results:
        found = added(results(slopes_of, blocks)) / sum(map(len, blocks))
    for (k, partner), slope in zip(wanted, found.tolist(), strict=True):
        followed[k].slopes[partner] = slope
    for one in followed:
        one.score_means[:] = _score_means(one.bandwidth.score, order, score_block)


def cut(order: IntArray, size: int) -> list[IntArray]:
    """Cut rows in random order into blocks of about this size."""
    return [np.sort(block) for block in np.array_split(order, max(1, len(order) // size))]


def _score_means(score: FittedKernel, order: IntArray, size: int) -> FloatArray:
    """Return row means of a score: exactly along a line, else within blocks."""
    n = len(order)
    line = Line.of(score)
    if line is not None:
        return np.asarray(line.row_sums / (n - 1))
    means = np.empty(n)
    for rows in cut(order, size):
        means[rows] = sums_of_rows(score, rows) / (len(rows) - 1)
    return means
