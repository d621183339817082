"""The answers about differences: of two dependences, over bandwidths, and in weighted sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from reldep import plotting
from reldep.data.variables import FloatArray
from reldep.description import Columns, Picture, Value, unseen
from reldep.results import sentences
from reldep.results.answer import Answer, columns_of
from reldep.results.tested import Result
from reldep.stats.intervals import Intervals
from reldep.stats.scan import AcrossScales
from reldep.stats.student import quantile
from reldep.words import MEASURE_NAMES, counted, interval_text, number, pvalue_text


@dataclass(frozen=True, eq=False, repr=False)
class Contrast(Result):
    """The answer of :func:`reldep.contrast`: does a weighted sum of dependences differ from 0?"""

    def _asked(self) -> str:
        if self._is_difference():
            return self._wording().question(self._compared(), self.alternative)
        formula = self._formula()
        sides = {"greater": f"Is {formula} above 0", "less": f"Is {formula} below 0"}
        return sides.get(self.alternative, f"Does {formula} differ from 0")

    def _answered(self, at: sentences.Setting) -> tuple[list[str], list[Value]]:
        finding = self._finding(at)
        found = zip(self._compared(), self.estimates.tolist(), self._relation_pvalues, strict=True)
        relations = [sentences.Relation(*one) for one in found]
        if self._is_difference():
            strength = self._strength(at, np.argsort(-self.estimates).tolist())
            wording = self._wording(at.given)
            said = [sentences.comparison(wording, relations, finding, at, strength)]
        else:
            said = [sentences.weighted_sum(self._formula(), finding, at)]
            said.append(sentences.not_shown(relations, at.alpha))
        return said, self._numbers(finding)

    def _wording(self, given: str = "") -> sentences.Wording:
        return sentences.of_pairs(given)

    def _compared(self) -> list[str]:
        """Return what sentences call the dependences."""
        return [f"{x} and {y}" for x, y in self._pairs]

    def _caption(self, at: sentences.Setting) -> str:
        return (
            f"Estimates with standard errors and {at.level} intervals. P-values of single "
            "dependences are of independence. "
            f"The {at.columns['relation'][-1]} is {self._name()}."
        )

    def _pictures(self, at: sentences.Setting) -> list[Picture]:
        return [self._every_dependence(at), *self._ruler(at)]

    def _own_facts(self) -> list[Value]:
        return [Value("", "Alternative", self.alternative)]

    def _is_difference(self) -> bool:
        return np.array_equal(self.weights, [1.0, -1.0])

    def _name(self) -> str:
        if not self._is_difference():
            return self._formula()
        first, second = (" ~ ".join(pair) for pair in self.dependences.pairs)
        return f"{first} − {second}"

    def _formula(self) -> str:
        written = ""
        for weight, (x, y) in zip(self.weights, self.dependences.pairs, strict=True):
            times = "" if abs(weight) == 1 else f"{abs(weight):g}·"
            sign = "−" if weight < 0 else "+"
            between = f" {sign} " if written else sign.removeprefix("+")
            written += f"{between}{times}{MEASURE_NAMES[self.measure]}({x}, {y})"
        return written

    def _columns(self, alpha: float) -> Columns:
        """Return one row per pair and one for the contrast, which alone is tested."""
        found, pairs = self.dependences, self.dependences.pairs
        each, whole = found.intervals(1 - alpha), self.confidence_interval(1 - alpha)
        known = zip(each.low, self._relation_pvalues, strict=True)
        # Shown by their tests, else by their intervals.
        shown = [low > 0 if p is None else p < alpha for low, p in known]
        last = {"estimate": self.estimate, "standard_error": self.standard_error}
        last |= whole._asdict()
        name = "difference" if self._is_difference() else "contrast"
        columns = self._estimate_columns(found.values, found.standard_errors, each, shown)
        return {
            "relation": [*(f"{x} ~ {y}" for x, y in pairs), name],
            **{key: [*cells, last.get(key)] for key, cells in columns.items()},
            "statistic": [*[None] * len(pairs), self.statistic],
            "pvalue": [*self._relation_pvalues, self.pvalue],
        }


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
    method: str = field(repr=False)

    def _wording(self, given: str = "") -> sentences.Wording:
        return sentences.of_targets(self.source, given)

    @property
    def _n_of_pair(self) -> int:
        return self.n_observations // (2 if self.method == "split" else 1)

    def _compared(self) -> list[str]:
        return [self.first, self.second]

    def _pictures(self, at: sentences.Setting) -> list[Picture]:
        if math.isfinite(self.standard_error):
            return [self._region(at), *self._ruler(at)]
        return super()._pictures(at)

    def _notes(self) -> list[str]:
        return self._unlike(self._compared())

    def _own_facts(self) -> list[Value]:
        return [Value("", "Method", self.method), *super()._own_facts()]

    def _name(self) -> str:
        return f"{self.first} − {self.second}"

    def _region(self, at: sentences.Setting) -> Picture:
        """Return the region of both dependences with the interval of their difference."""
        first, second = (number(float(value)) for value in self.estimates)
        low, high = at.columns["low"][-1], at.columns["high"][-1]
        draw = partial(
            plotting.region,
            self.estimates,
            self.covariance,
            # The other limit of a one-sided question is not a limit.
            (
                -math.inf if self.alternative == "less" else low,
                math.inf if self.alternative == "greater" else high,
            ),
            names=(self.source, self.first, self.second),
            measure=self.measure,
            df=self.df,
            level=1 - at.alpha,
        )
        return Picture(
            draw,
            f"{at.level} region of the two dependences: {at.measure} {first} with {self.first}, "
            f"{second} with {self.second}; below it their difference with its interval, from "
            f"{number(low)} to {number(high)}.",
            f"Where both dependences may lie at once ({at.level} region); on the dotted line they "
            "are equal. The interval of their difference, drawn below and as dashed lines, shows "
            "which is stronger if it excludes 0, the dotted line. The region does not decide: it "
            "has to be right about two numbers.",
        )


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Answer):
    """The answer of :func:`reldep.sensitivity`: the comparison over a grid of bandwidths.

    Attributes
    ----------
    factors : ndarray, shape (g,)
        By what the bandwidth of every variable is multiplied, rising.
    central : Comparison
        The comparison at the bandwidths as they were chosen, or nearest to them.
    across : AcrossScales
        The tests at all factors.
    """

    _shown = ("factors", "some_pvalue", "every_pvalue")
    _estimates_are = "difference"
    _title = "Does the answer depend on the bandwidth?"

    factors: FloatArray
    central: Comparison = field(repr=False)
    across: AcrossScales = field(repr=False)

    @property
    def estimates(self) -> FloatArray:
        """The difference, first minus second, at each factor."""
        return self.across.tests.estimate

    @property
    def alternative(self) -> str:
        """The alternative of every comparison."""
        return self.central.alternative

    @cached_property
    def some_pvalue(self) -> float:
        """The p-value of "there is no such difference at any bandwidth", adjusted for all."""
        return self.across.at_some_scale(self.alternative)

    @cached_property
    def every_pvalue(self) -> float:
        """The p-value of "at some bandwidth there is no such difference".

        A small one means that there is one at every bandwidth of the grid; it is the largest of
        all p-values and needs no adjustment.
        """
        return self.across.at_every_scale(self.alternative)

    def bands(self, confidence_level: float = 0.95) -> Intervals:
        """Return intervals of the difference at all factors that hold at once.

        Returns
        -------
        low, high : ndarray, shape (g,)
            A named tuple.
        """
        return Intervals(*self._possible(self.across.bands(self._level(confidence_level))))

    def confidence_interval(self, confidence_level: float = 0.95) -> Intervals:
        """Return the interval of the difference at each factor, each on its own.

        Returns
        -------
        low, high : ndarray, shape (g,)
            A named tuple.
        """
        level = self._level(confidence_level)
        limits = [one.interval(level, self.alternative) for one in self.across.tests]
        return Intervals(*self._possible(np.transpose(limits)))

    def _columns(self, alpha: float) -> Columns:
        """Return one row per factor."""
        tests, bands = self.across.tests, self.bands(1 - alpha)
        return {
            "factor": self.factors.tolist(),
            **columns_of(tests, (*self.confidence_interval(1 - alpha), *bands)),
            "pvalue": np.exp(tests.log_pvalues(self.alternative)).tolist(),
        }

    @cached_property
    def _both_pvalue(self) -> float:
        """The p-value of both signs, each somewhere, one-sided and adjusted for all bandwidths."""
        if not self.estimates.min() < 0 < self.estimates.max():
            return 1.0
        return max(self.across.at_some_scale(side) for side in ("greater", "less"))

    def _asked(self) -> str:
        source, first, second = self._compared()
        return (
            f"Does the bandwidth decide whether {source} is more closely related to {first} or to "
            f"{second}"
        )

    def _answered(self, at: sentences.Setting) -> tuple[list[str], list[Value]]:
        flips = self._both_pvalue < at.alpha
        spread = (min(at.columns["statistic"]), max(at.columns["statistic"]))
        source, first, second = self._compared()
        numbers = [
            Value("some_pvalue", "At some bandwidth", self.some_pvalue, pvalue_text),
            Value("every_pvalue", "At every bandwidth", self.every_pvalue, pvalue_text),
            Value("", f"{self._law()} over all bandwidths", interval_text(*spread)),
            *unseen(source=source, first=first, second=second, alternative=self.alternative),
            *unseen(sign_flips=flips),
        ]
        return [self._claim(at, flips=flips)], numbers

    def _claim(self, at: sentences.Setting, *, flips: bool) -> str:
        """Return whether the bandwidth decides the comparison; `flips` if both signs are shown."""
        claim = self.central._wording(at.given).claim
        factors, statistics = self.factors, at.columns["statistic"]
        span = f"from {_fraction(min(factors))} to {_fraction(max(factors))}"
        where, (_, first, second) = f"{span} times the chosen one", self._compared()
        low, high = min(statistics), max(statistics)
        if flips:
            top, bottom = (_fraction(factors[statistics.index(one)]) for one in (high, low))
            return at.say(
                f"the answer depends on the bandwidth: {claim(first, second)} at {top} times the "
                f"chosen one, and {claim(second, first)} at {bottom} times (both shown, among "
                f"multiples {span})"
            )
        two_sided = self.alternative == "two-sided"
        upwards = high > -low if two_sided else self.alternative == "greater"
        claimed = (first, second) if upwards else (second, first)
        every = f"({pvalue_text(self.every_pvalue)})"
        if self.every_pvalue < at.alpha:
            return at.say(f"{claim(*claimed)} at every bandwidth {where} {every}", named=True)
        n = counted(len(factors), "bandwidth")
        some = f"({pvalue_text(self.some_pvalue)}, adjusted for {n})"
        if self.some_pvalue < at.alpha:
            clause = f"{claim(*claimed)} at some bandwidths {where} {some}"
            return at.say(f"{clause}; this is not shown for every one of them {every}", named=True)
        if not two_sided and (high < 0 if upwards else low > 0):
            clause = f"{claim(*claimed, shown=False)} at any bandwidth {where} {some}"
            return at.say(f"{clause}; the estimates are {sentences.OPPOSITE}", named=True)
        asked = claim(*claimed, "or" if two_sided else "than")
        return at.say(f"it is undecided at every bandwidth {where} whether {asked} {some}")

    def _caption(self, at: sentences.Setting) -> str:  # noqa: ARG002
        _, first, second = self._compared()
        return (
            f"The comparison at every multiple of the bandwidths: {first} minus {second}. "
            "Intervals (from, to) and p-values hold at each by itself, the bands at all of them at "
            "once."
        )

    def _compared(self) -> tuple[str, str, str]:
        return self.central.source, self.central.first, self.central.second

    def _law(self) -> str:
        return "z" if np.isinf(self.central.df) else "t"

    def _pictures(self, at: sentences.Setting) -> list[Picture]:
        law, statistics = self._law(), at.columns["statistic"]
        tail = at.alpha / 2 if self.alternative == "two-sided" else at.alpha
        draw = partial(
            plotting.bandwidths,
            at.columns["factor"],
            statistics,
            quantile(1.0 - tail, self.across.tests.df),
            self.across.bars(at.alpha, self.alternative),
            law=law,
            first=self.central.first,
        )
        low, high = number(min(statistics)), number(max(statistics))
        picture = Picture(
            draw,
            f"Curve of {law} over multiples of the bandwidths: from {low} to {high}.",
            f"{law} over multiples of the bandwidths used. In the grey band the difference is not "
            "significant once all bandwidths are allowed for; the dashed lines hold at one "
            "bandwidth chosen beforehand. The bandwidth sets the scale at which dependence is "
            "looked for, so a change of sign means that the question has different answers at "
            "different scales.",
        )
        return [picture]


def _fraction(factor: float) -> str:
    """Return a multiple as people write it: "1/8", "8", "0.35"."""
    whole = round(1 / factor)
    if factor < 1 and abs(whole * factor - 1) < 1e-9:
        return f"1/{whole}"
    return f"{factor:.3g}"
