"""What each observation adds to the HSICs by moving the bandwidths that the data chose.

Held fixed, a kernel lets observation i act on an HSIC through its own values only. A median
bandwidth σ moves with the observation as well and takes every HSIC along::

    psi_i += (∂H/∂σ) · IF_i(σ)

∂H/∂σ is the HSIC of the kernel's slope with the partner, and IF comes from the row means of one
more kernel (see :class:`~reldep.kernels.scales.bandwidth.BandwidthProbe`). Up to
:data:`FOLLOWED_EXACTLY_UP_TO` observations both come out of the same sweeps as everything else.
Beyond that they need fewer digits than the HSICs have. With the effects of rows taken off the
partner, the HSIC of a slope is a mean over pairs of rows, and some pairs will do: rows are put in
random order and each is paired with the next few. Every row takes part equally often, so that the
first-order error is that of all pairs, and what the pairs left out add is of the order ``1/√(m b)``
for b pairs a row. The row means are exact where that is cheap, and else taken over some thousand
rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.engine.blocks import fill_blocks, levelling_effects, subtract_effects
from reldep.engine.sweeps.recipe import Between, Draft
from reldep.engine.sweeps.tiles import Outline
from reldep.engine.terms import Pair, Terms, Wanted, hsic, row_means
from reldep.engine.threads import over_runs
from reldep.kernels.profiles import PowerProfile
from reldep.kernels.radial import FittedRadial
from reldep.system import available_cores, numba_is_there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import FittedKernel
    from reldep.kernels.points import Points
    from reldep.kernels.scales.bandwidth import BandwidthProbe

# As long as whole matrices are held, see the planner.
FOLLOWED_EXACTLY_UP_TO = 1_999

# Slopes are taken from this share of all pairs of rows, but from no fewer pairs than the first
# number and no more than the second, and from at least so many for each row. On lines, where all
# sums are quick, from as few as that.
SLOPE_SHARE, SLOPE_PAIRS = 0.01, (250_000, 4_000_000)
LEAST_PARTNERS = 8

# Numbers that a row weighs when rows are dealt out to threads.
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

    @cached_property
    def known_side_means(self) -> FloatArray | None:
        """The row means of that kernel, if no engine need be asked for them.

        Those of steps are left to engines: of a distance that is the median itself, rounding
        decides the side, and all engines decide alike.
        """
        side = self.probe.side
        is_smooth = isinstance(side, FittedRadial) and isinstance(side.profile, PowerProfile)
        return known_row_means(side) if is_smooth else None

    def sides(self) -> tuple[str, ...]:
        """Name the kernel of which an engine must give row sums, if it must."""
        return (self.side,) if self.known_side_means is None else ()

    def side_means(self, terms: Terms) -> FloatArray:
        """Give the row means of the kernel that tells the side."""
        known = self.known_side_means
        return row_means(terms, self.side) if known is None else known

    def kernels(self) -> dict[str, FittedKernel]:
        """Give the kernels an engine must evaluate beside the variables' own."""
        return {self.slope: self.probe.slope} | dict.fromkeys(self.sides(), self.probe.side)

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
        probes, pairs, terms.n, lambda pair: hsic(terms, pair), lambda n: n.side_means(terms)
    )


def sampled_bandwidth_psi(
    probes: Sequence[NamedProbe],
    pairs: Sequence[Pair],
    n: int,
    slopes: Mapping[Pair, float],
) -> FloatArray:
    """Estimate what the bandwidths add, with slopes and row means from some rows.

    Parameters
    ----------
    probes : sequence of NamedProbe
    pairs : sequence of Pair
    n : int
        The number of observations.
    slopes : mapping of Pair to float
        As :func:`sampled_slopes` returns them.
    """
    n_references = next(k for most, k in REFERENCE_ROWS.items() if most is None or n <= most)
    drawn = np.random.default_rng(0).permutation(n) if probes else np.empty(0, dtype=np.int64)
    references = np.sort(drawn[:n_references])
    return _added(
        probes,
        pairs,
        n,
        lambda pair: slopes[pair],
        lambda named: sampled_row_means(named.probe.side, references),
    )


def sampled_slopes(
    kernels: Mapping[str, FittedKernel],
    probes: Sequence[NamedProbe],
    pairs: Sequence[Pair],
    terms: Terms,
) -> dict[Pair, float]:
    """Estimate the HSICs of slopes with their partners from some pairs of rows."""
    slopes = list(dict.fromkeys(pair for named in probes for pair in named.slope_pairs(pairs)))
    if not slopes:
        return {}
    all_kernels = {**kernels, **{named.slope: named.probe.slope for named in probes}}
    n_partners = slope_partners(terms.n, quick=all_on_lines(kernels, pairs))
    return paired_hsics(all_kernels, slopes, lambda name: row_means(terms, name), n_partners)


def all_on_lines(kernels: Mapping[str, FittedKernel], pairs: Sequence[Pair]) -> bool:
    """Whether all kernels of some pairs can be summed along sorted values."""
    from reldep.engine.near_linear.lines import kind_of

    used = dict.fromkeys(name for pair in pairs for name in pair)
    return all(kind_of(kernels[name]) is not None for name in used)


