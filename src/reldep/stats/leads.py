"""By how much one of many drawn values leads another, at most: a loop over all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from reldep.system import available_cores, numba_is_there, on_all_cores

if TYPE_CHECKING:
    SingleArray: TypeAlias = npt.NDArray[np.float32]

# Minimum number of values for which compiled code is worth loading.
COMPILED_FROM = 100


def largest_leads(Z: SingleArray, inverse: SingleArray) -> SingleArray:
    """Return ``max_b |Z_b - Z_a| inverse_ab`` for every a and every draw.

    Parameters
    ----------
    Z : ndarray, shape (p, c)
        One draw per column.
    inverse : ndarray, shape (p, p)
        Symmetric.
    """
    if len(Z) >= COMPILED_FROM and numba_is_there():
        return _compiled(Z, inverse)
    return _by_rows(Z, inverse)


def _by_rows(Z: SingleArray, inverse: SingleArray) -> SingleArray:
    largest = np.zeros_like(Z)
    work = np.empty_like(Z)
    for a in range(len(Z) - 1):
        ahead = work[a + 1 :]
        np.subtract(Z[a + 1 :], Z[a], out=ahead)
        ahead *= inverse[a + 1 :, a, None]
        np.abs(ahead, out=ahead)
        np.maximum(largest[a], ahead.max(axis=0), out=largest[a])
        np.maximum(largest[a + 1 :], ahead, out=largest[a + 1 :])
    return largest


def _compiled(Z: SingleArray, inverse: SingleArray) -> SingleArray:
    """Work on a share of the draws on every core."""
    from reldep.engine.loops import raise_leads

    largest = np.zeros_like(Z)
    n_threads = available_cores()
    cuts = np.linspace(0, Z.shape[1], n_threads + 1).astype(np.int64)

    def work(k: int) -> None:
        raise_leads(Z, inverse, cuts[k], cuts[k + 1], largest)

    on_all_cores(work, range(n_threads))
    return largest
