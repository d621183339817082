"""How strong dependences are, on the scale of correlations that people know."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reldep import plotting
from reldep.data.variables import BoolArray, FloatArray
from reldep.description import Columns, Picture, Value
from reldep.engine.centred import Pair
from reldep.exceptions import InputError
from reldep.results.answer import Answer, columns_of
from reldep.results.sentences import Relation, Setting
from reldep.stats.correlation import as_correlation
from reldep.stats.estimates import Estimates
from reldep.stats.groups import GroupDifferences
from reldep.stats.independence import relation_pvalues
from reldep.stats.intervals import Intervals
from reldep.stats.simultaneous import Pairwise

if TYPE_CHECKING:
    from reldep.engine.influence import Influence

# The columns of an estimate with its interval.
ESTIMATES = ("estimate", "low", "high")

# Kernels whose curve is known: the start of the label, the rule behind the bandwidth, the curve.
KNOWN = (
    ("Laplace(", "mean", "laplace"),
    ("Gaussian(", "median", "gaussian"),
    ("Linear(", None, "linear"),
    # Two categories, as well as two numbers, are one column of zeros and ones: under any kernel
    # CKA is the square of their correlation.
    ("Delta(2 categories)", None, "linear"),
    ("Distance(exponent=1)", None, "distance"),
)


class Scale(NamedTuple):
    """The curve that turns the dependence of a pair into a correlation.

    Attributes
    ----------
    kernel : str
        The kernel of the curve, one of :data:`reldep.stats.correlation.REFERENCES`.
    is_own : bool
        Whether both variables are single columns with that very kernel. Elsewhere the
        correlation is that of two bell-shaped variables whose dependence is as large.
    """

    kernel: str
    is_own: bool


def scale_of(pair: Pair, measure: str, kernels: Mapping[str, Mapping[str, Any]]) -> Scale:
    """Choose the curve for a pair of variables from their fitted kernels."""
    if measure == "hsic":
        raise InputError(
            "HSIC has the scale of its kernels, which correlations do not share; use "
            "`measure='cka'`."
        )
    curves, single = zip(*(_curve(kernels.get(name, {})) for name in pair), strict=True)
    if curves[0] is None or curves[0] != curves[1]:
        return Scale("distance" if measure == "dcor" else "laplace", is_own=False)
    return Scale(curves[0], all(single))


def _curve(kernel: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the curve that belongs to a fitted kernel, and whether it is of one column."""
    label = kernel.get("kernel", "")
    is_single = kernel.get("columns", 1 if label.startswith("Delta(2 ") else 0) == 1
    if kernel.get("is_binary"):
        return "linear", True
    for start, rule, curve in KNOWN:
        chosen = str(kernel.get("rule")).partition(" (")[0]  # without the number of distances
        if label.startswith(start) and rule in (None, chosen):
            return curve, is_single
    return None, is_single


def correlation_text(value: float) -> str:
    """Return a correlation as papers print it, with two digits and no sign.

    Examples
    --------
    >>> correlation_text(0.5), correlation_text(0.003), correlation_text(0.999)
    ('.50', 'under .01', 'over .99')
    """
    if 0 < value < 0.005:
        return "under .01"
    return f"{value:.2f}".removeprefix("0") if value < 0.995 else "over .99"


def correlations_text(values: Sequence[float]) -> str:
    """Return a correlation with its limits.

    Examples
    --------
    >>> correlations_text((0.64, 0.42, 0.79))
    '.64 (.42 to .79)'
    """
    value, low, high = map(correlation_text, values)
    return f"{value} ({low} to {high})"


def strength_text(correlations: Sequence[float], *, is_own: bool) -> str:
    """Return how strong dependences are that are shown to exist.

    Examples
    --------
    >>> strength_text([0.5], is_own=True)
    'about as strong as a correlation of .50'
    >>> strength_text([0.91, 0.77], is_own=False)
    'about as strong as correlations of .91 and .77 for two bell-shaped variables'
    """
    written = [correlation_text(value) for value in correlations]
    what = f"a correlation of {written[0]}"
    if len(written) > 1:
        what = f"correlations of {', '.join(written[:-1])} and {written[-1]}"
    return f"about as strong as {what}{'' if is_own else ' for two bell-shaped variables'}"


