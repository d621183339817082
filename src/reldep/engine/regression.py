"""The mathematics of regressions on covariates: smoothers, single terms, and their choice.

Terms are steps, hinges, products, and steps or lines within steps. A greedy search takes one after
another, the same for all variables; rows left out in turn decide how many are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from reldep.data.variables import FloatArray, IntArray
from reldep.kernels.base import FittedKernel

# The smallest relative eigenvalue, singular value or loss that is not rounding.
ROUNDING = 1e-9


class Search(NamedTuple):
    """How a regression is looked for; the values were chosen by simulation at 60 to 300 rows.

    Attributes
    ----------
    ridges : ndarray
        Penalties, as multiples of the rows, for features with a mean square of 1.
    undersmoothing : float
        The share of the best penalty that is used.
    more_terms : float
        The multiple of the best number of terms that is used.
    most_terms : int
        The most terms; no more than one for eight rows.
    folds : int
        Parts of the rows that are left out in turn to choose the number of terms.
    rows : int
        The most rows that choose terms; all rows are fitted.
    landmarks, per_column : int
        The most features of all columns together, and of one column.
    steps, hinges : int
        The parts of equal size that a column is cut into.
    leaf : int
        The fewest rows on one side of a step.
    products, joints : int
        The most products of two columns, and of steps with steps or columns, that are tried.
    joint : int
        The parts of equal size at whose ends joint steps are tried, before they are moved.
    components : int
        The most columns of a variable that choose; of more, its principal components do. Also
        the features of a shape.
    most_df : float
        The most degrees of freedom of a regression, as a share of the rows.
    worth : float
        A spread counts if it predicts left-out rows this well, relative to the mean.
    alone : float
        Rows of which straight effects leave a smaller share are dropped.
    """

    ridges: FloatArray = 10.0 ** np.arange(-5.0, 1.1, 0.5)
    undersmoothing: float = 0.1
    more_terms: float = 1.5
    most_terms: int = 25
    folds: int = 10
    rows: int = 2_000
    landmarks: int = 300
    per_column: int = 60
    steps: int = 60
    hinges: int = 15
    joint: int = 4
    joints: int = 3_000
    leaf: int = 5
    products: int = 500
    components: int = 15
    most_df: float = 0.5
    worth: float = 0.98
    alone: float = 0.05


SEARCH = Search()


@dataclass(frozen=True, eq=False)
class Smoother:
    """A regression: the fitted values of y are ``QQ'y + V diag(shares) V'y``.

    Attributes
    ----------
    straight : ndarray, shape (m, p)
        Q, the orthonormal columns that are taken out whole.
    vectors : ndarray, shape (m, r)
        V, orthonormal and orthogonal to Q.
    shares : ndarray, shape (r,)
        From 0 to 1.
    """

    straight: FloatArray
    vectors: FloatArray
    shares: FloatArray

    def leftover(self, columns: FloatArray) -> FloatArray:
        """Return ``(I - S) y``."""
        Q, V = self.straight, self.vectors
        curves = V @ (self.shares[:, None] * (V.T @ columns))
        return np.asarray(columns - Q @ (Q.T @ columns) - curves)

    def diagonal(self, shares: FloatArray) -> FloatArray:
        """Return the diagonal of ``I - QQ' - V diag(shares) V'``."""
        used = np.square(self.straight).sum(axis=1) + np.square(self.vectors) @ shares
        return np.asarray(1.0 - used)

    @property
    def effective_rows(self) -> float:
        """The number of independent rows that the residuals are worth."""
        m, kept = len(self.straight), np.square(1.0 - self.shares)
        rest = m - self.straight.shape[1] - len(kept)
        return float(min((rest + kept.sum()) ** 2 / (rest + np.square(kept).sum()) + 1.0, m))

    def residuals(self, columns: FloatArray) -> FloatArray:
        """Return residuals of equal variance in all rows, ``(I - S)y / √diag G``."""
        width = self.diagonal(2.0 * self.shares - np.square(self.shares))
        root = np.sqrt(np.maximum(width, SEARCH.alone))
        return np.asarray(self.leftover(columns) / root[:, None])


class Term(NamedTuple):
    """A column that a regression may take beyond the straight ones."""

    kind: str
    column: int
    at: float
    inside: Term | None = None

    def values(self, columns: FloatArray) -> FloatArray:
        """Return the term in all rows of the standardised covariates."""
        if self.inside is not None:
            own = self._replace(inside=None).values(columns)
            return own * (self.inside.values(columns) > 0)
        column = columns[:, self.column]
        if self.kind == "line":
            return column
        if self.kind == "product":
            return np.asarray(column * columns[:, int(self.at)])
        above = column > self.at
        return np.asarray(above * 1.0 if self.kind == "step" else above * (column - self.at))

    def in_words(self, names: Sequence[str]) -> str:
        """Return what the term is, by the names of the columns."""
        if self.inside is not None:
            own = self._replace(inside=None).in_words(names)
            return f"{own} within {self.inside.in_words(names)}"
        if self.kind == "product":
            return f"{names[self.column]} × {names[int(self.at)]}"
        return f"a {self.kind} in {names[self.column]}"


def dictionary(columns: FloatArray, n_numbers: int, search: Search) -> list[Term]:
    """Return the terms that may be taken of the columns, of which the first are numbers."""
    width = columns.shape[1]
    numbers = [np.sort(column) for column in columns[:, :n_numbers].T]
    lines = [Term("line", j, 0.0) for j in range(width)]
    terms = lines + cuts("step", numbers, search.steps, search.leaf)
    terms += cuts("hinge", numbers, search.hinges)
    if width * (width - 1) // 2 <= search.products:
        terms += [Term("product", i, j) for i in range(width) for j in range(i + 1, width)]
    few = cuts("step", numbers, search.joint, search.leaf)
    joint = [a._replace(inside=b) for b in few for a in few if a.column < b.column]
    joint += [a._replace(inside=b) for b in few for a in lines if a.column != b.column]
    return terms + (joint if len(joint) <= search.joints else [])


def cuts(kind: str, numbers: Sequence[FloatArray], parts: int, leaf: int = 0) -> list[Term]:
    """Return steps or hinges that cut sorted columns into parts of equal size.

    Parameters
    ----------
    kind : {"step", "hinge"}
    numbers : sequence of ndarray
    parts : int
    leaf : int
        The fewest rows on one side of a step.
    """
    terms = []
    at = np.arange(1, parts) / parts
    for j, column in enumerate(numbers):
        if len(np.unique(column)) <= 2:
            continue
        if kind == "hinge":
            places = np.unique(np.quantile(column, at))
        else:
            places = np.unique(np.quantile(column, at, method="inverted_cdf"))
            above = len(column) - np.searchsorted(column, places, side="right")
            places = places[(above >= leaf) & (above <= len(column) - leaf)]
        terms += [Term(kind, j, place) for place in places.tolist()]
    return terms


def evenly(order: IntArray, most: int) -> IntArray:
    """Return at most this many places, evenly along an order."""
    return np.asarray(order[np.linspace(0, len(order) - 1, min(most, len(order))).astype(int)])


def orthonormal(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the span of columns."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > ROUNDING * sizes[0]])


def principal(features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvectors and eigenvalues of ``FF'`` that are not 0."""
    is_wide = features.shape[1] >= len(features)
    sizes, T = np.linalg.eigh(features @ features.T if is_wide else features.T @ features)
    kept = sizes > ROUNDING * max(sizes[-1:], default=0.0)
    sizes, T = sizes[kept], T[:, kept]
    return (T if is_wide else np.asarray(features @ (T / np.sqrt(sizes)))), sizes


