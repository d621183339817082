"""A for dependences given covariates: conditional means of products of residual Gram matrices.

``θ_xy|w = ‖E[ε_x ⊗ ε_y]‖²``, with ε the residuals of the two embeddings, is estimated by the mean
of ``K_ij L_ij`` over i ≠ j, where K and L are the Gram matrices of the leave-one-out residuals,
less what the regressions make two rows share. It is a U-statistic of order 2. The error that the
two regressions leave in it is the product of their own errors, so that both may be slow (Shah
and Peters, 2020; Lundborg, Shah and Peters, 2022).

Where whole matrices cannot be held, every embedding, and that of the covariates, is represented by
some hundred features: those of a kernel that has as few, or else the values with rows drawn at
random (Nyström). A residual Gram matrix then is a product of two narrow matrices, and so are the
sums that A needs. With covariates of few columns, whose smooth effects take few features, all of
it is linear in the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import numpy as np

from reldep.data.variables import Numeric
from reldep.engine.bandwidths import followed_bandwidths
from reldep.engine.centred import Pair, canonical, check_held, numbered
from reldep.engine.given.unexplained import design
from reldep.engine.influence import Influence
from reldep.engine.threads import blas_threads_for
from reldep.exceptions import InputError
from reldep.kernels.dot import FittedDot
from reldep.system import available_memory, in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from reldep.data.variables import FloatArray, IntArray, Variable
    from reldep.engine.given.unexplained import Covariates, Regression
    from reldep.kernels.base import FittedKernel

ORDER = 2

# Beyond this even a few hundred features of every row are much.
MOST_ROWS = 200_000

# Predictions of a variable that explain less than this share of it are mostly noise of its own.
WORTH_FOLLOWING = 0.1

# A variable of which covariates leave no more than this is determined by them.
NOTHING_LEFT = 1e-3

# Rows that the features of an embedding are made from.
LANDMARKS = 250

# Directions of the landmarks whose size is this share of the largest are rounding.
ROUNDING = 1e-10

# Rows from which the size of products is estimated.
SAMPLED = 1_500

# How what is left of an embedding is held.
Left = TypeVar("Left")


@dataclass(frozen=True, eq=False)
class Residuals(ABC, Generic[Left]):
    """The residuals of several variables given the same covariates.

    Attributes
    ----------
    kernels : mapping of str to FittedKernel
    covariates : Covariates
    regressions : mapping of str to Regression
    left : mapping of str to ndarray or ResidualFactors
        The Gram matrices of the leave-one-out residuals, without what two rows share by the
        regression and with zeros on the diagonal.
    explained : mapping of str to float
        The share of each variable that the covariates explain.
    """

    kernels: Mapping[str, FittedKernel]
    covariates: Covariates
    regressions: Mapping[str, Regression]
    left: Mapping[str, Left]
    explained: Mapping[str, float]

    engine: ClassVar[str]

    @classmethod
    def of(
        cls,
        kernels: Mapping[str, FittedKernel],
        covariates: Covariates,
        variables: Mapping[str, Variable] | None = None,
    ) -> Self:
        """Regress every variable on the covariates.

        Parameters
        ----------
        kernels : mapping of str to FittedKernel
        covariates : Covariates
        variables : mapping of str to Variable, optional
            The data themselves. Of numbers the share is given that the covariates explain of
            them, not of their embedding, which depends on the kernel.
        """
        check_memory(len(kernels), covariates.n, cls.bytes_for(len(kernels), covariates))
        with blas_threads_for(covariates.n):
            return cls._of(kernels, covariates, variables or {})

    @classmethod
    def _of(
        cls,
        kernels: Mapping[str, FittedKernel],
        covariates: Covariates,
        variables: Mapping[str, Variable],
    ) -> Self:
        regressions, left, explained = {}, {}, {}
        for name, kernel in kernels.items():
            embedding = cls.embedding_of(kernel)
            variable, known = variables.get(name), covariates
            if isinstance(variable, Numeric):
                points = design(variable)[0]
                first = cls.regressed(covariates, cls.embedding_of_points(points))
                explained[name] = first.explained
                known = offered(covariates, kernel, first, points)
            regressions[name] = cls.regressed(known, embedding)
            explained.setdefault(name, regressions[name].explained)
            check_anything_left(name, explained[name], covariates)
            left[name] = cls.left_by(regressions[name], embedding)
        return cls(kernels, covariates, regressions, left, explained)

    @classmethod
    @abstractmethod
    def bytes_for(cls, n_variables: int, covariates: Covariates) -> int:
        """Give about how much memory the residuals of so many variables take."""

    @classmethod
    @abstractmethod
    def embedding_of(cls, kernel: FittedKernel) -> FloatArray:
        """Give the embedding of all observations, as it is regressed."""

    @classmethod
    @abstractmethod
    def embedding_of_points(cls, points: FloatArray) -> FloatArray:
        """Give that of points with the linear kernel."""

    @classmethod
    @abstractmethod
    def regressed(cls, covariates: Covariates, embedding: FloatArray) -> Regression:
        """Regress an embedding on the covariates."""

    @classmethod
    @abstractmethod
    def left_by(cls, regression: Regression, embedding: FloatArray) -> Left:
        """Give what a regression leaves of an embedding."""

    @abstractmethod
    def row_sums(self, x: str, y: str) -> FloatArray:
        """Sum the products of what is left of two variables over each row."""

    @abstractmethod
    def products(self, x: str, y: str) -> FloatArray:
        """Give the products of what is left of two variables, between all rows or some."""

    @abstractmethod
    def bandwidth_psi(self, pairs: Sequence[Pair]) -> FloatArray:
        """Give what bandwidths that the data chose add to the influence of every row."""

    def notes(self) -> tuple[str, ...]:
        """Return facts about the computation."""
        return ()

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
        values = np.array([self._row_means(*pair) for pair in pairs])
        check_held(pairs, values)
        with blas_threads_for(self.n):
            moved = self.bandwidth_psi(pairs) if bandwidths else None
        return Influence(
            values,
            tuple(pairs),
            tuple(self.kernels),
            self.n,
            self.engine,
            bandwidth_psi=moved,
            means={canonical(pair): float(self._row_means(*pair).mean()) for pair in means},
            order=ORDER,
            conditioning=self.covariates.conditioning(self.explained),
            notes=self.notes(),
        )

    def null_scale(self, pair: Pair) -> float:
        """Give what the estimate scatters by under conditional independence, over ``√2 / m``.

        It is the root mean square of the products ``K_ij L_ij``, even where the residuals of both
        vary more at some values of the covariates than at others, times what the regressions
        have in common.
        """
        products = self.products(*pair)
        m = len(products)
        squares = np.einsum("ij,ij->", products, products) / (m * (m - 1))
        one, two = (self.regressions[name] for name in pair)
        return float(np.sqrt(squares)) * one.overlap(two)

    def _row_means(self, x: str, y: str) -> FloatArray:
        return np.asarray(self.row_sums(x, y) / (self.n - 1))


class WholeResiduals(Residuals["FloatArray"]):
    """Residuals whose Gram matrices are held."""

    engine: ClassVar[str] = "dense"

    @classmethod
    def bytes_for(cls, n_variables: int, covariates: Covariates) -> int:
        return 8 * (n_variables + 6) * covariates.n**2

    @classmethod
    def embedding_of(cls, kernel: FittedKernel) -> FloatArray:
        return kernel(slice(0, len(kernel)), slice(0, len(kernel)))

    @classmethod
    def embedding_of_points(cls, points: FloatArray) -> FloatArray:
        return np.asarray(points @ points.T)

    @classmethod
    def regressed(cls, covariates: Covariates, embedding: FloatArray) -> Regression:
        return covariates.regress(embedding)

    @classmethod
    def left_by(cls, regression: Regression, embedding: FloatArray) -> FloatArray:
        return regression.unshared(embedding)

    def row_sums(self, x: str, y: str) -> FloatArray:
        return np.asarray(np.einsum("ij,ij->i", self.left[x], self.left[y]))

    def products(self, x: str, y: str) -> FloatArray:
        return self.left[x] * self.left[y]

    def bandwidth_psi(self, pairs: Sequence[Pair]) -> FloatArray:
        """Add up what every bandwidth moves, see :mod:`reldep.engine.bandwidths`."""
        added = np.zeros((len(pairs), self.n))
        everything = slice(0, self.n)
        names, used, places, _, _ = numbered(self.kernels, pairs)
        for one in followed_bandwidths(used, places):
            scores = one.bandwidth.score(everything, everything)
            np.fill_diagonal(scores, 0.0)
            moves = one.bandwidth.leverage(scores.sum(axis=1) / (self.n - 1))
            slope = one.bandwidth.slope(everything, everything)
            slope = self.regressions[names[one.variable]].unshared(slope)
            for row, (x, y) in zip(added, pairs, strict=True):
                for variable, other in ((x, y), (y, x)):
                    if variable == names[one.variable]:
                        total = np.einsum("ij,ij->", slope, self.left[other])
                        row += moves * (total / (self.n * (self.n - 1)))
        return added


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


class FeatureResiduals(Residuals[ResidualFactors]):
    """Residuals of features, for many rows; bandwidths are held fixed."""

    engine: ClassVar[str] = "features"

    @classmethod
    def bytes_for(cls, n_variables: int, covariates: Covariates) -> int:
        widest = max(len(basis.values) for basis in covariates.bases)
        return 8 * covariates.n * (2 * n_variables + 3) * (LANDMARKS + 2 * widest)

    @classmethod
    def embedding_of(cls, kernel: FittedKernel) -> FloatArray:
        return features_of(kernel)

    @classmethod
    def embedding_of_points(cls, points: FloatArray) -> FloatArray:
        return points

    @classmethod
    def regressed(cls, covariates: Covariates, embedding: FloatArray) -> Regression:
        return covariates.regress_features(embedding)

    @classmethod
    def left_by(cls, regression: Regression, embedding: FloatArray) -> ResidualFactors:
        return ResidualFactors.of(regression, embedding)

    def row_sums(self, x: str, y: str) -> FloatArray:
        return self.left[x].row_sums(self.left[y])

    def products(self, x: str, y: str) -> FloatArray:
        """Give those between rows far apart."""
        rows = slice(0, self.n, max(1, self.n // SAMPLED))
        return self.left[x].block(rows) * self.left[y].block(rows)

    def bandwidth_psi(self, pairs: Sequence[Pair]) -> FloatArray:
        return np.zeros((len(pairs), self.n))

    def notes(self) -> tuple[str, ...]:
        return (
            f"{self.n:,} observations: kernels are approximated by {LANDMARKS} of them, and "
            "bandwidths are held fixed, since regressions on covariates hold whole matrices only "
            "for fewer.",
        )


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


def check_rows(n: int) -> None:
    """Refuse more rows than can be regressed on covariates."""
    if n > MOST_ROWS:
        raise InputError(
            f"`given` takes up to {MOST_ROWS:,} observations, since regressions on covariates hold "
            f"hundreds of features of each; there are {n:,}. Draw that many of the rows at random."
        )


def check_memory(n_variables: int, n: int, needed: int) -> None:
    """Refuse more variables, or more rows, than there is room for."""
    if needed > available_memory():
        raise InputError(
            f"the residuals of {n_variables} variables at {n:,} observations take "
            f"{in_words(needed)} of memory, more than there is. Use fewer variables, or fewer of "
            "the rows."
        )


def check_anything_left(name: str, explained: float, covariates: Covariates) -> None:
    """Refuse a variable that the covariates determine."""
    left = 1.0 - explained
    if left <= NOTHING_LEFT:
        raise InputError(
            f"{name} is determined by {covariates.conditioning({}).in_words()}, so nothing is left "
            f"of it that could depend on another variable (unexplained: {left:.1g} of its "
            f"variance). Leave {name} out, or take its columns out of `given`."
        )


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
