"""What covariates leave of the variables of a question: residuals by one common regression.

Every residual is the same combination of rows, ``(I - S)(x, y, z)``, so that estimating S costs
rows but favours no variable. Straight effects and labels are taken out whole. Curves are taken out
by ridge regression on top, less smoothly than prediction would: what is left of a curve makes
variables look unlike, while noise is common to all. Single terms (steps, hinges, products, steps
within steps) join the straight columns if they predict left-out rows better than the curves do. A
spread that varies with the covariates is divided out. Where the rest still depends on them, its
kernel features are taken, less what the covariates predict of these.

With ``G = (I-S)(I-S)'`` the residuals are worth ``(tr G)² / tr G² + 1`` rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from reldep.data.variables import BoolArray, FloatArray, IntArray
from reldep.engine import regression
from reldep.engine.regression import ROUNDING, SEARCH, Search, Smoother, Term
from reldep.kernels.columnwise import standardised
from reldep.words import listed

# The most names in a sentence.
MOST_NAMED = 8


class Choice(NamedTuple):
    """The regression that was chosen, what it loses on left-out rows, and its terms."""

    smoother: Smoother
    losses: FloatArray
    basis: str
    terms: tuple[Term, ...] = ()

    def in_words(self, names: Sequence[str], *, joint: bool = False) -> tuple[str, ...]:
        """Return the terms beyond straight lines, or the joint ones, by names of columns."""
        beyond = [t for t in self.terms if t.inside or (t.kind != "line" and not joint)]
        return tuple(dict.fromkeys(term.in_words(names) for term in beyond))


class Covariates:
    """Columns that are held fixed, and the regressions on them.

    Parameters
    ----------
    numbers : ndarray, shape (m, p)
    labels : sequence of ndarray of int
        The codes of every column of labels.
    units : ndarray of int, optional
        Rows with the same code are left out together.
    search : Search
    """

    def __init__(
        self,
        numbers: FloatArray,
        labels: Sequence[IntArray] = (),
        units: IntArray | None = None,
        search: Search = SEARCH,
    ) -> None:
        self.units, self.search = units, search
        self.numbers, _ = standardised(numbers, numbers[:0])
        self.m, self.p = self.numbers.shape
        dummies = [np.unique(codes, return_inverse=True)[1].reshape(-1) for codes in labels]
        self.dummies = [np.eye(int(codes.max()) + 1)[codes] for codes in dummies]
        self.columns = np.column_stack([self.numbers, *self.dummies])
        self.straight = np.column_stack(
            [np.ones(self.m), self.numbers, *(dummy[:, 1:] for dummy in self.dummies)]
        )
        self.Q = regression.orthonormal(self.straight)

    @property
    def alone(self) -> BoolArray:
        """Rows of which straight effects leave nothing, such as a row alone in its category."""
        return np.asarray(np.square(self.Q).sum(axis=1) > 1.0 - self.search.alone)

    @property
    def is_one_label(self) -> bool:
        """Whether there is nothing but one column of labels, which has no curve."""
        return not self.p and len(self.dummies) == 1

    @cached_property
    def features(self) -> dict[str, FloatArray]:
        """Features of curves over the covariates, by the name of the basis."""
        found = {"straight": np.zeros((self.m, 0))}
        if self.is_one_label:
            return found
        few = self.search.landmarks
        rows = regression.evenly(np.lexsort(self.columns.T[::-1]), few)
        found["smooth"] = regression.radial(self.columns, rows, 1.0, 2)
        if self.columns.shape[1] <= 3:
            sharp = regression.radial(self.columns, rows, 0.25, 2)
            found["sharp"] = np.column_stack([found["smooth"], sharp])
        if self.p > 1:
            from scipy.stats import rankdata

            each = self.search.per_column
            if self.m > few:
                each = min(max(few // self.p, each // 4), each)
            ranks = rankdata(self.numbers, axis=0)
            curves = [
                regression.radial(
                    column[:, None], np.argsort(column)[:: max(1, self.m // each)], 1.0, 1
                )
                for column in ranks.T
            ]
            found["additive"] = np.column_stack(curves)
        return found

    def smoothers(
        self,
        straight: FloatArray,
        penalised: FloatArray | None = None,
        bases: Mapping[str, FloatArray] | None = None,
    ) -> Iterator[tuple[str, float, Smoother]]:
        """Yield the regression for every basis and penalty.

        Parameters
        ----------
        straight : ndarray, shape (m, p)
            Orthonormal columns to take out whole; the constant is among them.
        penalised : ndarray, optional
            Columns that join every basis.
        bases : mapping of str to ndarray, optional
            Further ones.
        """
        most = max(self.search.most_df * self.m - straight.shape[1], 1.0)
        for name, features in {**self.features, **(bases or {})}.items():
            F = features if penalised is None else np.column_stack([features, penalised])
            F = F - F.mean(axis=0)
            F /= np.sqrt(np.square(F).sum() / self.m) if F.size else 1.0
            V, sizes = regression.principal(F - straight @ (straight.T @ F))
            for ridge in self.search.ridges * self.m if len(sizes) else [1.0]:
                shares = sizes / (sizes + ridge)
                if shares.sum() <= most:
                    yield name, float(ridge), Smoother(straight, V, shares)

    def left_out(self, smoother: Smoother, columns: FloatArray) -> FloatArray:
        """Return the errors of predicting each row, or unit of rows, from all others."""
        R, s = smoother.leftover(columns), smoother.shares
        least = 0.02  # such rows decide nothing
        if self.units is None:
            return R / np.maximum(smoother.diagonal(s), least)[:, None]
        codes, counts = np.unique(self.units, return_inverse=True, return_counts=True)[1:]
        order, starts = np.argsort(codes, kind="stable"), np.cumsum(counts) - counts
        errors = np.empty_like(R)
        for size in np.unique(counts):
            rows = order[starts[counts == size][:, None] + np.arange(size)]
            Q, V = smoother.straight[rows], smoother.vectors[rows]
            H = np.eye(size) - Q @ Q.transpose(0, 2, 1) - (V * s) @ V.transpose(0, 2, 1)
            values, T = np.linalg.eigh(H)
            inverse = np.where(values > least, 1.0 / np.maximum(values, least), 0.0)
            errors[rows] = T @ (inverse[..., None] * (T.transpose(0, 2, 1) @ R[rows]))
        return errors

    def ridge(self, columns: FloatArray, weights: FloatArray, straight: FloatArray) -> Choice:
        """Choose basis and penalty by left-out error, and smooth less than that."""
        tried = list(self.smoothers(straight))
        losses = [np.square(self.left_out(one, columns)).mean(axis=0) for *_, one in tried]
        best = int(np.argmin([total(loss, weights) for loss in losses]))
        basis, ridge, _ = tried[best]
        least = 0.99 * self.search.undersmoothing * ridge
        near = [one for one in tried if one[0] == basis and least <= one[1] <= ridge]
        return Choice(min(near, key=lambda one: one[1])[2], losses[best], basis)

    def regress(self, columns: FloatArray, weights: FloatArray) -> Choice:
        """Choose one regression for all columns.

        Parameters
        ----------
        columns : ndarray, shape (m, q)
            With mean 0 and standard deviation 1.
        weights : ndarray, shape (q,)
            Of the logarithms of their losses.
        """
        found = self.ridge(columns, weights, self.Q)
        if self.is_one_label:
            return found
        # Ties in the covariates are broken by the columns, so that the order of rows is irrelevant.
        order = np.lexsort(np.column_stack([columns, self.columns[:, ::-1]]).T)
        few = regression.evenly(order, self.search.rows)
        W = self.columns[few]
        terms = regression.dictionary(W, self.p, self.search)
        U, most = columns[few] * np.sqrt(weights), min(max(self.m // 8, 4), self.search.most_terms)
        fold = np.arange(len(few)) if self.units is None else self.units[few]
        fold = np.unique(fold, return_inverse=True)[1].reshape(-1) % self.search.folds
        path = np.square(U - regression.predictions(terms, W, U, fold, most)).mean(axis=1) / weights
        totals = [total(loss, weights) for loss in path]
        k = int(np.argmin(totals))
        if not k or totals[k] >= total(found.losses, weights):
            return found
        chosen = regression.pursue(terms, W, U, min(int(np.ceil(self.search.more_terms * k)), most))
        beyond = [term.values(self.columns) for term in chosen]
        again = self.ridge(
            columns, weights, regression.orthonormal(np.column_stack([self.straight, *beyond]))
        )
        return Choice(again.smoother, path[k], again.basis, tuple(chosen))

    def penalised_errors(
        self, columns: FloatArray, bases: Mapping[str, FloatArray] | None = None
    ) -> Iterator[FloatArray]:
        """Yield the errors of predicting left-out rows, for every regression.

        All covariates are penalised, so that a category of few rows has the prediction of all.
        """
        constant = np.full((self.m, 1), self.m**-0.5)
        for *_, smoother in self.smoothers(constant, self.straight[:, 1:], bases):
            yield self.left_out(smoother, columns)

    def spreads(self, residuals: FloatArray) -> FloatArray:
        """Return the spread of each column given the covariates; 1 where none can be predicted.

        Predictions are left-out ones of ``log e²``.
        """
        L = np.log(np.square(residuals) + 1e-4 * residuals.var(axis=0))
        least = self.search.worth * L.var(axis=0) * (self.m / (self.m - 1.0)) ** 2
        spreads = np.ones_like(L)
        for errors in self.penalised_errors(L):
            losses = np.square(errors).mean(axis=0)
            better = np.flatnonzero(losses < least)
            fits = L[:, better] - errors[:, better]
            ends = np.quantile(fits, [0.01, 0.99], axis=0)
            spreads[:, better] = np.exp(np.clip(fits, *ends) / 2.0)
            least[better] = losses[better]
        return np.asarray(spreads)

    def unpredicted(self, features: FloatArray, means: FloatArray) -> FloatArray | None:
        """Return what is not predicted of features; None if nothing is.

        Parameters
        ----------
        features : ndarray, shape (m, r)
        means : ndarray, shape (m, d)
            The fitted values of the variable itself. A rating or a count has its shape from its
            mean, however many covariates move that.
        """
        rows = regression.evenly(np.lexsort(means.T[::-1]), self.search.landmarks)
        curves = np.column_stack(
            [regression.radial(means, rows, width, 2) for width in (1.0, 0.25)]
        )
        found, least = None, features.var(axis=0).sum() * (self.m / (self.m - 1.0)) ** 2
        for errors in self.penalised_errors(features, {"mean": curves}):
            loss = np.square(errors).mean(axis=0).sum()
            if loss < least:
                found, least = errors, loss
        return found


def total(losses: FloatArray, weights: FloatArray) -> float:
    """Return the weighted sum of the logarithms of losses."""
    return float(weights @ np.log(np.maximum(losses, ROUNDING)))


@dataclass(frozen=True, eq=False)
class Regression:
    """One regression for all variables of a question.

    Attributes
    ----------
    covariates : Covariates
    choice : Choice
    explained : mapping of str to float
        The share of each variable's variance that it predicts of rows left out, from 0 to 1.
    errors : mapping of str to float
        Its own error, as a share of what it leaves of each variable.
    """

    covariates: Covariates
    choice: Choice
    explained: Mapping[str, float]
    errors: Mapping[str, float]

    @classmethod
    def of(cls, covariates: Covariates, tables: Mapping[str, FloatArray]) -> Self:
        """Choose the regression by columns of numbers, by the name of their variable."""
        most = covariates.search.components
        parts = {name: leading(values, most) for name, values in tables.items()}
        columns = np.column_stack([part for part, _ in parts.values()])
        found = covariates.regress(columns, np.concatenate([own for _, own in parts.values()]))
        left = np.square(found.smoother.residuals(columns)).mean(axis=0)
        explained, errors, start = {}, {}, 0
        for name, (part, weights) in parts.items():
            own = slice(start, start := start + part.shape[1])
            loss = float(weights @ found.losses[own])
            explained[name] = min(max(1.0 - loss, 0.0), 1.0)
            errors[name] = max(loss / float(weights @ left[own]) - 1.0, 0.0)
        return cls(covariates, found, explained, errors)

    def means(self, values: FloatArray) -> FloatArray:
        """Return the fitted values of standardised columns.

        They are functions of the covariates; predictions of left-out rows are not, and betray what
        was left out.
        """
        columns, _ = standardised(values, values[:0])
        return columns - self.choice.smoother.leftover(columns)

    def residuals(self, values: FloatArray, *, has_spread: bool) -> tuple[FloatArray, bool]:
        """Return what is left of columns in their own units, and whether a spread is divided out.

        Parameters
        ----------
        values : ndarray, shape (m, d)
        has_spread : bool
            Whether their spread may vary with the covariates.
        """
        exponents = np.frexp(np.abs(values).max(axis=0))[1]
        units = np.ldexp(np.ldexp(values, -exponents).std(axis=0), exponents)
        left = self.choice.smoother.residuals(standardised(values, values[:0])[0])
        if not has_spread:
            return left * units, False
        spreads = self.covariates.spreads(left)
        even = left / spreads
        # The spread as a whole stays as it is.
        before, after = (np.sqrt(np.square(one).mean(axis=0)) for one in (left, even))
        whole = before / np.where(after > 0, after, 1.0)
        return even * (whole * units), bool((spreads != 1.0).any())


def leading(values: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Return standardised columns and their weights, which add up to 1.

    Of many columns the leading principal components, weighted by their variance.
    """
    columns, _ = standardised(values, values[:0])
    if columns.shape[1] <= most:
        columns = columns[:, columns.any(axis=0)]
        return columns, np.full(columns.shape[1], 1.0 / columns.shape[1])
    exponent = np.frexp(np.abs(values).max())[1]
    inside = np.ldexp(values, -exponent)
    vectors, sizes, _ = np.linalg.svd(inside - inside.mean(axis=0), full_matrices=False)
    kept = min(most, int((sizes > ROUNDING * sizes[0]).sum()))
    shares = np.square(sizes[:kept]) / np.square(sizes[:kept]).sum()
    return vectors[:, :kept] * np.sqrt(len(vectors)), shares


