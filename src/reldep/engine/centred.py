"""The U-statistic, written once: centre, multiply, sum, finish.

The HSIC U-statistic ignores the diagonal of a kernel matrix and anything of the form
``f(x) + f(x')``. With these row effects taken off (U-centring; Székely and Rizzo) every row of a
matrix sums to 0, and the row sums ``q = (K∘L) 1`` of products of two such matrices are all that
conditional means and HSICs need. U-centring is unique: q is the same number whichever engine
computes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reldep.exceptions import InputError, ScaleWarning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import BoolArray, FloatArray
    from reldep.kernels.base import FittedKernel

Pair: TypeAlias = tuple[str, str]

# A kernel whose HSIC with itself is this share of its squared size or less is 0 by construction, as
# for a column with a single 1, and rounding: an ordinary share is 0.2, rounding leaves 1e-32.
ZERO = 1e-26

# Conditional means of at most this many times their rounding error are 0; up to the second number
# they come with a caution.
NOTHING, DOUBTFUL = 50.0, 1e9

# Degrees of freedom take the fourth power of conditional means, of those of a variable with
# itself the square.
LARGEST, LARGEST_OWN = 1e70, 1e140

EPSILON = float(np.finfo(np.float64).eps)


def canonical(pair: Pair) -> Pair:
    """Order a pair: (x, y) and (y, x) are the same dependence."""
    first, second = pair
    return (first, second) if first <= second else (second, first)


def distinct(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the different pairs, each in order."""
    return list(dict.fromkeys(canonical(pair) for pair in pairs))


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
    subtract_effects(matrix, effects, effects)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def subtract_effects(block: FloatArray, own: FloatArray, others: FloatArray) -> FloatArray:
    """Take ``f_i + f_j`` off a block, in place.

    Where effects differ by orders of magnitude the larger goes first, which loses no digit.
    """
    sizes = np.abs(own).max(initial=0.0), np.abs(others).max(initial=0.0)
    if max(sizes) <= FAR_EFFECT * max(np.median(np.abs(own)), np.median(np.abs(others))):
        block -= own[:, None]
        block -= others
        return block
    first, second = np.broadcast_arrays(own[:, None], others[None, :])
    own_is_larger = np.abs(first) > np.abs(second)
    block -= np.where(own_is_larger, first, second)
    block -= np.where(own_is_larger, second, first)
    return block


# Effects that exceed the median effect by this factor cost digits unless they go first.
FAR_EFFECT = 100.0


def conditional_means(q: FloatArray) -> FloatArray:
    """Return conditional means of the U-statistic from the row sums q, along the last axis.

    ``a_i`` is the mean of the U-statistic's kernel over all 4-tuples that contain observation i
    (the paper's equation 8), so that ``mean(a)`` is the unbiased HSIC::

        a = ((m-2) q + Σq) / (2 (m-1)(m-3))
    """
    m = q.shape[-1]
    total = q.sum(axis=-1, keepdims=True)
    return np.asarray(((m - 2) * q + total) / (2.0 * (m - 1) * (m - 3)))


def hsic_of(total: float, m: int) -> float:
    """Return the unbiased HSIC from Σq."""
    return float(total / (m * (m - 3.0)))


@dataclass(frozen=True, eq=False)
class Products:
    """What an engine computes.

    Attributes
    ----------
    q : dict of Pair to ndarray
        Row sums of products of centred matrices, by canonical pair.
    totals : dict of Pair to float
        Their sums, for pairs of which no more is needed.
    sizes : dict of str to float
        The size of each kernel's values before centring, whose last digits are rounding.
    engines : dict of str to None
        The engines that were used, in order.
    notes : tuple of str
    lost : tuple of Pair
        Pairs of which the engine lost digits that sums over pairs of rows keep.
    """

    q: dict[Pair, FloatArray] = field(default_factory=dict)
    totals: dict[Pair, float] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)
    engines: dict[str, None] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    lost: tuple[Pair, ...] = ()

    def join(self, other: Products) -> Products:
        """Return the products of both."""
        return Products(
            {**self.q, **other.q},
            {**self.totals, **other.totals},
            {**self.sizes, **other.sizes},
            {**self.engines, **other.engines},
            (*self.notes, *other.notes),
            (*self.lost, *other.lost),
        )

    def total(self, pair: Pair) -> float:
        """Return Σq of a pair."""
        pair = canonical(pair)
        return self.totals[pair] if pair in self.totals else float(self.q[pair].sum())