def radial(points: FloatArray, rows: IntArray, width: float, power: int) -> FloatArray:
    """Return features of ``exp(-(d/s)^power / power)``, s a multiple of the mean distance."""
    distances = cdist(points, points[rows])
    if not distances.any():
        return np.empty((len(points), 0))
    K = np.exp(-((distances / (width * distances.mean())) ** power) / power)
    sizes, T = np.linalg.eigh(K[rows])
    kept = sizes > ROUNDING * sizes[-1]
    return np.asarray(K @ (T[:, kept] / np.sqrt(sizes[kept])))


def leading_features(kernel: FittedKernel, rows: IntArray, most: int) -> FloatArray:
    """Return the leading features of a kernel, by its values at some rows; exact at all rows."""
    K = kernel(slice(None), rows)
    K -= K[rows].mean(axis=0)
    K -= K.mean(axis=1, keepdims=True)
    sizes, T = np.linalg.eigh(K[rows])
    kept = np.flatnonzero(sizes > ROUNDING * sizes[-1])[-most:]
    return np.asarray(K @ (T[:, kept] / np.sqrt(sizes[kept])))


class Pursuit:
    """Greedy regression: terms are chosen one by one, the same for all columns of Y."""

    def __init__(self, W: FloatArray, Y: FloatArray) -> None:
        self.W, self.R, self.Q = W, Y - Y.mean(axis=0), np.zeros((len(W), 0))

    def gains(self, X: FloatArray, left: FloatArray, full: FloatArray) -> FloatArray:
        """Return what centred columns would explain, if more than 1% of them is left."""
        is_left = left > 0.01 * full
        found = np.square(self.R.T @ X).sum(axis=0) / np.where(is_left, left, 1.0)
        return np.where(is_left, found, 0.0)

    def take(self, column: FloatArray) -> FloatArray:
        """Take a centred column, and return what of it is new, of length 1."""
        q = column - self.Q @ (self.Q.T @ column)
        q /= np.linalg.norm(q)
        self.R = self.R - np.outer(q, q @ self.R)
        self.Q = np.column_stack([self.Q, q])
        return np.asarray(q)

    def best(self, terms: Sequence[Term]) -> tuple[Term, FloatArray]:
        """Return the term that explains most, and its centred values."""
        X = np.column_stack([term.values(self.W) for term in terms])
        X -= X.mean(axis=0)
        full = np.square(X).sum(axis=0)
        j = int(self.gains(X, full - np.square(self.Q.T @ X).sum(axis=0), full).argmax())
        return terms[j], X[:, j]

    def moved(self, term: Term, cuts: Mapping[int, Sequence[float]]) -> tuple[Term, FloatArray]:
        """Return a joint term with its cuts moved in turn to where it explains most."""
        for _ in range(2):
            inner = term.inside or term
            inside = [inner._replace(at=at) for at in cuts[inner.column]]
            term, column = self.best([term._replace(inside=one) for one in inside])
            if term.kind == "step":
                term, column = self.best([term._replace(at=at) for at in cuts[term.column]])
        return term, column


