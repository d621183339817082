"""Cautions in plain words: what the reader of a result should know before believing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.data.dataset import SMALL_SAMPLE
from reldep.data.variables import Numeric
from reldep.exceptions import (
    CopyWarning,
    DataWarning,
    DegenerateWarning,
    InfluentialObservationWarning,
    InputError,
    MeasureWarning,
    ReldepWarning,
    SmallSampleWarning,
)
from reldep.kernels.radial import FittedRadial
from reldep.questions.data_cautions import in_pieces_order, jumping_median
from reldep.stats import student
from reldep.stats.diagnostics import largest_shares
from reldep.stats.estimation import estimate_dependences
from reldep.stats.measures import NORMALISED, SECOND_ORDER
from reldep.stats.screening import independence_pvalues, second_order_share
from reldep.words import listed, number, percent, pvalue_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reldep.data.dataset import AlignedData
    from reldep.data.rows import Rows
    from reldep.data.variables import FloatArray
    from reldep.engine import Influence
    from reldep.kernels import FittedKernel, Kernel
    from reldep.questions.study import Computed
    from reldep.stats.dependences import Dependences
    from reldep.stats.differences import TTest

# Raw HSIC and CKA disagree where one of them is significant at this level and the other is not.
SCREEN_LEVEL = 0.05

# The plug-in variance counts the second component twice. Where that makes up a third of it, a
# one-sided test at 5 % has a level of about 2 %.
SECOND_ORDER_SHARE = 1 / 3

# One observation is called influential beyond a quarter of the variance, provided that this is
# fifteen times the average share: among 40 rows of healthy data the largest share is often a
# quarter, among 100 hardly ever.
INFLUENTIAL_SHARE = 0.25
INFLUENTIAL_TIMES_AVERAGE = 15.0

# Two targets whose kernel energies differ by this factor are called unlike.
UNLIKE_ENERGIES = 1.2

# A normalised dependence beyond this is that of a variable with a copy of it, but for noise.
NEARLY_COPIED = 0.99
COPIED = 1.0 - 1e-9

# Below this the older variances reject too often for normalised measures (.07 to .12 at 5%).
SMALL_FOR_NORMALISED = 50

# A ranking of at least so many targets needs about this times the logarithm of their number of
# rows: of 20 targets on 50 rows one in six large differences was found, on 100 rows two in three.
MANY_TARGETS, ROWS_FOR_MANY = 10, 20.0

# Texts are called repeated below this share of different ones; and of unlike lengths if the ninth
# decile of the number of words is so many times the first.
MOST_DISTINCT, UNLIKE_LENGTHS = 0.9, 5.0


def cautions_of_data(
    dataset: AlignedData,
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
            found += jumping_median(name, variable.values, kernel)
    return tuple(found)


def cautions_of_texts(
    kernels: Mapping[str, Kernel], dataset: AlignedData
) -> tuple[ReldepWarning, ...]:
    """Caution about texts: repeated, of very different lengths, or prepared differently."""
    prepared = {
        name: preparation
        for name, kernel in kernels.items()
        if (preparation := kernel.preparation(dataset.variables[name])) is not None
    }
    found: list[ReldepWarning] = []
    for name in prepared:
        found += _about_texts(name, dataset)
    return (*found, *_prepared_differently(prepared))


def _about_texts(name: str, dataset: AlignedData) -> Iterable[DataWarning]:
    from reldep.kernels.structured.strings import strings_of

    texts = strings_of(dataset.variables[name], "Text")  # type: ignore[arg-type]
    n_different = len(set(texts))
    if n_different < MOST_DISTINCT * len(texts) and dataset.clusters is None:
        yield DataWarning(
            f"{name} holds {n_different} different texts in {len(texts)} rows. Rows with the same "
            "text are hardly independent observations. If they are repeated measurements, pass "
            "`clusters`."
        )
    short, long = np.percentile([len(text.split()) for text in texts], (10, 90))
    if long > UNLIKE_LENGTHS * max(short, 1.0):
        yield DataWarning(
            f"the texts of {name} have very different lengths ({short:.0f} words or fewer in a "
            f"tenth of them, {long:.0f} or more in another). A short text has few words in common "
            "with any other, so that the length counts beside the words. Cut the texts to similar "
            "lengths, or pass the log of the number of words as `given`."
        )


def _prepared_differently(prepared: Mapping[str, str]) -> tuple[ReldepWarning, ...]:
    kinds: dict[str, list[str]] = {}
    for name, preparation in prepared.items():
        kinds.setdefault(preparation, []).append(name)
    if len(kinds) < 2:
        return ()
    shown = " and ".join(f"{kind} ({listed(names)})" for kind, names in kinds.items())
    return (
        DataWarning(
            f"the texts are prepared differently, as {shown}. Texts that are prepared alike may "
            "look more alike for that reason only. Give all of them stems, or leave the language "
            "out of all kernels."
        ),
    )


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
    found = computed.dependences
    second_order = () if halves else _degenerate(computed, weights, test)
    return (
        *second_order,
        *_unlike_targets(computed, weights, test),
        *_small_for_normalised(found),
        *nearly_copies(found),
        *_neighbours(computed, weights[None]),
        *in_pieces_order(found, weights),
        *influential(computed.provenance.rows, found, {"the estimate": weights}),
    )


def cautions_about_dependence(computed: Computed) -> tuple[ReldepWarning, ...]:
    """Screen a single dependence; whether there is any is what its own p-value says."""
    found, weights = computed.dependences, np.ones(1)
    return (
        *_small_for_normalised(found),
        *nearly_copies(found, exact=True),
        *_neighbours(computed, weights[None]),
        *in_pieces_order(found, weights),
        *influential(computed.provenance.rows, found, {"the estimate": weights}),
    )


def cautions_about_targets(computed: Computed) -> tuple[ReldepWarning, ...]:
    """Screen the dependences of a ranking."""
    found = computed.dependences
    return (
        *_many_for_few(found),
        *_small_for_normalised(found),
        *nearly_copies(found),
        *_differing_neighbours(computed),
        *influential_pairs(computed.provenance.rows, found),
    )


def _neighbours(computed: Computed, weights: FloatArray) -> Iterable[ReldepWarning]:
    if computed.neighbours is None:
        return ()
    return computed.neighbours.cautions(weights @ computed.dependences.psi)


def _differing_neighbours(computed: Computed) -> Iterable[ReldepWarning]:
    """Look at neighbours in what every dependence adds to the mean of all."""
    if computed.neighbours is None:
        return ()
    psi = computed.dependences.psi
    return computed.neighbours.cautions(psi - psi.mean(axis=0))


def relation_pvalues(
    influence: Influence, dependences: Dependences, n: int | None = None
) -> tuple[float | None, ...]:
    """Return the p-value of independence of every pair; None for a variable with itself.

    Parameters
    ----------
    influence : Influence
    dependences : Dependences
    n : int, optional
        The number of rows behind each pair, where it is not that of all.
    """
    if dependences.rows.any:
        # Rows that depend on each other make the chi-square law of the screen too narrow.
        ratios = dependences.values / dependences.standard_errors
        df = dependences.n_units() - 1.0
        return tuple(student.pvalue(float(ratio), df, "greater") for ratio in ratios)
    found = independence_pvalues(influence, dependences.pairs, n or influence.n_observations)
    return tuple(found.get(pair) for pair in dependences.pairs)


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
            "observations). `variance='jackknife'` corrects this."
        )


def _unlike_targets(
    computed: Computed, weights: FloatArray, test: TTest
) -> Iterable[MeasureWarning]:
    """Compare a difference of raw HSICs with that of their normalised forms."""
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
    if not min(energies) > 0:
        return
    try:
        normalised = _normalised(computed, weights, np.array(energies))
    except InputError:
        # CKA has no scale here without some row; the HSICs that were asked for stand.
        return
    raw, other = (one.pvalue("two-sided") < SCREEN_LEVEL for one in (test, normalised))
    if raw == other and not (raw and test.estimate * normalised.estimate < 0):
        return
    factor = max(energies) / min(energies)
    unlike = f", here by a factor of {factor:.2g}" if factor >= UNLIKE_ENERGIES else ""
    yield MeasureWarning(
        "raw HSIC also counts how much a target varies in itself, in which two targets may "
        f"differ{unlike}: the difference of HSIC is {number(test.estimate)} "
        f"({pvalue_text(test.pvalue('two-sided'))}), that of CKA {number(normalised.estimate)} "
        f"({pvalue_text(normalised.pvalue('two-sided'))}, both two-sided). `measure='cka'` "
        "compares unlike targets."
    )


def _normalised(computed: Computed, weights: FloatArray, energies: FloatArray) -> TTest:
    """Test the contrast of CKA; with the energies held fixed where their A is not known."""
    found, influence = computed.dependences, computed.influence
    own = {(name, name) for pair in found.pairs for name in pair}
    if found.rows.any or not own <= set(influence.pairs):
        return found.test(weights / energies)
    return estimate_dependences(influence, found.pairs, "cka", found.variance).test(weights)


def _small_for_normalised(found: Dependences) -> Iterable[SmallSampleWarning]:
    if found.measure in NORMALISED and found.variance != "jackknife":
        n = found.n_observations
        if SMALL_SAMPLE <= n < SMALL_FOR_NORMALISED:
            yield SmallSampleWarning(
                f"with {n} observations this variance rejects too often for a normalised measure; "
                "`variance='jackknife'` corrects this."
            )


def nearly_copies(
    found: Dependences, where: str = "", *, exact: bool = False
) -> Iterable[CopyWarning]:
    """Notice pairs that are almost as dependent as a variable and its copy.

    Where there is a source, exact copies of it are noticed when the data are read; elsewhere they
    are looked for here. Of a part of the rows `where` says which.
    """
    if found.measure not in NORMALISED:
        return
    close = (found.values > NEARLY_COPIED) & (exact | (found.values < COPIED))
    words = [
        f"{x} and {y} ({number(float(value))})"
        for (x, y), value, one in zip(found.pairs, found.values, close, strict=True)
        if one
    ]
    if words:
        yield CopyWarning(
            f"almost as dependent as copies of each other{where}: {listed(words, 5)}. If one is "
            "computed or measured from the other, leave it out."
        )


def _many_for_few(found: Dependences) -> Iterable[SmallSampleWarning]:
    p, n = len(found.pairs), found.n_observations
    if p >= MANY_TARGETS and n < ROWS_FOR_MANY * np.log(p):
        yield SmallSampleWarning(
            f"{p} targets and {n} observations: with so few, differences must be very large to "
            "stand out among so many. Choose fewer targets beforehand, or read the ranking as a "
            "screen."
        )


def influential(
    rows: Rows, found: Dependences, named: Mapping[str, FloatArray]
) -> Iterable[InfluentialObservationWarning]:
    """Notice an observation that carries much of the variance of a weighted sum."""
    shares = {name: found.largest_share(weights) for name, weights in named.items()}
    yield from _carried(rows, shares)


def influential_pairs(rows: Rows, found: Dependences) -> Iterable[InfluentialObservationWarning]:
    """Notice an observation that carries much of the variance of a dependence, for each."""
    if not found.keeps_rows:
        weights = np.eye(len(found.pairs))
        named = {f"{x} ~ {y}": one for (x, y), one in zip(found.pairs, weights, strict=True)}
        yield from influential(rows, found, named)
        return
    share, top = largest_shares(found.psi)
    # Of copies there is only rounding to carry.
    copied = (found.values >= COPIED) if found.measure in NORMALISED else False
    candidates = np.flatnonzero((share > influential_bar(len(rows))) & ~np.asarray(copied))
    pairs = [found.pairs[i] for i in candidates]
    shares = {
        f"{x} ~ {y}": (float(share[i]), int(top[i]))
        for (x, y), i in zip(pairs, candidates, strict=True)
    }
    yield from _carried(rows, shares)


def influential_bar(n: int) -> float:
    """Give the share of the variance beyond which an observation is called influential."""
    return max(INFLUENTIAL_SHARE, INFLUENTIAL_TIMES_AVERAGE / n)


def _carried(
    rows: Rows, shares: Mapping[str, tuple[float, int]]
) -> Iterable[InfluentialObservationWarning]:
    words = [
        f"{rows.name(top)} carries {percent(round(share, 2))} of the variance of {name}"
        for name, (share, top) in shares.items()
        if share > influential_bar(len(rows))
    ]
    if words:
        yield InfluentialObservationWarning(
            f"{listed(words, 5)}; look at it, and at the answer without it."
        )
