"""Residuals given covariates for more rows than whole matrices can be held of.

Every embedding, and that of the covariates, is represented by some hundred features: those of a
kernel that has as few, or else by the values with rows drawn at random (Nyström). A residual Gram
matrix then is a product of two narrow matrices, and so are the sums that A needs. With covariates
of few columns, whose smooth effects take few features, all of it is linear in the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.variables import Numeric
from reldep.engine.finishing import check_held
from reldep.engine.given.residuals import ORDER, check_anything_left, offered
from reldep.engine.given.unexplained import design
from reldep.engine.influence import Influence
from reldep.engine.terms import Pair, canonical
from reldep.exceptions import ApproximationWarning, InputError
from reldep.kernels.machine import available_memory, in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, IntArray, Variable
    from reldep.engine.given.unexplained import Covariates, Regression
    from reldep.kernels.base import FittedKernel

# Rows that the features of an embedding are made from.
LANDMARKS = 250

# Directions of the landmarks whose size is this share of the largest are rounding.
ROUNDING = 1e-10

# Rows from which the size of products is estimated.
SAMPLED = 1_500


@dataclass(frozen=True, eq=False)
class ResidualFactors:
    """A symmetric matrix with zeros on its diagonal; elsewhere it is ``left @ right.T``."""

    left: FloatArray
    right: FloatArray

    @classmethod
    def of(cls, regression: Regression, features: FloatArray) -> ResidualFactors:
        """Give the residual Gram matrix of features, without what two rows share.

        With ``U = (1/√m, V)``, shares s (1 for the constant), noise d and ``f = 1 - diag S`` that
        part is ``(U s G s U' - d U s U' - U s U' d) / f f'``, where ``G = U' d U``; see
        :meth:`reldep.engine.given.unexplained.Regression.unshared`.
        """
        n = len(features)
        centred = features - features.mean(axis=0)
        free = regression.free[:, None]
        fitted = regression.vectors @ (
            regression.shares[:, None] * (regression.vectors.T @ centred)
        )
        residuals = (centred - fitted) / free
        noise = free * np.einsum("ij,ij->i", residuals, residuals)[:, None]
        vectors = np.column_stack([np.full(n, n**-0.5), regression.vectors])
        scaled = vectors * np.append(1.0, regression.shares)
        other = noise * vectors - 0.5 * scaled @ (vectors.T @ (noise * vectors))
        return cls(
            np.column_stack([residuals, other / free, scaled / free]),
            np.column_stack([residuals, scaled / free, other / free]),
        )

    def row_sums(self, other: ResidualFactors) -> FloatArray:
        """Give the sums of products with another matrix over each row."""
        sums = np.einsum("ij,ij->i", self.left @ (self.right.T @ other.right), other.left)
        own = np.einsum("ij,ij->i", self.left, self.right)
        return np.asarray(sums - own * np.einsum("ij,ij->i", other.left, other.right))

    def block(self, rows: slice) -> FloatArray:
        """Give the matrix between some rows."""
        block = self.left[rows] @ self.right[rows].T
        np.fill_diagonal(block, 0.0)
        return np.asarray(block)


@dataclass(frozen=True, eq=False)
class FeatureResiduals:
    """As :class:`reldep.engine.given.residuals.Residuals`; bandwidths are held fixed.

    Attributes
    ----------
    kernels : mapping of str to FittedKernel
    covariates : Covariates
    regressions : mapping of str to Regression
    factors : mapping of str to ResidualFactors
    explained : mapping of str to float
    """

    kernels: Mapping[str, FittedKernel]
    covariates: Covariates
    regressions: Mapping[str, Regression]
    factors: Mapping[str, ResidualFactors]
    explained: Mapping[str, float]

    @classmethod
    def of(
        cls,
        kernels: Mapping[str, FittedKernel],
        covariates: Covariates,
        variables: Mapping[str, Variable] | None = None,
    ) -> FeatureResiduals:
        """Regress every variable on the covariates; parameters as for `Residuals.of`."""
        check_memory(len(kernels), covariates)
        regressions, factors, explained = {}, {}, {}
        for name, kernel in kernels.items():
            features = features_of(kernel.conditioned())
            variable, known = (variables or {}).get(name), covariates
            if isinstance(variable, Numeric):
                points = design(variable)[0]
                first = covariates.regress_features(points)
                explained[name] = first.explained
                known = offered(covariates, kernel, first, points)
            regressions[name] = known.regress_features(features)
            explained.setdefault(name, regressions[name].explained)
            check_anything_left(name, explained[name], covariates)
            factors[name] = ResidualFactors.of(regressions[name], features)
        return cls(kernels, covariates, regressions, factors, explained)

    @property
    def n(self) -> int:
        """The number of observations."""
        return self.covariates.n

    def influence(
        self, pairs: Sequence[Pair], *, means: Sequence[Pair] = (), bandwidths: bool = False
    ) -> Influence:
        """Finish the conditional means of these pairs; parameters as for `Residuals.influence`."""
        values = np.array([self._row_means(*pair) for pair in pairs])
        check_held(pairs, values, self.kernels)
        return Influence(
            values,
            tuple(pairs),
            tuple(self.kernels),
            self.n,
            "features",
            bandwidth_psi=np.zeros_like(values) if bandwidths else None,
            means={canonical(pair): float(self._row_means(*pair).mean()) for pair in means},
            order=ORDER,
            conditioning=self.covariates.conditioning(self.explained),
            notes=(
                ApproximationWarning(
                    f"{self.n:,} observations: kernels are approximated by {LANDMARKS} of them, "
                    "and bandwidths are held fixed, since regressions on covariates hold whole "
                    "matrices only for fewer."
                ),
            ),
        )

    def null_scale(self, pair: Pair) -> float:
        """As of :class:`~reldep.engine.given.residuals.Residuals`, from rows far apart."""
        x, y = (self.factors[name] for name in pair)
        rows = slice(0, self.n, max(1, self.n // SAMPLED))
        products = x.block(rows) * y.block(rows)
        m = len(products)
        squares = np.einsum("ij,ij->", products, products) / (m * (m - 1))
        one, two = (self.regressions[name] for name in pair)
        return float(np.sqrt(squares)) * one.overlap(two)

    def _row_means(self, x: str, y: str) -> FloatArray:
        return np.asarray(self.factors[x].row_sums(self.factors[y]) / (self.n - 1))


def features_of(kernel: FittedKernel, n_landmarks: int = LANDMARKS, seed: int = 0) -> FloatArray:
    """Give features whose inner products are the kernel's, up to what is added to whole rows.

    They stand for ``k(a, b) - k(a, o) - k(o, b) + k(o, o)`` with a fixed row o, which is positive
    for minus a distance too, and which regressions cannot tell from k.
    """
    own = kernel.features()
    if own is not None and own.shape[1] <= n_landmarks:
        dense = own if isinstance(own, np.ndarray) else own.toarray()
        return np.asarray(dense, dtype=np.float64)
    chosen = _landmarks(kernel, n_landmarks, seed)
    everything = slice(0, len(kernel))
    values = np.concatenate([kernel(slice(i, i + 1), everything) for i in chosen.tolist()])
    values -= values[:1].copy()
    values -= values[:, chosen[:1]].copy()
    among = values[1:, chosen[1:]]
    sizes, directions = np.linalg.eigh((among + among.T) / 2.0)
    kept = sizes > ROUNDING * sizes[-1]
    return np.asarray(values[1:].T @ (directions[:, kept] / np.sqrt(sizes[kept])))


def _landmarks(kernel: FittedKernel, n_landmarks: int, seed: int) -> IntArray:
    """Draw half of the rows at random; half stand evenly by their value with the first.

    Rare values, as of a column with few ones, lie at an end and are not missed.
    """
    n = len(kernel)
    drawn = np.random.default_rng(seed).choice(n, min(n_landmarks // 2 + 1, n), replace=False)
    first = int(drawn[0])
    order = np.argsort(kernel(slice(first, first + 1), slice(0, n))[0], kind="stable")
    even = order[np.linspace(0, n - 1, min(n_landmarks // 2, n)).astype(np.int64)]
    others = np.setdiff1d(np.concatenate([drawn[1:], even]), [first])
    return np.concatenate([[first], others]).astype(np.int64)


def check_memory(n_variables: int, covariates: Covariates) -> None:
    """Refuse more rows than have room for their features."""
    widest = max(len(basis.values) for basis in covariates.bases)
    needed = 8 * covariates.n * (2 * n_variables + 3) * (LANDMARKS + 2 * widest)
    if needed > available_memory():
        raise InputError(
            f"the residuals of {n_variables} variables at {covariates.n:,} observations take "
            f"{in_words(needed)} of memory, more than there is.",
            "Use fewer variables, or fewer of the rows.",
        )
