"""The answers about differences: which dependence is stronger, and any weighted contrast."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from reldep import plotting
from reldep.description import Columns, Picture, Value
from reldep.results import sentences
from reldep.results.tested import Result
from reldep.words import MEASURE_NAMES, number, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.description import Description


@dataclass(frozen=True, eq=False, repr=False)
class Contrast(Result):
    """The answer of :func:`reldep.contrast`: does a weighted sum of dependences differ from 0?"""

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns, pairs = self._columns(alpha), self.dependences.pairs
        finding = self._finding(alpha, (columns["low"][-1], columns["high"][-1]))
        relations = self._relations([f"{x} and {y}" for x, y in pairs])
        if self._is_difference():
            wording = sentences.of_pairs(self._given())
            asked = wording.question([one.name for one in relations], self.alternative)
            said = sentences.comparison(wording, relations, finding, self._setting(alpha))
        else:
            formula = self._formula()
            sides = {"greater": f"Is {formula} above 0", "less": f"Is {formula} below 0"}
            asked = sides.get(self.alternative, f"Does {formula} differ from 0")
            said = sentences.weighted_sum(formula, finding, self._setting(alpha))
        said_too = sentences.not_shown(relations, alpha)
        return self._contrasted(alpha, asked, [said, said_too], columns)

    def _contrasted(
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
        pairs, level = self.dependences.pairs, percent(1 - alpha)
        name = self._name()
        caption = (
            f"Estimates with standard errors and {level} intervals. P-values of single dependences "
            f"are of independence. The {columns['relation'][-1]} is {name}."
        )
        limits = (columns["low"][-1], columns["high"][-1])
        return self._described(
            alpha,
            asked,
            said,
            self._table(columns, caption, self._law().partition("(")[0]),
            numbers=self._numbers(name, alpha, limits),
            pictures=(
                *(pictures or [self._forest(pairs, columns, alpha)]),
                *self._ruler(pairs, columns),
            ),
            sections=self._sections(),
            notes=notes,
            facts=(*facts, Value("", "Alternative", self.alternative)),
        )

    def _is_difference(self) -> bool:
        return np.array_equal(self.weights, [1.0, -1.0])

    def _name(self) -> str:
        """Return what the estimate is: for two pairs their difference, else the formula."""
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
        known = zip(each.low, self.relation_pvalues, strict=True)
        # Shown by their tests, else by their intervals.
        shown = [low > 0 if p is None else p < alpha for low, p in known]
        last = {
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "low": whole.low,
            "high": whole.high,
        }
        name = "difference" if self._is_difference() else "contrast"
        columns = self._estimate_columns(pairs, found.values, found.standard_errors, each, shown)
        return {
            "relation": [*(f"{x} ~ {y}" for x, y in pairs), name],
            **{key: [*cells, last.get(key)] for key, cells in columns.items()},
            "statistic": [*[None] * len(pairs), self.statistic],
            "pvalue": [*self.relation_pvalues, self.pvalue],
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

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns = self._columns(alpha)
        wording = sentences.of_targets(self.source, self._given())
        relations = self._relations([self.first, self.second])
        finding = self._finding(alpha, (columns["low"][-1], columns["high"][-1]))
        if not finding.is_shown and all(one.is_doubtful(alpha) for one in relations):
            said = [sentences.neither(self.source, relations, self._setting(alpha))]
        else:
            order = np.argsort(-self.estimates).tolist()
            strength = self._strength(self.dependences.pairs, columns, order)
            said = [
                sentences.comparison(wording, relations, finding, self._setting(alpha), strength),
                sentences.not_shown(relations, alpha, f" to {self.source}"),
            ]
        return self._contrasted(
            alpha,
            wording.question((self.first, self.second), self.alternative),
            said,
            columns,
            pictures=(self._region(columns, alpha),) if math.isfinite(self.standard_error) else (),
            notes=self._unlike([self.first, self.second]),
            facts=[Value("", "Method", self.method)],
        )

    def _name(self) -> str:
        return f"{self.first} − {self.second}"

    def _region(self, columns: Columns, alpha: float) -> Picture:
        """Return the region of both dependences with the interval of their difference."""
        first, second = (number(float(value)) for value in self.estimates)
        measure, level = MEASURE_NAMES[self.measure], percent(1 - alpha)
        low, high = columns["low"][-1], columns["high"][-1]
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
