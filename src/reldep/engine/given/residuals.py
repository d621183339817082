"""A for dependences given covariates: conditional means of products of residual Gram matrices.

``θ_xy|w = ‖E[ε_x ⊗ ε_y]‖²``, with ε the residuals of the two embeddings, is estimated by the mean
of ``K_ij L_ij`` over i ≠ j, where K and L are the Gram matrices of the leave-one-out residuals,
less what the regressions make two rows share. It is a U-statistic of order 2. The error that the
two regressions leave in it is the product of their own errors, so that both may be slow (Shah
and Peters, 2020; Lundborg, Shah and Peters, 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.variables import Numeric
from reldep.engine.bandwidths import named_probes
from reldep.engine.finishing import check_held
from reldep.engine.given.unexplained import design
from reldep.engine.influence import Influence
from reldep.engine.terms import Pair, canonical
from reldep.exceptions import InputError, Option
from reldep.kernels.dot import FittedDot
from reldep.kernels.machine import available_memory, in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, Variable
    from reldep.engine.bandwidths import NamedProbe
    from reldep.engine.given.unexplained import Covariates, Regression
    from reldep.kernels.base import FittedKernel

ORDER = 2

# Beyond this even a few hundred features of every row are much.
MOST_ROWS = 200_000

# Predictions of a variable that explain less than this share of it are mostly noise of its own.
WORTH_FOLLOWING = 0.1

# A variable of which covariates leave no more than this is determined by them.
NOTHING_LEFT = 1e-3


@dataclass(frozen=True, eq=False)
class Residuals:
    """The residuals of several variables given the same covariates.

    Attributes
    ----------
    kernels : mapping of str to FittedKernel
    covariates : Covariates
    regressions : mapping of str to Regression
    matrices : mapping of str to ndarray, shape (m, m)
        The Gram matrices of the leave-one-out residuals, without what two rows share by the
        regression and with zeros on the diagonal.
    explained : mapping of str to float
        The share of each variable that the covariates explain.
    """

    kernels: Mapping[str, FittedKernel]
    covariates: Covariates
    regressions: Mapping[str, Regression]
    matrices: Mapping[str, FloatArray]
    explained: Mapping[str, float]

    @classmethod
    def of(
        cls,
        kernels: Mapping[str, FittedKernel],
        covariates: Covariates,
        variables: Mapping[str, Variable] | None = None,
    ) -> Residuals:
        """Regress every variable on the covariates.

        Parameters
        ----------
        kernels : mapping of str to FittedKernel
        covariates : Covariates
        variables : mapping of str to Variable, optional
            The data themselves. Of numbers the share is given that the covariates explain of
            them, not of their embedding, which depends on the kernel.
        """
        n = covariates.n
        check_memory(len(kernels), n)
        everything = slice(0, n)
        regressions, matrices, explained = {}, {}, {}
        for name, kernel in kernels.items():
            gram = kernel.conditioned()(everything, everything)
            variable, known = (variables or {}).get(name), covariates
            if isinstance(variable, Numeric):
                points = design(variable)[0]
                first = covariates.regress(points @ points.T)
                explained[name] = first.explained
                known = offered(covariates, kernel, first, points)
            regressions[name] = known.regress(gram)
            explained.setdefault(name, regressions[name].explained)
            check_anything_left(name, explained[name], covariates)
            matrices[name] = regressions[name].unshared(gram)
        return cls(kernels, covariates, regressions, matrices, explained)

    @property
    def n(self) -> int:
        """The number of observations."""
        return self.covariates.n

    def influence(
        self, pairs: Sequence[Pair], *, means: Sequence[Pair] = (), bandwidths: bool = False
    ) -> Influence:
        """Finish the conditional means of these pairs.

        Parameters
        ----------
        pairs : sequence of Pair
        means : sequence of Pair
            Further pairs of which the estimate alone is needed.
        bandwidths : bool, default False
            Whether to follow the bandwidths that the data chose; the penalties are held fixed.
        """
        values = np.array([self._row_means(x, y) for x, y in pairs])
        check_held(pairs, values, self.kernels)
        return Influence(
            values,
            tuple(pairs),
            tuple(self.kernels),
            self.n,
            "dense",
            bandwidth_psi=self._bandwidth_psi(pairs) if bandwidths else None,
            means={canonical(pair): float(self._row_means(*pair).mean()) for pair in means},
            order=ORDER,
            conditioning=self.covariates.conditioning(self.explained),
        )

    def null_scale(self, pair: Pair) -> float:
        """Give what the estimate scatters by under conditional independence, over ``√2 / m``.

        It is the root mean square of the products ``K_ij L_ij``, even where the residuals of both
        vary more at some values of the covariates than at others, times what the regressions
        have in common.
        """
        products = self.matrices[pair[0]] * self.matrices[pair[1]]
        squares = np.einsum("ij,ij->", products, products) / (self.n * (self.n - 1))
        one, two = (self.regressions[name] for name in pair)
        return float(np.sqrt(squares)) * one.overlap(two)

    def _row_means(self, x: str, y: str) -> FloatArray:
        sums = np.einsum("ij,ij->i", self.matrices[x], self.matrices[y])
        return np.asarray(sums / (self.n - 1))

    def _bandwidth_psi(self, pairs: Sequence[Pair]) -> FloatArray:
        """Add up what every bandwidth moves, see :mod:`reldep.engine.bandwidths`."""
        added = np.zeros((len(pairs), self.n))
        everything = slice(0, self.n)
        for named in named_probes(self.kernels, pairs):
            sides = off_diagonal(named.probe.side(everything, everything))
            moves = named.probe.influence(sides.sum(axis=1) / (self.n - 1))
            slope = self._slope(named)
            for row, pair in zip(added, pairs, strict=True):
                for other in named.partners(pair):
                    total = np.einsum("ij,ij->", slope, self.matrices[other])
                    row += moves * (total / (self.n * (self.n - 1)))
        return added

    def _slope(self, named: NamedProbe) -> FloatArray:
        everything = slice(0, self.n)
        slope = named.probe.slope(everything, everything)
        return self.regressions[named.variable].unshared(slope)


def offered(
    covariates: Covariates, kernel: FittedKernel, first: Regression, points: FloatArray
) -> Covariates:
    """Offer what a first regression predicts of a variable beside the covariates.

    With a linear kernel that regression is the one that is wanted.
    """
    is_linear = isinstance(kernel, FittedDot) and kernel.degree == 1
    if is_linear or first.explained < WORTH_FOLLOWING:
        return covariates
    return covariates.following(first.predictions(points))


def off_diagonal(matrix: FloatArray) -> FloatArray:
    """Set the diagonal to 0, in place."""
    np.fill_diagonal(matrix, 0.0)
    return matrix


def check_rows(n: int) -> None:
    """Refuse more rows than can be regressed on covariates."""
    if n > MOST_ROWS:
        raise InputError(
            [
                Option("given"),
                f" takes up to {MOST_ROWS:,} observations, since regressions on covariates hold "
                f"hundreds of features of each; there are {n:,}.",
            ],
            "Draw that many of the rows at random.",
        )


def check_memory(n_variables: int, n: int) -> None:
    """Refuse more variables than have room for a matrix each."""
    needed = 8 * (n_variables + 6) * n**2
    if needed > available_memory():
        raise InputError(
            f"the residuals of {n_variables} variables at {n:,} observations take "
            f"{in_words(needed)} of memory, more than there is.",
            "Use fewer variables, or fewer of the rows.",
        )


def check_anything_left(name: str, explained: float, covariates: Covariates) -> None:
    """Refuse a variable that the covariates determine."""
    left = 1.0 - explained
    if left <= NOTHING_LEFT:
        raise InputError(
            f"{name} is determined by {covariates.conditioning({}).in_words()}, so nothing is "
            f"left of it that could depend on another variable (unexplained: {left:.1g} of its "
            "variance).",
            [f"Leave {name} out, or take its columns out of ", Option("given"), "."],
        )
