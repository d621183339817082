"""The answer about the kernel: does the comparison depend on the bandwidth?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from reldep import plotting
from reldep.description import Picture, Section, Value
from reldep.results import sentences
from reldep.results.answer import Answer
from reldep.results.columns import as_table
from reldep.stats.intervals import Intervals
from reldep.stats.student import quantile
from reldep.words import interval_text, number, pvalue_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import FloatArray
    from reldep.description import Description
    from reldep.results.columns import Columns
    from reldep.results.comparison import Comparison
    from reldep.stats.bandwidths import AcrossScales

# A sign counts as shown where it is significant, one-sided and adjusted for all bandwidths.
SHOWN = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Answer):
    """The answer of :func:`reldep.sensitivity`: the comparison over a grid of bandwidths.

    Attributes
    ----------
    factors : ndarray, shape (g,)
        By what the bandwidth of every variable is multiplied, rising.
    comparisons : tuple of Comparison
        The comparison at each factor.
    across : AcrossScales
        The tests at all factors together.
    bandwidths : mapping of str to float
        The bandwidth of every variable at factor 1.
    """

    factors: FloatArray
    comparisons: tuple[Comparison, ...]
    across: AcrossScales
    bandwidths: Mapping[str, float]

    @property
    def central(self) -> Comparison:
        """The comparison at the bandwidths as they were chosen, or nearest to them."""
        return self.comparisons[nearest_to_one(self.factors)]

    @property
    def source(self) -> str:
        """The name of the source."""
        return self.comparisons[0].source

    @property
    def first(self) -> str:
        """The name of the first target."""
        return self.comparisons[0].first

    @property
    def second(self) -> str:
        """The name of the second target."""
        return self.comparisons[0].second

    @property
    def alternative(self) -> str:
        """The alternative of every comparison."""
        return self.comparisons[0].alternative

    @property
    def estimates(self) -> FloatArray:
        """The difference, first minus second, at each factor."""
        return np.array([comparison.estimate for comparison in self.comparisons])

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error of the difference at each factor."""
        return np.array([comparison.standard_error for comparison in self.comparisons])

    @property
    def statistics(self) -> FloatArray:
        """The test statistic at each factor."""
        return np.array([comparison.statistic for comparison in self.comparisons])

    @property
    def pvalues(self) -> FloatArray:
        """The p-value at each factor, on its own."""
        return np.array([comparison.pvalue for comparison in self.comparisons])

    @property
    def sign_changes(self) -> tuple[tuple[float, float], ...]:
        """The neighbouring factors between which the estimate changes its sign."""
        signs = np.sign(self.estimates)
        return tuple(
            (float(self.factors[i]), float(self.factors[i + 1]))
            for i in np.flatnonzero(signs[1:] * signs[:-1] < 0)
        )

    @cached_property
    def sign_flips(self) -> bool:
        """Whether both signs are shown somewhere, each one-sided at 5% and adjusted for all."""
        if not self.estimates.min() < 0 < self.estimates.max():
            return False
        return all(self.across.at_some_scale(side) < SHOWN for side in ("greater", "less"))

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

    def confidence_bands(self, confidence_level: float = 0.95) -> Intervals:
        """Return intervals of the difference at all factors that hold at once.

        Returns
        -------
        low, high : ndarray, shape (g,)
            A named tuple.
        """
        bands = self.across.bands(confidence_level)
        return Intervals(*(np.clip(band, *self.central._range()) for band in bands))

    def confidence_interval(self, confidence_level: float = 0.95) -> Intervals:
        """Return the interval of the difference at each factor, each on its own.

        Returns
        -------
        low, high : ndarray, shape (g,)
            A named tuple.
        """
        limits = [one.confidence_interval(confidence_level) for one in self.comparisons]
        return Intervals(*np.array(limits).T)

    def _columns(self, alpha: float) -> Columns:
        """Return one row per factor."""
        low, high = self.confidence_interval(1 - alpha)
        band_low, band_high = self.confidence_bands(1 - alpha)
        columns = {
            "factor": self.factors,
            "difference": self.estimates,
            "standard_error": self.standard_errors,
            "low": low,
            "high": high,
            "band_low": band_low,
            "band_high": band_high,
            "statistic": self.statistics,
            "pvalue": self.pvalues,
        }
        return {key: column.tolist() for key, column in columns.items()}

    def describe(self, alpha: float | None = None) -> Description:
        """Return the answer as plain parts; see :meth:`Answer.describe`."""
        alpha = self._alpha(alpha)
        columns, law = self._columns(alpha), "z" if math.isinf(self.comparisons[0].df) else "t"
        grid = sentences.Grid(
            (self.first, self.second),
            columns["factor"],
            columns["statistic"],
            self.some_pvalue,
            self.every_pvalue,
            self.alternative,
            self.sign_flips,
        )
        wording = sentences.of_targets(self.source, self._given())
        table = as_table(
            columns,
            "The comparison at every multiple of the bandwidths. Intervals (from, to) and p-values "
            "hold at each by itself, the bands at all of them at once.",
            {"statistic": law},
        )
        spread = (min(columns["statistic"]), max(columns["statistic"]))
        return self._described(
            alpha,
            f"Does the bandwidth decide whether {self.source} is more closely related to "
            f"{self.first} or to {self.second}",
            [sentences.bandwidths(wording, grid, self._setting(alpha))],
            table,
            numbers=[
                Value("some_pvalue", "At some bandwidth", self.some_pvalue, pvalue_text),
                Value("every_pvalue", "At every bandwidth", self.every_pvalue, pvalue_text),
                Value("", f"{law} over all bandwidths", interval_text(*spread)),
                Value("source", "", self.source),
                Value("first", "", self.first),
                Value("second", "", self.second),
                Value("alternative", "", self.alternative),
                Value("sign_flips", "", self.sign_flips),
            ],
            pictures=(self._curve(columns, alpha, law),),
        )

    def _curve(self, columns: Columns, alpha: float, law: str) -> Picture:
        """Return the statistic over the factors."""
        tail = alpha / 2 if self.alternative == "two-sided" else alpha
        draw = partial(
            plotting.bandwidths,
            columns["factor"],
            columns["statistic"],
            quantile(1.0 - tail, np.array([one.df for one in self.comparisons])),
            self.across.bars(alpha, self.alternative),
            law=law,
            first=self.first,
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

    def as_section(self, alpha: float | None = None) -> Section:
        """Return the part of a report that shows this beside another answer."""
        parts = self.describe(alpha)
        return Section(
            "Does the answer depend on the bandwidth?",
            "bandwidths",
            paragraphs=(parts.sentence,),
            table=parts.table,
            pictures=parts.pictures,
        )

    def __repr__(self) -> str:
        return (
            f"Sensitivity(factors={len(self.factors)}, statistic from "
            f"{self.statistics.min():.6g} to {self.statistics.max():.6g}, "
            f"some_pvalue={self.some_pvalue:.4g}, every_pvalue={self.every_pvalue:.4g}, "
            f"sign_flips={self.sign_flips})"
        )


def nearest_to_one(factors: FloatArray) -> int:
    """Return the place of the factor that changes the bandwidths least."""
    return int(np.argmin(np.abs(np.log(factors))))
