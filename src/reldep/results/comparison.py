"""The answers about differences: which dependence is stronger, and any weighted contrast."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import METHODS, MINIMUM_OBSERVATIONS, check_choice, check_count, check_level
from reldep.exceptions import InputError
from reldep.results.description import Picture
from reldep.results.tested import Result
from reldep.stats import published
from reldep.stats.measures import NORMALISED
from reldep.stats.testing import Interval
from reldep.words import MEASURE_NAMES, number, percent

if TYPE_CHECKING:
    from reldep.stats.planning import Pilot

CLAIMS = {"greater": "positive", "less": "negative", "two-sided": "different from 0"}
DIRECTIONS = {"greater": "more on", "less": "less on", "two-sided": "differently on"}


@dataclass(frozen=True, eq=False, repr=False)
class Contrast(Result):
    """The answer of :func:`reldep.contrast`: is a weighted sum of dependences positive?"""

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Give the two-sided interval of the contrast, whatever the alternative.

        Normalised dependences lie between 0 and 1, so that the difference of two lies between -1
        and 1; the interval holds nothing else.
        """
        low, high = super().confidence_interval(confidence_level)
        if self.measure not in NORMALISED:
            return Interval(low, high)
        least, most = np.minimum(self.weights, 0.0).sum(), np.maximum(self.weights, 0.0).sum()
        return Interval(*(float(np.clip(limit, least, most)) for limit in (low, high)))

    def question(self) -> str:
        """Ask whether the contrast is positive (negative, not zero)."""
        return f"Is the contrast {self._formula()} {CLAIMS[self.alternative]}{self._given()}?"

    def _formula(self) -> str:
        written = ""
        for weight, (x, y) in zip(self.weights, self.pairs, strict=True):
            times = "" if abs(weight) == 1 else f"{abs(weight):g}·"
            sign = "− " if weight < 0 else "+ " if written else ""
            written += f" {sign}{times}{MEASURE_NAMES[self.measure]}({x}, {y})"
        return written.strip()

    def sentence(self, alpha: float = 0.05) -> str:
        """Say whether the contrast is positive (negative, not zero)."""
        claim = f"The contrast {self._formula()}{self._given()}"
        evidence = f"(estimate {self.evidence(alpha)})."
        if self.pvalue < alpha:
            return f"{claim} is {CLAIMS[self.alternative]} {evidence}{self._reconciled(alpha)}"
        if self._points_the_other_way(alpha):
            found = "negative" if self.estimate < 0 else "positive"
            return (
                f"{claim} is not {CLAIMS[self.alternative]}: it points the other way and is "
                f"{found} {evidence}"
            )
        asked = f"the contrast {self._formula()}{self._given()}"
        return f"Undecided: {asked} is not shown to be {CLAIMS[self.alternative]} {evidence}"

    def _points_the_other_way(self, alpha: float) -> bool:
        """Tell whether a one-sided question has the opposite answer."""
        opposite = {"greater": "less", "less": "greater"}.get(self.alternative)
        return opposite is not None and self.tested.pvalue(opposite) < alpha

    def _reconciled(self, alpha: float) -> str:
        """Explain a significant one-sided test beside a two-sided interval that holds 0."""
        low, high = self.confidence_interval(1 - alpha)
        if not low <= 0 <= high:
            return ""
        return (
            f" The test is one-sided at {percent(alpha)}; the interval is two-sided, at "
            f"{percent(alpha / 2)} on each side, and still holds 0."
        )

    def table(self, alpha: float = 0.05) -> dict[str, list[Any]]:
        """Give one row per pair and one for the contrast, which alone is tested."""
        check_level("alpha", alpha)
        untested = [None] * len(self.pairs)
        limits = [self.dependences.interval(i, 1 - alpha) for i in range(len(self.pairs))]
        limits.append(self.confidence_interval(1 - alpha))
        low, high = ([limit[side] for limit in limits] for side in (0, 1))
        errors = self.dependences.standard_errors.tolist()
        return {
            "dependence": [f"{x} ~ {y}" for x, y in self.pairs] + [self.estimate_name()],
            self.measure: [*map(float, self.estimates), self.estimate],
            **self._correlation_column(self.pairs, self.estimates.tolist(), low),
            "standard_error": [*errors, self.standard_error],
            "low": low,
            "high": high,
            "statistic": [*untested, self.statistic],
            "pvalue": [*untested, self.pvalue],
        }

    def estimate_name(self) -> str:
        """Say what the estimate is."""
        return "contrast"

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
        return published.finite_sample_bound(self.n_observations, delta)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Contrast):
    """The answer of :func:`reldep.compare`: does the source depend more on the first target?

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

    def question(self) -> str:
        """Ask on which target the source depends more."""
        direction = DIRECTIONS[self.alternative]
        targets = f"{self.first} than on {self.second}{self._given()}"
        return f"Does {self.source} depend {direction} {targets}?"

    def sentence(self, alpha: float = 0.05) -> str:
        """Say on which target the source depends more."""
        evidence = f"difference of {MEASURE_NAMES[self.measure]} {self.evidence(alpha)}"
        if self.pvalue < alpha:
            return (
                f"{self.source} depends significantly {self._finding()}: {self._sizes()} "
                f"({evidence}){self._both_strengths(alpha)}.{self._reconciled(alpha)}"
            )
        if self._points_the_other_way(alpha):
            word = "more" if self.alternative == "greater" else "less"
            return (
                f"No, it points the other way: {self.source} does not depend {word} on "
                f"{self.first}, it depends {self._finding()}: {self._sizes()} ({evidence}). For a "
                "p-value of this direction ask the two-sided question."
            )
        return (
            f"Undecided at the {percent(alpha)} level whether {self.source} depends "
            f"{DIRECTIONS[self.alternative]} {self.first} than on {self.second}{self._given()}: "
            f"{self._sizes(ratio=False)} ({evidence}). The interval holds what the data allow."
        )

    def _finding(self) -> str:
        """Say which dependence is the stronger."""
        if self.alternative == "less" and self.estimate < 0:
            return f"less on {self.first} than on {self.second}{self._given()}"
        stronger, weaker = self.first, self.second
        if self.estimate < 0:
            stronger, weaker = weaker, stronger
        return f"more on {stronger} than on {weaker}{self._given()}"

    def _both_strengths(self, alpha: float) -> str:
        """Say how strong both are, the stronger first, if both are shown to exist."""
        if any(self.dependences.interval(i, 1 - alpha).low <= 0 for i in range(2)):
            return ""
        order = np.argsort(-self.estimates)
        return self._strength([self.pairs[i] for i in order], self.estimates[order].tolist())

    def _sizes(self, *, ratio: bool = True) -> str:
        """Set the two dependences beside each other, with their ratio where it has a meaning.

        Where the question is undecided a ratio would read like a finding.
        """
        first, second = (float(value) for value in self.estimates)
        measure = MEASURE_NAMES[self.measure]
        sizes = f"{measure} {number(first, 3)} against {number(second, 3)}"
        larger, smaller = max(first, second), min(first, second)
        # A ratio near 1 says nothing, one beyond 100 divides by noise.
        if ratio and smaller > 0 and 1.1 <= larger / smaller < 100:
            sizes += f", {larger / smaller:.2g} times as strong"
        return sizes

    def estimate_name(self) -> str:
        """Say what the estimate is."""
        return "difference"

    def settings(self) -> dict[str, str]:
        """Give the choices behind the answer, with the method."""
        return {"Method": self.method, **super().settings()}

    def relative_efficiency(self) -> float:
        """Give how many times more observations the split test would need, asymptotically."""
        if self.method != "joint":
            raise InputError(
                "the efficiency of joint over split needs their covariance; use `method='joint'`."
            )
        return published.relative_efficiency(self.dependences.covariance)

    def power(self, n: int, *, alpha: float = 0.05, method: str | None = None) -> float:
        """Give the probability that a test with `n` new observations rejects at level `alpha`.

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
        """Find how many observations give the test this `power`; see :meth:`Result.sample_size`.

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

    def plannable_methods(self) -> tuple[str, ...]:
        """Name the methods whose power this result can foretell."""
        return METHODS if self.method == "joint" else ("split",)

    def _pilot(self, method: str | None = None) -> Pilot:
        """Learn what this result tells about either method.

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

    def footnotes(self) -> list[str]:
        """Say below the table how the numbers were computed."""
        first = f"Method: {self.method}; alternative: {self.alternative}."
        undecided = self.pvalue >= 0.05 and not self._points_the_other_way(0.05)
        plan = [self.plan_in_words()] if undecided and self.is_within_reach() else []
        return [first, *super().footnotes(), *plan]

    def pictures(self) -> tuple[Picture, ...]:
        """Draw both dependences with their two-sigma ellipse."""
        first, second = (number(float(value)) for value in self.estimates)
        measure = MEASURE_NAMES[self.measure]
        return (
            Picture(
                "ellipses",
                f"Ellipse of two standard deviations around the two dependences: {measure} {first} "
                f"with {self.first}, {second} with {self.second}; the diagonal means equality.",
                "Both dependences with the ellipse of two standard deviations. Below the diagonal "
                f"{self.source} depends more on {self.first}, above it more on {self.second}; an "
                "ellipse clear of the diagonal is a difference beyond chance.",
            ),
        )
