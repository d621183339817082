"""The job of an engine: all that the questions about some pairs need, in one list.

Beside the conditional means these are the slopes that follow bandwidths, and the HSICs that the
second Hoeffding component is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reldep.engine.bandwidths import (
    FOLLOWED_EXACTLY_UP_TO,
    NamedProbe,
    can_be_sampled,
    named_probes,
    places_by_name,
)
from reldep.engine.terms import Pair, Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.kernels.base import FittedKernel


@dataclass(frozen=True, eq=False)
class Job:
    """Kernels and what is wanted of them.

    Attributes
    ----------
    kernels : mapping of str to FittedKernel
        Those of the variables, and those that follow their bandwidths.
    wanted : Wanted
    probes : tuple of NamedProbe
        One for each bandwidth that is followed.
    samples : bool
        Whether the bandwidths are followed on some rows only, apart from the sweeps.
    """

    kernels: Mapping[str, FittedKernel]
    wanted: Wanted
    probes: tuple[NamedProbe, ...] = ()
    samples: bool = False


def make_job(
    kernels: Mapping[str, FittedKernel],
    pairs: Sequence[Pair],
    *,
    bandwidths: bool = False,
    means: Sequence[Pair] = (),
) -> Job:
    """List what an engine must produce.

    Parameters
    ----------
    kernels : mapping of str to FittedKernel
    pairs : sequence of Pair
        Pairs whose conditional means are needed.
    bandwidths : bool, default False
        Whether to follow the bandwidths that the data chose.
    means : sequence of Pair
        Further pairs of which the HSIC alone is needed.
    """
    kernels = {name: kernel.conditioned() for name, kernel in kernels.items()}
    probes = tuple(named_probes(kernels, pairs)) if bandwidths else ()
    used = {name: kernels[name] for pair in pairs for name in pair}
    n = len(next(iter(used.values())))
    samples = n > FOLLOWED_EXACTLY_UP_TO and can_be_sampled(used, probes)
    in_sweeps = () if samples else probes
    places = places_by_name(pairs)
    slopes = (
        pair
        for probe in in_sweeps
        for pair in probe.slope_pairs(pairs[i] for i in places[probe.variable])
    )
    all_means = [*means, *slopes]
    companions = {name: kernel for probe in in_sweeps for name, kernel in probe.kernels().items()}
    wanted = Wanted(tuple(pairs), tuple(all_means), tuple(probe.side for probe in in_sweeps))
    return Job({**kernels, **companions}, wanted, probes, samples)
