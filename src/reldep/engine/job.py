"""The job of an engine: all that the questions about some pairs need, in one list.

Beside the conditional means these are the slopes that follow bandwidths, and the HSICs that the
second Hoeffding component is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.bandwidths import (
    FOLLOWED_EXACTLY_UP_TO,
    NamedProbe,
    can_be_sampled,
    named_probes,
)
from reldep.engine.terms import Pair, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reldep.data.variables import FloatArray
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
    second_order: bool = False,
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
    second_order : bool, default False
        Whether the second Hoeffding component will be estimated.
    means : sequence of Pair
        Further pairs of which the HSIC alone is needed.
    """
    probes = tuple(named_probes(kernels, pairs)) if bandwidths else ()
    used = {name: kernels[name] for pair in pairs for name in pair}
    n = len(next(iter(used.values())))
    samples = n > FOLLOWED_EXACTLY_UP_TO and can_be_sampled(used, probes)
    in_sweeps = () if samples else probes
    all_means = [*means, *(pair for probe in in_sweeps for pair in probe.slope_pairs(pairs))]
    if second_order:
        all_means += pairs_of_second_component(pairs)
    companions = {name: kernel for probe in in_sweeps for name, kernel in probe.kernels().items()}
    wanted = Wanted(tuple(pairs), tuple(all_means), tuple(probe.side for probe in in_sweeps))
    return Job({**kernels, **companions}, wanted, probes, samples)


def pairs_of_second_component(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """List the pairs whose HSIC is needed: all pairs of the variables, with themselves too."""
    names = dict.fromkeys(name for pair in pairs if pair[0] != pair[1] for name in pair)
    return tuple(combinations_with_replacement(names, 2))


def second_component(hsic: Callable[[Pair], float], pairs: Sequence[Pair], n: int) -> FloatArray:
    """Estimate the covariance that the second component gives to the HSICs of the pairs.

    An HSIC is a mean over observations plus a mean over pairs of observations plus smaller parts.
    For dependent variables the first rules. For independent ones it vanishes, and the variance of
    the estimate is that of the second. For the pairs (a, b) and (c, d)::

        2 (H_ac H_bd + H_ad H_bc) / n²

    exact where the two members of each pair are independent, of lower order than the whole
    covariance otherwise. A variable is never independent of itself: self-pairs get 0.

    Parameters
    ----------
    hsic : callable
        Gives the HSIC of a pair.
    pairs : sequence of Pair
    n : int
        Number of observations.
    """
    proper = [i for i, (first, second) in enumerate(pairs) if first != second]
    between = {(a, b): hsic((a, b)) for a, b in pairs_of_second_component(pairs)}
    between |= {(b, a): value for (a, b), value in between.items()}
    component = np.zeros((len(pairs), len(pairs)))
    for i in proper:
        for j in proper:
            (a, b), (c, d) = pairs[i], pairs[j]
            component[i, j] = between[a, c] * between[b, d] + between[a, d] * between[b, c]
    return component * (2.0 / n**2)
