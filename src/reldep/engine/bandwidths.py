"""What each observation adds to the HSICs by moving the bandwidths that the data chose.

Held fixed, a kernel lets observation i act on an HSIC through its own values only. A median
bandwidth σ moves with the observation as well and takes every HSIC along::

    psi_i += (∂H/∂σ) · IF_i(σ)

Both factors come out of the same sweeps: ∂H/∂σ is the HSIC of the kernel's slope with the
partner, and IF comes from the row sums of one more kernel (see
:class:`~reldep.kernels.bandwidth.BandwidthProbe`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.terms import Pair, Terms, hsic, row_means

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reldep.data.variables import FloatArray
    from reldep.kernels.bandwidth import BandwidthProbe
    from reldep.kernels.base import FittedKernel


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


def bandwidth_psi(terms: Terms, probes: Sequence[NamedProbe], pairs: Sequence[Pair]) -> FloatArray:
    """Finish what the bandwidths add to the influence values of every pair.

    A self-pair has the bandwidth in both of its kernels, so its slope counts twice.

    Returns
    -------
    ndarray, shape (p, m)
        Rows sum to 0.
    """
    added = np.zeros((len(pairs), terms.n))
    for named in probes:
        moves = named.probe.influence(row_means(terms, named.side))
        for row, pair in zip(added, pairs, strict=True):
            row += moves * sum(hsic(terms, slope) for slope in named.slope_pairs([pair]))
    return added
