"""The answers about differences: which dependence is stronger, and any weighted contrast."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep import plotting
from reldep.data.checks import METHODS, MINIMUM_OBSERVATIONS, check_choice, check_count, check_level
from reldep.description import Picture
from reldep.exceptions import InputError
from reldep.results import sentences
from reldep.results.tested import Result
from reldep.stats import paper
from reldep.words import MEASURE_NAMES, number, percent

if TYPE_CHECKING:
    from reldep.results.description import Columns
    from reldep.stats.power import Pilot


@dataclass(frozen=True, eq=False, repr=False)
class Contrast(Result):
    """The answer of :func:`reldep.contrast`: does a weighted sum of dependences differ from 0?"""

    def question(self) -> str:
        """Return what was asked."""
        if self._is_difference():
            first, second = self._pairs_in_words()
            if self.alternative == "two-sided":
                return self._asked(f"Are {first} or {second} more closely related")
            if self.alternative == "less":
                first, second = second, first
            return self._asked(f"Are {first} more closely related than {second}")
        if self.alternative == "two-sided":
            return self._asked(f"Does {self._formula()} differ from 0")
        side = "above" if self.alternative == "greater" else "below"
        return self._asked(f"Is {self._formula()} {side} 0")

    def _is_difference(self) -> bool:
        """Return whether the contrast is one dependence minus another."""
        return bool(np.array_equal(self.weights, [1.0, -1.0]))

    def _pairs_in_words(self) -> list[str]:
        return [f"{x} and {y}" for x, y in self.pairs]

    def _formula(self) -> str:
        written = ""
        for weight, (x, y) in zip(self.weights, self.pairs, strict=True):
            times = "" if abs(weight) == 1 else f"{abs(weight):g}·"
            sign = "− " if weight < 0 else "+ " if written else ""
            written += f" {sign}{times}{MEASURE_NAMES[self.measure]}({x}, {y})"
        return written.strip()

    def sentence(self, alpha: float = 0.05) -> str:
        """Return the answer in a sentence or two."""
        finding, scope = self.finding(alpha), self.provenance.scope
        relations = self.relations(self._pairs_in_words())
        if self._is_difference():
            wording = sentences.of_pairs(self._given())
            measure = MEASURE_NAMES[self.measure]
            said = sentences.comparison(wording, relations, finding, measure, scope)
        else:
            said = sentences.weighted_sum(self._formula(), finding, self._given(), scope)
        return self._with_facts(said, sentences.not_shown(relations, alpha))

    def table(self, alpha: float = 0.05) -> dict[str, list[Any]]:
        """Give one row per pair and one for the contrast, which alone is tested."""
        check_level("alpha", alpha)
        untested = [None] * len(self.pairs)
        limits = [self.dependences.interval(i, 1 - alpha) for i in range(len(self.pairs))]
        limits.append(self.confidence_interval(1 - alpha))
        low, high = ([limit[side] for limit in limits] for side in (0, 1))
        errors = self.dependences.standard_errors.tolist()
        shown = self._are_shown(alpha, low)
        correlations = self._correlation_column(self.pairs, self.estimates.tolist(), shown)
        return {
            "dependence": [f"{x} ~ {y}" for x, y in self.pairs] + [self.estimate_name()],
            self.measure: [*map(float, self.estimates), self.estimate],
            **{name: [*cells, None] for name, cells in correlations.items()},
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

    def question(self) -> str:
        """Return what was asked."""
        first, second = self.first, self.second
        if self.alternative == "less":
            first, second = second, first
        word = "or" if self.alternative == "two-sided" else "than"
        return self._asked(f"Is {self.source} more closely related to {first} {word} to {second}")

    def sentence(self, alpha: float = 0.05) -> str:
        """Return to which target the source is more closely related."""
        finding, scope, measure = self.finding(alpha), self.provenance.scope, self.measure
        relations = self.relations([self.first, self.second])
        doubtful = [one.pvalue is not None and one.pvalue >= alpha for one in relations]
        if all(doubtful) and not finding.is_shown:
            source = f"{self.source}{self._given()}"
            said = sentences.neither(source, relations, MEASURE_NAMES[measure], scope)
            return self._with_facts(said)
        wording = sentences.of_targets(self.source, self._given())
        strength = self._both_strengths(alpha) if finding.is_shown else ""
        said = sentences.comparison(
            wording, relations, finding, MEASURE_NAMES[measure], scope, strength
        )
        return self._with_facts(said, sentences.which_are_shown(relations, alpha))

    def _both_strengths(self, alpha: float) -> str:
        """Say how strong both are, the stronger first, if both are shown to exist."""
        if not all(self._are_shown(alpha)):
            return ""
        order = np.argsort(-self.estimates)
        return self._strength([self.pairs[i] for i in order], self.estimates[order].tolist())

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
        return paper.relative_efficiency(self.dependences.covariance)

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
        return [first, *super().footnotes()]

    def pictures(self, columns: Columns, alpha: float) -> tuple[Picture, ...]:
        """Draw the region of both dependences with the interval of their difference."""
        first, second = (number(float(value)) for value in self.estimates)
        measure, level = MEASURE_NAMES[self.measure], percent(1 - alpha)
        low, high = columns["low"][-1], columns["high"][-1]
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
        return (
            Picture(
                draw,
                f"{level} region of the two dependences: {measure} {first} with {self.first}, "
                f"{second} with {self.second}; below it their difference with its interval, from "
                f"{number(low)} to {number(high)}.",
                f"Where both dependences may lie at once ({level} region); on the dotted line they "
                "are equal. The region does not decide which is stronger, because it has to be "
                "right about two numbers: the interval of the difference below it does. Its limits "
                "are the dashed lines, and the dotted line lies between them if and only if the "
                "interval contains 0.",
            ),
            *self._ruler(self.pairs, columns),
        )
