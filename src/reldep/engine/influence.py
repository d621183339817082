"""Influence: the matrix A that everything else is a light function of, and the job that gives it.

A job is all that the questions about some pairs need, in one list: beside the conditional means
the slopes that follow bandwidths, and the HSICs that the second Hoeffding component is made of.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.frames import make_frame
from reldep.data.rows import Rows
from reldep.engine.bandwidths import (
    FOLLOWED_EXACTLY_UP_TO,
    NamedProbe,
    bandwidth_psi,
    can_be_sampled,
    following_seconds,
    named_probes,
    places_by_name,
    sampled_bandwidth_psi,
    sampled_slopes,
)
from reldep.engine.planner import select_engine
from reldep.engine.sweeps.tiled import Tiled
from reldep.engine.terms import Finished, Pair, Wanted, canonical, check_held, hsic
from reldep.exceptions import UnknownPairError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine.near_linear.certificate import Certificate
    from reldep.engine.terms import Terms
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel


@dataclass(frozen=True, eq=False)
class Job:
    """Kernels and what is wanted of them.

    Attributes
    ----------
    kernels : mapping of str to FittedKernel
        Those of the variables, and those that follow their bandwidths.
    wanted : Wanted
    probes : tuple of NamedProbe
        One for each bandwidth that is followed.
    samples : bool
        Whether the bandwidths are followed on some pairs of rows only, apart from the sweeps.
    """

    kernels: Mapping[str, FittedKernel]
    wanted: Wanted
    probes: tuple[NamedProbe, ...] = ()
    samples: bool = False

    @property
    def seconds_beside(self) -> float:
        """What is expected to be spent apart from the engine."""
        return following_seconds(self.kernels, self.probes, self.wanted.pairs) * self.samples


def make_job(
    kernels: Mapping[str, FittedKernel],
    pairs: Sequence[Pair],
    *,
    bandwidths: bool = False,
    means: Sequence[Pair] = (),
) -> Job:
    """List what an engine must produce.

    Parameters
    ----------
    kernels : mapping of str to FittedKernel
    pairs : sequence of Pair
        Pairs whose conditional means are needed.
    bandwidths : bool, default False
        Whether to follow the bandwidths that the data chose.
    means : sequence of Pair
        Further pairs of which the HSIC alone is needed.
    """
    kernels = {name: kernel.conditioned() for name, kernel in kernels.items()}
    probes = tuple(named_probes(kernels, pairs)) if bandwidths else ()
    used = {name: kernels[name] for pair in pairs for name in pair}
    n = len(next(iter(used.values())))
    samples = n > FOLLOWED_EXACTLY_UP_TO and can_be_sampled(used, probes)
    in_sweeps = () if samples else probes
    places = places_by_name(pairs)
    slopes = (
        pair
        for probe in in_sweeps
        for pair in probe.slope_pairs(pairs[i] for i in places[probe.variable])
    )
    companions = {name: kernel for probe in in_sweeps for name, kernel in probe.kernels().items()}
    sides = tuple(side for probe in in_sweeps for side in probe.sides())
    wanted = Wanted(tuple(pairs), (*means, *slopes), sides)
    return Job({**kernels, **companions}, wanted, probes, samples)


# So many names stand in a sentence.
MOST_NAMED = 8


@dataclass(frozen=True, eq=False)
class Conditioning:
    """Covariates that were held fixed.

    Attributes
    ----------
    columns : tuple of str
        Their names, if they have names.
    n_columns : int
        Their number, where a label counts as one for every category but one.
    explained : mapping of str to float
        The share of each variable's variance that they predict of rows left out, from 0 to 1: of
        the numbers themselves, or of the embedding of other kinds of data.
    """

    columns: tuple[str, ...]
    n_columns: int
    explained: Mapping[str, float]

    def in_words(self) -> str:
        """Name the covariates."""
        if not self.columns:
            return "the covariate" if self.n_columns == 1 else "the covariates"
        if len(self.columns) == 1:
            return self.columns[0]
        if len(self.columns) > MOST_NAMED:
            return (
                f"{', '.join(self.columns[:MOST_NAMED])} and {len(self.columns) - MOST_NAMED} more"
            )
        return f"{', '.join(self.columns[:-1])} and {self.columns[-1]}"

    def shares_in_words(self) -> str:
        """Say what share of every variable they explain."""
        shares = [f"{share:.0%} of {name}" for name, share in self.explained.items()]
        shown = ", ".join(shares[:MOST_NAMED])
        more = f" and so on ({len(shares)} variables)" if len(shares) > MOST_NAMED else ""
        verb = "explains" if len(self.columns) == 1 or self.n_columns == 1 else "explain"
        return f"{self.in_words()} {verb} {shown}{more}"


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
    rounding : ndarray, shape (n_pairs,), or None
        How far rounding may have moved the values of each pair, see `is_zero`.
    certificate : Certificate or None
        Bounds of the errors, where an engine replaced kernels by features of low rank.
    kernels : mapping of str to dict
        The fitted kernel of every variable, with its parameters.
    rows : Rows or None
        The position in the input and the name of every observation; None if all were used.
    library : str or None
        The data frame library in which `to_frame` answers.
    order : int
        The order of the U-statistic: 4 for HSIC, 2 for that of residuals given covariates.
    conditioning : Conditioning or None
        The covariates that were held fixed.
    """

    values: FloatArray
    pairs: tuple[Pair, ...]
    names: tuple[str, ...]
    n_observations: int
    engine: str = ""
    notes: tuple[ReldepWarning, ...] = ()
    bandwidth_psi: FloatArray | None = None
    means: Mapping[Pair, float] = field(default_factory=dict)
    rounding: FloatArray | None = None
    certificate: Certificate | None = None
    kernels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rows: Rows | None = None
    library: str | None = None
    order: int = 4
    conditioning: Conditioning | None = None

    @property
    def estimates(self) -> FloatArray:
        """The unbiased HSIC of every pair."""
        return np.asarray(self.values.mean(axis=1))

    @property
    def psi(self) -> FloatArray:
        """Influence values ``4 (a_i - HSIC)``: what each observation adds to each HSIC.

        For residuals given covariates the factor is 2, the order of their U-statistic.
        """
        return self.order * (self.values - self.estimates[:, None])

    @property
    def is_zero(self) -> FloatArray:
        """Whether the HSIC of a pair is 0 by construction, and all its values with it.

        As of a column with a single 1, whose kernel is a function of either observation alone.
        """
        return np.asarray(~self.values.any(axis=1))

    def row(self, pair: Pair) -> int:
        """Find the row of a pair, in either order."""
        found = self._rows.get(_ordered(pair))
        if found is None:
            error = UnknownPairError(
                f"the Influence has no conditional means of {pair!r}; add the pair to those of "
                "reldep.influence()."
            )
            error.value = pair
            raise error
        return found

    @cached_property
    def _rows(self) -> dict[Pair, int]:
        # Of a pair that is listed twice the first row counts.
        return {canonical(pair): i for i, pair in reversed(list(enumerate(self.pairs)))}

    def hsic(self, pair: Pair) -> float:
        """Give the unbiased HSIC of a pair, in either order."""
        row = self._rows.get(_ordered(pair))
        if row is None and canonical(pair) in self.means:
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
    # What overflows is found below, once for all engines.
    with np.errstate(over="ignore", invalid="ignore"):
        job = make_job(kernels, pairs, bandwidths=bandwidths, means=means)
        chosen = select_engine(engine, job.kernels, job.wanted)
        found = Finished.of(chosen.terms(job.kernels, job.wanted), pairs)
        if found.loses_digits_to_features(chosen.name):
            chosen = Tiled()
            found = Finished.of(chosen.terms(job.kernels, job.wanted), pairs)
        check_held(pairs, found.values, kernels)
        terms = found.terms
        moves, further = _beside(job, terms, pairs, means)
        found = replace(found, means=further).without_rounding()
        return Influence(
            found.values,
            tuple(pairs),
            tuple(kernels),
            terms.n,
            terms.engine or chosen.name,
            (*terms.notes, *found.cautions()),
            moves if bandwidths else None,
            means=found.means,
            rounding=found.rounding,
            certificate=terms.certificate,
        )


def _beside(
    job: Job, terms: Terms, pairs: Sequence[Pair], means: Sequence[Pair]
) -> tuple[FloatArray, dict[Pair, float]]:
    """Give what the bandwidths add to the influence values, and the HSICs of further pairs."""
    if job.samples:
        slopes = sampled_slopes(job.kernels, job.probes, pairs, terms)
        moves = sampled_bandwidth_psi(job.probes, pairs, terms.n, slopes)
    else:
        moves = bandwidth_psi(terms, job.probes, pairs)
    return moves, {canonical(pair): hsic(terms, pair) for pair in means}


def _ordered(pair: Any) -> Any:
    """Order a pair; what is no pair of names has no row."""
    named = isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(n, str) for n in pair)
    return canonical(pair) if named else None
