"""Cautions in plain words: what the reader of a result should know before believing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.data.dataset import SMALL_SAMPLE
from reldep.data.variables import Labels, Numeric
from reldep.exceptions import (
    DegenerateWarning,
    DependentRowsWarning,
    IndependenceWarning,
    InfluentialObservationWarning,
    MeasureWarning,
    Option,
    ReldepWarning,
    SmallSampleWarning,
    TiesWarning,
)
from reldep.kernels.radial import FittedRadial
from reldep.stats import student
from reldep.stats.diagnostics import variance_shares
from reldep.stats.measures import NORMALISED, SECOND_ORDER
from reldep.stats.screening import independence_pvalues, second_order_share
from reldep.words import listed, number, percent, pvalue_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reldep.data.dataset import Dataset
    from reldep.data.rows import Rows
    from reldep.data.variables import FloatArray, IntArray, Variable
    from reldep.engine import Influence
    from reldep.kernels import FittedKernel
    from reldep.questions.study import Computed
    from reldep.stats.covariance import RowDependence
    from reldep.stats.dependences import Dependences
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

# The kernel energies of two targets that differ by more than this are called unlike.
UNLIKE_ENERGIES = 1.5

# Below this the older variances reject too often for normalised measures (.07 to .12 at 5%).
SMALL_FOR_NORMALISED = 50

# Rows next to each other act alike beyond this correlation, if it is so many deviations from 0.
ALIKE, ALIKE_DEVIATIONS = 0.2, 4.0

# Rows are called copies if at most this share of them is different, and there are more different
# ones than a scale of answers has.
MOST_DISTINCT, FEWEST_COPIED = 0.9, 20
# Columns looked at for copies; wide tables are told apart by their first ones.
MOST_COLUMNS = 20

# From so few clusters on a t law with G - 1 degrees of freedom is only approximately right.
FEW_CLUSTERS = 40

# Rankings of so many targets on so few rows rarely tell them apart.
MANY_TARGETS, FEW_FOR_MANY = 20, 50

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
    if tested:
        found += _copies(dataset)
        found += _few_clusters(dataset)
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
    psi = weights @ found.psi
    return (
        *_independence(influence, found, n),
        *second_order,
        *_unlike_targets(computed, weights, test),
        *_small_for_normalised(found),
        *_in_file_order(found.rows, psi),
        *_influential(computed.provenance.rows, {"the estimate": psi}),
    )


def cautions_about_dependence(computed: Computed) -> tuple[ReldepWarning, ...]:
    """Screen a single dependence; whether there is any is what its own p-value says."""
    found, psi = computed.dependences, computed.dependences.psi[0]
    return (
        *_small_for_normalised(found),
        *_in_file_order(found.rows, psi),
        *_influential(computed.provenance.rows, {"the estimate": psi}),
    )


def cautions_about_targets(computed: Computed) -> tuple[ReldepWarning, ...]:
    """Screen the dependences of a ranking."""
    found = computed.dependences
    named = {f"{x} ~ {y}": row for (x, y), row in zip(found.pairs, found.psi, strict=True)}
    return (
        *_independence(computed.influence, found, found.n_observations),
        *_many_for_few(found),
        *_small_for_normalised(found),
        *_influential(computed.provenance.rows, named),
    )


def _independence(
    influence: Influence, dependences: Dependences, n: int
) -> Iterable[IndependenceWarning]:
    pairs = dependences.pairs
    if dependences.rows.any:
        # Rows that depend on each other make the chi-square law of the screen too narrow.
        ratios = dependences.values / dependences.standard_errors
        df = dependences.n_units() - 1.0
        found = {
            pair: student.pvalue(float(ratio), df, "greater")
            for pair, ratio in zip(pairs, ratios, strict=True)
        }
    else:
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
            [Option("variance", "jackknife"), " corrects this."],
        )


def _unlike_targets(
    computed: Computed, weights: FloatArray, test: TTest
) -> Iterable[MeasureWarning]:
    """Compare a difference of raw HSICs with that of their normalised forms.

    The energies are held fixed, so that the normalised difference is a contrast of the same
    HSICs and no further A is needed.
    """
    found = computed.dependences
    if found.measure != "hsic" or sorted(weights) != [-1.0, 1.0]:
        return
    try:
        energies = [
            np.sqrt(computed.influence.hsic((x, x)) * computed.influence.hsic((y, y)))
            for x, y in found.pairs
        ]
    except KeyError:
        return
    if not min(energies) > 0 or max(energies) < UNLIKE_ENERGIES * min(energies):
        return
    scaled = weights / np.array(energies)
    normalised = found.test(scaled)
    raw, other = (one.pvalue("two-sided") < SCREEN_LEVEL for one in (test, normalised))
    if raw == other and test.estimate * normalised.estimate > 0:
        return
    yield MeasureWarning(
        "raw HSIC also counts how much a target varies in itself, and the two targets differ in "
        f"that by a factor of {max(energies) / min(energies):.2g}: the difference of HSIC is "
        f"{number(test.estimate)} ({pvalue_text(test.pvalue('two-sided'))}), that of CKA "
        f"{number(normalised.estimate)} ({pvalue_text(normalised.pvalue('two-sided'))}, both "
        "two-sided).",
        [Option("measure", "cka"), " compares unlike targets."],
    )


def _small_for_normalised(found: Dependences) -> Iterable[SmallSampleWarning]:
    if found.measure in NORMALISED and found.variance != "jackknife":
        n = found.n_observations
        if SMALL_SAMPLE <= n < SMALL_FOR_NORMALISED:
            yield SmallSampleWarning(
                f"with {n} observations this variance rejects too often for a normalised measure",
                [Option("variance", "jackknife"), " corrects this."],
            )


def _in_file_order(rows: RowDependence, psi: FloatArray) -> Iterable[DependentRowsWarning]:
    """Notice rows next to each other that act alike, as in a series or a sorted file."""
    n = len(psi)
    if rows.any or n < SMALL_SAMPLE:
        return
    energy = float(psi @ psi)
    correlation = float(psi[1:] @ psi[:-1]) / energy if energy > 0 else 0.0
    if correlation > ALIKE and correlation * np.sqrt(n) > ALIKE_DEVIATIONS:
        yield DependentRowsWarning(
            f"rows next to each other act alike (correlation {correlation:.2f}). If the rows are "
            "a series in time, or several belong to one subject, the p-value is too small.",
            [
                "Say so by ",
                Option("max_lag", "auto"),
                " or ",
                Option("clusters"),
                "; if the file is only sorted, ignore this.",
            ],
        )


def _copies(dataset: Dataset) -> Iterable[DependentRowsWarning]:
    """Notice rows that are copies of each other in every variable.

    Values that repeat by themselves, as on a scale of five, combine to many different rows. In
    copied rows they do not: there are hardly more different rows than different values of the
    most detailed variable.
    """
    codes = [_codes(variable) for variable in dataset.variables.values()]
    known = [code for code in codes if code is not None]
    n = len(dataset)
    if len(known) < len(codes) or n < SMALL_SAMPLE:
        return
    most = max(len(np.unique(code)) for code in known)
    if not FEWEST_COPIED < most <= MOST_DISTINCT * n:
        return
    joint = np.zeros(n, dtype=np.int64)
    for code in known:
        _, joint = np.unique(joint * n + code, return_inverse=True)
    distinct = len(np.unique(joint))
    if distinct <= MOST_DISTINCT * n and distinct <= 1.05 * most:
        yield DependentRowsWarning(
            f"{n - distinct} of {n} rows are copies of others in every variable. Copies are not "
            "independent observations, and the p-value is too small.",
            ["Drop them, or say which rows belong together by ", Option("clusters"), "."],
        )


def _codes(variable: Variable) -> IntArray | None:
    """Give numbers to the different values of a variable; None for objects."""
    if isinstance(variable, Labels):
        return variable.codes
    if isinstance(variable, Numeric):
        codes = np.zeros(len(variable), dtype=np.int64)
        for column in variable.values.T[:MOST_COLUMNS]:
            _, inverse = np.unique(column, return_inverse=True)
            _, codes = np.unique(codes * len(codes) + inverse.reshape(-1), return_inverse=True)
        return codes
    return None


def _few_clusters(dataset: Dataset) -> Iterable[SmallSampleWarning]:
    if dataset.clusters is None:
        return
    n_clusters = len(np.unique(dataset.clusters))
    if n_clusters < FEW_CLUSTERS:
        yield SmallSampleWarning(
            f"only {n_clusters} clusters: p-values and intervals are approximate below "
            f"{FEW_CLUSTERS}."
        )


def _many_for_few(found: Dependences) -> Iterable[SmallSampleWarning]:
    p, n = len(found.pairs), found.n_observations
    if p >= MANY_TARGETS and n < FEW_FOR_MANY:
        yield SmallSampleWarning(
            f"{p} targets and {n} observations: with so few, differences must be very large to "
            "stand out among so many.",
            "Choose fewer targets beforehand, or read the ranking as a screen.",
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
