"""The answer about the kernel: does the comparison depend on the bandwidth?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from reldep import plotting
from reldep.description import Columns, Picture, Table, Value
from reldep.results import sentences
from reldep.results.answer import Answer
from reldep.stats.intervals import Intervals
from reldep.stats.student import quantile
from reldep.words import interval_text, number, pvalue_text

if TYPE_CHECKING:
    import numpy.typing as npt

    from reldep.data.variables import FloatArray
    from reldep.description import Description
    from reldep.results.comparison import Comparison
    from reldep.stats.bandwidths import AcrossScales


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

    factors: FloatArray
    central: Comparison = field(repr=False)
    across: AcrossScales = field(repr=False)

    @property
    def estimates(self) -> FloatArray:
        """The difference, first minus second, at each factor."""
        return np.array([one.estimate for one in self.across.tests])

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
        return self._possible(self.across.bands(self._level(confidence_level)))

    def confidence_interval(self, confidence_level: float = 0.95) -> Intervals:
        """Return the interval of the difference at each factor, each on its own.

        Returns
        -------
        low, high : ndarray, shape (g,)
            A named tuple.
        """
        level = self._level(confidence_level)
        limits = [one.interval(level, self.alternative) for one in self.across.tests]
        return self._possible(np.transpose(limits))

    def _possible(self, limits: npt.ArrayLike) -> Intervals:
        """Return limits within what a difference can be: of two numbers from 0 to 1 at most 1."""
        most = math.inf if self.measure == "hsic" else 1.0
        return Intervals(*np.clip(limits, -most, most))

    def _columns(self, alpha: float) -> Columns:
        """Return one row per factor."""
        low, high = self.confidence_interval(1 - alpha)
        band_low, band_high = self.bands(1 - alpha)
        tests = self.across.tests
        return {
            "factor": self.factors.tolist(),
            "estimate": [one.estimate for one in tests],
            "standard_error": [one.standard_error for one in tests],
            "low": low.tolist(),
            "high": high.tolist(),
            "band_low": band_low.tolist(),
            "band_high": band_high.tolist(),
            "statistic": [one.statistic for one in tests],
            "pvalue": [one.pvalue(self.alternative) for one in tests],
        }

    def _flips(self, alpha: float) -> bool:
        """Return whether both signs are shown somewhere, each one-sided and adjusted for all."""
        if not self.estimates.min() < 0 < self.estimates.max():
            return False
        return all(self.across.at_some_scale(side) < alpha for side in ("greater", "less"))

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns, middle = self._columns(alpha), self.central
        source, first, second = middle.source, middle.first, middle.second
        law = "z" if np.isinf(middle.df) else "t"
        grid = sentences.Grid(
            (first, second),
            columns["factor"],
            columns["statistic"],
            self.some_pvalue,
            self.every_pvalue,
            self.alternative,
            self._flips(alpha),
        )
        wording = sentences.of_targets(source, self._given())
        spread = (min(columns["statistic"]), max(columns["statistic"]))
        return self._described(
            alpha,
            f"Does the bandwidth decide whether {source} is more closely related to {first} or to "
            f"{second}",
            [sentences.bandwidths(wording, grid, self._setting(alpha))],
            Table.of(
                columns,
                f"The comparison at every multiple of the bandwidths: {first} minus {second}. "
                "Intervals (from, to) and p-values hold at each by itself, the bands at all of "
                "them at once.",
                {"estimate": "difference", "statistic": law},
            ),
            numbers=[
                Value("some_pvalue", "At some bandwidth", self.some_pvalue, pvalue_text),
                Value("every_pvalue", "At every bandwidth", self.every_pvalue, pvalue_text),
                Value("", f"{law} over all bandwidths", interval_text(*spread)),
                Value("source", "", source),
                Value("first", "", first),
                Value("second", "", second),
                Value("alternative", "", self.alternative),
                Value("sign_flips", "", grid.flips),
            ],
            pictures=(self._curve(columns, alpha, law),),
            title="Does the answer depend on the bandwidth?",
        )

    def _curve(self, columns: Columns, alpha: float, law: str) -> Picture:
        """Return the statistic over the factors."""
        tail = alpha / 2 if self.alternative == "two-sided" else alpha
        draw = partial(
            plotting.bandwidths,
            columns["factor"],
            columns["statistic"],
            quantile(1.0 - tail, np.array([one.df for one in self.across.tests])),
            self.across.bars(alpha, self.alternative),
            law=law,
            first=self.central.first,
        )
        low, high = number(min(columns["statistic"])), number(max(columns["statistic"]))
        return Picture(
            draw,
            f"Curve of {law} over multiples of the bandwidths: from {low} to {high}.",
            f"{law} over multiples of the bandwidths used. In the grey band the difference is not "
            "significant once all bandwidths are allowed for; the dashed lines hold at one "
            "bandwidth chosen beforehand. The bandwidth sets the scale at which dependence is "
            "looked for, so a change of sign means that the question has different answers at "
            "different scales.",
        )
