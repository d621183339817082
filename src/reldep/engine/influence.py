"""Influence: the matrix A that everything else is a light function of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.frames import make_frame
from reldep.data.rows import Rows
from reldep.engine.bandwidths import bandwidth_psi
from reldep.engine.job import make_job
from reldep.engine.select import select_engine
from reldep.engine.terms import Pair, canonical, conditional_means, hsic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel


@dataclass(frozen=True, eq=False)
class Influence:
    """Conditional means of the HSIC U-statistic, one row a pair, one column an observation.

    Attributes
    ----------
    values : ndarray, shape (n_pairs, n_observations)
        A. The mean of a row is the unbiased HSIC of its pair.
    pairs : tuple of (str, str)
        Which row belongs to which pair.
    names : tuple of str
        The variables.
    n_observations : int
    engine : str
        The engine that summed the kernels.
    notes : tuple of ReldepWarning
        What the reader of a result should know about the computation: approximations.
    bandwidth_psi : ndarray, shape (n_pairs, n_observations), or None
        What is added to `psi` where bandwidths chosen by the data move too, if asked for.
    means : mapping of (str, str) to float
        HSICs of further pairs, of which no conditional means were needed.
    kernels : mapping of str to dict
        The fitted kernel of every variable, with its parameters.
    rows : Rows or None
        The position in the input and the name of every observation; None if all were used.
    library : str or None
        The data frame library in which `to_frame` answers.
    """

    values: FloatArray
    pairs: tuple[Pair, ...]
    names: tuple[str, ...]
    n_observations: int
    engine: str = ""
    notes: tuple[ReldepWarning, ...] = ()
    bandwidth_psi: FloatArray | None = None
    means: Mapping[Pair, float] = field(default_factory=dict)
    kernels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rows: Rows | None = None
    library: str | None = None

    @property
    def estimates(self) -> FloatArray:
        """The unbiased HSIC of every pair."""
        return np.asarray(self.values.mean(axis=1))

    @property
    def psi(self) -> FloatArray:
        """Influence values ``4 (a_i - HSIC)``: what each observation adds to each HSIC."""
        return 4.0 * (self.values - self.estimates[:, None])

    def row(self, pair: Pair) -> int:
        """Find the row of a pair, in either order."""
        wanted = canonical(pair)
        for i, known in enumerate(self.pairs):
            if canonical(known) == wanted:
                return i
        raise KeyError(pair)

    def hsic(self, pair: Pair) -> float:
        """Give the unbiased HSIC of a pair, in either order."""
        if canonical(pair) in self.means:
            return self.means[canonical(pair)]
        return float(self.values[self.row(pair)].mean())

    def observations(self) -> Rows:
        """Give the position in the input and the name of every observation."""
        return Rows.of(self.n_observations) if self.rows is None else self.rows

    def to_frame(self) -> Any:
        """Give a data frame of the influence values.

        One row an observation, named by its row in the input, its line or its identifier, and
        one column ``x ~ y`` a pair.
        """
        columns = {
            f"{x} ~ {y}": values for (x, y), values in zip(self.pairs, self.psi, strict=True)
        }
        rows = self.observations()
        return make_frame({rows.noun: rows.values(), **columns}, self.library)


def compute_influence(
    kernels: Mapping[str, FittedKernel],
    pairs: Sequence[Pair],
    engine: Any = "auto",
    *,
    bandwidths: bool = False,
    means: Sequence[Pair] = (),
) -> Influence:
    """Run an engine and finish the conditional means of every pair.

    Parameters
    ----------
    kernels : mapping of str to FittedKernel
    pairs : sequence of Pair
    engine : str or Engine, default "auto"
        As for :func:`reldep.compare`.
    bandwidths : bool, default False
        Whether to follow the bandwidths that the data chose.
    means : sequence of Pair
        Further pairs of which the HSIC alone is needed.
    """
    job = make_job(kernels, pairs, bandwidths=bandwidths, means=means)
    chosen = select_engine(engine, job.kernels, job.wanted)
    terms = chosen.terms(job.kernels, job.wanted)
    return Influence(
        np.array([conditional_means(terms, pair) for pair in pairs]),
        tuple(pairs),
        tuple(kernels),
        terms.n,
        chosen.name,
        terms.notes,
        bandwidth_psi(terms, job.probes, pairs) if bandwidths else None,
        means={canonical(pair): hsic(terms, pair) for pair in means},
    )
