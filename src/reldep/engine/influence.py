"""Influence: the matrix A that everything else is a light function of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.terms import Engine, Pair, Wanted, canonical, conditional_means

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep._variables import FloatArray
    from reldep.kernels.base import FittedKernel


@dataclass(frozen=True, eq=False)
class Influence:
    """Conditional means of the HSIC U-statistic, one row a pair, one column an observation.

    Attributes
    ----------
    values : ndarray, shape (n_pairs, n_observations)
        A. The mean of a row is the unbiased HSIC of its pair.
    pairs : tuple of (str, str)
        Which row belongs to which pair.
    names : tuple of str
        The variables.
    n_observations : int
    engine : str
        The engine that summed the kernels.
    """

    values: FloatArray
    pairs: tuple[Pair, ...]
    names: tuple[str, ...]
    n_observations: int
    engine: str = ""

    @property
    def estimates(self) -> FloatArray:
        """The unbiased HSIC of every pair."""
        return np.asarray(self.values.mean(axis=1))

    @property
    def psi(self) -> FloatArray:
        """Influence values ``4 (a_i - HSIC)``: what each observation adds to each HSIC."""
        return 4.0 * (self.values - self.estimates[:, None])

    def row(self, pair: Pair) -> int:
        """Find the row of a pair, in either order."""
        wanted = canonical(pair)
        for i, known in enumerate(self.pairs):
            if canonical(known) == wanted:
                return i
        raise KeyError(pair)


def compute_influence(
    kernels: Mapping[str, FittedKernel], pairs: Sequence[Pair], engine: Engine
) -> Influence:
    """Run an engine and finish the conditional means of every pair."""
    terms = engine.terms(kernels, Wanted(tuple(pairs)))
    values = np.array([conditional_means(terms, pair) for pair in pairs])
    return Influence(values, tuple(pairs), tuple(kernels), terms.n, engine.name)
