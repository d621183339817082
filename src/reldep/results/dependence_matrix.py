"""The answer about all pairs: every dependence, and which variables belong together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep import plotting
from reldep.data.checks import ALTERNATIVES, check_choice, check_count, check_level
from reldep.data.frames import make_frame
from reldep.description import Picture, Table
from reldep.engine.centred import canonical
from reldep.exceptions import InputError
from reldep.results import sentences
from reldep.results.answer import Answer
from reldep.results.comparison import Contrast
from reldep.results.description import Columns, described
from reldep.stats import trees
from reldep.words import MEASURE_NAMES, counted, listed, percent

if TYPE_CHECKING:
    from reldep.data.variables import BoolArray, FloatArray, IntArray
    from reldep.engine.centred import Pair
    from reldep.engine.influence import Influence
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
        Of the draws behind the confidence of a tree.
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
        """Give intervals that cover the dependences of all pairs at once.

        Returns
        -------
        low, high : ndarray, shape (P,)
            A named tuple.
        """
        level = self.confidence_level
        if confidence_level is not None:
            level = check_level("confidence_level", confidence_level)
        return self.dependences.simultaneous_intervals(self.maxima, level)

    def as_correlation(self) -> dict[Pair, float]:
        """Return every dependence as the correlation of two normal variables that have it.

        Between 0 and 1, by pair; no sign is implied. See :meth:`Result.as_correlation`.
        """
        found = self._correlations(self.pairs, self.estimates.tolist())
        return dict(zip(self.pairs, found, strict=True))

    def table(self, alpha: float | None = None) -> dict[str, list[Any]]:
        """Give one row per pair; intervals hold for all pairs at once."""
        level = self.confidence_level if alpha is None else 1 - alpha
        low, high = self.confidence_interval(level)
        shown = self.is_shown(1 - level).tolist()
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
        """Give the dependences as an array; the diagonal of a square is 1 or the own energy."""
        return self._arranged(self.estimates, self._own())

    def to_wide(self) -> Any:
        """Give a data frame with one row and one column per variable."""
        cells = self.values_by_name()
        columns: dict[str, Any] = {"variable": list(self.row_names)}
        columns |= {name: cells[:, i].tolist() for i, name in enumerate(self.column_names)}
        return make_frame(columns, self.provenance.library)

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
        """Tell which dependences are beyond chance, adjusted for their number."""
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
        """Find the cell of a pair, whichever of its variables is named first."""
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
        """Group the variables by average linkage, with the confidence of every group.

        Parameters
        ----------
        n_draws : int, default 2000
            How often the cells are drawn from their joint law and the tree is grown again.
        """
        check_count("n_draws", n_draws, at_least=1)
        linkage = self.linkage()
        if linkage is None:
            raise InputError(
                "a tree needs the normalised dependences of at least three variables with each "
                "other; use `measure='cka'` and one set of variables."
            )
        draws = trees.joint_draws(
            self.estimates, self.dependences.psi, n_draws, np.random.default_rng(self.seed)
        )
        return Tree(self.row_names, linkage, trees.confidence(linkage, draws), self.measure)

    def question(self) -> str:
        """Return what was asked."""
        rows = counted(len(self.row_names), "variable")
        if self.is_square:
            return self._asked(f"How closely is each pair of {rows} related")
        columns = counted(len(self.column_names), "other")
        return self._asked(f"How closely are {rows} related to {columns}")

    def sentence(self, alpha: float = 0.05) -> str:
        """Return how many pairs are related, and which most closely."""
        top = int(np.argmax(self.estimates))
        low, high = self.confidence_interval(1 - alpha)
        said = sentences.several_pairs(
            int(self.is_shown(alpha).sum()),
            len(self.pairs),
            sentences.Relation(" and ".join(self.pairs[top]), float(self.estimates[top])),
            (float(low[top]), float(high[top])),
            ADJUSTMENTS_IN_WORDS[self.adjust],
            alpha,
            MEASURE_NAMES[self.measure],
            self._given(),
            self.provenance.scope,
        )
        return self._with_facts(said)

    def _described(self, columns: Columns, alpha: float) -> Table:
        return described(
            columns,
            self.table_caption(alpha),
            self.headings(),
            order=np.argsort(-self.estimates, kind="stable").tolist(),
            shown="The {n:,} strongest of {all:,} pairs.",
        )

    def footnotes(self) -> list[str]:
        """Say below the table how the numbers were computed."""
        kernels = list(dict.fromkeys(k["kernel"] for k in self.provenance.kernels.values()))
        first, *_ = super().footnotes()
        return [
            f"Intervals hold for all pairs at once; {len(self.maxima)} draws.",
            first,
            f"Kernels: {listed(kernels, 3)}.",
        ]

    def key_numbers(self, alpha: float = 0.05) -> dict[str, str]:
        """Give the number of pairs and how many are shown to depend."""
        return {
            "Pairs": f"{len(self.pairs):,}",
            "Shown to be related": f"{int(self.is_shown(alpha).sum()):,}",
            "Measure": MEASURE_NAMES[self.measure],
        }

    def table_caption(self, alpha: float = 0.05) -> str:
        """Say what the table shows."""
        return (
            f"Every pair with its {percent(1 - alpha)} interval, all of which hold at once, and "
            f"the p-value of independence, adjusted after {ADJUSTMENTS_IN_WORDS[self.adjust]}."
        )

    def settings(self) -> dict[str, str]:
        """Give the choices behind the answer, with the adjustment."""
        return super().settings() | {"Adjustment of p-values": self.adjust}

    def values(self, alpha: float = 0.05) -> dict[str, Any]:
        """Give the names along both sides."""
        return {
            "rows": self.row_names,
            "columns": self.column_names,
            "adjust": self.adjust,
            "confidence_level": 1 - alpha,
        }

    def pictures(self, columns: Columns, alpha: float) -> tuple[Picture, ...]:  # noqa: ARG002
        """Draw the cells in colours, similar variables side by side, and the tree."""
        measure = MEASURE_NAMES[self.measure]
        links = self.linkage()
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
        if links is None:
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

    def linkage(self) -> FloatArray | None:
        """Give the tree behind the order of a heat map, where there is one."""
        if not self.is_square or self.measure == "hsic" or len(self.row_names) < 3:
            return None
        return trees.average_linkage(self.values_by_name())

    def __repr__(self) -> str:
        return (
            f"Matrix({len(self.row_names)} × {len(self.column_names)}, {len(self.pairs)} pairs, "
            f"n_observations={self.n_observations})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class PairComparison(Contrast):
    """The answer of :meth:`Matrix.compare`: is one pair closer than another?

    Attributes
    ----------
    n_pairs : int
        The pairs of the matrix, from which two were chosen.
    """

    n_pairs: int

    def estimate_name(self) -> str:
        """Say what the estimate is."""
        return "difference"

    def footnotes(self) -> list[str]:
        """Say below the table how the numbers were computed, and what the p-value is for."""
        return [
            "The p-value is that of two pairs chosen beforehand. If they were picked after looking "
            f"at all {self.n_pairs:,} pairs of the matrix it is too small.",
            *super().footnotes(),
        ]


@dataclass(frozen=True, eq=False)
class Tree:
    """Variables grouped by how strongly they depend on each other.

    Attributes
    ----------
    names : tuple of str
    linkage : ndarray, shape (p - 1, 4)
        As :func:`scipy.cluster.hierarchy.linkage` gives it.
    confidence : ndarray, shape (p - 1,)
        The share of draws of the joint law whose tree has the group.
    measure : str
    """

    names: tuple[str, ...]
    linkage: FloatArray
    confidence: FloatArray
    measure: str

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Give the names of every group, in the order in which they join."""
        return tuple(
            tuple(self.names[i] for i in sorted(group)) for group in trees.groups_of(self.linkage)
        )

    def to_frame(self) -> Any:
        """Give a data frame with one row per group: members, height and confidence."""
        columns = {
            "group": [", ".join(group) for group in self.groups()],
            "size": self._sizes().tolist(),
            "height": self.linkage[:, 2].tolist(),
            "confidence": self.confidence.tolist(),
        }
        return make_frame(columns, None)

    def _sizes(self) -> IntArray:
        return np.asarray(self.linkage[:, 3], dtype=np.int64)

    def plot(self, ax: Any = None) -> Any:
        """Draw the tree with the confidence of its groups and return the Axes."""
        return plotting.tree(
            self.linkage,
            self.names,
            ax,
            confidences=self.confidence,
            xlabel=f"1 − {MEASURE_NAMES[self.measure]}",
        )
