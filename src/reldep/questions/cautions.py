"""Cautions in plain words: what the reader of a result should know before believing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.data.dataset import SMALL_SAMPLE
from reldep.data.variables import Numeric
from reldep.exceptions import (
    DegenerateWarning,
    IndependenceWarning,
    InfluentialObservationWarning,
    Option,
    ReldepWarning,
    SmallSampleWarning,
    TiesWarning,
)
from reldep.kernels.radial import FittedRadial
from reldep.stats.diagnostics import variance_shares
from reldep.stats.measures import SECOND_ORDER
from reldep.stats.screening import independence_pvalues, second_order_share
from reldep.words import listed, percent, pvalue_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reldep.data.dataset import Dataset
    from reldep.data.rows import Rows
    from reldep.data.variables import FloatArray
    from reldep.engine import Influence, Pair
    from reldep.kernels import FittedKernel
    from reldep.questions.study import Computed
    from reldep.stats.differences import TTest

# A pair is taken to be dependent where the screen rejects independence at this level.
SCREEN_LEVEL = 0.05

# The plug-in variance counts the second component twice. Where that makes up a third of it, a
# one-sided test at 5 % has a level of about 2 %.
SECOND_ORDER_SHARE = 1 / 3

# One observation is called influential beyond a quarter of the variance, provided that this is
# fifteen times the average share: among 40 rows of healthy data the largest share is often a
# quarter, among 100 hardly ever.
INFLUENTIAL_SHARE = 0.25
INFLUENTIAL_TIMES_AVERAGE = 15.0

# The share of pairs of observations with equal values that is reached by four equally frequent
# values, or by one value for half of the observations.
TIED_PAIRS = 0.25

SOME_DEPENDENCE = "A comparison with such a pair compares a dependence with none."
NO_DEPENDENCE = "A difference between dependences that may all be 0 means little."


def cautions_of_data(
    dataset: Dataset,
    fitted: Mapping[str, FittedKernel],
    influence: Influence,
    *,
    tested: bool = True,
) -> tuple[ReldepWarning, ...]:
    """Collect what the reader should know about the data, the fits and the computation.

    A plain number is as good as the data; only what is tested needs many observations.
    """
    size = small_sample_cautions(len(dataset)) if tested else ()
    found: list[ReldepWarning] = [*size, *dataset.cautions, *influence.notes]
    for name, kernel in fitted.items():
        found += kernel.cautions
        variable = dataset.variables.get(name)
        asked = tested and isinstance(kernel, FittedRadial) and not kernel.cautions
        if asked and isinstance(variable, Numeric):
            found += _ties(name, variable.values)
    return tuple(found)


def small_sample_cautions(n: int) -> tuple[ReldepWarning, ...]:
    """Caution a reader of p-values and intervals when there are few observations."""
    if n >= SMALL_SAMPLE:
        return ()
    return (
        SmallSampleWarning(
            f"only {n} observations: p-values and intervals rest on an approximation that is "
            f"rough below {SMALL_SAMPLE}."
        ),
    )


def cautions_about_contrast(
    computed: Computed, weights: FloatArray, test: TTest, *, halves: bool = False
) -> tuple[ReldepWarning, ...]:
    """Screen a tested contrast.

    Parameters
    ----------
    computed : Computed
    weights : ndarray
        Of the pairs.
    test : TTest
        Of the contrast.
    halves : bool, default False
        Whether each pair was computed on half of the rows.
    """
    influence, found = computed.influence, computed.dependences
    n = influence.n_observations // 2 if halves else influence.n_observations
    second_order = () if halves else _degenerate(computed, weights, test)
    return (
        *_independence(influence, found.pairs, n),
        *second_order,
        *_influential(computed.provenance.rows, {"the estimate": weights @ found.psi}),
    )


def cautions_about_dependence(computed: Computed) -> tuple[ReldepWarning, ...]:
    """Screen a single dependence; whether there is any is what its own p-value says."""
    rows, psi = computed.provenance.rows, computed.dependences.psi[0]
    return tuple(_influential(rows, {"the estimate": psi}))


def cautions_about_targets(computed: Computed) -> tuple[ReldepWarning, ...]:
    """Screen the dependences of a ranking."""
    found = computed.dependences
    named = {f"{x} ~ {y}": row for (x, y), row in zip(found.pairs, found.psi, strict=True)}
    return (
        *_independence(computed.influence, found.pairs, found.n_observations),
        *_influential(computed.provenance.rows, named),
    )


def _independence(
    influence: Influence, pairs: Sequence[Pair], n: int
) -> Iterable[IndependenceWarning]:
    found = independence_pvalues(influence, pairs, n)
    doubtful = {pair: p for pair, p in found.items() if p > SCREEN_LEVEL}
    if doubtful:
        words = [f"{x} and {y} ({pvalue_text(p)})" for (x, y), p in doubtful.items()]
        every = len(doubtful) == len(pairs)
        meaning = NO_DEPENDENCE if every else SOME_DEPENDENCE
        yield IndependenceWarning(f"no evidence that these depend: {listed(words, 5)}. {meaning}")


def _degenerate(
    computed: Computed, weights: FloatArray, test: TTest
) -> Iterable[DegenerateWarning]:
    found = computed.dependences
    if found.variance in (*SECOND_ORDER, "jackknife") or found.rows.any:
        return
    share = second_order_share(
        computed.influence, found.pairs, weights, found.measure, test.standard_error**2
    )
    if share is not None and share > SECOND_ORDER_SHARE:
        amount = "half or more" if share >= 0.5 else percent(round(share, 2))
        yield DegenerateWarning(
            f"{amount} of the estimated variance is of second order and is counted twice, so the "
            "p-value is too large and the interval too wide (weak dependence or few "
            "observations).",
            [Option("variance", "second-order"), " corrects this."],
        )


def _influential(
    rows: Rows, psi: Mapping[str, FloatArray]
) -> Iterable[InfluentialObservationWarning]:
    bar = max(INFLUENTIAL_SHARE, INFLUENTIAL_TIMES_AVERAGE / len(rows))
    words = []
    for name, values in psi.items():
        shares = variance_shares(values)
        top = int(np.argmax(shares))
        if shares[top] > bar:
            share = percent(round(float(shares[top]), 2))
            words.append(f"{rows.name(top)} carries {share} of the variance of {name}")
    if words:
        yield InfluentialObservationWarning(
            listed(words, 5), "look at it, and at the answer without it."
        )


def _ties(name: str, values: FloatArray) -> Iterable[TiesWarning]:
    share, n_distinct = tied_pairs(values)
    # Two values are two categories whichever kernel reads them.
    if share > TIED_PAIRS and n_distinct > 2:
        yield TiesWarning(
            f"{name}: {percent(round(share, 2))} of all pairs of observations have equal values "
            f"({n_distinct} different ones).",
            ["If the numbers are codes of categories pass ", Option("kernel", "delta"), " for it."],
        )


def tied_pairs(values: FloatArray) -> tuple[float, int]:
    """Give the share of pairs of rows that are equal, and how many different rows there are.

    Columns are added one at a time until ties are too few to matter, so that wide tables cost
    no more than narrow ones.
    """
    n = len(values)
    codes = np.zeros(n, dtype=np.int64)
    share, sizes = 1.0, np.array([n])
    for column in values.T:
        _, inverse = np.unique(column, return_inverse=True)
        _, codes, sizes = np.unique(
            codes * n + inverse.reshape(-1), return_inverse=True, return_counts=True
        )
        share = float((sizes * (sizes - 1.0)).sum() / (n * (n - 1.0)))
        if share <= TIED_PAIRS:
            break
    return share, len(sizes)
