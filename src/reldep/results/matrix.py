"""The answer about all pairs: every dependence, and which variables belong together."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from reldep import plotting
from reldep.arguments import ALTERNATIVES, check_choice, check_count
from reldep.data.frames import make_frame
from reldep.data.variables import FloatArray
from reldep.description import Columns, Picture, Value, unseen
from reldep.engine.centred import Pair, canonical
from reldep.exceptions import InputError
from reldep.results import sentences
from reldep.results.comparison import Contrast
from reldep.results.strength import AtOnce, strongest_shown
from reldep.stats.trees import average_linkage, groups_of, joint_draws, support
from reldep.words import MEASURE_NAMES, counted

ADJUSTMENTS_IN_WORDS = {"holm": "Holm", "bh": "Benjamini and Hochberg"}


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(AtOnce):
    """The answer of :func:`reldep.matrix`: the dependence of every pair of variables.

    Attributes
    ----------
    row_names, column_names : tuple of str
        The variables along both sides; the same for a square.
    pvalues : ndarray, shape (P,)
        Of independence, each by itself.
    seed : int
        Of the draws behind the support of the groups of a tree.
    """

    _shown = ("row_names", "column_names")

    row_names: tuple[str, ...] = field(repr=False)
    column_names: tuple[str, ...] = field(repr=False)
    pvalues: FloatArray = field(repr=False)
    seed: int = field(repr=False)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pair of every cell."""
        return self.dependences.pairs

    def compare(self, first: Pair, second: Pair, *, alternative: str = "two-sided") -> Contrast:
        """Test whether one dependence is stronger than another, from the same A.

        The p-value holds for two pairs that were chosen before the matrix was seen.

        Parameters
        ----------
        first, second : pair of str
            Two cells, such as ``("a", "b")`` and ``("c", "d")``.
        alternative : {"two-sided", "greater", "less"}, default "two-sided"

        Returns
        -------
        Contrast
            Of the dependence of `first` minus that of `second`.
        """
        check_choice("alternative", alternative, ALTERNATIVES)
        places = [self._place(pair) for pair in (first, second)]
        if places[0] == places[1]:
            raise InputError(
                f"{self.pairs[places[0]]} is compared with itself; name two different pairs."
            )
        found, weights, how = self.dependences.only(places), np.array([1.0, -1.0]), self.provenance
        note = (
            "The p-value is that of two pairs chosen beforehand. If they were picked after looking "
            f"at all {len(self.pairs):,} pairs of the matrix it is too small."
        )
        kernels = {name: how.kernels[name] for pair in found.pairs for name in pair}
        return Contrast(
            provenance=replace(how, kernels=kernels, notes=(note, *how.notes)),
            warnings=self.warnings,
            dependences=found,
            weights=weights,
            tested=found.test(weights),
            alternative=alternative,
            influence=self.influence,
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
        draws = joint_draws(
            self.estimates, self.dependences.psi, n_draws, np.random.default_rng(self.seed)
        )
        return Tree(self.row_names, linkage, support(linkage, draws), self.measure)

    def _is_square(self) -> bool:
        return self.row_names == self.column_names

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

    def _arranged(self, cells: FloatArray, diagonal: float) -> FloatArray:
        """Return cells as rows and columns of variables."""
        p, q = len(self.row_names), len(self.column_names)
        if not self._is_square():
            return cells.reshape(p, q)
        square = np.zeros((p, p))
        square[np.triu_indices(p, k=1)] = cells
        square += square.T
        square[np.diag_indices(p)] = diagonal
        return square

    def _linkage(self) -> FloatArray | None:
        """Return the tree behind the order of a heat map, where there is one."""
        if not self._is_square() or self.measure == "hsic" or len(self.row_names) < 3:
            return None
        return average_linkage(self._arranged(self.estimates, 1.0))

    def _columns(self, alpha: float) -> Columns:
        """Return one row per pair; intervals hold for all pairs at once."""
        errors, limits = self.dependences.standard_errors, self.confidence_interval(1 - alpha)
        shown = self.adjusted_pvalues < alpha
        return {
            "first": [x for x, _ in self.pairs],
            "second": [y for _, y in self.pairs],
            **self._estimate_columns(self.estimates, errors, limits, shown),
            "pvalue": self.pvalues.tolist(),
            "adjusted_pvalue": self.adjusted_pvalues.tolist(),
        }

    def _asked(self) -> str:
        rows = counted(len(self.row_names), "variable")
        if self._is_square():
            return f"How closely is each pair of {rows} related"
        return f"How closely are {rows} related to {counted(len(self.column_names), 'other')}"

    def _answered(self, at: sentences.Setting) -> tuple[list[str], list[Value]]:
        shown = self.adjusted_pvalues < at.alpha
        i, n_shown = strongest_shown(self.estimates, shown), int(shown.sum())
        top = self._relation(at, i, " and ".join(self.pairs[i]), at.columns["pvalue"][i])
        if len(self.pairs) == 1:
            said = sentences.dependence(top, at)
        else:
            n, how = counted(len(self.pairs), "pair"), f"{ADJUSTMENTS_IN_WORDS[self.adjust]},"
            said = sentences.how_many_are_related(n, n_shown, "related", top, how, at)
        numbers = [
            Value("", "Pairs", f"{len(self.pairs):,}"),
            Value("", "Shown to be related", f"{n_shown:,}"),
            *unseen(rows=self.row_names, columns=self.column_names, confidence_level=1 - at.alpha),
        ]
        return [said], numbers

    def _caption(self, at: sentences.Setting) -> str:
        return (
            f"Every pair with its {at.level} interval, all of which hold at once, and the p-value "
            f"of independence, adjusted by the method of {ADJUSTMENTS_IN_WORDS[self.adjust]}."
        )

    def _cut(self) -> dict[str, Any]:
        order = np.argsort(-self.estimates, kind="stable").tolist()
        return {"order": order, "shown": "The {n:,} strongest of {all:,} pairs."}

    def _notes(self) -> list[str]:
        return [f"Intervals hold for all pairs at once; {len(self.maxima):,} draws."]

    def _pictures(self, at: sentences.Setting) -> list[Picture]:
        links = self._linkage()
        draw = partial(
            plotting.heatmap,
            self._arranged(self.estimates, 1.0),
            self.row_names,
            columns=None if self._is_square() else self.column_names,
            measure=self.measure,
            links=links,
            pvalues=self._arranged(self.adjusted_pvalues, 0.0),
            alpha=at.alpha,
        )
        cells = Picture(
            draw,
            f"Heat map of {at.measure} for {len(self.pairs)} pairs.",
            f"{at.measure} of every pair. Pairs in grey cells are not shown to be related, all "
            "pairs considered at once. Variables that are alike stand side by side.",
        )
        if links is None or self.dependences.fragile:
            return [cells]
        branches = Picture(
            # Its thousands of draws are made only for a page that shows it.
            lambda ax: self.tree().plot(ax),
            f"Tree of {len(self.row_names)} variables by average linkage.",
            "Variables that join further left are more alike. At each join stands the share of "
            "samples, drawn from the estimated law, in whose tree that group is found.",
        )
        return [cells, branches]


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
            tuple(self.names[i] for i in sorted(group)) for group in groups_of(self.linkage)
        )

    def to_frame(self) -> Any:
        """Return a data frame with one row per group: members, height and support."""
        columns = {
            "group": [", ".join(group) for group in self.groups()],
            "size": self.linkage[:, 3].astype(np.int64).tolist(),
            "height": self.linkage[:, 2].tolist(),
            "support": self.support.tolist(),
        }
        return make_frame(columns, None)

    def plot(self, ax: Any = None) -> Any:
        """Draw the tree with the support of its groups and return the Axes."""
        return plotting.tree(
            self.linkage,
            self.names,
            ax,
            supports=self.support,
            xlabel=f"1 − {MEASURE_NAMES[self.measure]}",
        )
