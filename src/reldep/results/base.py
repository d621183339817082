"""What the answers to all questions share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import MINIMUM_OBSERVATIONS, check_level
from reldep.data.frames import make_frame
from reldep.words import text_table
from reldep.stats import normal
from reldep.stats.diagnostics import WithoutTop, leave_out, most_influential, variance_shares
from reldep.stats.measures import estimate as measured

if TYPE_CHECKING:
    from os import PathLike

    from reldep.data.variables import FloatArray
    from reldep.engine.influence import Influence
    from reldep.engine.terms import Pair
    from reldep.exceptions import ReldepWarning
    from reldep.results.provenance import Provenance
    from reldep.results.sensitivity import Sensitivity


@dataclass(frozen=True, eq=False)
class Answer(ABC):
    """What every answer carries, whatever its shape: how it came about and what to beware of.

    Attributes
    ----------
    n_observations : int
    measure : {"hsic", "cka", "dcor"}
    variance : str
        How the variance was estimated.
    provenance : Provenance
        Kernels, engine and rows.
    warnings : tuple of ReldepWarning
        Cautions; each was also raised as a Python warning.
    max_lag : int or None
        How many steps apart rows may depend on each other, as given or as chosen by "auto".
    n_clusters : int or None
        The number of clusters within which rows may depend on each other.
    """

    n_observations: int
    measure: str
    variance: str
    provenance: Provenance
    warnings: tuple[ReldepWarning, ...]
    max_lag: int | None = field(default=None, kw_only=True)
    n_clusters: int | None = field(default=None, kw_only=True)

    @abstractmethod
    def sentence(self, alpha: float = 0.05) -> str:
        """Say the answer in one sentence."""

    @abstractmethod
    def question(self) -> str:
        """Say what was asked."""

    @abstractmethod
    def table(self) -> dict[str, list[Any]]:
        """Give the columns of the result's table, unrounded."""

    def to_frame(self) -> Any:
        """Give the table as a data frame, in the library the data came from (else polars)."""
        return make_frame(self.table(), self.provenance.library)

    def summary(self, alpha: float = 0.05) -> str:
        """Say the answer in words and show the numbers behind it."""
        columns = self.table()
        cells = [[_cell(value) for value in column] for column in columns.values()]
        lines = [
            self.sentence(alpha),
            "",
            text_table(list(columns), list(zip(*cells, strict=True))),
        ]
        lines += ["", *self._footnotes()]
        lines += [f"Caution: {caution}" for caution in self.warnings]
        return "\n".join(lines).rstrip()

    def to_html(
        self,
        path: str | PathLike[str] | None = None,
        *,
        alpha: float = 0.05,
        sensitivity: Sensitivity | None = None,
        command: str | None = None,
    ) -> str | None:
        """Write a report: the answer, pictures, cautions and how it was computed, in one file.

        Parameters
        ----------
        path : str or path-like, optional
            Where to write it. Without a path the document is returned as a string.
        alpha : float, default 0.05
            The level of the answer.
        sensitivity : Sensitivity, optional
            From :func:`reldep.sensitivity`; adds a section about the bandwidth.
        command : str, optional
            What to type to repeat the result; by default the Python call.

        Returns
        -------
        str or None
            None where the file was written.
        """
        from pathlib import Path

        from reldep import report
        from reldep.files import write_atomically

        document = report.page(self, alpha=alpha, sensitivity=sensitivity, command=command)
        if path is None:
            return document
        with write_atomically(Path(path)) as temporary:
            temporary.write_text(document, encoding="utf-8")
        return None

    def to_latex(self) -> str:
        """Write the table in LaTeX, for the package booktabs."""
        from reldep import report

        return report.latex_table(self)

    def _repr_html_(self) -> str:
        from reldep import report

        return report.fragment(self)

    def _footnotes(self) -> list[str]:
        kernels = "; ".join(f"{name}: {k['kernel']}" for name, k in self.provenance.kernels.items())
        dropped = self.provenance.n_dropped
        left_out = f" ({dropped} incomplete ones dropped)" if dropped else ""
        return [
            f"{self.n_observations} observations{left_out}; variance: {self.variance}"
            f"{self._dependent_rows()}.",
            f"Kernels: {kernels}.",
        ]

    def _dependent_rows(self) -> str:
        """Say which rows may depend on each other."""
        if self.max_lag is not None:
            return f", rows up to {self.max_lag} apart may depend on each other"
        return "" if self.n_clusters is None else f", {self.n_clusters} clusters"

    def __str__(self) -> str:
        return self.summary()

    @abstractmethod
    def plot(self, ax: Any = None) -> Any:
        """Draw the natural picture of this result and return the Axes."""