def strongest_shown(estimates: FloatArray, shown: BoolArray) -> int:
    """Return which dependence is the strongest of those shown to exist, or of all if none is.

    A larger estimate that is not shown to differ from 0 is not the strongest relation.
    """
    return int(np.argmax(np.where(shown, estimates, -np.inf) if shown.any() else estimates))


@dataclass(frozen=True, eq=False, repr=False)
class OfDependences(Answer):
    """An answer whose estimates are dependences, which have a strength as correlations."""

    @property
    @abstractmethod
    def estimates(self) -> FloatArray:
        """The dependences."""

    @property
    @abstractmethod
    def _pairs(self) -> Sequence[Pair]:
        """The pair of variables of every dependence, in the order of the table."""

    def as_correlation(self) -> Any:
        """Return every dependence as the correlation of two normal variables that have it.

        Of the kernel at hand where its curve is known (Laplace, Gaussian, linear, distance), else
        of the default kernel. No sign is implied, and none of it is Pearson's correlation of the
        data.

        Returns
        -------
        dict of str, or of (str, str), to float
            Between 0 and 1, one for every target, group or pair of variables.
        """
        return dict(zip(self._keys, self._correlations(self.estimates), strict=True))

    @property
    def _keys(self) -> Sequence[Any]:
        """What `as_correlation` calls the dependences."""
        return self._pairs

    @property
    def _order(self) -> Sequence[int]:
        """The dependences in the order of the table."""
        return range(len(self._pairs))

    @cached_property
    def _scales(self) -> list[Scale]:
        """The curve from dependences to correlations for every pair."""
        kernels = self._kernels
        return [scale_of(pair, self.measure, kernels) for pair in self._pairs]

    @property
    def _kernels(self) -> Mapping[str, Mapping[str, Any]]:
        """The fitted kernel of every variable."""
        return self.provenance.kernels

    def _correlations(self, values: Iterable[float]) -> list[float]:
        """Return dependences as correlations, each by its own curve."""
        given = np.array([*map(float, values)])
        found, kernels = np.zeros_like(given), np.array([scale.kernel for scale in self._scales])
        for kernel in set(kernels.tolist()):
            found[kernels == kernel] = as_correlation(given[kernels == kernel], kernel)
        return [*map(float, found)]

    def _estimate_columns(
        self,
        values: Iterable[float],
        errors: Iterable[float],
        limits: tuple[Iterable[float], Iterable[float]],
        shown: Iterable[bool],
    ) -> Columns:
        """Return the columns of dependences: estimates, as correlations, errors and intervals.

        The cells of correlations are empty where a dependence is not `shown` to exist; HSIC has no
        such column.
        """
        low, high = limits
        columns = {"estimate": values, "standard_error": errors, "low": low, "high": high}
        made: Columns = {name: [*map(float, column)] for name, column in columns.items()}
        if self.measure == "hsic":
            return made
        found = zip(self._correlations(made["estimate"]), shown, strict=True)
        cells = [one if is_shown else None for one, is_shown in found]
        return {"estimate": made.pop("estimate"), "as_correlation": cells, **made}

    def _differences_of(
        self,
        names: Sequence[str],
        found: Pairwise | GroupDifferences,
        limits: tuple[FloatArray, FloatArray],
        adjusted: FloatArray,
    ) -> Columns:
        """Return one row for every two of the dependences, all of which hold at once."""
        return {
            "first": [names[i] for i in found.first],
            "second": [names[i] for i in found.second],
            **columns_of(found, self._possible(limits)),
            "pvalue": found.pvalue.tolist(),
            "adjusted_pvalue": adjusted.tolist(),
        }

    def _strength(self, at: Setting, rows: Sequence[int]) -> str:
        """Return how strong the dependences in these rows are; nothing if one is not shown."""
        if self.measure == "hsic":
            return ""
        found = [at.columns["as_correlation"][row] for row in rows]
        is_own = all(self._scales[self._order[row]].is_own for row in rows)
        return "" if None in found else f", {strength_text(found, is_own=is_own)}"

    def _relation(self, at: Setting, row: int, name: str, pvalue: float | None = None) -> Relation:
        """Return the dependence in a row of the table as sentences write it."""
        value, low, high = (at.columns[column][row] for column in ESTIMATES)
        return Relation(name, value, pvalue, (low, high), self._strength(at, [row]))

    def _forest(
        self, at: Setting, names: Sequence[str], apart: int, alt: str, caption: str
    ) -> Picture:
        """Return the rows of the table with their intervals, the last ones apart."""
        draw = partial(
            plotting.forest,
            names,
            *(at.columns[name] for name in ESTIMATES),
            apart=apart,
            xlabel=f"{at.measure} with {at.level} interval{'s' * (len(names) > 1)}",
        )
        return Picture(draw, alt, caption)

    def _ruler(self, at: Setting) -> tuple[Picture, ...]:
        """Return the first rows of the table on a ruler of correlations.

        There is none for HSIC, nor where pairs have different curves.
        """
        # As many rows as can be compared at a glance.
        rows = self._order[:12]
        if self.measure == "hsic" or len({self._scales[i].kernel for i in rows}) != 1:
            return ()
        names, *_ = at.columns.values()
        n = len(rows)
        draw = partial(
            plotting.strength,
            names[:n],
            *(at.columns[name][:n] for name in ESTIMATES),
            measure=self.measure,
            shown=[one is not None for one in at.columns["as_correlation"][:n]],
            kernel=self._scales[rows[0]].kernel,
        )
        picture = Picture(
            draw,
            f"{at.measure} with intervals on a ruler of correlations.",
            f"How strong is that? Below, {at.measure}; above, the correlation at which two "
            "bell-shaped variables have it. No sign is implied. A hollow dot is a dependence that "
            "is not shown to exist.",
        )
        return (picture,)