def slope_partners(n: int, quick: bool) -> int:
    """Choose with how many rows that follow it each row is paired."""
    least, most = SLOPE_PAIRS
    n_pairs = least if quick else int(np.clip(SLOPE_SHARE * n * (n - 1) / 2, least, most))
    return int(np.clip(n_pairs // n, LEAST_PARTNERS, (n - 1) // 2))


def paired_hsics(
    kernels: Mapping[str, FittedKernel],
    slopes: Sequence[Pair],
    means_of: Callable[[str], FloatArray],
    n_partners: int,
) -> dict[Pair, float]:
    """Estimate HSICs, such as those of slopes with their partners, from some pairs of rows.

    With ``L° = L - f_i - f_j``, whose rows sum to 0, the HSIC of K and L is ``(m-1)/(m-3)`` times
    the mean of ``K L°`` over pairs; taking the mean of K off adds nothing but makes the error
    smaller.

    Parameters
    ----------
    kernels : mapping of str to FittedKernel
    slopes : sequence of Pair
        Of each pair the row means of the second member are known.
    means_of : callable
        Gives the mean of each row of a kernel over the others.
    n_partners : int
        With so many rows each row is paired on either side.
    """
    names = list(dict.fromkeys(name for pair in slopes for name in pair))
    used = {name: kernels[name] for name in names}
    n = len(used[names[0]])
    partners = list(dict.fromkeys(partner for _, partner in slopes))
    effects = {name: levelling_effects((n - 1) * means_of(name)) for name in partners}
    order = np.random.default_rng(0).permutation(n)
    sums = _compiled_sums(used, slopes, effects, order, n_partners)
    if sums is None:
        sums = _block_sums(used, slopes, effects, order, 2 * n_partners)
    both, first, second, count = sums.T
    means = (both - first * second / count) / count * ((n - 1) / (n - 3))
    return dict(zip(slopes, means.tolist(), strict=True))


def _draft_of_pairs(kernels: Mapping[str, FittedKernel]) -> Draft | None:
    draft = Draft.of(list(kernels.values())) if numba_is_there() else None
    return None if draft is None or draft.given else draft


def _compiled_sums(
    kernels: Mapping[str, FittedKernel],
    slopes: Sequence[Pair],
    effects: Mapping[str, FloatArray],
    order: IntArray,
    n_partners: int,
) -> FloatArray | None:
    """Add up products over pairs of a row and one that follows; None if it must be otherwise.

    Returns
    -------
    ndarray, shape (n_slopes, 4), or None
        The sums of products, of the slopes and of their partners, and the number of pairs.
    """
    draft = _draft_of_pairs(kernels)
    if draft is None:
        return None
    from reldep.engine.sweeps.fills import add_paired

    n, names = len(order), list(kernels)
    # Those that follow the last row are the first ones again.
    circle = np.concatenate([order, order[:n_partners]])
    recipe = draft.finished(n)
    columns = np.ascontiguousarray(recipe.columns[:, circle])
    off = np.array([effect[circle] for effect in effects.values()])
    numbers = {name: i for i, name in enumerate(effects)}
    effect_of = np.array([numbers.get(name, -1) for name in names])
    products = np.array([[names.index(name) for name in pair] for pair in slopes])

    def added(places: Iterable[slice]) -> FloatArray:
        totals = np.zeros((len(slopes), 3))
        for place in places:
            arguments: list[Any] = [columns, *recipe.tables, effect_of, off, products]
            arguments += [place.start, place.stop, n_partners, totals]
            add_paired(*arguments)
        return totals

    totals = over_runs(added, n, NUMBERS_A_ROW * n_partners)
    return np.column_stack([totals, np.full(len(slopes), float(n * n_partners))])


def _block_sums(
    kernels: Mapping[str, FittedKernel],
    slopes: Sequence[Pair],
    effects: Mapping[str, FloatArray],
    order: IntArray,
    size: int,
) -> FloatArray:
    """Add up products over all pairs within blocks of rows, for kernels that NumPy fills."""
    blocks = np.array_split(order, max(1, len(order) // size))

    def added(places: Iterable[slice]) -> FloatArray:
        totals = np.zeros((len(slopes), 4))
        for place in places:
            for rows in blocks[place]:
                totals += _sums_in_block(kernels, slopes, effects, rows)
        return totals

    return over_runs(added, len(blocks), NUMBERS_A_ROW * size)


def _sums_in_block(
    kernels: Mapping[str, FittedKernel],
    slopes: Sequence[Pair],
    effects: Mapping[str, FloatArray],
    rows: IntArray,
) -> FloatArray:
    sharing: dict[int, Points] = {}
    taken = [_taken(kernel, rows, sharing) for kernel in kernels.values()]
    everything = slice(0, len(rows))
    blocks, names = {}, list(kernels)
    for i, block in fill_blocks(taken, everything, everything):
        if names[i] in effects:
            own = effects[names[i]][rows]
            subtract_effects(block, own, own)
        np.fill_diagonal(block, 0.0)
        blocks[names[i]] = block
    count = len(rows) * (len(rows) - 1.0)
    return np.array(
        [
            (np.vdot(blocks[x], blocks[y]), blocks[x].sum(), blocks[y].sum(), count)
            for x, y in slopes
        ]
    )


def following_seconds(
    kernels: Mapping[str, FittedKernel], probes: Sequence[NamedProbe], pairs: Sequence[Pair]
) -> float:
    """Estimate what slopes will take, on all cores."""
    if not probes:
        return 0.0
    slopes = tuple(pair for named in probes for pair in named.slope_pairs(pairs))
    all_kernels = {**kernels, **{named.slope: named.probe.slope for named in probes}}
    outline = Outline.of(all_kernels, Wanted((), slopes))
    share = 2.0 * slope_partners(outline.n, quick=all_on_lines(kernels, pairs)) / outline.n
    return share * outline.seconds(keeps=False) / available_cores()


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


def known_row_means(side: FittedKernel) -> FloatArray | None:
    """Give the mean of each row where it takes no more than a moment."""
    return side.exact_row_means() if isinstance(side, FittedRadial) else None


def sampled_row_means(side: FittedKernel, references: IntArray) -> FloatArray:
    """Give the mean of each row: exactly where it is cheap, else over some reference rows."""
    exact = known_row_means(side)
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
