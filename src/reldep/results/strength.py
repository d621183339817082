"""How strong dependences are, on the scale of correlations that people know."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reldep import plotting
from reldep.description import Columns, Picture
from reldep.exceptions import InputError
from reldep.results.answer import Answer
from reldep.results.sentences import Relation
from reldep.stats.correlation import as_correlation
from reldep.words import MEASURE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reldep.data.variables import BoolArray, FloatArray
    from reldep.engine.centred import Pair
    from reldep.stats.groups import GroupDifferences
    from reldep.stats.simultaneous import Pairwise

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
        how = self.provenance
        return [scale_of(pair, how.measure, how.kernels) for pair in self._pairs]

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
        # Two numbers from 0 to 1 differ by 1 at the most.
        most = np.inf if self.measure == "hsic" else 1.0
        low, high = (np.clip(limit, -most, most) for limit in limits)
        return {
            "first": [names[i] for i in found.first],
            "second": [names[i] for i in found.second],
            "estimate": found.estimate.tolist(),
            "standard_error": found.standard_error.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "statistic": found.statistic.tolist(),
            "pvalue": found.pvalue.tolist(),
            "adjusted_pvalue": adjusted.tolist(),
        }

    def _strength(self, columns: Columns, rows: Sequence[int]) -> str:
        """Return how strong the dependences in these rows are; nothing if one is not shown."""
        if self.measure == "hsic" or None in (
            found := [columns["as_correlation"][i] for i in rows]
        ):
            return ""
        is_own = all(self._scales[self._order[row]].is_own for row in rows)
        return f", {strength_text(found, is_own=is_own)}"

    def _relation(
        self, columns: Columns, row: int, name: str, pvalue: float | None = None
    ) -> Relation:
        """Return the dependence in a row of the table as sentences write it."""
        limits = (columns["low"][row], columns["high"][row])
        strength = self._strength(columns, [row])
        return Relation(name, columns["estimate"][row], pvalue, limits, strength)

    def _ruler(self, columns: Columns) -> tuple[Picture, ...]:
        """Return the first rows of the table on a ruler of correlations.

        There is none for HSIC, nor where pairs have different curves.
        """
        # As many rows as can be compared at a glance.
        rows = self._order[:12]
        if self.measure == "hsic" or len({self._scales[i].kernel for i in rows}) != 1:
            return ()
        measure, n = MEASURE_NAMES[self.measure], len(rows)
        names, *_ = columns.values()
        draw = partial(
            plotting.strength,
            names[:n],
            *(columns[name][:n] for name in ("estimate", "low", "high")),
            measure=self.measure,
            shown=[one is not None for one in columns["as_correlation"][:n]],
            kernel=self._scales[rows[0]].kernel,
        )
        picture = Picture(
            draw,
            f"{measure} with intervals on a ruler of correlations.",
            f"How strong is that? Below, {measure}; above, the correlation at which two "
            "bell-shaped variables have it. No sign is implied. Hollow dots are not shown to be "
            "related.",
        )
        return (picture,)
