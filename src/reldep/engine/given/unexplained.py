"""What covariates leave unexplained of a kernel's feature map: leave-one-out residuals.

Every variable's embedding φ(x) is regressed on the covariates W by kernel ridge with a constant
that is not penalised. With S the matrix that takes values to fitted values, the residual of row i
predicted from all other rows is row i of ``R = diag(I-S)⁻¹ (I-S)``, so that the Gram matrix of
the residuals is ``R K R'``; no regression is ever repeated. R takes constants to 0. Whatever is
added to whole rows and columns of K drops out, which makes the formulas hold for minus a distance
as well.

If x is a function of W plus noise that does not depend on W, the mean of its embedding depends on W
through that function alone. So numbers are predicted first, and kernels of the predictions are
offered to the regression of the embedding beside those of W: a curve over one number is learned
from far fewer rows than a surface over many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.variables import Labels, Mixed, Numeric
from reldep.engine.influence import Conditioning
from reldep.engine.threads import blas_threads_for
from reldep.exceptions import InputTypeError
from reldep.kernels.base import KINDS_IN_WORDS
from reldep.kernels.columnwise import standardised
from reldep.kernels.radial import Gaussian

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reldep.data.variables import FloatArray, Variable
    from reldep.kernels.radial import FittedRadial

# Penalties that are tried, as multiples of the number of rows.
RIDGES = 10.0 ** np.arange(-6.0, 2.1, 0.5)

# The widths of Gaussian kernels that are tried, as multiples of the median distance. The second
# sum follows curves that are sharper than the median; smooth effects are better without it.
WIDTHS = ((1.0,), (1.0, 0.25))

# Directions of the covariates' kernel whose size is this share of the smallest penalty are left
# out: no regression would use them.
NEGLIGIBLE = 1e-9

# The same for decompositions of features, where fewer directions are worth more speed; and the
# share of the largest below which they are rounding.
SMALL_FEATURE = 1e-3
LEAST_FEATURE = 1e-12

# Up to so many rows the covariates' kernel is decomposed as a whole, which takes time as the cube
# of the rows; beyond it is represented by features.
DENSE_UP_TO = 2_000

ALL = slice(None)

# A row that decides its own fitted value up to this has no residual beyond rounding.
LEAST_FREE = 1e-5


@dataclass(frozen=True, eq=False)
class Basis:
    """A kernel of the covariates, centred and decomposed: all that regressions on them need.

    Attributes
    ----------
    vectors : ndarray, shape (m, k)
        Eigenvectors, orthogonal to the constant.
    values : ndarray, shape (k,)
        Their eigenvalues.
    """

    vectors: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, gram: FloatArray) -> Basis:
        """Decompose a kernel matrix."""
        values, vectors = np.linalg.eigh(centred(gram))
        kept = values > NEGLIGIBLE * RIDGES[0] * len(gram)
        return cls(np.ascontiguousarray(vectors[:, kept]), values[kept])

    @classmethod
    def of_features(cls, features: FloatArray) -> Basis:
        """Decompose the kernel that is the inner product of features."""
        inner = features - features.mean(axis=0)
        values, directions = np.linalg.eigh(inner.T @ inner)
        smallest = max(SMALL_FEATURE * RIDGES[0] * len(inner), LEAST_FEATURE * values[-1])
        kept = values > smallest
        return cls(inner @ (directions[:, kept] / np.sqrt(values[kept])), values[kept])

    def regress(
        self, half: FloatArray, start: FloatArray, square: FloatArray, rows: slice
    ) -> Iterator[Regression]:
        """Regress an embedding with the centred Gram matrix K, with every penalty.

        The loss is the sum of squared residuals of rows predicted from all others.

        Parameters
        ----------
        half : ndarray, shape (n, k)
            ``K @ vectors``, of the rows that the loss is summed over.
        start : ndarray, shape (n,)
            The diagonal of K, of the same rows.
        square : ndarray, shape (k, k)
            ``vectors.T @ K @ vectors``.
        rows : slice
            Those rows.
        """
        m = len(self.vectors)
        total = float(start.sum()) / (1.0 - 1.0 / m) ** 2
        for ridge in RIDGES * m:
            shares = self.values / (self.values + ridge)
            free = 1.0 - 1.0 / m - np.square(self.vectors) @ shares
            if free.min() < LEAST_FREE:
                continue
            scaled = self.vectors[rows] * shares
            squares = start - 2.0 * np.einsum("ik,ik->i", scaled, half)
            squares = squares + np.einsum("ik,ik->i", scaled @ square, scaled)
            left = float((squares / free[rows] ** 2).sum())
            explained = 1.0 - left / total if total > 0 else 0.0
            yield Regression(self.vectors, shares, free, explained)


@dataclass(frozen=True, eq=False)
class Covariates:
    """Covariates, ready for regressions on them.

    Attributes
    ----------
    bases : tuple of Basis
        Kernels of the covariates to choose from.
    points : ndarray, shape (n, k)
        Their standardised columns.
    n_columns : int
        The number of columns, where a label counts as one for every category but one.
    columns : tuple of str
        Their names, if they have names.
    whole : bool
        Whether whole matrices are held, or features.
    """

    bases: tuple[Basis, ...]
    points: FloatArray
    n_columns: int
    columns: tuple[str, ...] = ()
    whole: bool = True

    @classmethod
    def of(
        cls, variable: Variable, columns: Sequence[str] = (), *, whole: bool | None = None
    ) -> Covariates:
        """Decompose linear plus Gaussian kernels on standardised columns.

        The linear part is needed: with Gaussian ones alone, straight effects far out are shrunk
        towards the mean, and that bias looks like dependence.

        Parameters
        ----------
        variable : Variable
            Numbers, labels or both.
        columns : sequence of str
            The names of its columns.
        whole : bool, optional
            Whether to hold whole matrices; without it up to `DENSE_UP_TO` rows.
        """
        points, n_columns = design(variable)
        gaussian = Gaussian().fit(Numeric(variable.name, points))
        if not (len(points) <= DENSE_UP_TO if whole is None else whole):
            bases = _feature_bases(points, gaussian)
            return cls(bases, points, n_columns, tuple(columns), whole=False)
        everything = slice(0, len(points))
        with blas_threads_for(len(points)):
            linear = points @ points.T
            bases = tuple(
                Basis.of(sum((gaussian.scaled(f)(everything, everything) for f in widths), linear))
                for widths in WIDTHS
            )
        return cls(bases, points, n_columns, tuple(columns))

    @property
    def n(self) -> int:
        """The number of observations."""
        return len(self.points)

    def following(self, predicted: FloatArray) -> Covariates:
        """Offer kernels of what was predicted from the covariates beside those of themselves.

        Parameters
        ----------
        predicted : ndarray, shape (n, d)
            The columns of a variable, each row predicted from the other rows. Rows with the same
            covariates get their mean: what differs is only whose value is missing from it.
        """
        _, same = np.unique(self.points, axis=0, return_inverse=True)
        same = same.reshape(-1)
        sums = np.zeros((int(same.max()) + 1, predicted.shape[1]))
        np.add.at(sums, same, predicted)
        shared = (sums / np.bincount(same)[:, None])[same]
        gaussian = Gaussian().fit(Numeric("predicted", shared))
        return replace(self, bases=(*self.bases, *_feature_bases(self.points, gaussian)))

    def conditioning(self, explained: Mapping[str, float]) -> Conditioning:
        """Note what was held fixed, and the share of each variable that it explains."""
        return Conditioning(self.columns, self.n_columns, explained)

    def regress(self, gram: FloatArray) -> Regression:
        """Regress an embedding with this Gram matrix, by the kernel and penalty that fit best."""
        inner = centred(gram)
        tried: list[Regression] = []
        for basis in self.bases:
            half = inner @ basis.vectors
            tried += basis.regress(half, np.diagonal(inner), basis.vectors.T @ half, ALL)
        return self._best(tried)

    def regress_features(self, features: FloatArray) -> Regression:
        """Regress an embedding that these features stand for; some rows tell the penalty."""
        inner = features - features.mean(axis=0)
        rows = slice(0, self.n, max(1, self.n // DENSE_UP_TO))
        start = np.einsum("ij,ij->i", inner[rows], inner[rows])
        tried: list[Regression] = []
        for basis in self.bases:
            across = inner.T @ basis.vectors
            tried += basis.regress(inner[rows] @ across, start, across.T @ across, rows)
        return self._best(tried)

    def _best(self, tried: Iterable[Regression]) -> Regression:
        best = max(tried, key=lambda one: one.explained, default=None)
        if best is not None and best.explained > 0:
            return best
        # The covariates say nothing about this variable: only its mean is taken off.
        mean_only = np.full(self.n, 1.0 - 1.0 / self.n)
        return Regression(np.zeros((self.n, 0)), np.zeros(0), mean_only, 0.0)


@dataclass(frozen=True, eq=False)
class Regression:
    """A regression of an embedding on covariates.

    Attributes
    ----------
    vectors : ndarray, shape (m, k)
        The directions of the covariates.
    shares : ndarray, shape (k,)
        How much of each direction is fitted, from 0 to 1.
    free : ndarray, shape (m,)
        The diagonal of ``I - S``.
    explained : float
        The share of the embedding's variance that is predicted from the other rows.
    """

    vectors: FloatArray
    shares: FloatArray
    free: FloatArray
    explained: float

    def predictions(self, columns: FloatArray) -> FloatArray:
        """Predict every row of some columns from all other rows, but for the mean of all.

        Were each row left out of the mean too, predictions that hardly differ would give away the
        row's own value: it is what their mean lacks.
        """
        inner = columns - columns.mean(axis=0)
        fitted = self.vectors @ (self.shares[:, None] * (self.vectors.T @ inner))
        free = self.free + 1.0 / len(columns)
        return np.asarray(columns - (inner - fitted) / free[:, None])

    def overlap(self, other: Regression) -> float:
        """Tell how much more products of residuals add up than those of independent rows.

        Regressions on the same covariates take the same directions out of x and y, and residuals
        along the others are larger for it. With noise of one size ``G = R R'`` is the covariance
        of the residuals of one feature, and of the square of the sum ``Σ_i r_i s_i`` the mean is
        ``Σ_ij G_ij H_ij``; for independent rows it would be ``Σ_i G_ii H_ii``. The result is
        their ratio: 1/(1 - p/m) for two projections on the same p directions.
        """
        weights = 1.0 / (self.free * other.free)
        one, two = self._taken_out(), other._taken_out()
        own, others = (np.einsum("ij,ij->i", part, part) for part in (one, two))
        across = one.T @ (weights[:, None] * two)
        total = float(weights**2 @ (1.0 - own - others)) + float(
            np.einsum("ij,ij->", across, across)
        )
        return total / float(weights**2 @ ((1.0 - own) * (1.0 - others)))

    def _taken_out(self) -> FloatArray:
        """Give F with ``(I - S)² = I - F F'``."""
        n = len(self.free)
        scaled = self.vectors * np.sqrt(self.shares * (2.0 - self.shares))
        return np.column_stack([np.full(n, n**-0.5), scaled])

    def residuals(self, gram: FloatArray) -> FloatArray:
        """Give the Gram matrix of the leave-one-out residuals, ``R K R'``."""
        inner = centred(gram)
        scaled = self.vectors * self.shares
        half = inner @ scaled
        once = half @ self.vectors.T
        twice = (self.vectors @ (scaled.T @ half)) @ self.vectors.T
        return np.asarray((inner - once - once.T + twice) / np.outer(self.free, self.free))

    def unshared(self, gram: FloatArray) -> FloatArray:
        """Give the Gram matrix of the residuals without what two rows share by the regression.

        The residuals of rows i ≠ j hold each other's noise, since each row helped to predict the
        other: with noise of size d_k in row k the mean of their inner product is
        ``(R diag(d) R')_ij`` and not 0. Regressions of two variables on the same covariates share
        in the same way, and the product of both would look like dependence. It is taken off, with
        ``d_k = (1 - S_kk) (R K R')_kk``; the diagonal is set to 0.
        """
        found = self.residuals(gram)
        noise = self.free * np.diagonal(found)
        n = len(found)
        vectors = np.column_stack([np.full(n, n**-0.5), self.vectors])
        scaled = vectors * np.append(1.0, self.shares)
        once = (noise[:, None] * vectors) @ scaled.T
        twice = scaled @ (vectors.T @ (noise[:, None] * vectors)) @ scaled.T
        found -= (twice - once - once.T) / np.outer(self.free, self.free)
        np.fill_diagonal(found, 0.0)
        return found


