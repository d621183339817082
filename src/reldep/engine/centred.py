"""The U-statistic, written once: centre, multiply, sum, finish.

The HSIC U-statistic ignores the diagonal of a kernel matrix and anything of the form
``f(x) + f(x')``. With these row effects taken off (U-centring; Székely and Rizzo) every row of a
matrix sums to 0, and the row sums ``q = (K∘L) 1`` of products of two such matrices are all that
conditional means and HSICs need. U-centring is unique: q is the same number whichever engine
computes it.

Engines number the kernels and name pairs by two numbers, the smaller first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from reldep.data.variables import BoolArray, FloatArray
from reldep.exceptions import InputError, ScaleWarning
from reldep.kernels.base import FittedKernel

Pair: TypeAlias = tuple[str, str]
Places: TypeAlias = "Sequence[tuple[int, int]]"

# A kernel whose HSIC with itself is this share of its squared size or less is 0 by construction, as
# for a column with a single 1, and rounding: an ordinary share is 0.2, rounding leaves 1e-32.
ZERO = 1e-26

# Conditional means of at most this many times their rounding error are 0; up to the second number
# they come with a caution: fewer than nine of sixteen digits are left.
NOTHING, DOUBTFUL = 50.0, 1e9

# Degrees of freedom take the fourth power of conditional means, of those of a variable with
# itself the square, and the largest number is 1e308.
LARGEST, LARGEST_OWN = 1e70, 1e140

# Effects that exceed the median effect by this factor cost two digits or more unless they go first.
FAR_EFFECT = 100.0

EPSILON = float(np.finfo(np.float64).eps)


def canonical(pair: Pair) -> Pair:
    """Return a pair in order: (x, y) and (y, x) are the same dependence."""
    first, second = pair
    return (first, second) if first <= second else (second, first)


def numbered(
    kernels: Mapping[str, FittedKernel], pairs: Sequence[Pair], means: Sequence[Pair] = ()
) -> tuple[list[str], list[FittedKernel], Places, Places, list[int]]:
    """Return numbers for the kernels and pairs that are used.

    Returns
    -------
    names : list of str
    used : list of FittedKernel
    places, totals : sequence of (int, int)
        The different pairs, and the further ones of which the HSIC alone is needed.
    at : list of int
        The place of every pair among the different ones.
    """
    names: dict[str, int] = {}
    places: dict[tuple[int, int], int] = {}
    at = []
    for x, y in (*pairs, *means):
        i, j = names.setdefault(x, len(names)), names.setdefault(y, len(names))
        at.append(places.setdefault((i, j) if i <= j else (j, i), len(places)))
    at = at[: len(pairs)]
    every, n_places = list(places), max(at) + 1
    return list(names), [kernels[name] for name in names], every[:n_places], every[n_places:], at


def row_effects(sums: FloatArray) -> FloatArray:
    """Return the effects that leave rows of sum 0, from the sums of rows without the diagonal.

    They solve ``Σ_j≠i (K_ij - f_i - f_j) = 0`` for all i. Rows are the last axis.
    """
    m = sums.shape[-1]
    return np.asarray((sums - sums.sum(axis=-1, keepdims=True) / (2.0 * (m - 1))) / (m - 2))


def centre(matrix: FloatArray) -> FloatArray:
    """Set the diagonal to 0 and take row effects off, in place, so that every row sums to 0."""
    np.fill_diagonal(matrix, 0.0)
    effects = row_effects(matrix.sum(axis=1))
    return subtract_effects(matrix, effects, slice(0, len(matrix)))


def subtract_effects(block: FloatArray, effects: FloatArray, run: slice) -> FloatArray:
    """Take ``f_i + f_j`` off a run of rows, in place, and set the diagonal to 0.

    Where effects differ by orders of magnitude the larger goes first, which loses no digit.
    """
    own = effects[run]
    sizes = np.abs(effects)
    if sizes.max(initial=0.0) <= FAR_EFFECT * np.median(sizes):
        block -= own[:, None]
        block -= effects
    else:
        first, second = np.broadcast_arrays(own[:, None], effects[None, :])
        own_is_larger = np.abs(first) > np.abs(second)
        block -= np.where(own_is_larger, first, second)
        block -= np.where(own_is_larger, second, first)
    np.fill_diagonal(block[:, run], 0.0)
    return block


def conditional_means(q: FloatArray) -> FloatArray:
    """Return conditional means of the U-statistic from the row sums q, along the last axis.

    ``a_i`` is the mean of the U-statistic's kernel over all 4-tuples that contain observation i
    (the paper's equation 8), so that ``mean(a)`` is the unbiased HSIC::

        a = ((m-2) q + Σq) / (2 (m-1)(m-3))
    """
    m = q.shape[-1]
    total = q.sum(axis=-1, keepdims=True)
    return np.asarray(((m - 2) * q + total) / (2.0 * (m - 1) * (m - 3)))


def hsic_of(total: FloatArray | float, m: int) -> FloatArray:
    """Return the unbiased HSIC from Σq."""
    return np.asarray(total / (m * (m - 3.0)))


@dataclass(frozen=True, eq=False)
class Products:
    """What an engine computes of numbered kernels.

    Attributes
    ----------
    q : ndarray, shape (pairs, m)
        Row sums of products of centred matrices.
    sums : ndarray, shape (totals,)
        Their sums Σq, for pairs of which no more is needed.
    sizes : ndarray, shape (kernels,)
        The size of each kernel's values before centring, whose last digits are rounding.
    lost : tuple of int
        The pairs, or beyond them the totals, of which the engine lost digits that sums over pairs
        of rows keep.
    """

    q: FloatArray
    sums: FloatArray
    sizes: FloatArray
    lost: tuple[int, ...] = field(default=())


def finish(
    names: Sequence[str],
    kernels: Sequence[FittedKernel],
    places: Places,
    totals: Places,
    found: Products,
) -> tuple[FloatArray, FloatArray, tuple[ScaleWarning, ...]]:
    """Return conditional means, HSICs of all pairs (NaN if unknown) and cautions about digits.

    What is 0 by construction becomes exactly 0; values beyond all numbers raise.
    """
    values = conditional_means(found.q)
    m, k = values.shape[1], len(kernels)
    hsics = np.full((k, k), np.nan)
    for pairs, own in ((places, values.mean(axis=1)), (totals, hsic_of(found.sums, m))):
        if len(pairs):
            x, y = np.array(pairs).T
            hsics[x, y] = hsics[y, x] = own
    for p in np.flatnonzero(~values.any(axis=1)).tolist():
        # Products of tiny values are 0; of a kernel in an ordinary unit, 0 is 0 by construction.
        if any(kernels[i].in_own_unit() is not kernels[i] for i in places[p]):
            raise _beyond_numbers(*(names[i] for i in places[p]), is_small=True)
    known = ~np.isnan(hsics.diagonal())
    zero = is_constant(hsics.diagonal(), found.sizes)
    x, y = np.array(places).T
    ratio = _rounding_ratios(places, found, values)
    is_zero = zero[x] | zero[y] | (~(known[x] & known[y]) & (ratio <= NOTHING))
    values[is_zero] = 0.0
    hsics[x[is_zero], y[is_zero]] = hsics[y[is_zero], x[is_zero]] = 0.0
    hsics[zero] = hsics[:, zero] = 0.0
    named = [(names[a], names[b]) for a, b in places]
    check_held(named, values)
    return values, hsics, _few_digits(named, ratio)


def is_constant(own: FloatArray, sizes: FloatArray) -> BoolArray:
    """Return which kernels are constant up to row effects and rounding, by their own HSICs."""
    squares = sizes**2
    return np.asarray((own <= ZERO * squares) & np.isfinite(squares))


def _rounding_ratios(places: Places, found: Products, values: FloatArray) -> FloatArray:
    """Return the size of conditional means over that of their rounding error."""
    # The root mean square of a centred matrix in its largest row, or a bound.
    spread = found.sizes.copy()
    for p, (a, b) in enumerate(places):
        if a == b:
            spread[a] = np.sqrt(max(0.0, found.q[p].max()) / (values.shape[1] - 1))
    x, y = np.array(places).T
    error = EPSILON * (found.sizes[x] * spread[y] + spread[x] * found.sizes[y])
    largest = np.abs(values).max(axis=1, initial=0.0)
    ratios = np.full(len(places), np.inf)
    np.divide(largest, error, out=ratios, where=error > 0)
    ratios[largest == 0] = 0.0
    return ratios


def _few_digits(pairs: Sequence[Pair], ratios: FloatArray) -> tuple[ScaleWarning, ...]:
    """Return a caution about pairs of which rounding leaves few digits."""
    worst, n = int(ratios.argmin()), int((ratios < DOUBTFUL).sum())
    if not n:
        return ()
    left = int(np.log10(max(1.0, ratios[worst])))
    x, y = pairs[worst]
    more = f", and less than usual of {n - 1} more" if n > 1 else ""
    return (
        ScaleWarning(
            f"Rounding leaves {f'about {left} digits' if left > 0 else 'nothing'} of the HSIC of "
            f"{x} and {y}{more}: next to the largest kernel values the others hardly differ, as "
            "with a far value among them, a bandwidth that is much too wide, or all observations "
            "but one the same. Look at the values; if some stand for missing ones, name them as "
            "such."
        ),
    )


def is_held(values: FloatArray, *, own: bool | BoolArray = False) -> BoolArray:
    """Return, along the last axis, whether powers of conditional means are still numbers."""
    largest = np.where(own, LARGEST_OWN, LARGEST)
    size = np.abs(values).max(axis=-1, initial=0.0)
    return np.asarray((size == 0) | ((size > 1.0 / largest) & (size < largest)))


def check_held(pairs: Sequence[Pair], values: FloatArray) -> None:
    """Raise if powers of conditional means are beyond all numbers; one row per pair."""
    held = is_held(values, own=np.array([x == y for x, y in pairs]))
    if not held.all():
        p = int(np.argmin(held))
        raise _beyond_numbers(*pairs[p], is_small=np.abs(values[p]).max(initial=0.0) < 1)


def _beyond_numbers(x: str, y: str, *, is_small: bool) -> InputError:
    how = "small to be multiplied" if is_small else "large to be added up"
    return InputError(
        f"the kernel values of {x} and {y} are too {how}. Rescale the data, for instance by their "
        "standard deviation, or choose a kernel that is bounded, such as Gaussian() or Laplace()."
    )
