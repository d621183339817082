"""The answers about differences: which dependence is stronger, and any weighted contrast."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from reldep import plotting
from reldep.data.checks import METHODS, MINIMUM_OBSERVATIONS, check_choice, check_count, check_level
from reldep.description import Picture, Value
from reldep.exceptions import InputError
from reldep.results import sentences
from reldep.results.columns import as_table
from reldep.results.tested import Result
from reldep.stats import paper
from reldep.words import MEASURE_NAMES, number, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.description import Description
    from reldep.results.columns import Columns
    from reldep.stats.power import Pilot


@dataclass(frozen=True, eq=False, repr=False)
class Contrast(Result):
    """The answer of :func:`reldep.contrast`: does a weighted sum of dependences differ from 0?"""

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns = self._columns(alpha)
        finding = self._finding(alpha, (columns["low"][-1], columns["high"][-1]))
        relations = self._relations([f"{x} and {y}" for x, y in self.pairs])
        setting = self._setting(alpha)
        if np.array_equal(self.weights, [1.0, -1.0]):
            wording = sentences.of_pairs(self._given())
            asked = self._which([one.name for one in relations])
            said = sentences.comparison(wording, relations, finding, setting)
        else:
            sides = {"greater": "Is {} above 0", "less": "Is {} below 0"}
            asked = sides.get(self.alternative, "Does {} differ from 0").replace(
                "{}", self._formula()
            )
            said = sentences.weighted_sum(self._formula(), finding, setting)
        return self._all(alpha, asked, [said, sentences.not_shown(relations, alpha)], columns)

    def _all(
        self,
        alpha: float,
        asked: str,
        said: Sequence[str],
        columns: Columns,
        *,
        pictures: Sequence[Picture] = (),
        notes: Sequence[str] = (),
        facts: Sequence[Value] = (),
    ) -> Description:
        """Return the description with table, key numbers and sections of a contrast."""
        name, limits = columns["dependence"][-1], (columns["low"][-1], columns["high"][-1])
        caption = f"Estimates with standard errors and {percent(1 - alpha)} intervals."
        return self._described(
            alpha,
            asked,
            said,
            as_table(columns, caption, {"statistic": self._law()}),
            numbers=self._numbers(name, alpha, limits),
            pictures=(
                *(pictures or [self._forest(name, columns, alpha)]),
                *self._ruler(self.pairs, columns),
            ),
            sections=self._sections(),
            notes=notes,
            facts=(*facts, Value("", "Alternative", self.alternative)),
        )

    def _which(self, names: Sequence[str]) -> str:
        first, second = names
        if self.alternative == "two-sided":
            return f"Are {first} or {second} more closely related"
        if self.alternative == "less":
            first, second = second, first
        return f"Are {first} more closely related than {second}"

    def _formula(self) -> str:
        written = ""
        for weight, (x, y) in zip(self.weights, self.pairs, strict=True):
            times = "" if abs(weight) == 1 else f"{abs(weight):g}·"
            sign = "− " if weight < 0 else "+ " if written else ""
            written += f" {sign}{times}{MEASURE_NAMES[self.measure]}({x}, {y})"
        return written.strip()

    def _columns(self, alpha: float, name: str = "contrast") -> Columns:
        """Return one row per pair and one for the contrast, which alone is tested."""
        untested = [None] * len(self.pairs)
        each, whole = self.dependences.intervals(1 - alpha), self.confidence_interval(1 - alpha)
        low, high = [*each.low.tolist(), whole.low], [*each.high.tolist(), whole.high]
        shown = self._are_shown(alpha, low)
        correlations = self._correlation_column(self.pairs, self.estimates.tolist(), shown)
        return {
            "dependence": [f"{x} ~ {y}" for x, y in self.pairs] + [name],
            self.measure: [*map(float, self.estimates), self.estimate],
            **{name: [*cells, None] for name, cells in correlations.items()},
            "standard_error": [*self.dependences.standard_errors.tolist(), self.standard_error],
            "low": low,
            "high": high,
            "statistic": [*untested, self.statistic],
            "pvalue": [*untested, self.pvalue],
        }

    def finite_sample_bound(self, delta: float = 0.05) -> float:
        """Bound the error of the difference of two HSICs without any approximation.

        See :func:`reldep.finite_sample_bound`. It holds for a difference of two raw HSICs whose
        kernels have values in [0, 1] (Gaussian, Laplace, Delta).
        """
        if self.measure != "hsic" or sorted(self.weights) != [-1.0, 1.0]:
            raise InputError(
                "the finite-sample bound holds for the difference of two HSICs; use "
                "`measure='hsic'` with the weights 1 and -1."
            )
        if not self.provenance.unit_kernels:
            raise InputError(
                "the finite-sample bound needs kernels with values in [0, 1]; use Gaussian, "
                "Laplace or Delta for every variable."
            )
        return paper.finite_sample_bound(self.n_observations, delta)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Contrast):
    """The answer of :func:`reldep.compare`: to which target is the source more closely related?

    Attributes
    ----------
    source, first, second : str
        The names of the variables.
    method : {"joint", "split"}
    """

    source: str
    first: str
    second: str
    method: str

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns = self._columns(alpha)
        first, second = self.first, self.second
        if self.alternative == "less":
            first, second = second, first
        word = "or" if self.alternative == "two-sided" else "than"
        return self._all(
            alpha,
            f"Is {self.source} more closely related to {first} {word} to {second}",
            self._said(alpha, columns),
            columns,
            pictures=(self._region(columns, alpha),),
            notes=[
                f"Method: {self.method}; alternative: {self.alternative}.",
                *self._unlike([self.first, self.second]),
            ],
            facts=[Value("", "Method", self.method)],
        )

    def _columns(self, alpha: float, name: str = "difference") -> Columns:
        return super()._columns(alpha, name)

    def _said(self, alpha: float, columns: Columns) -> list[str]:
        """Return to which target the source is more closely related."""
        finding = self._finding(alpha, (columns["low"][-1], columns["high"][-1]))
        setting, relations = self._setting(alpha), self._relations([self.first, self.second])
        doubtful = [one.pvalue is not None and one.pvalue >= alpha for one in relations]
        if all(doubtful) and not finding.is_shown:
            return [sentences.neither(self.source, relations, setting)]
        strength = ""
        if finding.is_shown and all(self._are_shown(alpha, columns["low"])):
            order = np.argsort(-self.estimates)
            pairs = [self.pairs[i] for i in order]
            strength = self._strength(pairs, self.estimates[order].tolist())
        wording = sentences.of_targets(self.source, self._given())
        said = sentences.comparison(wording, relations, finding, setting, strength)
        return [said, sentences.which_are_shown(relations, alpha)]

    def relative_efficiency(self) -> float:
        """Return how many times more observations the split test would need, asymptotically."""
        if self.method != "joint":
            raise InputError(
                "the efficiency of joint over split needs their covariance; use `method='joint'`."
            )
        return paper.relative_efficiency(self.dependences.covariance)

    def power(self, n: int, *, alpha: float = 0.05, method: str | None = None) -> float:
        """Return the probability that a test with `n` new observations rejects at level `alpha`.

        The effect and the variances are taken to be as estimated here, as from a pilot study.

        Parameters
        ----------
        n : int
            Observations in all; the split test gives half of them to each dependence.
        alpha : float, default 0.05
        method : {"joint", "split"}, optional
            The test planned; by default that of this result.
        """
        check_level("alpha", alpha)
        check_count("n", n, at_least=MINIMUM_OBSERVATIONS)
        return self._pilot(method).power(n, alpha, self.alternative)

    def sample_size(
        self,
        power: float = 0.8,
        *,
        alpha: float = 0.05,
        careful: bool = False,
        method: str | None = None,
    ) -> int:
        """Return how many observations give the test this `power`; see :meth:`Result.sample_size`.

        Parameters
        ----------
        power : float, default 0.8
        alpha : float, default 0.05
        careful : bool, default False
            Whether to plan from the lower 80% limit of the effect.
        method : {"joint", "split"}, optional
            The test planned; by default that of this result.
        """
        if method is None or method == self.method:
            return super().sample_size(power, alpha=alpha, careful=careful)
        check_level("power", power)
        check_level("alpha", alpha)
        return self._pilot(method).sample_size(power, alpha, self.alternative)

    def _pilot(self, method: str | None = None) -> Pilot:
        """Return what this result says about either method, as a pilot study.

        The split test has the variance ``2 (σ²_xy + σ²_xz) / n``: half of the observations for
        each dependence, and no covariance.
        """
        if method is not None:
            check_choice("method", method, METHODS)
        pilot = super()._pilot()
        if method is None or method == self.method:
            return pilot
        if self.method == "split":
            raise InputError(
                "a split pilot does not know the covariance that the joint test needs; run the "
                "pilot with `method='joint'`, which can plan both."
            )
        deviation = math.sqrt(2.0 * self.n_observations * float(np.trace(self.covariance)))
        return replace(pilot, null_deviation=deviation, deviation=deviation)

    def _region(self, columns: Columns, alpha: float) -> Picture:
        """Return the region of both dependences with the interval of their difference."""
        first, second = (number(float(value)) for value in self.estimates)
        measure, level = MEASURE_NAMES[self.measure], percent(1 - alpha)
        low, high = columns["low"][-1], columns["high"][-1]
        if not math.isfinite(self.standard_error):
            return self._forest("difference", columns, alpha)
        draw = partial(
            plotting.region,
            self.estimates,
            self.covariance,
            # The other limit of a one-sided question is no limit.
            (
                -math.inf if self.alternative == "less" else low,
                math.inf if self.alternative == "greater" else high,
            ),
            names=(self.source, self.first, self.second),
            measure=self.measure,
            df=self.df,
            level=1 - alpha,
        )
        return Picture(
            draw,
            f"{level} region of the two dependences: {measure} {first} with {self.first}, "
            f"{second} with {self.second}; below it their difference with its interval, from "
            f"{number(low)} to {number(high)}.",
            f"Where both dependences may lie at once ({level} region); on the dotted line they are "
            "equal. The region does not decide which is stronger, because it has to be right "
            "about two numbers: the interval of the difference below it does. Its limits are the "
            "dashed lines, and the dotted line lies between them if and only if the interval "
            "contains 0.",
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

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        parts = super().describe(alpha)
        note = (
            "The p-value is that of two pairs chosen beforehand. If they were picked after looking "
            f"at all {self.n_pairs:,} pairs of the matrix it is too small."
        )
        return replace(parts, notes=(note, *parts.notes))

    def _columns(self, alpha: float, name: str = "difference") -> Columns:
        return super()._columns(alpha, name)