def _feature_bases(points: FloatArray, gaussian: FittedRadial) -> tuple[Basis, ...]:
    """Decompose the linear kernel of points plus Gaussians of each choice of widths."""
    from reldep.engine.given.residuals import features_of

    return tuple(
        Basis.of_features(
            np.column_stack([points, *(features_of(gaussian.scaled(f)) for f in widths)])
        )
        for widths in WIDTHS
    )


def centred(matrix: FloatArray) -> FloatArray:
    """Take the mean off every row and column of a symmetric matrix."""
    means = matrix.mean(axis=1)
    return np.asarray(matrix - means[:, None] - means[None, :] + means.mean())


def design(variable: Variable) -> tuple[FloatArray, int]:
    """Give the standardised columns of covariates; labels become one column a category.

    Two rows with different labels are as far apart as two standardised numbers typically are.
    """
    parts = variable.parts if isinstance(variable, Mixed) else (variable,)
    columns: list[FloatArray] = []
    n_columns = 0
    for part in parts:
        if isinstance(part, Numeric):
            values, _ = standardised(part.values, part.values[:0])
            varies = values.any(axis=0)
            columns.append(values[:, varies])
            n_columns += int(varies.sum())
        elif isinstance(part, Labels):
            present, codes = np.unique(part.codes, return_inverse=True)
            columns.append(np.eye(len(present))[codes.reshape(-1)])
            n_columns += len(present) - 1
        else:
            raise InputTypeError(
                f"`given` holds {KINDS_IN_WORDS[type(part)]}. Pass columns of numbers or of labels."
            )
    return np.concatenate(columns, axis=1), n_columns