@dataclass(frozen=True, eq=False)
class Conditioning:
    """Covariates that are held fixed, and what they leave.

    Attributes
    ----------
    columns : tuple of str
        Their names, if they have names.
    n_columns : int
        Their number, where a label counts as one for every category but one.
    explained : mapping of str to float
        The share of each variable's variance that they predict of rows left out, from 0 to 1.
    errors : mapping of str to float
        The error of the regression, as a share of what is left of each variable.
    n_observations : int
        The rows that are left.
    effective_rows : float
        The number of independent rows that they are worth.
    terms : tuple of str
        What is taken out beyond straight effects and curves.
    curves : str
        The basis of the curves that are taken out; "straight" for none.
    spreads : tuple of str
        The variables whose spread varies with the covariates and is divided out.
    shapes : tuple of str
        The variables whose shape varies with the covariates, compared by features of which the
        part that the covariates predict is taken out.
    unevenness : mapping of (str, str) to float
        By how much the squared products of both kernels exceed those of independent variables,
        as a root; 1 for pairs that are not listed.
    joint : tuple of str
        Of the terms, those of covariates that act together.
    alone : tuple of str
        The rows that are dropped, each alone in a category.
    has_units : bool
        Whether errors come from units of several rows, which need no effective rows.
    """

    columns: tuple[str, ...]
    n_columns: int
    explained: Mapping[str, float]
    errors: Mapping[str, float]
    n_observations: int
    effective_rows: float
    terms: tuple[str, ...] = ()
    curves: str = "straight"
    spreads: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    unevenness: Mapping[tuple[str, str], float] = field(default_factory=dict)
    joint: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    has_units: bool = False

    @property
    def share(self) -> float:
        """The share of the rows that the residuals are worth."""
        return 1.0 if self.has_units else self.effective_rows / self.n_observations

    def in_words(self) -> str:
        """Return the names of the covariates."""
        if not self.columns:
            return "the covariate" if self.n_columns == 1 else "the covariates"
        if len(self.columns) == 1 or len(self.columns) > MOST_NAMED:
            return listed(self.columns, MOST_NAMED)
        return f"{', '.join(self.columns[:-1])} and {self.columns[-1]}"

    def shares_in_words(self) -> str:
        """Return what they explain of every variable, and how the rest was found."""
        shares = [f"{share:.0%} of {name}" for name, share in self.explained.items()]
        verb = "explains" if len(self.columns) == 1 or self.n_columns == 1 else "explain"
        said = [
            f"{self.in_words()} {verb} {listed(shares, MOST_NAMED)}, and leave"
            f"{'s' if verb == 'explains' else ''} what {self.effective_rows:,.0f} of "
            f"{self.n_observations:,} rows would tell"
        ]
        taken = [*self.terms, *([f"{self.curves} curves"] if self.curves != "straight" else [])]
        if taken:
            said.append(f"taken out beyond straight effects: {listed(taken, MOST_NAMED)}")
        if self.spreads:
            said.append(f"divided by a spread that varies with them: {listed(self.spreads)}")
        if self.shapes:
            names = listed(self.shapes)
            said.append(f"compared by features less what they predict of these: {names}")
        if self.alone:
            said.append(f"left out, each alone in a category: {listed(self.alone, 5)}")
        return "; ".join(said)

    def facts(self) -> dict[str, Any]:
        """Return what is known of them, by name."""
        found = asdict(self) | {"explained": dict(self.explained), "errors": dict(self.errors)}
        found["unevenness"] = {f"{x} ~ {y}": by for (x, y), by in self.unevenness.items()}
        return found
