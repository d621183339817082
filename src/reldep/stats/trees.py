"""Trees from similarities, and the support of each of their groups.

A tree is grown by average linkage on one minus the similarity (CKA, say). If the observations
were drawn again, the similarities of all pairs would vary together by a joint normal law that
their influence values give. Drawing from that law is cheap, so the tree can be grown again
thousands of times; the support of a group is the share of these trees that have it.

With p variables a *cell* is the similarity of one pair; the p(p - 1)/2 cells come in the order of
``itertools.combinations``, which is SciPy's condensed order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from reldep.data.variables import FloatArray
from reldep.stats.simultaneous import BLOCK


def average_linkage(similarities: FloatArray) -> FloatArray:
    """Grow a tree by average linkage on one minus the similarity.

    Parameters
    ----------
    similarities : ndarray, shape (p, p)
        Symmetric; only what lies above the diagonal is read.

    Returns
    -------
    ndarray, shape (p - 1, 4)
        SciPy's linkage matrix: which two branches meet, how far apart they are on average, and
        how many variables are below.

    Examples
    --------
    >>> import numpy as np
    >>> cka = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.4], [0.2, 0.4, 1.0]])
    >>> average_linkage(cka).round(6).tolist()
    [[0.0, 1.0, 0.1, 2.0], [2.0, 3.0, 0.7, 3.0]]
    """
    cells = similarities[np.triu_indices(len(similarities), 1)]
    # That of copies may be above 1 by rounding, and no distance is below 0.
    return _linkage(np.minimum(cells, 1.0))


def groups_of(linkage: FloatArray) -> tuple[frozenset[int], ...]:
    """Return the variables below each meeting of two branches, in the order of the linkage.

    Examples
    --------
    >>> import numpy as np
    >>> groups = groups_of(np.array([[0, 1, 0.1, 2], [2, 3, 0.7, 3]]))
    >>> [sorted(group) for group in groups]
    [[0, 1], [0, 1, 2]]
    """
    n = len(linkage) + 1
    return tuple(frozenset(i for i in range(n) if mask >> i & 1) for mask in _masks(linkage))


def joint_draws(
    cells: FloatArray, psi: FloatArray, n_draws: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Draw all cells together from the normal law of their estimates, a block at a time.

    Each observation gets a standard normal weight w: a draw is ``cells + psi w / m``, whose
    covariance is ``psi psi' / m²``. No matrix of pairs by pairs is ever made.

    Parameters
    ----------
    cells : ndarray, shape (P,)
        The estimates.
    psi : ndarray, shape (P, m)
        The influence of every observation on each of them.
    n_draws : int
    rng : numpy.random.Generator

    Yields
    ------
    ndarray, shape (at most 256, P)
    """
    m = psi.shape[1]
    for start in range(0, n_draws, BLOCK):
        weights = rng.standard_normal((min(BLOCK, n_draws - start), m))
        yield cells + weights @ psi.T / m


def support(linkage: FloatArray, draws: Iterable[FloatArray]) -> FloatArray:
    """Return the share of redrawn trees that have each group of a tree.

    Parameters
    ----------
    linkage : ndarray, shape (p - 1, 4)
        The tree, as :func:`average_linkage` gives it.
    draws : iterable of ndarray, shape (any, p (p - 1) / 2)
        Draws of all cells, as :func:`joint_draws` gives them.

    Returns
    -------
    ndarray, shape (p - 1,)
        In the order of the linkage. The last group contains all variables, so its share is 1.
    """
    groups = _masks(linkage)
    counts = np.zeros(len(groups))
    n_draws = 0
    for block in draws:
        for cells in block:
            again = set(_masks(_linkage(cells)))
            counts += [group in again for group in groups]
        n_draws += len(block)
    shares: FloatArray = counts / n_draws
    return shares


def _linkage(cells: FloatArray) -> FloatArray:
    from scipy.cluster.hierarchy import linkage

    return np.asarray(linkage(1.0 - cells, method="average"))


def _masks(linkage: FloatArray) -> list[int]:
    """Return every group as the bits of a whole number, so that thousands can be compared."""
    n = len(linkage) + 1
    masks = [1 << i for i in range(n)]
    for left, right in linkage[:, :2].astype(int).tolist():
        masks.append(masks[left] | masks[right])
    return masks[n:]