@dataclass(frozen=True, eq=False, repr=False)
class Estimated(OfDependences):
    """An answer about dependences that were estimated together, from the same rows.

    Attributes
    ----------
    dependences : Estimates
        The dependence of every pair involved, with all that inference needs.
    influence : Influence
        The conditional means from which everything was computed.
    """

    dependences: Estimates = field(repr=False)
    influence: Influence

    @property
    def estimates(self) -> FloatArray:
        """The dependence of every pair."""
        return self.dependences.values

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the estimates."""
        return self.dependences.covariance

    @property
    def _pairs(self) -> Sequence[Pair]:
        return self.dependences.pairs

    @cached_property
    def _relation_pvalues(self) -> tuple[float | None, ...]:
        """The p-value of independence of every pair; None for a variable with itself."""
        return relation_pvalues(self.influence, self.dependences, self._n_of_pair)

    @property
    def _n_of_pair(self) -> int:
        """The number of observations behind every pair."""
        return self.influence.n_observations


@dataclass(frozen=True, eq=False, repr=False)
class AtOnce(Estimated):
    """An answer about many dependences, whose intervals hold for all of them at once.

    Attributes
    ----------
    adjusted_pvalues : ndarray
        P-values adjusted for their number.
    adjust : str
        How they are adjusted.
    maxima : ndarray
        Simulated largest errors of all dependences, sorted; their quantiles are the simultaneous
        critical values.
    confidence_level : float
        Of the intervals.
    """

    adjusted_pvalues: FloatArray = field(repr=False)
    adjust: str = field(repr=False)
    maxima: FloatArray = field(repr=False)
    confidence_level: float = field(repr=False)

    def confidence_interval(self, confidence_level: float | None = None) -> Intervals:
        """Return intervals that cover all dependences at once.

        They are not symmetric around the estimate: the intervals of weak dependences reach
        further up than down.

        Parameters
        ----------
        confidence_level : float, optional
            By default that of the answer.

        Returns
        -------
        low, high : ndarray, shape (p,)
            A named tuple.
        """
        return self.dependences.intervals(self._level(confidence_level), self.maxima)

    def _own_facts(self) -> list[Value]:
        return [Value("adjust", "Adjustment of p-values", self.adjust)]
