"""Checks on what is tested: near copies, influential rows, unlike targets, measure, covariates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reldep.exceptions import (
    CopyWarning,
    CovariatesWarning,
    FewUnitsWarning,
    InfluentialWarning,
    InputError,
    MeasureWarning,
    UnlikeTargetsWarning,
)
from reldep.stats import student
from reldep.stats.estimates import estimate_dependences
from reldep.stats.influential import largest_shares, leave_out
from reldep.stats.units import NORMALISED
from reldep.words import listed, number, percent, pvalue_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reldep.checks.subjects import Data, Tested
    from reldep.data.variables import FloatArray
    from reldep.stats.pairwise import Test

# A normalised dependence above this is that of a variable with a copy of it, but for noise; one
# above COPIED is that of a copy, of which nothing but rounding is left to carry.
NEARLY_COPIED, COPIED = 0.99, 1.0 - 1e-9

# One row is called influential beyond a quarter of the variance, provided that this is fifteen
# times the average share: among 40 rows of healthy data the largest share is often a quarter,
# among 100 hardly ever.
INFLUENTIAL_SHARE, TIMES_AVERAGE = 0.25, 15.0

# The difference of skewness of the leave-one-out values of two dependences beyond which ties with
# rare rows are rejected too often; exchangeable targets exceed it in at most 6% of samples of 100.
# It was studied for 50 rows or more; a skewness of fewer says little.
SKEWNESS, FEWEST_FOR_SKEWNESS = 1.5, 50
# The level at which such ties are rejected in 5% of samples.
STRICTER = 0.025

# The level at which raw HSIC and CKA are compared.
LEVEL = 0.05

# Covariates that explain more leave little, part of which is what the regression missed.
NEARLY_ALL = 0.95
# Regressions on covariates are rough for fewer rows, or with a column for every four rows.
FEW_ROWS, COLUMNS_PER_ROW = 50, 0.25

_SHOWN = 5


def near_copies(tested: Tested) -> Iterator[CopyWarning]:
    """Check for pairs that are nearly as dependent as a variable and its copy."""
    found, data = tested.found, tested.data
    if found.measure not in NORMALISED:
        return
    close = [
        f"{x!r} and {y!r}"
        for (x, y), value in zip(found.pairs, found.values, strict=True)
        if value > NEARLY_COPIED and (tested.where or not _are_copies(x, y, data))
    ]
    if close:
        yield CopyWarning(
            f"Nearly as dependent as copies of each other{tested.where}: {listed(close, _SHOWN)}; "
            "if one is computed or measured from the other, leave it out."
        )


def _are_copies(x: str, y: str, data: Data) -> bool:
    """Return True for pairs that have a caution of their own, unless they are parts of rows."""
    marks = data.marks
    both = x in marks and y in marks
    return both and (marks[x].is_like(marks[y]) or bool(marks[x].shared(marks[y])))


def influential(tested: Tested) -> Iterator[InfluentialWarning]:
    """Check whether one row makes up much of the variance of what is tested."""
    if not tested.found.keeps_rows:
        return
    if len(tested.weights) == 1:
        if not tested.found.fragile:
            yield from _influential_test(tested)
        return
    found, rows = tested.found, tested.data.rows
    share, top = largest_shares(found.psi)
    copied = found.values >= COPIED if found.measure in NORMALISED else np.zeros(len(share), bool)
    words = [
        f"{rows.name(int(top[i]))} in {x!r} ~ {y!r} ({percent(round(float(share[i]), 2))})"
        for i, (x, y) in enumerate(found.pairs)
        if share[i] > influential_share(len(rows)) and not copied[i]
    ]
    if words:
        yield InfluentialWarning(
            f"One row carries much of the variance{tested.where}: {listed(words, _SHOWN)}; look at "
            "it, and at the answer without it."
        )


def influential_share(n: int) -> float:
    """Return the share of the variance above which one of n rows is influential."""
    return max(INFLUENTIAL_SHARE, TIMES_AVERAGE / n)


def _influential_test(tested: Tested) -> Iterator[InfluentialWarning]:
    rows, found = tested.data.rows, tested.found
    (share,), (top,) = largest_shares(tested.psi)
    if not share > influential_share(len(rows)):
        return
    words = f"One row ({rows.name(int(top))}) carries {percent(round(float(share), 2))}"
    without = ""
    if tested.is_difference:
        test = found.test(tested.weights[0])
        change, ratio = leave_out(tested.psi[0], np.array([top]), found.rows, order=4)
        statistic = (test.estimate + change) / (test.standard_error * math.sqrt(ratio))
        p = student.pvalue(statistic, test.df, "two-sided")
        without = f"; without it {pvalue_text(p)}, two-sided"
    yield InfluentialWarning(f"{words} of the variance{tested.where}{without}. Look at it.")


def no_error(tested: Tested) -> Iterator[FewUnitsWarning]:
    """Check whether a variable does not vary without one unit, so that there is no error."""
    found, units = tested.found, tested.found.units
    names = [units.names[variable] for variable in found.fragile]
    if names:
        yield FewUnitsWarning(
            f"{listed(list(map(repr, names)), _SHOWN)} would not vary without one of the "
            f"{units.noun}, so that its dependences have no standard error{tested.where}: only "
            "estimates and p-values of independence are given."
        )


def unlike_targets(tested: Tested) -> Iterator[UnlikeTargetsWarning]:
    """Check whether one of two dependences rests on few rows and the other does not."""
    found, n = tested.found, len(tested.data)
    is_plain = found.keeps_rows and not found.rows.any
    if not tested.is_difference or not is_plain or n < FEWEST_FOR_SKEWNESS:
        return
    skewness = _skewness(found.psi)
    if not abs(skewness[0] - skewness[1]) > SKEWNESS:
        return
    if found.test(tested.weights[0]).pvalue("two-sided") < STRICTER:
        return  # What the caution asks for is there.
    few = int(np.argmax(np.abs(skewness)))
    squares = np.sort(found.psi[few] ** 2)[::-1]
    k = int(np.searchsorted(np.cumsum(squares), 0.5 * squares.sum())) + 1
    source, target = found.pairs[few]
    other = found.pairs[1 - few][1]
    yield UnlikeTargetsWarning(
        f"The relation of {source!r} to {target!r} rests on {k} of {n} rows, that "
        f"to {other!r} does not. If these are a population of their own, ask for "
        f"p < {STRICTER:g}."
    )


def _skewness(values: FloatArray) -> FloatArray:
    deviation = values.std(axis=1)
    third = (values**3).mean(axis=1)
    skewness = np.divide(third, deviation**3, out=np.zeros_like(third), where=deviation > 0)
    return np.asarray(skewness)


def measures(tested: Tested) -> Iterator[MeasureWarning]:
    """Check whether raw HSIC and CKA agree about a difference."""
    if not tested.is_difference or tested.found.measure != "hsic":
        return
    raw, normalised = tested.found.test(tested.weights[0]), _normalised(tested)
    if normalised is None:
        return
    claims = [one.pvalue("two-sided") < LEVEL for one in (raw, normalised)]
    if claims[0] == claims[1] and not (claims[0] and raw.estimate * normalised.estimate < 0):
        return
    yield MeasureWarning(
        f"CKA disagrees with raw HSIC (difference {number(normalised.estimate)}, "
        f"{pvalue_text(normalised.pvalue('two-sided'))}, two-sided), which also counts how much a "
        "target varies in itself; use `measure='cka'` for unlike targets."
    )


def _normalised(tested: Tested) -> Test | None:
    """Test the contrast of CKA; with the scales held fixed where their A is not known."""
    found, influence, weights = tested.found, tested.influence, tested.weights[0]
    if influence is None:
        return None
    try:
        squares = [influence.hsic((x, x)) * influence.hsic((y, y)) for x, y in found.pairs]
        if not min(squares) > 0:
            return None
        own = {(name, name) for pair in found.pairs for name in pair}
        if found.rows.any or not own <= set(influence.pairs):
            return found.test(weights / np.sqrt(squares))
        cka = estimate_dependences(influence, found.pairs, "cka", found.variance)
        return cka.test(weights)
    except (KeyError, InputError):
        # CKA has no scale here; the HSICs that were asked for stand.
        return None


def covariates(data: Data) -> Iterator[CovariatesWarning]:
    """Check whether covariates explain nearly everything, or are many for the rows."""
    held, n = data.conditioning, len(data)
    if held is None:
        return
    for name, share in held.explained.items():
        if share > NEARLY_ALL:
            yield CovariatesWarning(
                f"`given` explains {share:.1%} of {name!r}: what is left is partly what the "
                "regression missed."
            )
    if held.n_columns >= COLUMNS_PER_ROW * n:
        yield CovariatesWarning(
            f"`given` has {held.n_columns} columns for {n} rows, which cannot be held fixed well; "
            "pass fewer columns."
        )
    elif n < FEW_ROWS:
        yield CovariatesWarning(
            f"`given` may leave part of what it explains in the answer, since {n} rows are few."
        )
