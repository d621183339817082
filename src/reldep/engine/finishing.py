"""From terms to conditional means, and what rounding leaves of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.terms import conditional_means, rounding
from reldep.exceptions import InputError, PrecisionWarning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reldep.data.variables import BoolArray, FloatArray
    from reldep.engine.terms import Pair, Terms
    from reldep.kernels.base import FittedKernel

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
        f"and {y}{more}: next to the largest kernel values the others hardly differ, as with a "
        "far value among them, a bandwidth that is much too wide, or all observations but one the "
        "same.",
        "Look at the values; if some stand for missing ones, name them as such.",
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
                f"the kernel values of {x} and {y} are too {how}.",
                "Rescale the data, for instance by their standard deviation, or choose a kernel "
                "that is bounded, such as Gaussian() or Laplace().",
            )
