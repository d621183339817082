"""The answer about all pairs: every dependence, and which variables belong together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep import plotting
from reldep.data.checks import ALTERNATIVES, check_choice, check_count
from reldep.data.frames import make_frame
from reldep.description import Picture, Value
from reldep.engine.centred import canonical
from reldep.exceptions import InputError
from reldep.results import sentences
from reldep.results.answer import Answer
from reldep.results.columns import as_table
from reldep.results.comparison import PairComparison
from reldep.stats import trees
from reldep.words import MEASURE_NAMES, counted, percent

if TYPE_CHECKING:
    from reldep.data.variables import BoolArray, FloatArray, IntArray
    from reldep.description import Description
    from reldep.engine.centred import Pair
    from reldep.engine.influence import Influence
    from reldep.results.columns import Columns
    from reldep.stats.estimates import Estimates
    from reldep.stats.intervals import Intervals


ADJUSTMENTS_IN_WORDS = {
    "holm": "Holm",
    "bh": "Benjamini and Hochberg",
}


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(Answer):
    """The answer of :func:`reldep.matrix`: the dependence of every pair of variables.

    Attributes
    ----------
    row_names, column_names : tuple of str
        The variables along both sides; the same for a square.
    dependences : Estimates
        One for every cell: those above the diagonal of a square, all of a rectangle.
    influence : Influence
    pvalues, adjusted_pvalues : ndarray, shape (P,)
        Of independence, by itself and adjusted for the number of cells.
    maxima : ndarray
        Simulated largest errors of all cells, sorted.
    adjust : {"holm", "bh"}
    confidence_level : float
        Of the intervals, which hold for all cells at once.
    seed : int
        Of the draws behind the support of the groups of a tree.
    """

    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    dependences: Estimates
    influence: Influence
    pvalues: FloatArray
    adjusted_pvalues: FloatArray
    maxima: FloatArray
    adjust: str
    confidence_level: float
    seed: int

    @property
    def is_square(self) -> bool:
        """Whether both sides hold the same variables."""
        return self.row_names == self.column_names

    @property
    def estimates(self) -> FloatArray:
        """The dependence of every pair."""
        return self.dependences.values

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pair of every cell."""
        return self.dependences.pairs

    def confidence_interval(self, confidence_level: float | None = None) -> Intervals:
        """Return intervals that cover the dependences of all pairs at once.

        Returns
        -------
        low, high : ndarray, shape (P,)
            A named tuple.
        """
        level = self._level(confidence_level)
        return self.dependences.simultaneous_intervals(self.maxima, level)

    def as_correlation(self) -> dict[Pair, float]:
        """Return every dependence as the correlation of two normal variables that have it.

        Between 0 and 1, by pair; no sign is implied. See :meth:`Result.as_correlation`.
        """
        found = self._correlations(self.pairs, self.estimates.tolist())
        return dict(zip(self.pairs, found, strict=True))

    def _columns(self, alpha: float) -> Columns:
        """Return one row per pair; intervals hold for all pairs at once."""
        low, high = self.confidence_interval(1 - alpha)
        shown = self.is_shown(alpha).tolist()
        return {
            "first": [x for x, _ in self.pairs],
            "second": [y for _, y in self.pairs],
            self.measure: self.estimates.tolist(),
            **self._correlation_column(self.pairs, self.estimates.tolist(), shown),
            "standard_error": self.dependences.standard_errors.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "pvalue": self.pvalues.tolist(),
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
        }

    def values_by_name(self) -> FloatArray:
        """Return the dependences as an array; the diagonal of a square is 1 or the own energy."""
        return self._arranged(self.estimates, self._own())

    def to_wide(self) -> Any:
        """Return a data frame with one row and one column per variable."""
        cells = self.values_by_name()
        columns: dict[str, Any] = {"variable": list(self.row_names)}
        columns |= {name: cells[:, i].tolist() for i, name in enumerate(self.column_names)}
        return self._frame(columns)

    def _own(self) -> FloatArray:
        if self.measure != "hsic":
            return np.ones(len(self.row_names))
        return np.array([self.influence.hsic((name, name)) for name in self.row_names])

    def _arranged(self, cells: FloatArray, diagonal: FloatArray) -> FloatArray:
        """Lay cells out as the picture does."""
        if not self.is_square:
            return cells.reshape(len(self.row_names), len(self.column_names))
        p = len(self.row_names)
        square = np.zeros((p, p))
        square[np.triu_indices(p, k=1)] = cells
        square += square.T
        square[np.diag_indices(p)] = diagonal
        return square

    def is_shown(self, alpha: float = 0.05) -> BoolArray:
        """Return which dependences are shown to exist, adjusted for their number."""
        return np.asarray(self.adjusted_pvalues < alpha)

    def compare(
        self, first: Pair, second: Pair, *, alternative: str = "two-sided"
    ) -> PairComparison:
        """Test whether one dependence is stronger than another, from the same A.

        The p-value holds for two pairs that were chosen before the matrix was seen.

        Parameters
        ----------
        first, second : pair of str
            Two cells, such as ``("a", "b")`` and ``("c", "d")``.
        alternative : {"two-sided", "greater", "less"}, default "two-sided"

        Returns
        -------
        PairComparison
            Of the dependence of `first` minus that of `second`.
        """
        check_choice("alternative", alternative, ALTERNATIVES)
        places = [self._place(pair) for pair in (first, second)]
        if places[0] == places[1]:
            raise InputError(
                f"{self.pairs[places[0]]} is compared with itself; name two different pairs."
            )
        found = self.dependences.only(places)
        weights = np.array([1.0, -1.0])
        named = dict.fromkeys(name for pair in found.pairs for name in pair)
        kernels = {name: self.provenance.kernels[name] for name in named}
        return PairComparison(
            provenance=replace(self.provenance, kernels=kernels),
            warnings=self.warnings,
            dependences=found,
            weights=weights,
            tested=found.test(weights),
            alternative=alternative,
            influence=self.influence,
            relation_pvalues=tuple(float(self.pvalues[i]) for i in places),
            n_pairs=len(self.pairs),
        )

    def _place(self, pair: Any) -> int:
        """Return the place of a pair, whichever of its variables is named first."""
        known = {canonical(one): i for i, one in enumerate(self.pairs)}
        if isinstance(pair, (tuple, list)) and len(pair) == 2:
            place = known.get(canonical((str(pair[0]), str(pair[1]))))
            if place is not None:
                return place
        raise InputError(
            f"{pair!r} is not a pair of this matrix; pass two of its variables, such as "
            f"{self.pairs[0]}."
        )

    def tree(self, *, n_draws: int = 2000) -> Tree:
        """Group the variables by average linkage, with the support of every group.

        Parameters
        ----------
        n_draws : int, default 2000
            How often the cells are drawn from their joint law and the tree is grown again.
        """
        check_count("n_draws", n_draws, at_least=1)
        linkage = self._linkage()
        if linkage is None:
            raise InputError(
                "a tree needs the normalised dependences of at least three variables with each "
                "other; use `measure='cka'` and one set of variables."
            )
        if self.dependences.fragile:
            raise InputError(
                "some dependences have no standard error, so that no tree can be drawn again; "
                "leave out the variable that the caution names."
            )
        draws = trees.joint_draws(
            self.estimates, self.dependences.psi, n_draws, np.random.default_rng(self.seed)
        )
        return Tree(self.row_names, linkage, trees.support(linkage, draws), self.measure)

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns, n_shown = self._columns(alpha), int(self.is_shown(alpha).sum())
        top = int(np.argmax(self.estimates))
        strongest = sentences.Relation(
            " and ".join(self.pairs[top]),
            float(self.estimates[top]),
            limits=(columns["low"][top], columns["high"][top]),
            strength=self._strength_at(top, self.pairs[top], columns),
        )
        adjusted, n = ADJUSTMENTS_IN_WORDS[self.adjust], len(self.pairs)
        table = as_table(
            columns,
            f"Every pair with its {percent(1 - alpha)} interval, all of which hold at once, and "
            f"the p-value of independence, adjusted after {adjusted}.",
            order=np.argsort(-self.estimates, kind="stable").tolist(),
            shown="The {n:,} strongest of {all:,} pairs.",
        )
        rows = counted(len(self.row_names), "variable")
        asked = f"How closely is each pair of {rows} related"
        if not self.is_square:
            others = counted(len(self.column_names), "other")
            asked = f"How closely are {rows} related to {others}"
        return self._described(
            alpha,
            asked,
            [sentences.several_pairs(n_shown, n, strongest, adjusted, self._setting(alpha))],
            table,
            numbers=[
                Value("", "Pairs", f"{n:,}"),
                Value("", "Shown to be related", f"{n_shown:,}"),
                Value("rows", "", self.row_names),
                Value("columns", "", self.column_names),
                Value("confidence_level", "", 1 - alpha),
            ],
            pictures=self._pictures(alpha),
            notes=[f"Intervals hold for all pairs at once; {len(self.maxima)} draws."],
            facts=[Value("adjust", "Adjustment of p-values", self.adjust)],
        )

    def _pictures(self, alpha: float) -> tuple[Picture, ...]:
        """Return the cells in colours, similar variables side by side, and the tree."""
        measure = MEASURE_NAMES[self.measure]
        links = self._linkage()
        draw = partial(
            plotting.heatmap,
            self.values_by_name(),
            self.row_names,
            columns=None if self.is_square else self.column_names,
            measure=self.measure,
            links=links,
            pvalues=self._arranged(self.adjusted_pvalues, np.zeros(len(self.row_names))),
            alpha=alpha,
        )
        cells = Picture(
            draw,
            f"Heat map of {measure} for {len(self.pairs)} pairs.",
            f"{measure} of every pair. Grey cells are not shown to be related, all pairs "
            "considered at once. Variables that are alike stand side by side.",
        )
        if links is None or self.dependences.fragile:
            return (cells,)
        return (
            cells,
            Picture(
                # Its thousands of draws are made only for a page that shows it.
                lambda ax: self.tree().plot(ax),
                f"Tree of {len(self.row_names)} variables by average linkage.",
                "Variables that join further left are more alike. At each join stands the share "
                "of samples, drawn from the estimated law, in whose tree that group is found.",
            ),
        )

    def _linkage(self) -> FloatArray | None:
        """Return the tree behind the order of a heat map, where there is one."""
        if not self.is_square or self.measure == "hsic" or len(self.row_names) < 3:
            return None
        return trees.average_linkage(self.values_by_name())

    def __repr__(self) -> str:
        return (
            f"Matrix({len(self.row_names)} × {len(self.column_names)}, {len(self.pairs)} pairs, "
            f"n_observations={self.n_observations})"
        )