def pursue(terms: Sequence[Term], W: FloatArray, Y: FloatArray, most: int) -> list[Term]:
    """Choose terms one by one; of joint terms the cuts are moved to where they explain most."""
    cuts: dict[int, list[float]] = {}
    for term in terms:
        if term.kind == "step" and term.inside is None:
            cuts.setdefault(term.column, []).append(term.at)
    fit, chosen = Pursuit(W, Y), list[Term]()
    D = np.column_stack([term.values(W) for term in terms])
    D -= D.mean(axis=0)
    full = np.square(D).sum(axis=0)
    left = full.copy()
    for _ in range(most):
        gain = fit.gains(D, left, full)
        j = int(gain.argmax())
        if gain[j] <= ROUNDING:
            break
        term, column = terms[j], D[:, j]
        if term.inside is not None:
            term, column = fit.moved(term, cuts)
        q = fit.take(column)
        left -= np.square(q @ D)
        chosen.append(term)
    return chosen


def predictions(
    terms: Sequence[Term], W: FloatArray, Y: FloatArray, fold: IntArray, most: int
) -> FloatArray:
    """Predict every fold from the others by 0, 1, … terms, shape (most + 1, m, q)."""
    found = np.empty((most + 1, *Y.shape))
    for k in np.unique(fold):
        on, off = fold != k, fold == k
        mean, chosen = Y[on].mean(axis=0), pursue(terms, W[on], Y[on], most)
        X = np.column_stack([np.empty((len(W), 0)), *(term.values(W) for term in chosen)])
        X -= X[on].mean(axis=0)
        q, r = np.linalg.qr(X[on])
        parts = np.linalg.solve(r.T, X[off].T)[:, :, None] * (q.T @ (Y[on] - mean))[:, None, :]
        found[:, off] = mean
        found[1 : len(chosen) + 1, off] += np.cumsum(parts, axis=0)
        found[len(chosen) + 1 :, off] = found[len(chosen), off]
    return found