@dataclass(frozen=True, eq=False)
class Result(Answer):
    """An estimate with its standard error and the test of a hypothesis about it.

    Attributes
    ----------
    estimate : float
        What was asked for: a difference, a contrast or a dependence.
    estimates : ndarray, shape (p,)
        The dependence of every pair involved.
    covariance : ndarray, shape (p, p)
        Their estimated covariance; with the weights w of a contrast, ``w' covariance w`` is
        the square of `standard_error`.
    standard_error : float
        Of `estimate`.
    statistic : float
        The test statistic.
    pvalue : float
    alternative : {"greater", "less", "two-sided"}
    pairs : tuple of (str, str)
        Which estimate belongs to which pair.
    influence : Influence
        The conditional means from which everything was computed.
    """

    estimate: float
    estimates: FloatArray
    covariance: FloatArray
    standard_error: float
    statistic: float
    pvalue: float
    alternative: str
    pairs: tuple[Pair, ...]
    influence: Influence

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[float, float]:
        """Give the two-sided interval of the estimate, whatever the alternative.

        Parameters
        ----------
        confidence_level : float, default 0.95

        Returns
        -------
        low, high : float
        """
        level = check_level("confidence_level", confidence_level)
        return normal.interval(self.estimate, self.standard_error, level)

    def power(self, n: int, *, alpha: float = 0.05) -> float:
        """Give the probability that a test with `n` new observations rejects at level `alpha`.

        The effect and the variance are taken to be as estimated here, as from a pilot study.
        """
        check_level("alpha", alpha)
        check_planned(n)
        return normal.power(self.estimate, self._deviation, n, alpha, self.alternative)

    def sample_size(self, power: float = 0.8, *, alpha: float = 0.05) -> int:
        """Find how many observations give the test this `power` at level `alpha`."""
        check_level("power", power)
        check_level("alpha", alpha)
        return normal.sample_size(self.estimate, self._deviation, power, alpha, self.alternative)

    @property
    def _deviation(self) -> float:
        """The standard error times √n: the deviation due to one observation."""
        return self.standard_error * math.sqrt(self.n_observations)

    def influential(self, k: int = 10) -> Any:
        """Give a data frame of the observations that drive the estimate most.

        The columns are ``row`` (the position in the input, from 0), ``psi`` (what the
        observation adds, times the number of observations) and ``share``, its part in the
        variance; the largest first.
        """
        psi = self.influence_values()
        top = most_influential(psi, self._check_count(k, self.n_observations))
        columns = {
            "row": self.provenance.rows[top].tolist(),
            "psi": psi[top].tolist(),
            "share": variance_shares(psi)[top].tolist(),
        }
        return make_frame(columns, self.provenance.library)

    def without_top(self, k: int = 1) -> WithoutTop:
        """Tell what is left without the `k` most influential observations.

        This is exact to first order and needs no second look at the data: their influence
        values are taken out of the estimate and of its variance. Bandwidths stay as they are.
        The p-value is that of the normal test, for a dependence too.
        """
        psi = self.influence_values()
        most = self.n_observations - MINIMUM_OBSERVATIONS
        top = most_influential(psi, self._check_count(k, most))
        change, ratio = leave_out(psi, top, clusters=self.provenance.clusters, max_lag=self.max_lag)
        estimate, standard_error = self.estimate + change, self.standard_error * math.sqrt(ratio)
        statistic = estimate / standard_error
        return WithoutTop(
            rows=self.provenance.rows[top],
            estimate=estimate,
            standard_error=standard_error,
            statistic=statistic,
            pvalue=normal.pvalue(statistic, self.alternative),
        )

    def influence_values(self) -> FloatArray:
        """Give what every observation adds to the estimate, times their number.

        Returns
        -------
        ndarray, shape (n_observations,)
            They sum to 0; independent rows have the variance ``Σ psi² / n²``.
        """
        psi = measured(self.influence, self.pairs, self.measure, self.variance).psi
        return np.asarray(self._weights() @ psi)

    @abstractmethod
    def _weights(self) -> FloatArray:
        """Give the weight of every pair in the estimate."""

    @staticmethod
    def _check_count(k: Any, most: int) -> int:
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= most:
            raise ValueError(f"k={k!r}; pass a whole number from 1 to {most}.")
        return int(k)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(estimate={self.estimate:.6g}, "
            f"standard_error={self.standard_error:.6g}, statistic={self.statistic:.6g}, "
            f"pvalue={self.pvalue:.6g}, n_observations={self.n_observations})"
        )


def check_planned(n: Any) -> None:
    """Refuse a number of observations with which no test is possible."""
    if not n >= MINIMUM_OBSERVATIONS:
        raise ValueError(
            f"n={n!r}; pass a number of observations, at least {MINIMUM_OBSERVATIONS}."
        )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