def is_zero_kernel(products: Products, name: str, m: int) -> bool:
    """Return True if a kernel is constant up to row effects and rounding, as far as is known."""
    own = (name, name)
    if own not in products.q and own not in products.totals:
        return False
    return hsic_of(products.total(own), m) <= ZERO * products.sizes[name] ** 2


def is_zero(products: Products, pair: Pair, means: FloatArray, zero: set[str]) -> bool:
    """Return True if conditional means are 0 by construction, up to rounding.

    They are if a member is in `zero`; where its HSIC with itself is not known, if they are as small
    as their rounding error.
    """
    if not zero.isdisjoint(pair):
        return True
    known = [(name, name) in products.q or (name, name) in products.totals for name in pair]
    return not all(known) and rounding_ratio(products, pair, means) <= NOTHING


def rounding_ratio(products: Products, pair: Pair, means: FloatArray) -> float:
    """Return the size of conditional means over that of their rounding error."""
    x, y = pair
    spread = {name: _spread(products, name, len(means)) for name in pair}
    sizes = products.sizes
    error = EPSILON * (sizes[x] * spread[y] + spread[x] * sizes[y])
    largest = float(np.abs(means).max(initial=0.0))
    if largest == 0:
        return 0.0
    return largest / error if error > 0 else np.inf


def _spread(products: Products, name: str, m: int) -> float:
    """Return the root mean square of a centred matrix in its largest row, or a bound."""
    own = products.q.get((name, name))
    if own is None:
        return products.sizes[name]
    return float(np.sqrt(max(0.0, float(own.max())) / (m - 1)))


def precision_cautions(
    products: Products, pairs: Sequence[Pair], values: FloatArray
) -> tuple[ScaleWarning, ...]:
    """Return a caution about pairs of which rounding leaves few digits."""
    ratios = {
        pair: rounding_ratio(products, pair, row) for pair, row in zip(pairs, values, strict=True)
    }
    digits = {pair: np.log10(max(1.0, r)) for pair, r in ratios.items() if r < DOUBTFUL}
    if not digits:
        return ()
    x, y = min(digits, key=lambda pair: digits[pair])
    left = int(digits[x, y])
    more = f", and less than usual of {len(digits) - 1} more" if len(digits) > 1 else ""
    return (
        ScaleWarning(
            f"Rounding leaves {f'about {left} digits' if left > 0 else 'nothing'} of the HSIC of "
            f"{x} and {y}{more}: next to the largest kernel values the others hardly differ, as "
            "with a far value among them, a bandwidth that is much too wide, or all observations "
            "but one the same. Look at the values; if some stand for missing ones, name them as "
            "such."
        ),
    )


def is_held(values: FloatArray, *, own: bool = False) -> BoolArray:
    """Return, along the last axis, whether powers of conditional means are still numbers."""
    largest = LARGEST_OWN if own else LARGEST
    size = np.abs(values).max(axis=-1, initial=0.0)
    return np.asarray((size == 0) | ((size > 1.0 / largest) & (size < largest)))


def check_held(
    pairs: Sequence[Pair], values: FloatArray, kernels: Mapping[str, FittedKernel] | None = None
) -> None:
    """Raise if powers of conditional means are beyond all numbers.

    Parameters
    ----------
    pairs : sequence of Pair
    values : ndarray, shape (n_pairs, m)
    kernels : mapping of str to FittedKernel, optional
        Products of tiny values are 0; of a kernel in an ordinary unit, 0 is 0 by construction.
    """
    for (x, y), row in zip(pairs, values, strict=True):
        held = bool(is_held(row, own=x == y))
        if held and not row.any() and kernels is not None:
            held = all(kernels[name].in_own_unit() is kernels[name] for name in (x, y))
        if not held:
            is_small = np.abs(row).max(initial=0.0) < 1
            how = "small to be multiplied" if is_small else "large to be added up"
            raise InputError(
                f"the kernel values of {x} and {y} are too {how}. Rescale the data, for instance "
                "by their standard deviation, or choose a kernel that is bounded, such as "
                "Gaussian() or Laplace()."
            )
