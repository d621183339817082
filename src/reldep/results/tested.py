"""Answers that come down to one estimate with a test, and that about one dependence."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from reldep import plotting
from reldep.arguments import check_count, check_level
from reldep.data.variables import MINIMUM_OBSERVATIONS, FloatArray
from reldep.description import Columns, Picture, Section, Table, Value, unseen
from reldep.exceptions import InputError
from reldep.results import sentences
from reldep.results.sentences import Finding, Setting
from reldep.results.strength import Estimated, correlations_text
from reldep.stats import student
from reldep.stats.correlation import as_correlation
from reldep.stats.independence import IndependenceTest, independence_power, independence_sample_size
from reldep.stats.intervals import Interval
from reldep.stats.pairwise import Test
from reldep.stats.series import leave_out, most_influential, variance_shares
from reldep.stats.student import Pilot, careful_effect, check_planned
from reldep.words import MEASURE_NAMES, counted, number


@dataclass(frozen=True, eq=False, repr=False)
class Result(Estimated):
    """An estimate with its standard error and the test of a hypothesis about it.

    Attributes
    ----------
    weights : ndarray, shape (p,)
        The weight of every pair in the estimate.
    tested : Test
        The estimate with its variance and the law of its statistic.
    alternative : {"greater", "less", "two-sided"}
    """

    _shown = ("estimate", "standard_error", "statistic", "pvalue")

    weights: FloatArray = field(repr=False)
    tested: Test = field(repr=False)
    alternative: str

    @property
    def estimate(self) -> float:
        """What was asked for: a difference, a contrast or a dependence."""
        return self.tested.estimate

    @property
    def standard_error(self) -> float:
        """The standard error of `estimate`."""
        return self.tested.standard_error

    @property
    def statistic(self) -> float:
        """The test statistic."""
        return self.tested.statistic

    @property
    def df(self) -> float:
        """Degrees of freedom of the statistic's law; infinity for the normal law."""
        return self.tested.df

    @property
    def pvalue(self) -> float:
        """The p-value of the test."""
        return self.tested.pvalue(self.alternative)

    @property
    def log10_pvalue(self) -> float:
        """The decimal logarithm of the p-value, which cannot underflow."""
        return self.tested.log10_pvalue(self.alternative)

    @property
    def covariance(self) -> FloatArray:
        """Their covariance; with the weights w, ``w' covariance w`` is `standard_error` squared."""
        return self.dependences.covariance_with(self.weights, self.standard_error**2)

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the interval of the estimate, which agrees with the test.

        A one-sided alternative has a one-sided bound: the other limit is the largest or smallest
        value that the estimate can have.

        Parameters
        ----------
        confidence_level : float, default 0.95

        Returns
        -------
        low, high : float
            A named tuple.
        """
        level = check_level("confidence_level", confidence_level)
        limits = self.tested.interval(level, self.alternative)
        # Normalised dependences lie between 0 and 1, the difference of two between -1 and 1.
        least, most = (float(clip(self.weights, 0.0).sum()) for clip in (np.minimum, np.maximum))
        return Interval(*map(float, self._possible(limits, least, most)))

    def power(self, n: int, *, alpha: float = 0.05) -> float:
        """Return the probability that a test with `n` new observations rejects at level `alpha`.

        The effect and the variance are taken to be as estimated here, as from a pilot study. An
        estimate is not the truth: see :meth:`sample_size` for a careful plan.
        """
        check_level("alpha", alpha)
        check_count("n", n, at_least=MINIMUM_OBSERVATIONS)
        return self._power(n, alpha)

    def sample_size(self, power: float = 0.8, *, alpha: float = 0.05, careful: bool = False) -> int:
        """Return how many observations give the test this `power` at level `alpha`.

        A plan from the estimate takes a pilot at its word: of pilots with 80 rows a planned power
        of 80% was 70 to 75% in truth. With `careful` the plan starts from the lower 80% limit of
        the effect: 83 to 89%, but 8 to 36% of such pilots gave no plan. With these counted as
        failures the assurance, the chance of a plan with the power that was asked for, is 44 to
        72% (docs/calibration.md).
        """
        check_level("power", power)
        check_level("alpha", alpha)
        return self._sample_size(power, alpha, careful=careful)

    def _power(self, n: int, alpha: float) -> float:
        return Pilot.of(self.tested, self.n_observations).power(n, alpha, self.alternative)

    def _sample_size(self, power: float, alpha: float, *, careful: bool) -> int:
        pilot = Pilot.of(self.tested, self.n_observations)
        if careful:
            pilot = replace(pilot, effect=careful_effect(self.tested, self.alternative))
            if pilot.effect == 0:
                raise InputError(
                    "the lower 80% limit of the effect is 0, for which no number of observations "
                    "is enough; run a larger pilot."
                )
        return pilot.sample_size(power, alpha, self.alternative)

    def influential(self, k: int = 10) -> Any:
        """Return a data frame of the observations that drive the estimate most.

        The first column names the observation: its row in the input, its line in a file or its
        identifier. ``psi`` is what the observation adds, times the number of observations, and
        ``share`` its part in the variance; the largest first. ``estimate_without`` and
        ``pvalue_without`` are what is left without the observation and all above it: to first
        order, and for the first observation exactly.
        """
        check_count("k", k, at_least=1, at_most=self.n_observations)
        return self._frame(self._influential(k))

    def _psi(self) -> FloatArray:
        """Return what every observation adds to the estimate, times their number."""
        if not self.dependences.keeps_rows:
            raise InputError(
                "blocks of rows do not keep what every row adds; use `engine='tiled'`, or, with "
                "`clusters` or `max_lag`, fewer rows."
            )
        if self.dependences.fragile:
            raise InputError("the estimate has no standard error that rows could have a share in.")
        return np.asarray(self.weights @ self.dependences.psi)

    def _influential(self, k: int) -> Columns:
        psi, rows = self._psi(), self.provenance.rows
        top = most_influential(psi, k)
        columns: Columns = {
            rows.noun: rows.take(top).values(),
            "psi": psi[top].tolist(),
            "share": variance_shares(psi)[top].tolist(),
        }
        # Fewer observations than the smallest sample leave nothing to test.
        left = top[: self.n_observations - MINIMUM_OBSERVATIONS]
        change, ratio = leave_out(psi, left, self.provenance.dependence, order=4)
        exact = self.dependences.without(left[:1])
        if exact is not None:
            change[0] = float(self.weights @ exact) - self.estimate
        estimate = self.estimate + change
        errors = np.sqrt(ratio * self.tested.null)
        ratios = np.divide(estimate, errors, out=np.zeros_like(errors), where=errors > 0)
        pvalues = np.exp(student.log_pvalues(ratios, np.full(len(left), self.df), self.alternative))
        none = [None] * (k - len(left))
        columns["estimate_without"] = [*estimate.tolist(), *none]
        columns["pvalue_without"] = [*pvalues.tolist(), *none]
        return columns

    def _law(self) -> str:
        """Return the statistic as before its value: "z" or "t(41)"."""
        return "z" if math.isinf(self.df) else f"t({self.df:.0f})"

    def _finding(self, at: Setting) -> Finding:
        """Return the test as sentences write it."""
        limits = (at.columns["low"][-1], at.columns["high"][-1])
        tested = (self._law(), self.statistic, self.pvalue, at.alpha, self.alternative)
        return Finding(self.estimate, limits, *tested)

    def _numbers(self, finding: Finding, tested: str = "") -> list[Value]:
        """Return the key numbers of the test."""
        name = f"{self._name()} ({MEASURE_NAMES[self.measure]})"
        errors = unseen(standard_error=self.standard_error, df=self.df)
        return [*finding.values(name, tested), *errors, *unseen(log10_pvalue=self.log10_pvalue)]

    @abstractmethod
    def _name(self) -> str:
        """Return what the estimate is called."""

    def _every_dependence(self, at: Setting) -> Picture:
        """Return every dependence with its interval, and below them what is made of them."""
        names, caption = at.columns["relation"], f"Every dependence with its {at.level} interval"
        alt = f"{caption}; the estimate is {number(self.estimate)}."
        return self._forest(at, names, len(names) - len(self._pairs), alt, f"{caption}.")

    def _sections(self, at: Setting) -> list[Section]:  # noqa: ARG002
        plan = self._plan()
        found = [Section("Planning", "planning", paragraphs=(plan,))] if plan else []
        if self.dependences.keeps_rows and not self.dependences.fragile:
            found.append(self._most_influential())
        return found

    def _plan(self) -> str:
        """Return how many observations a next study needs; nothing if they are out of reach."""
        try:
            plain = self.sample_size()
        except InputError:
            return ""
        # An effect that needs ten times as many is smaller than most would care for.
        if plain > 10 * self.n_observations:
            return ""
        start = (
            f"The next study needs about {plain:,} observations for a power of 80% if the effect "
            "is as estimated"
        )
        try:
            careful = self.sample_size(careful=True)
        except InputError:
            return (
                f"{start}. Its lower 80% limit is 0, so a careful plan needs a larger pilot first."
            )
        return (
            f"{start}, and {careful:,} if it is at its lower 80% limit. That is the careful plan: "
            "pilots that look good are often lucky."
        )

    def _most_influential(self) -> Section:
        """Return which observations drive the estimate, and what is left without them."""
        k, rows = min(5, self.n_observations), self.provenance.rows
        columns, psi = self._influential(k), self._psi()
        names = [str(name) for name in columns[rows.noun]]
        axis = "row" if rows.labels is None else "position"
        draw = partial(
            plotting.influence,
            psi,
            places=rows.values() if rows.noun == "line" else rows.positions,
            named=dict(zip(most_influential(psi, k).tolist(), names, strict=True)),
            xlabel="line of the file" if rows.noun == "line" else f"{axis} in the input",
        )
        picture = Picture(
            draw,
            f"Influence of each of {counted(self.n_observations, 'observation')} on the estimate; "
            f"the largest: {rows.noun} {', '.join(names)}.",
            "What each observation adds to the estimate. A few dots far from all others carry the "
            "answer: check them.",
        )
        caption = (
            f"The {k} observations with the largest influence. The estimate and its p-value "
            "without the observation and all above it are in the last columns."
        )
        return Section(
            "Most influential observations",
            "influential",
            table=Table.of(columns, caption),
            pictures=(picture,),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Dependence(Result):
    """The answer of :func:`reldep.dependence`.

    `statistic` and `pvalue` belong to the test of independence; the interval is that of the
    estimate and is meant for dependent variables.

    Attributes
    ----------
    x, y : str
        The names of the variables.
    independence : IndependenceTest
        Its statistic, p-value and how they were computed.
    """

    x: str
    y: str
    independence: IndependenceTest = field(repr=False)

    @property
    def statistic(self) -> float:
        """The statistic of the test of independence."""
        return self.independence.statistic

    @property
    def pvalue(self) -> float:
        """The p-value of independence."""
        return self.independence.pvalue

    @property
    def log10_pvalue(self) -> float:
        """The decimal logarithm of the p-value."""
        return self.independence.log10_pvalue

    def as_correlation(self) -> float:
        """Return the dependence as the correlation of two normal variables that have it.

        It lies between 0 and 1; no sign is implied. See :meth:`Comparison.as_correlation`.
        """
        return self._correlations([self.estimate])[0]

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        """Return the interval of the dependence: low and high, a named tuple."""
        return self.dependences.interval(0, check_level("confidence_level", confidence_level))

    def _power(self, n: int, alpha: float) -> float:
        return independence_power(*self._correlation(), n, alpha)

    def _sample_size(self, power: float, alpha: float, *, careful: bool) -> int:
        correlation, deviation = self._correlation()
        if careful:
            # Φ⁻¹(0.8) standard errors below the estimate.
            correlation -= 0.8416 * deviation / math.sqrt(self.n_observations)
        return independence_sample_size(correlation, deviation, power, alpha)

    def _correlation(self) -> tuple[float, float]:
        """Return the unbiased correlation and the deviation due to one observation."""
        found = self.dependences
        scale = float(found.scale[0])
        check_planned(float(found.covariance[0, 0]))
        spread = self.n_observations * float(found.covariance[0, 0])
        return float(found.values[0]) / scale, math.sqrt(spread) / scale

    def _influential(self, k: int) -> Columns:
        # The p-value of independence does not follow from influence values.
        columns = super()._influential(k)
        columns.pop("pvalue_without")
        return columns

    def _columns(self, alpha: float) -> Columns:
        low, high = self.confidence_interval(1 - alpha)
        own = ([self.estimate], [self.standard_error], ([low], [high]), [self.pvalue < alpha])
        return {
            "relation": [f"{self.x} ~ {self.y}"],
            **self._estimate_columns(*own),
            "statistic": [self.statistic],
            "pvalue": [self.pvalue],
        }

    def _asked(self) -> str:
        return f"Are {self.x} and {self.y} related"

    def _answered(self, at: sentences.Setting) -> tuple[list[str], list[Value]]:
        found = self._relation(at, 0, f"{self.x} and {self.y}", self.pvalue)
        numbers = self._numbers(self._finding(at), "of independence")
        if found.strength:
            both = as_correlation([found.value, *found.limits], self._scales[0].kernel).tolist()
            numbers.append(Value("as_correlation", "As a correlation", both, correlations_text))
        return [sentences.dependence(found, at)], numbers

    def _caption(self, at: sentences.Setting) -> str:
        return f"The estimate with its standard error and {at.level} interval."

    def _pictures(self, at: sentences.Setting) -> tuple[Picture, ...]:
        # The ruler shows all that the forest does; HSIC has none.
        return self._ruler(at) or (self._every_dependence(at),)

    def _own_facts(self) -> list[Value]:
        test = self.independence
        return [
            Value("test", "Test of independence", test.test, lambda _: test.in_words()),
            *unseen(n_permutations=test.n_permutations),
        ]

    def _name(self) -> str:
        return "Estimate"

    def _law(self) -> str:
        return self.independence.statistic_name
