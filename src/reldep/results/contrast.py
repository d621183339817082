"""The answers about differences: which dependence is stronger, and any weighted contrast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import METHODS, check_choice, check_level
from reldep.results.base import Result, check_planned
from reldep.words import MEASURE_NAMES, interval_text, number, percent, pvalue_text
from reldep.stats import normal, paper

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray

CLAIMS = {"greater": "positive", "less": "negative", "two-sided": "different from 0"}
DIRECTIONS = {"greater": "more on", "less": "less on", "two-sided": "differently on"}


@dataclass(frozen=True, eq=False, repr=False)
class Contrast(Result):
    """The answer of :func:`reldep.contrast`: is a weighted sum of dependences positive?

    Attributes
    ----------
    weights : ndarray, shape (p,)
        The weight of every pair.
    """

    weights: FloatArray

    def _weights(self) -> FloatArray:
        return self.weights

    def question(self) -> str:
        """Ask whether the contrast is positive (negative, not zero)."""
        return f"Is the contrast {self._formula} {CLAIMS[self.alternative]}?"

    @property
    def _formula(self) -> str:
        written = " ".join(
            f"{weight:+g}·{MEASURE_NAMES[self.measure]}({x}, {y})"
            for weight, (x, y) in zip(self.weights, self.pairs, strict=True)
        )
        return written.lstrip("+")

    def sentence(self, alpha: float = 0.05) -> str:
        """Say whether the contrast is positive (negative, not zero)."""
        claim = CLAIMS[self.alternative]
        found = "is" if self.pvalue < alpha else "is not shown to be"
        return f"The contrast {self._formula} {found} {claim} {self._evidence(alpha)}."

    def _evidence(self, alpha: float) -> str:
        low, high = self.confidence_interval(1 - alpha)
        return (
            f"(estimate {number(self.estimate)}, {percent(1 - alpha)} interval "
            f"{interval_text(low, high)}, z = {self.statistic:.2f}, {pvalue_text(self.pvalue)})"
        )

    def table(self) -> dict[str, list[Any]]:
        """Give one row per pair and one for the contrast, which alone is tested."""
        untested = [None] * len(self.pairs)
        errors = [float(v) ** 0.5 for v in self.covariance.diagonal()]
        limits = [
            normal.interval(float(e), s, 0.95) for e, s in zip(self.estimates, errors, strict=True)
        ] + [self.confidence_interval()]
        return {
            "dependence": [f"{x} ~ {y}" for x, y in self.pairs] + [self._difference_name],
            self.measure: [*map(float, self.estimates), self.estimate],
            "std_error": [*errors, self.standard_error],
            "low_95": [low for low, _ in limits],
            "high_95": [high for _, high in limits],
            "statistic": [*untested, self.statistic],
            "pvalue": [*untested, self.pvalue],
        }

    @property
    def _difference_name(self) -> str:
        return "contrast"

    def finite_sample_bound(self, delta: float = 0.05) -> float:
        """Bound the error of the difference of two HSICs without any approximation.

        See :func:`reldep.finite_sample_bound`. It holds for a difference of two raw HSICs whose
        kernels have values in [0, 1] (Gaussian, Laplace, Delta).
        """
        if self.measure != "hsic" or sorted(self.weights) != [-1.0, 1.0]:
            raise ValueError(
                "the finite-sample bound holds for the difference of two HSICs, "
                'measure="hsic" with weights 1 and -1.'
            )
        if not self.provenance.unit_kernels:
            raise ValueError(
                "the finite-sample bound needs kernels with values in [0, 1]: Gaussian, Laplace "
                "or Delta for every variable."
            )
        return paper.finite_sample_bound(self.n_observations, delta)

    def plot(self, ax: Any = None) -> Any:
        """Draw the dependences with their intervals and return the Axes."""
        from reldep.plotting import forest

        return forest(self, ax=ax)


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
        return f"Does {self.source} depend {direction} {self.first} than on {self.second}?"

    def sentence(self, alpha: float = 0.05) -> str:
        """Say on which target the source depends more."""
        evidence = self._evidence(alpha)
        measure = MEASURE_NAMES[self.measure]
        if self.pvalue < alpha and self.alternative != "two-sided":
            word = "more" if self.alternative == "greater" else "less"
            claim = f"{self.source} depends significantly {word} on {self.first} than on "
            return f"{claim}{self.second}: difference of {measure} {evidence}."
        if self.pvalue < alpha:
            stronger, weaker = (
                (self.first, self.second) if self.estimate > 0 else (self.second, self.first)
            )
            claim = f"{self.source} depends significantly more on {stronger} than on {weaker}"
            return f"{claim}: difference of {measure} {evidence}."
        direction = DIRECTIONS[self.alternative]
        claim = f"that {self.source} depends {direction} {self.first} than on"
        return (
            f"No evidence at the {percent(alpha)} level {claim} {self.second}: difference of "
            f"{measure} {evidence}."
        )

    @property
    def _difference_name(self) -> str:
        return "difference"

    def relative_efficiency(self) -> float:
        """Give how many times more observations the split test would need, asymptotically."""
        if self.method != "joint":
            raise ValueError(
                'the efficiency of joint over split needs their covariance; use method="joint".'
            )
        return paper.relative_efficiency(self.covariance)

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
        check_planned(n)
        deviation = self._deviation_with(method)
        return normal.power(self.estimate, deviation, n, alpha, self.alternative)

    def sample_size(
        self, power: float = 0.8, *, alpha: float = 0.05, method: str | None = None
    ) -> int:
        """Find how many observations give the test this `power`; see :meth:`power`."""
        check_level("power", power)
        check_level("alpha", alpha)
        deviation = self._deviation_with(method)
        return normal.sample_size(self.estimate, deviation, power, alpha, self.alternative)

    def _deviation_with(self, method: str | None) -> float:
        """Give the deviation due to one observation under either method.

        The split test has the variance ``2 (σ²_xy + σ²_xz) / n``: half of the observations for
        each dependence, and no covariance.
        """
        if method is not None:
            check_choice("method", method, METHODS)
        if method is None or method == self.method:
            return self._deviation
        if self.method == "split":
            raise ValueError(
                "a split pilot does not know the covariance that the joint test needs; run the "
                'pilot with method="joint", from which both can be planned.'
            )
        return math.sqrt(2.0 * self.n_observations * float(np.trace(self.covariance)))

    def _footnotes(self) -> list[str]:
        return [f"Method: {self.method}; alternative: {self.alternative}.", *super()._footnotes()]

    def plot(self, ax: Any = None) -> Any:
        """Draw both dependences with their two-sigma ellipse and return the Axes."""
        from reldep.plotting import ellipses

        return ellipses(self, ax=ax)