@dataclass(frozen=True, eq=False)
class Tree:
    """Variables grouped by how strongly they depend on each other.

    Attributes
    ----------
    names : tuple of str
    linkage : ndarray, shape (p - 1, 4)
        As :func:`scipy.cluster.hierarchy.linkage` gives it.
    support : ndarray, shape (p - 1,)
        The share of draws of the joint law whose tree has the group.
    measure : str
    """

    names: tuple[str, ...]
    linkage: FloatArray
    support: FloatArray
    measure: str

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of every group, in the order in which they join."""
        return tuple(
            tuple(self.names[i] for i in sorted(group)) for group in trees.groups_of(self.linkage)
        )

    def to_frame(self) -> Any:
        """Return a data frame with one row per group: members, height and support."""
        columns = {
            "group": [", ".join(group) for group in self.groups()],
            "size": self._sizes().tolist(),
            "height": self.linkage[:, 2].tolist(),
            "support": self.support.tolist(),
        }
        return make_frame(columns, None)

    def _sizes(self) -> IntArray:
        return np.asarray(self.linkage[:, 3], dtype=np.int64)

    def plot(self, ax: Any = None) -> Any:
        """Draw the tree with the support of its groups and return the Axes."""
        return plotting.tree(
            self.linkage,
            self.names,
            ax,
            supports=self.support,
            xlabel=f"1 − {MEASURE_NAMES[self.measure]}",
        )
