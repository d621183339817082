"""The second Hoeffding component of the HSICs: what is left of them under independence.

An HSIC is a mean over observations plus a mean over pairs of observations plus smaller parts.
For dependent variables the first rules. For independent ones it vanishes, and the variance of
the estimate is that of the second.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine.terms import Pair


def pairs_of_second_component(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """List the pairs whose HSIC is needed: all pairs of the variables, with themselves too."""
    names = dict.fromkeys(name for pair in pairs if pair[0] != pair[1] for name in pair)
    return tuple(combinations_with_replacement(names, 2))


def second_component(hsic: Callable[[Pair], float], pairs: Sequence[Pair], n: int) -> FloatArray:
    """Estimate the covariance that the second component gives to the HSICs of the pairs.

    For the pairs (a, b) and (c, d)::

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
