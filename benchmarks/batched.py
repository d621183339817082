"""Conditional means of many small samples at once, in NumPy.

The simulations draw thousands of samples of 20 to 1,000 rows. One call of the package for each
would mostly measure the cost of calls, so kernels and their sums are computed for a stack of
samples here; tests and intervals are the package's own. ``tests/stats/test_batched.py`` checks
that a stack gives what the package gives sample by sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from reldep.stats.estimates import Estimates, estimates
from reldep.stats.units import Units, square

Array = npt.NDArray[np.float64]
Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Stack:
    """A kernel on a stack of B samples: centred matrices, and how a scale moves them.

    Attributes
    ----------
    kernel : ndarray, shape (B, m, m)
        Centred when the stack is made: no diagonal, rows that sum to 0.
    slope : ndarray, shape (B, m, m), or None
        The derivative in the scale that the data chose.
    moves : ndarray, shape (B, m), or None
        The influence of every row on that scale.
    """

    kernel: Array
    slope: Array | None = None
    moves: Array | None = None

    def __post_init__(self) -> None:
        K, m = self.kernel, self.kernel.shape[1]
        diagonal = np.arange(m)
        K[:, diagonal, diagonal] = 0.0
        sums = K.sum(axis=2)
        effects = (sums - sums.sum(axis=1, keepdims=True) / (2 * (m - 1))) / (m - 2)
        K -= effects[:, :, None]
        K -= effects[:, None, :]
        K[:, diagonal, diagonal] = 0.0


def distances(x: Array) -> Array:
    """Return Euclidean distances, shape (B, m, m), of points of shape (B, m, d)."""
    if x.shape[2] == 1:
        D = x[:, :, 0][:, :, None] - x[:, :, 0][:, None, :]
        return np.abs(D, out=D)
    squares = np.einsum("bij,bij->bi", x, x)
    inner = x @ x.swapaxes(1, 2)
    return np.sqrt(np.maximum(squares[:, :, None] + squares[:, None, :] - 2.0 * inner, 0.0))


@lru_cache
def _upper_triangle(m: int) -> npt.NDArray[np.int64]:
    """Return the places of i < j in a flattened matrix."""
    return np.flatnonzero(np.triu(np.ones((m, m), dtype=bool), 1))


def median_scale(D: Array) -> tuple[Array, Array]:
    """Return the median distance of every sample, and the influence of every row on it."""
    m = D.shape[1]
    upper = D.reshape(len(D), m * m).take(_upper_triangle(m), axis=1)
    scale, density = np.median(upper, axis=1), np.empty(len(D))
    for b, row in enumerate(upper):
        if scale[b] <= 0:  # more than half of the distances are 0
            scale[b] = np.median(row[row > 0])
        density[b] = _density(row, scale[b], m)
    share = ((scale[:, None, None] >= D).sum(axis=2) - 1.0) / (m - 1)
    return scale, -2.0 * (share - share.mean(axis=1, keepdims=True)) / density[:, None]


def _density(upper: Array, median: float, m: int) -> float:
    """Estimate the density of distances at their median as the package does."""
    away, positive = np.abs(upper - median), upper[upper > 0]
    atom = np.count_nonzero(away <= 1e-9 * median)
    if atom > max(1.0, 0.05 * len(positive)) or positive.min() == positive.max():
        return np.inf
    low, high = np.percentile(positive, [25, 75])
    spread = min(positive.std(), (high - low) / 1.34) if high > low else positive.std()
    width = 0.9 * spread * (m * (m - 1) / 2) ** -0.2
    bumps = np.exp(-0.5 * (away / width) ** 2).sum()
    return float(bumps / (len(upper) * width * np.sqrt(2.0 * np.pi)))


def mean_scale(D: Array) -> tuple[Array, Array]:
    """Return the mean distance of every sample, and the influence of every row on it."""
    m = D.shape[1]
    rows = D.sum(axis=2) / (m - 1)
    scale = rows.mean(axis=1)
    return scale, 2.0 * (rows - scale[:, None])


Scale = Callable[[Array], tuple[Array, Array]]
Kernel = Callable[[Array], Stack]


def gaussian(scale: Scale, factors: Sequence[float] = (1.0,)) -> Kernel:
    """Make Gaussian kernels at multiples of a scale, averaged."""

    def kernel(x: Array) -> Stack:
        D = distances(x)
        size, moves = scale(D)
        ratio = D * D
        ratio /= size[:, None, None] ** 2
        total, slope = None, None
        for factor in factors:
            K = ratio * (-0.5 / factor**2)
            np.exp(K, out=K)
            added = K * ratio
            added /= factor**2 * len(factors) * size[:, None, None]
            K /= len(factors)
            total, slope = (K, added) if total is None else (total + K, slope + added)
        return Stack(total, slope, moves)

    return kernel


def laplace(scale: Scale, factor: float = 1.0) -> Kernel:
    """Make the kernel exp(-distance / (factor × scale))."""

    def kernel(x: Array) -> Stack:
        D = distances(x)
        size, moves = scale(D)
        D /= (-factor * size)[:, None, None]
        K = np.exp(D)
        D *= K
        D /= -size[:, None, None]
        return Stack(K, D, moves)

    return kernel


def cauchy(scale: Scale, factor: float = 1.0) -> Kernel:
    """Make the kernel 1 / (1 + distance² / (factor × scale)²)."""

    def kernel(x: Array) -> Stack:
        D = distances(x)
        size, moves = scale(D)
        ratio = (D / (factor * size)[:, None, None]) ** 2
        K = 1.0 / (1.0 + ratio)
        return Stack(K, 2.0 * K * K * ratio / size[:, None, None], moves)

    return kernel


def negative_distance(x: Array) -> Stack:
    """Make the kernel whose HSIC is the squared distance covariance."""
    return Stack(-distances(x))


def linear(x: Array) -> Stack:
    """Make the kernel of inner products."""
    centred = x - x.mean(axis=1, keepdims=True)
    return Stack(centred @ centred.swapaxes(1, 2))


def delta(x: Array) -> Stack:
    """Make the kernel that is 1 for equal values."""
    return Stack((distances(x) == 0).astype(float))


def conditional_means(one: Stack, two: Stack) -> Array:
    """Return A of one pair, shape (B, m)."""
    m = one.kernel.shape[1]
    q = np.einsum("bij,bij->bi", one.kernel, two.kernel)
    return ((m - 2) * q + q.sum(axis=1, keepdims=True)) / (2.0 * (m - 1) * (m - 3))


@dataclass(frozen=True, eq=False)
class Samples:
    """A of a stack of samples, for all pairs of their variables.

    Attributes
    ----------
    means, bandwidth : ndarray, shape (B, q, m)
    pairs : tuple of pairs of names
    """

    means: Array
    bandwidth: Array
    pairs: tuple[Pair, ...]
    names: tuple[str, ...]

    def estimates(self, wanted: Sequence[Pair], measure: str) -> Estimates:
        """Leave out every row of every sample; sample b has the rows b·len(wanted) and on."""
        B, q, m = self.means.shape
        codes = np.array([[self.names.index(name) for name in pair] for pair in self.pairs])
        of_samples = len(self.names) * np.arange(B)[:, None]
        places = np.array([(of_samples + codes[:, side]).ravel() for side in (0, 1)])
        flat, moves = self.means.reshape(B * q, m), self.bandwidth.reshape(B * q, m)
        names = [f"{name} of sample {b}" for b in range(B) for name in self.names]
        hsics = square(len(names), places, flat.mean(axis=1))
        units = Units.rows(flat, moves, names, places, hsics)
        rows = np.array([self.pairs.index(pair) for pair in wanted])
        wanted_places = places[:, (q * np.arange(B)[:, None] + rows).ravel()]
        return estimates(units, measure, places=wanted_places)

    def keep(self, chosen: npt.NDArray[np.bool_]) -> Samples:
        """Keep some of the samples."""
        return Samples(self.means[chosen], self.bandwidth[chosen], self.pairs, self.names)

    def usable(self) -> npt.NDArray[np.bool_]:
        """Return which samples have positive self-HSICs without each of their rows."""
        m = self.means.shape[2]
        own = [i for i, (a, b) in enumerate(self.pairs) if a == b]
        A = self.means[:, own]
        H = A.mean(axis=2, keepdims=True)
        without = H - 4.0 * (A - H) / (m - 4) - self.bandwidth[:, own] / (m - 1)
        return np.asarray((without > 1e-12 * H).all(axis=(1, 2)))


def influence(stacks: dict[str, Stack], pairs: Sequence[Pair] | None = None) -> Samples:
    """Compute A and the bandwidth influence; by default for all pairs, self-pairs included."""
    names = tuple(stacks)
    if pairs is None:
        pairs = [(a, b) for i, a in enumerate(names) for b in names[i:]]
    means, bandwidth = [], []
    for one, two in ((stacks[a], stacks[b]) for a, b in pairs):
        means.append(conditional_means(one, two))
        m = one.kernel.shape[1]
        added = np.zeros_like(means[-1])
        for own, other in ((one, two), (two, one)):
            if own.slope is not None and own.moves is not None:
                slope = np.einsum("bij,bij->b", own.slope, other.kernel) / (m * (m - 3))
                added += slope[:, None] * own.moves
        bandwidth.append(added)
    return Samples(np.stack(means, axis=1), np.stack(bandwidth, axis=1), tuple(pairs), names)
