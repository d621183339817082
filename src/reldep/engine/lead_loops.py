"""A compiled loop over all pairs of drawn values.

Importing this module imports numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def raise_leads(
    drawn: NDArray[Any], inverse: NDArray[Any], start: int, stop: int, largest: NDArray[Any]
) -> None:
    """Raise `largest` to ``max_b |Z_b - Z_a| inverse_ab`` for every a, in some of the columns.

    Parameters
    ----------
    drawn, largest : ndarray, shape (p, c)
        Z, one draw a column, and what is raised, at first 0.
    inverse : ndarray, shape (p, p)
    start, stop : int
        The columns to be worked on.
    """
    p = len(drawn)
    for a in range(p - 1):
        own, best = drawn[a, start:stop], largest[a, start:stop]
        for b in range(a + 1, p):
            other, others = drawn[b, start:stop], largest[b, start:stop]
            scale = inverse[b, a]
            for c in range(stop - start):
                lead = abs(other[c] - own[c]) * scale
                best[c] = lead if lead > best[c] else best[c]
                others[c] = lead if lead > others[c] else others[c]
