"""What each observation adds to the HSICs by moving the bandwidths that the data chose.

Held fixed, a kernel lets observation i act on an HSIC through its own values only. A median
bandwidth σ moves with the observation as well and takes every HSIC along::

    psi_i += (∂H/∂σ) · IF_i(σ)

∂H/∂σ is the HSIC of the kernel's slope with the partner, and IF comes from the row means of one
more kernel (see :class:`~reldep.kernels.bandwidth.BandwidthProbe`). Up to
:data:`FOLLOWED_EXACTLY_UP_TO` observations both come out of the same sweeps as everything else.
Beyond that they need fewer digits than the HSICs have: the slopes are taken on some thousand
rows, and the row means on one column exactly, on several against some thousand rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.recipe import Between
from reldep.engine.terms import (
    Pair,
    Terms,
    Wanted,
    canonical,
    conditional_means,
    hsic,
    row_means,
)
from reldep.engine.threads import over_runs
from reldep.engine.tiled import Tiled
from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.bandwidth import BandwidthProbe
    from reldep.kernels.base import FittedKernel

FOLLOWED_EXACTLY_UP_TO = 5_000

# Rows on which slopes are taken, and with which all rows are compared, for up to so many rows and
# for more: the standard error of a mean over so many vanishes in that of an HSIC.
SLOPE_ROWS = 3_000
REFERENCE_ROWS = {50_000: 4_000, 200_000: 2_000, None: 1_000}


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
    kernels: Mapping[str, FittedKernel],
    probes: Sequence[NamedProbe],
    pairs: Sequence[Pair],
    full: Callable[[Pair], float],
) -> FloatArray:
    """Estimate what the bandwidths add, with slopes and row means from some rows only.

    The slopes come from some rows; the HSICs of the same rows and of all, which `full` gives, tell
    how far these rows are from all, and the slopes are moved along (a regression on controls).
    """
    n = len(next(iter(kernels.values())))
    if not probes:
        return np.zeros((len(pairs), n))
    drawn = np.random.default_rng(0).permutation(n)
    rows = np.sort(drawn[:SLOPE_ROWS])
    slopes = tuple(pair for named in probes for pair in named.slope_pairs(pairs))
    wanted = Wanted((*pairs, *slopes))
    all_kernels = {**kernels, **{named.slope: named.probe.slope for named in probes}}
    sample = {name: _taken(all_kernels[name], rows) for name in wanted.names()}
    terms = Tiled().terms(sample, wanted)
    known = {canonical(pair) for pair in pairs}
    variable_of = {named.slope: named.variable for named in probes}

    def slope_of(pair: Pair) -> float:
        slope, other = pair
        variable = variable_of[slope]
        near = (variable, other), (variable, variable), (other, other)
        controls = [p for p in dict.fromkeys(map(canonical, near)) if p in known]
        return _controlled(terms, pair, controls, full)

    n_references = next(k for most, k in REFERENCE_ROWS.items() if most is None or n <= most)
    references = np.sort(drawn[-n_references:])
    return _added(
        probes,
        pairs,
        n,
        slope_of,
        lambda named: sampled_row_means(named.probe.side, references),
    )


def _controlled(
    terms: Terms, pair: Pair, controls: Sequence[Pair], full: Callable[[Pair], float]
) -> float:
    """Move the HSIC of a sample as those of its controls lie off the HSICs of all rows."""
    values = np.array([conditional_means(terms, p) for p in (pair, *controls)])
    centred = values - values.mean(axis=1, keepdims=True)
    weights = np.linalg.lstsq(centred[1:].T, centred[0], rcond=1e-10)[0]
    off = values[1:].mean(axis=1) - [full(control) for control in controls]
    return float(values[0].mean() - weights @ off)


def _taken(kernel: FittedKernel, rows: IntArray) -> FittedKernel:
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
    """Give the mean of each row: exactly on one column, else over some reference rows."""
    exact = side.means_on_line() if isinstance(side, FittedRadial) else None
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
