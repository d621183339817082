"""Answers that come down to one estimate with a test."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep import plotting
from reldep.data.checks import MINIMUM_OBSERVATIONS, check_count, check_level
from reldep.description import Picture, Section, Value
from reldep.exceptions import InputError
from reldep.results.answer import Answer
from reldep.results.columns import as_table
from reldep.results.sentences import Finding, Relation
from reldep.stats.influential import WithoutTop, leave_out, most_influential, variance_shares
from reldep.stats.intervals import Interval
from reldep.stats.pairwise import Test
from reldep.stats.power import Pilot, careful_effect
from reldep.stats.units import NORMALISED
from reldep.words import (
    MEASURE_NAMES,
    counted,
    in_prose,
    interval_text,
    number,
    percent,
    pvalue_number,
    pvalue_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.rows import Rows
    from reldep.data.variables import FloatArray
    from reldep.engine.centred import Pair
    from reldep.engine.influence import Influence
    from reldep.results.columns import Columns
    from reldep.stats.estimates import Estimates

# How many of the most influential rows a report shows, and leaves out to see what remains.
TOP = 5

# Below so many observations levels and intervals are approximate.
FEWEST_PLANNED = 30

# A plan for more observations than this says that there is hardly any effect.
MOST_PLANNED = 1_000_000

# A plan that nobody asked for is shown up to this many times the observations at hand: an effect
# that needs more is smaller than most would care for.
WITHIN_REACH = 10


@dataclass(frozen=True, eq=False, repr=False)
class Result(Answer):
    """An estimate with its standard error and the test of a hypothesis about it.

    Attributes
    ----------
    dependences : Estimates
        The dependence of every pair involved, with all that inference needs.
    weights : ndarray, shape (p,)
        The weight of every pair in the estimate.
    tested : Test
        The estimate with its variance and the law of its statistic.
    alternative : {"greater", "less", "two-sided"}
    influence : Influence
        The conditional means from which everything was computed.
    relation_pvalues : tuple of float or None
        The p-value of independence of every pair.
    """

    dependences: Estimates
    weights: FloatArray
    tested: Test
    alternative: str
    influence: Influence
    relation_pvalues: tuple[float | None, ...]

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
    def pairs(self) -> tuple[Pair, ...]:
        """Which estimate belongs to which pair."""
        return self.dependences.pairs

    @property
    def estimates(self) -> FloatArray:
        """The dependence of every pair involved."""
        return self.dependences.values

    @property
    def covariance(self) -> FloatArray:
        """Their covariance; with the weights w, ``w' covariance w`` is `standard_error` squared."""
        return self.dependences.covariance_with(self.weights, self.standard_error**2)

    def as_correlation(self) -> Any:
        """Return every dependence as the correlation of two normal variables that have it.

        Of the kernel at hand where its curve is known (Laplace, Gaussian, linear, distance), else
        of the default kernel. No sign is implied, and none of it is Pearson's correlation of the
        data.

        Returns
        -------
        dict of (str, str) to float
            Between 0 and 1, one for every pair of variables.
        """
        found = self._correlations(self.pairs, self.estimates.tolist())
        return dict(zip(self.pairs, found, strict=True))

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
        least, most = self._range()
        low, high = self.tested.interval(level, self.alternative)
        return Interval(min(max(low, least), most), max(min(high, most), least))

    def _range(self) -> tuple[float, float]:
        """Return the smallest and the largest value that the estimate can have.

        Normalised dependences lie between 0 and 1, so that the difference of two lies between -1
        and 1.
        """
        if self.measure not in NORMALISED:
            return -math.inf, math.inf
        least, most = np.minimum(self.weights, 0.0).sum(), np.maximum(self.weights, 0.0).sum()
        return float(least), float(most)

    def power(self, n: int, *, alpha: float = 0.05) -> float:
        """Return the probability that a test with `n` new observations rejects at level `alpha`.

        The effect and the variance are taken to be as estimated here, as from a pilot study. An
        estimate is not the truth: see :meth:`sample_size` for a careful plan.
        """
        check_level("alpha", alpha)
        check_count("n", n, at_least=MINIMUM_OBSERVATIONS)
        return self._pilot().power(n, alpha, self.alternative)

    def sample_size(self, power: float = 0.8, *, alpha: float = 0.05, careful: bool = False) -> int:
        """Return how many observations give the test this `power` at level `alpha`.

        A plan from the estimate takes a pilot at its word: a planned power of 80% is 73 to 75%
        in truth, and 51 to 62% after a pilot that was significant. With `careful` the plan
        starts from the lower 80% limit of the effect and keeps its promise (85 to 89%).
        """
        check_level("power", power)
        check_level("alpha", alpha)
        if not careful:
            return self._pilot().sample_size(power, alpha, self.alternative)
        effect = careful_effect(self.tested, self.alternative)
        if effect == 0:
            raise InputError(
                "the lower 80% limit of the effect is no effect at all; no number of observations "
                "is enough for a careful plan; run a larger pilot."
            )
        return replace(self._pilot(), effect=effect).sample_size(power, alpha, self.alternative)

    def _pilot(self) -> Pilot:
        return Pilot.of(self.tested, self.n_observations)

    def _is_within_reach(self) -> bool:
        """Return True if a next study of a sensible size would have a power of 80%."""
        try:
            return self.sample_size() <= WITHIN_REACH * self.n_observations
        except InputError:
            return False

    def plan_in_words(self, power: float = 0.8, *, alpha: float = 0.05) -> str:
        """Return how many observations a next study would need, by both plans."""
        if not math.isfinite(self.standard_error):
            return "The estimate has no standard error, so that nothing can be planned."
        try:
            plain = self.sample_size(power, alpha=alpha)
        except InputError:
            return "The estimate does not point towards the alternative: no sample is large enough."
        if plain > MOST_PLANNED:
            return (
                f"A next study would need more than {MOST_PLANNED:,} observations for a power of "
                f"{percent(power)}: what was estimated is next to no effect."
            )
        start = f"A next study needs about {plain:,} observations for a power of {percent(power)}"
        try:
            careful = self.sample_size(power, alpha=alpha, careful=True)
        except InputError:
            return (
                f"{start} if the effect is as estimated; the lower 80% limit of the effect is no "
                "effect at all, so a careful plan needs a larger pilot first."
            )
        return (
            f"{start} if the effect is as estimated, and {careful:,} if it is at its lower 80% "
            "limit, which is the careful plan: pilots that look good are often lucky."
        ) + (f" Take at least {FEWEST_PLANNED}." if careful < FEWEST_PLANNED else "")

    def influential(self, k: int = 10) -> Any:
        """Return a data frame of the observations that drive the estimate most.

        The first column names the observation: its row in the input, its line in a file or its
        identifier. ``psi`` is what the observation adds, times the number of observations, and
        ``share`` its part in the variance; the largest first.
        """
        check_count("k", k, at_least=1, at_most=self.n_observations)
        return self._frame(self._influential(k))

    def influence_values(self) -> FloatArray:
        """Return what every observation adds to the estimate, times their number.

        Returns
        -------
        ndarray, shape (n_observations,)
            They sum to 0; independent rows have the variance ``Σ psi² / n²``.
        """
        if not self.dependences.keeps_rows:
            raise InputError(
                "blocks of rows do not keep what every row adds; use `engine='tiled'`."
            )
        if self.dependences.fragile:
            raise InputError("the estimate has no standard error that rows could have a share in.")
        return np.asarray(self.weights @ self.dependences.psi)

    def _influential(self, k: int) -> Columns:
        psi = self.influence_values()
        top = most_influential(psi, k)
        rows = self.provenance.rows
        return {
            rows.noun: rows.take(top).values(),
            "psi": psi[top].tolist(),
            "share": variance_shares(psi)[top].tolist(),
        }

    def without_top(self, k: int = 1) -> WithoutTop:
        """Return what is left without the `k` most influential observations.

        This needs no second look at the data: their influence values are taken out of the
        estimate and of its variance, to first order; without one observation the estimate is
        exact. The p-value is that of the t test, for a dependence too.
        """
        most = self.n_observations - MINIMUM_OBSERVATIONS
        check_count("k", k, at_least=1, at_most=most)
        psi = self.influence_values()
        top = most_influential(psi, k)
        change, ratio = leave_out(psi, top, self.provenance.dependence, order=4)
        exact = self.dependences.without(top)
        if exact is not None:
            change = float(self.weights @ exact) - self.estimate
        variance = ratio * self.tested.null
        rest = Test(self.estimate + change, variance, variance, self.df)
        return WithoutTop(
            self.provenance.rows.take(top),
            rest.estimate,
            rest.standard_error,
            rest.statistic,
            rest.pvalue(self.alternative),
        )

    def _law(self, df: float | None = None) -> str:
        """Return the statistic as before its value: "z", "t" or "t(41)"."""
        if math.isinf(self.df):
            return "z"
        return "t" if df is None else f"t({df:.0f})"

    def _finding(self, alpha: float, limits: tuple[float, float]) -> Finding:
        """Return the test as sentences write it."""
        law, ratio = self._law(self.df), self.statistic
        return Finding(self.estimate, limits, law, ratio, self.pvalue, alpha, self.alternative)

    def _relations(self, names: Sequence[str]) -> list[Relation]:
        """Return every dependence with the name that a sentence gives it."""
        columns = zip(names, self.estimates.tolist(), self.relation_pvalues, strict=True)
        return [Relation(*one) for one in columns]

    def _are_shown(self, alpha: float, low: Sequence[float]) -> list[bool]:
        """Return which dependences are shown to exist: by their tests, else by their intervals."""
        known = zip(low, self.relation_pvalues, strict=False)
        return [limit > 0 if p is None else p < alpha for limit, p in known]

    def _numbers(self, name: str, alpha: float, limits: tuple[float, float]) -> list[Value]:
        """Return estimate, interval, statistic and p-value, for people and programs."""
        heading = f"{name.capitalize()} ({MEASURE_NAMES[self.measure]})"
        return [
            Value("estimate", heading, self.estimate),
            Value("standard_error", "", self.standard_error),
            interval_value(limits, 1 - alpha, self.alternative),
            Value("confidence_level", "", 1 - alpha),
            Value("statistic", self._law(self.df), self.statistic, two_decimals),
            Value("df", "", self.df),
            Value("pvalue", f"p-value ({self.alternative})", self.pvalue, pvalue_number),
            Value("log10_pvalue", "", self.log10_pvalue),
            Value("alternative", "", self.alternative),
        ]

    def _forest(self, name: str, columns: Columns, alpha: float) -> Picture:
        """Return every dependence with its interval, and below them what is made of them."""
        names, *_ = columns.values()
        level, n = percent(1 - alpha), len(self.pairs)
        draw = partial(
            plotting.forest,
            names,
            columns[self.measure],
            columns["low"],
            columns["high"],
            apart=len(names) - n,
            xlabel=f"{MEASURE_NAMES[self.measure]} with {level} interval{'s' * (n > 1)}",
        )
        caption = f"Every dependence with its {level} interval"
        return Picture(draw, f"{caption}; the {name} is {number(self.estimate)}.", f"{caption}.")

    def _sections(self) -> tuple[Section, ...]:
        """Return a plan for the next study, and the most influential observations."""
        found: tuple[Section, ...] = ()
        if self._is_within_reach():
            found += (Section("Planning", "planning", paragraphs=(self.plan_in_words(),)),)
        if not self.dependences.keeps_rows or self.dependences.fragile:
            return found
        return (*found, self._influential_section())

    def _influential_section(self) -> Section:
        """Return which observations drive the estimate, and what is left without them."""
        k = min(TOP, self.n_observations)
        columns, rows = self._influential(k), self.provenance.rows
        psi = self.influence_values()
        names = [str(name) for name in columns[rows.noun]]
        draw = partial(
            plotting.influence,
            psi,
            places=rows.values() if rows.noun == "line" else rows.positions,
            named=dict(zip(most_influential(psi, k).tolist(), names, strict=True)),
            xlabel=_axis_of(rows),
        )
        picture = Picture(
            draw,
            f"Influence of each of {counted(self.n_observations, 'observation')} on the estimate; "
            f"the largest: {rows.noun} {', '.join(names)}.",
            "What each observation adds to the estimate. A few dots far from all others carry the "
            "answer: check them.",
        )
        table = {
            rows.noun: columns[rows.noun],
            "influence": columns["psi"],
            "share of variance": columns["share"],
        }
        return Section(
            "Most influential observations",
            "influential",
            paragraphs=self._what_remains(),
            table=as_table(table, f"The {k} observations with the largest influence."),
            pictures=(picture,),
        )

    def _what_remains(self) -> tuple[str, ...]:
        n = min(TOP, self.n_observations - MINIMUM_OBSERVATIONS)
        if n < 1:
            return ()
        rest = self.without_top(n)
        test = f"{self._law()} = {two_decimals(rest.statistic)}, {pvalue_text(rest.pvalue)}"
        return (
            f"Without the {counted(n, 'most influential observation')} the estimate would be about "
            f"{number(rest.estimate)} instead of {number(self.estimate)} ({test}).",
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(estimate={self.estimate:.6g}, "
            f"standard_error={self.standard_error:.6g}, statistic={self.statistic:.6g}, "
            f"pvalue={self.pvalue:.6g}, n_observations={self.n_observations})"
        )


def two_decimals(value: float) -> str:
    """Return a statistic as sentences write it."""
    return in_prose(f"{value:.2f}")


def interval_value(limits: tuple[float, float], level: float, alternative: str) -> Value:
    """Return an interval, or the bound of a one-sided question, under its name."""
    heading, side = f"{percent(level)} interval", {"greater": 0, "less": 1}.get(alternative)
    if side is not None:
        heading = f"{percent(level)} {('lower', 'upper')[side]} bound"

    def write(limits: list[float]) -> str:
        return interval_text(*limits) if side is None else number(limits[side])

    return Value("confidence_interval", heading, list(limits), write)


def _axis_of(rows: Rows) -> str:
    """Return the name of the axis along which observations stand."""
    if rows.noun == "line":
        return "line of the file"
    return "row in the input" if rows.labels is None else "position in the input"
