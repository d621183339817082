"""Terms: the sums every engine produces, the one formula that finishes them, and their rounding.

An engine turns fitted kernels into row sums, row sums of products and matrix-vector products
(:class:`Terms`). What follows is the same whoever produced them:
:func:`conditional_means` and :func:`hsic` are the only places where the U-statistic is written
down, and :class:`Finished` says what rounding leaves of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from reldep.exceptions import InputError, PrecisionWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reldep.data.variables import BoolArray, FloatArray
    from reldep.engine.near_linear.certificate import Certificate
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel

Pair: TypeAlias = tuple[str, str]

# The last digit of a number of size 1.
EPSILON = float(np.finfo(np.float64).eps)

# Conditional means of at most so many times their rounding are nothing else; up to so many times
# it they come with a caution.
NOTHING, DOUBTFUL = 50.0, 1e9

# So many rows are summed again, pair by pair, where sums over features or along lines have lost
# digits.
SUMMED_AGAIN = 20_000
BY_FEATURES = ("features", "lowrank", "sorted")

# Degrees of freedom take the fourth power of conditional means, of those of a variable with
# itself the square.
LARGEST, LARGEST_OWN = 1e70, 1e140


def canonical(pair: Pair) -> Pair:
    """Order a pair: (x, y) and (y, x) are the same dependence."""
    first, second = pair
    return (first, second) if first <= second else (second, first)


@dataclass(frozen=True)
class Wanted:
    """What is asked of an engine.

    Attributes
    ----------
    pairs : tuple of Pair
        Pairs whose conditional means are needed, one value per observation.
    means : tuple of Pair
        Pairs of which the HSIC alone is needed; these need no second sweep.
    row_sums : tuple of str
        Kernels of which the row sums are needed for their own sake.
    """

    pairs: tuple[Pair, ...]
    means: tuple[Pair, ...] = ()
    row_sums: tuple[str, ...] = ()

    def crossed_pairs(self) -> tuple[Pair, ...]:
        """Give the distinct pairs that need both sweeps."""
        return _distinct(self.pairs)

    def multiplied(self) -> tuple[Pair, ...]:
        """Give the products of matrix and vector: kernel (first) times row sums (second)."""
        both = (ordered for x, y in self.crossed_pairs() for ordered in ((x, y), (y, x)))
        return tuple(dict.fromkeys(both))

    def product_pairs(self) -> tuple[Pair, ...]:
        """Give the distinct pairs that need the sums of products."""
        return _distinct((*self.pairs, *self.means))

    def n_sums(self) -> int:
        """Count the values that every observation ends up with."""
        return len(self.names()) + len(self.product_pairs()) + len(self.crossed_pairs())

    def batches(self, most: int) -> list[Wanted]:
        """Cut into jobs of at most so many kernels each, or of the two of a single pair.

        A source with many targets takes part in all of them, each target in one.
        """
        place = {name: i for i, name in enumerate(self.names())}
        full = set(self.crossed_pairs())
        groups: list[tuple[set[str], list[Pair]]] = []
        for pair in sorted(self.product_pairs(), key=lambda p: max(place[p[0]], place[p[1]])):
            if not groups or len(groups[-1][0] | set(pair)) > max(2, most):
                groups.append((set(), []))
            groups[-1][0].update(pair)
            groups[-1][1].append(pair)
        alone = tuple(name for name in self.row_sums if not any(name in g for g, _ in groups))
        batches = [
            Wanted(
                tuple(pair for pair in pairs if pair in full),
                tuple(pair for pair in pairs if pair not in full),
            )
            for _, pairs in groups
        ]
        return [*batches, Wanted((), row_sums=alone)] if alone else batches

    def names(self) -> tuple[str, ...]:
        """Give the kernels that must be evaluated."""
        used = [name for pair in self.product_pairs() for name in pair]
        return tuple(dict.fromkeys((*used, *self.row_sums)))


def _distinct(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    return tuple(dict.fromkeys(canonical(pair) for pair in pairs))


@dataclass(frozen=True, eq=False)
class Terms:
    """Sums over kernel matrices with zero diagonal, shifted towards zero mean.

    A shift is what an engine takes off a kernel to keep digits: a constant, or
    ``f(x) + f(x')``. Neither changes an HSIC. With ``K~`` the shifted matrix of a kernel, its
    diagonal set to 0:

    Attributes
    ----------
    n : int
        Number of observations.
    row_sums : mapping of str to ndarray
        ``k = K~ 1``.
    products : mapping of Pair to ndarray
        ``q = (K~ ∘ L~) 1`` by canonical pair.
    crossed : mapping of Pair to ndarray
        ``K~ l + L~ k`` by canonical pair.
    shifts : mapping of str to float or ndarray
        What the shift took off the mean of each row over the other observations: one number
        for a constant, one per row for ``f(x) + f(x')``.
    sizes : mapping of str to float
        The size of each kernel's values before the shift, whose last digits are rounding.
    spreads : mapping of str to float
        Their size after the shift, where it is known apart from the products.
    notes : tuple of ReldepWarning
        What the reader of a result should know about the computation.
    engine : str
        Who made these terms, where that was not the engine that was asked.
    certificate : Certificate or None
        How far off they can be, where kernels were replaced by features.
    """

    n: int
    row_sums: Mapping[str, FloatArray]
    products: Mapping[Pair, FloatArray]
    crossed: Mapping[Pair, FloatArray]
    shifts: Mapping[str, float | FloatArray] = field(default_factory=dict)
    sizes: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[ReldepWarning, ...] = ()
    engine: str = ""
    certificate: Certificate | None = None
    spreads: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """What a job is expected to need.

    Attributes
    ----------
    memory : int
        Bytes beside the data.
    seconds : float
    """

    memory: int
    seconds: float


class Engine(Protocol):
    """A way to produce terms."""

    @property
    def name(self) -> str:
        """The word by which a user asks for it."""

    def terms(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Terms:
        """Produce what is wanted from the fitted kernels."""

    def cost(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Cost | None:
        """Estimate what the job needs; None if that is not known."""


def conditional_means(terms: Terms, pair: Pair) -> FloatArray:
    """Finish a pair: the conditional means `a` of the HSIC U-statistic.

    ``a_i`` is the average of the U-statistic's kernel over all 4-tuples that contain
    observation i, so that ``mean(a)`` is the unbiased HSIC exactly (the paper's equation 8,
    in which ``4m`` stands for the factor 2 here)::

        h = (m-2)² q - m k∘l + (m-2)(Σq - (K~l + L~k)) + Σl k + Σk l - k'l
        a = h / (2 (m-1)(m-2)(m-3))
    """
    first, second = canonical(pair)
    m = terms.n
    k, l = terms.row_sums[first], terms.row_sums[second]  # noqa: E741
    q = terms.products[first, second]
    h = (m - 2) ** 2 * q - m * k * l + (m - 2) * (q.sum() - terms.crossed[first, second])
    h += l.sum() * k + k.sum() * l - k @ l
    result: FloatArray = h / (2.0 * (m - 1) * (m - 2) * (m - 3))
    return result


def hsic(terms: Terms, pair: Pair) -> float:
    """Finish a pair of which the HSIC alone is needed: the unbiased estimator."""
    first, second = canonical(pair)
    m = terms.n
    k, l = terms.row_sums[first], terms.row_sums[second]  # noqa: E741
    total = terms.products[first, second].sum()
    total += k.sum() * l.sum() / ((m - 1) * (m - 2)) - 2.0 * (k @ l) / (m - 2)
    return float(total / (m * (m - 3)))


def rounding(terms: Terms, pairs: Sequence[Pair]) -> list[float]:
    """Estimate how far rounding moves the conditional means of pairs; 0 if that is not known.

    Every entry of a shifted matrix is off by the last digit of what it was before the shift, and
    is multiplied by entries of the other matrix.
    """
    sizes = terms.sizes
    names = dict.fromkeys(name for pair in pairs for name in pair if name in sizes)
    spreads = {name: _spread(terms, name) for name in names}
    return [
        EPSILON * (sizes[x] * spreads[y] + spreads[x] * sizes[y])
        if x in sizes and y in sizes
        else 0.0
        for x, y in pairs
    ]


def _spread(terms: Terms, name: str) -> float:
    """Give the root mean square of the largest row of a shifted kernel, or a bound."""
    size, m = terms.sizes[name], terms.n
    known = [terms.spreads[name]] if name in terms.spreads else []
    products = terms.products.get((name, name))
    if products is not None:
        squares = float(products.max()) if len(products) == m else float(products.sum()) / m
        known.append(float(np.sqrt(max(0.0, squares) / (m - 1))))
    return max(*known, EPSILON * size) if known else size


def row_means(terms: Terms, name: str) -> FloatArray:
    """Give the mean of each row of a kernel over the other observations, shift undone."""
    return np.asarray(terms.row_sums[name] / (terms.n - 1) + terms.shifts.get(name, 0.0))


@dataclass(frozen=True, eq=False)
class Finished:
    """Conditional means beside the size of their rounding.

    Attributes
    ----------
    terms : Terms
    pairs : sequence of Pair
    values : ndarray, shape (n_pairs, n)
    rounding : ndarray, shape (n_pairs,)
    means : mapping of Pair to float
        The HSICs of pairs of which no more is wanted.
    """

    terms: Terms
    pairs: Sequence[Pair]
    values: FloatArray
    rounding: FloatArray
    means: Mapping[Pair, float] = field(default_factory=dict)

    @classmethod
    def of(cls, terms: Terms, pairs: Sequence[Pair]) -> Finished:
        """Finish the terms of an engine."""
        return cls(
            terms,
            pairs,
            np.array([conditional_means(terms, pair) for pair in pairs]),
            np.array(rounding(terms, pairs)),
        )

    @cached_property
    def over_rounding(self) -> FloatArray:
        """The size of the values of each pair, divided by that of their rounding."""
        sizes = np.abs(self.values).max(axis=1, initial=0.0)
        unknown = np.where(sizes > 0, np.inf, 0.0)
        return np.asarray(np.divide(sizes, self.rounding, out=unknown, where=self.rounding > 0))

    def loses_digits_to_features(self, engine: str) -> bool:
        """Whether sums over features have lost digits that sums over pairs of rows keep."""
        terms = self.terms
        if (terms.engine or engine) not in BY_FEATURES or terms.notes or terms.n > SUMMED_AGAIN:
            return False
        return bool((self.over_rounding <= DOUBTFUL).any())

    def without_rounding(self) -> Finished:
        """Set to 0 what is rounding and nothing else.

        So it is by construction where a variable has no HSIC with itself; where that is not
        known, the pair itself must tell.
        """
        own = dict(self._own_over_rounding())
        nothing = {name for name, kept in own.items() if kept <= NOTHING}
        is_known = np.array([x in own and y in own for x, y in self.pairs])
        is_zero = np.array([not nothing.isdisjoint(pair) for pair in self.pairs])
        is_zero |= ~is_known & (self.over_rounding <= NOTHING)
        if not is_zero.any():
            return self
        values = np.where(is_zero[:, None], 0.0, self.values)
        means = {
            pair: value if nothing.isdisjoint(pair) else 0.0 for pair, value in self.means.items()
        }
        return replace(self, values=values, means=means)

    def _own_over_rounding(self) -> Iterator[tuple[str, float]]:
        """Give the same for the HSIC of variables with themselves."""
        for (x, y), kept in zip(self.pairs, self.over_rounding.tolist(), strict=True):
            if x == y:
                yield x, kept
        further = [pair for pair in self.means if pair[0] == pair[1]]
        for pair, error in zip(further, rounding(self.terms, further), strict=True):
            yield pair[0], abs(self.means[pair]) / error if error > 0 else np.inf

    def cautions(self) -> tuple[PrecisionWarning, ...]:
        """Point out what rounding has spoilt."""
        kept = zip(self.pairs, self.over_rounding.tolist(), strict=True)
        digits = {pair: np.log10(max(1.0, times)) for pair, times in kept if times < DOUBTFUL}
        return (_lost(digits),) if digits else ()


def _lost(digits: Mapping[Pair, float]) -> PrecisionWarning:
    """Say how much rounding has left."""
    x, y = min(digits, key=lambda pair: digits[pair])
    left = int(digits[x, y])
    more = f", and less than usual of {len(digits) - 1} more" if len(digits) > 1 else ""
    return PrecisionWarning(
        f"rounding leaves {f'about {left} digits' if left > 0 else 'nothing'} of the HSIC of {x} "
        f"and {y}{more}: next to the largest kernel values the others hardly differ, as with a far "
        "value among them, a bandwidth that is much too wide, or all observations but one the "
        "same. Look at the values; if some stand for missing ones, name them as such."
    )


def is_held(values: FloatArray, *, own: bool = False) -> BoolArray:
    """Tell, along the last axis, whether the powers of conditional means are still numbers."""
    largest = LARGEST_OWN if own else LARGEST
    size = np.abs(values).max(axis=-1, initial=0.0)
    return np.asarray((size == 0) | ((size > 1.0 / largest) & (size < largest)))


def check_held(
    pairs: Sequence[Pair], values: FloatArray, kernels: Mapping[str, FittedKernel]
) -> None:
    """Refuse conditional means whose powers no number can hold."""
    for (x, y), row in zip(pairs, values, strict=True):
        held = bool(is_held(row, own=x == y))
        if held and not row.any():
            # They are 0 by construction, or since products of tiny values are 0.
            held = all(kernels[name].proportional() is kernels[name] for name in (x, y))
        if not held:
            is_small = np.abs(row).max(initial=0.0) < 1
            how = "small to be multiplied" if is_small else "large to be added up"
            raise InputError(
                f"the kernel values of {x} and {y} are too {how}. Rescale the data, for instance "
                "by their standard deviation, or choose a kernel that is bounded, such as "
                "Gaussian() or Laplace()."
            )
