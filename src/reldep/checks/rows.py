"""Checks on rows: correlated with adjacent ones, repeated, out of step, or few."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from reldep.checks.subjects import (
    LEVELS_OF_A_SCALE,
    MOST_ROWS,
    Beside,
    Cautions,
    Data,
    Scanned,
    Tested,
)
from reldep.data.lifetimes import Lifetime
from reldep.data.variables import FloatArray, Items, Labels
from reldep.exceptions import (
    AlignmentWarning,
    DependentRowsWarning,
    FewUnitsWarning,
    InputError,
    RepeatedRowsWarning,
)
from reldep.words import counted, listed

# Adjacent rows are correlated if in both variables of a pair their correlation is above .2 (the
# level of a test at 5% is then beyond .06), and 2.5 standard errors from 0. Of objects, which have
# no columns, the influence alone decides, and has to be 3.5 standard errors from 0.
CORRELATED, DEVIATIONS, INFLUENCE_DEVIATIONS = 0.2, 2.5, 3.5
# A correlation of fewer rows shows nothing, unless a date says that they are a series.
FEWEST_FOR_CORRELATION = 20
# Two standard deviations, each 2.2/√n on independent rows by simulation, of the logarithm of the
# ratio of roughness at two steps and at one.
ROUGHNESS = 4.4
# By chance the influence of adjacent rows has a correlation of two deviations in one of forty
# sources; where it is one in ten, or more, rows are correlated.
SHARED_DEVIATIONS, SHARED = 2.0, 0.1

# Rows and subjects are repeated if at most this share is different: a few may be typing errors.
MOST_DIFFERENT = 0.9
# Copied rows have hardly more different rows than values of the most detailed variable; values
# that repeat by themselves, as on a scale of five, combine to many different rows.
MORE_THAN_VALUES = 1.05

# Minimum numbers below which p-values are approximate. Levels of the jackknife lie near 5% for 30
# rows or more, those of groups for 20 rows each (docs/calibration.md). Student's law with G - 1
# degrees of freedom is approximate for fewer than 40 clusters. Lifetimes rest on their events. The
# blocks of a series that is worth fewer than 25 independent rows are correlated: on
# autoregressions of 50 to 200 rows the level at 5% then goes beyond .075.
FEW = {"rows": 30, "rows of a group": 20, "clusters": 40, "events": 20, "rows in time": 25}

# Columns that name what was measured, perhaps more than once.
_SUBJECT = re.compile(
    r"(patient|subject|participant|person|individual|proband|donor|animal|mouse|rat|fish|dog|"
    r"monkey|plant|tree|family|litter|cage|sample|specimen|tumou?r|biopsy|case)s?"
    r"([ _.-]?(id|no|nr|num|number|code|name|key)\.?)?",
    re.IGNORECASE,
)


def alignment(data: Data) -> Cautions:
    """Check whether data without an index stand next to an index in another order."""
    unmatched = data.dataset.unmatched
    if unmatched is not None:
        without, shuffled = (listed(list(map(repr, names)), 5) for names in unmatched)
        have, were = ("has", "was") if len(unmatched[0]) == 1 else ("have", "were")
        yield AlignmentWarning(
            f"{without} {have} no index and {were} matched by position, while the rows of "
            f"{shuffled} stand in another order; give all of them an index."
        )


def dependent_rows(tested: Tested | Scanned) -> Cautions:
    """Check whether adjacent rows are correlated, unless the question allows for it."""
    data, n, is_scan = tested.data, tested.data.n, isinstance(tested, Scanned)
    if isinstance(tested, Scanned):
        # Each of the fixed variables stands for all of its pairs.
        pairs = tuple((name, name) for name in data.kernels)
    elif tested.found.rows.any:
        return
    else:
        pairs = tested.found.pairs
    # Most columns of a scan may have no memory, whatever the fixed variables have.
    time = None if is_scan else data.rows.time
    is_series = time is not None and time.is_series
    if n < FEWEST_FOR_CORRELATION and not is_series:
        return
    ranks, way_out = ranks_of(data), _against_dependence(tested)
    if time is not None and time.ranks is not None:
        order = np.argsort(time.ranks)
        ranks = {name: values[:, order] for name, values in ranks.items()}
    if not ranks.keys() >= set(chain.from_iterable(pairs)):
        harm = 0.0 if tested.psi is None else mean_correlation(tested.psi)
        if harm > max(CORRELATED, INFLUENCE_DEVIATIONS / np.sqrt(n)):
            yield DependentRowsWarning(
                f"Adjacent rows have similar influence{tested.where} (correlation {harm:.2f}), so "
                f"that p-values may be too small; {way_out}."
            )
        return
    own = dict(zip(ranks, map(correlation, ranks.values()), strict=True))
    # A dependence is affected where both of its variables are.
    both = np.array([min(own[x], own[y]) for x, y in pairs])
    if not both.max() > least_correlation(n):
        return
    if not is_series and (only_sorted(ranks) or not _does_harm(tested, both)):
        return
    rows = "Adjacent"
    if is_series and time is not None:
        rows = f"Rows are a series by {time.column!r}, and adjacent"
    yield DependentRowsWarning(
        f"{rows} rows are correlated{tested.where} ({both.max():.2f}), so that "
        f"{'all ' * is_scan}p-values may be too small; {way_out}."
    )


def _against_dependence(tested: Tested | Scanned) -> str:
    """Return what to do about rows that depend on each other, with the options that there are."""
    if isinstance(tested, Scanned):
        return "keep one row per subject, or ask compare() with `max_lag='auto'`"
    if not tested.data.takes_clusters:
        return "keep one row per subject, or rows far apart in time"
    time = tested.data.rows.time
    if time is not None and time.ranks is not None:
        return f"sort the rows by {time.column!r} and use `max_lag='auto'`"
    return "use `max_lag='auto'` for a series, `clusters` for repeated measurements"


def ranks_of(data: Data) -> dict[str, FloatArray]:
    """Return the ranks of every variable that has columns."""
    return {name: one.ranks for name, one in data.columns.items() if one.ranks is not None}


def least_correlation(n: int) -> float:
    """Return the correlation above which adjacent ones of n rows are correlated."""
    return max(CORRELATED, DEVIATIONS / float(np.sqrt(min(n, MOST_ROWS))))


def _does_harm(tested: Tested | Scanned, both: FloatArray) -> bool:
    """Return True if adjacent rows have similar influence on tests of correlated pairs.

    On average, for a few tests: one standard error leaves out most files that are only sorted
    (docs/calibration.md). In many of them, for a scan.
    """
    if tested.psi is None:
        return True
    error = 1.0 / float(np.sqrt(tested.data.n))
    if isinstance(tested, Scanned):
        return bool(np.mean(correlations(tested.psi) > SHARED_DEVIATIONS * error) > SHARED)
    affected = np.abs(tested.weights) @ (both > least_correlation(tested.data.n)) > 0
    return mean_correlation(tested.psi[affected]) > error


def correlation(columns: FloatArray) -> float:
    """Return the correlation of adjacent rows over centred columns, shape (d, n)."""
    # Not a BLAS dot: its threads would take milliseconds to start.
    energy = float(np.einsum("ij,ij->", columns, columns))
    return float((columns[:, 1:] * columns[:, :-1]).sum()) / energy if energy > 0 else 0.0


def correlations(psi: FloatArray) -> FloatArray:
    """Return the correlation of adjacent rows in every row of `psi` that is not 0."""
    scaled = psi / np.maximum(np.abs(psi).max(axis=1, keepdims=True), np.finfo(float).tiny)
    energy = np.einsum("ij,ij->i", scaled, scaled)
    products = np.einsum("ij,ij->i", scaled[:, 1:], scaled[:, :-1])
    return np.asarray(products[energy > 0] / energy[energy > 0])


def mean_correlation(psi: FloatArray) -> float:
    """Return the mean correlation of adjacent rows over the rows of `psi`; 0 without any."""
    found = correlations(psi)
    return float(np.mean(found)) if len(found) else 0.0


def only_sorted(columns: Mapping[str, FloatArray]) -> bool:
    """Return True if a variable of the question orders the rows and the others have no memory.

    Given the variable by which independent rows were sorted, the others wander smoothly with it
    and have independent noise. The second differences of noise are as large at one step as at
    two; those of a series with a memory are larger at two.
    """
    rest = [values for values in columns.values() if not _is_in_order(values)]
    if len(rest) == len(columns):
        return False
    n = next(iter(columns.values())).shape[1]
    return all(_log_roughness(values) <= ROUGHNESS / np.sqrt(n) for values in rest)


def _is_in_order(columns: FloatArray) -> bool:
    """Return True if the only column rises or falls, or equal rows stand together."""
    changes = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    if changes.mean() < 0.5 and changes.sum() < len(np.unique(columns, axis=1).T):
        return True
    steps = np.diff(columns[0])
    return len(columns) == 1 and bool((steps >= 0).all() or (steps <= 0).all())


def _log_roughness(columns: FloatArray) -> float:
    """Return the logarithm of the roughness at two steps over that at one; 0 for noise."""
    middle = columns[:, 2:-2]
    one = middle - 0.5 * (columns[:, 1:-3] + columns[:, 3:-1])
    two = middle - 0.5 * (columns[:, :-4] + columns[:, 4:])
    at_one, at_two = float((one * one).sum()), float((two * two).sum())
    return float(np.log(at_two / at_one)) if at_one > 0 and at_two > 0 else 0.0


def slow_series(tested: Tested) -> Cautions:
    """Check whether a series moves so slowly that its blocks depend on each other."""
    memory, n = tested.found.rows.memory, tested.data.n
    if memory is not None and memory.worth < FEW["rows in time"]:
        x, y = memory.pair
        yield FewUnitsWarning(
            f"{x!r} and {y!r} move so slowly that {n} rows are worth about "
            f"{max(round(memory.worth), 2)} independent ones, and p-values are rough; observe a "
            "longer time, or ask about changes from one time to the next."
        )


def seasons(tested: Tested) -> Cautions:
    """Check whether two variables have a season in common."""
    memory = tested.found.rows.memory
    if memory is not None and memory.seasonal is not None:
        x, y = memory.seasonal
        yield DependentRowsWarning(
            f"{x!r} and {y!r} have a season of {memory.season} rows in common, so that their "
            "relation may be that of the calendar, and p-values are too small; hold the season "
            "fixed: `given=month` (weekday, hour), with `max_lag` as before."
        )


def repeated_rows(data: Data) -> Cautions:
    """Check whether rows are copies of each other, or of one subject."""
    if data.dataset.clusterings:
        return
    if data.rows.labels is not None and names_subjects(data.rows.noun):
        yield from _repeated(data.rows.noun, data.rows.values(), data)
    n, n_different = data.n, _n_different(data)
    if n_different is not None:
        way_out = "drop them or pass `clusters`" if data.takes_clusters else "drop them"
        yield RepeatedRowsWarning(f"{n - n_different} of {n} rows repeat others; {way_out}.")
        return
    for name in data.texts:
        variable = data.variables[name]
        n_texts = len(np.unique(variable.codes)) if isinstance(variable, Labels) else n
        if n_texts <= MOST_DIFFERENT * n:
            yield RepeatedRowsWarning(
                f"{name!r} has {n_texts} different texts in {n} rows; if rows with the same text "
                f"are repeated measurements, {_kept_together(data)}."
            )


def _n_different(data: Data) -> int | None:
    """Return the number of different rows if others are copies of them, else None."""
    n, most = data.n, 0
    joint = np.zeros(n, dtype=np.int64)
    for columns in data.columns.values():
        codes = columns.codes
        if codes is None:
            return None
        n_values = int(codes.max(initial=0)) + 1
        if n_values > MOST_DIFFERENT * n:
            return None
        most = max(most, n_values)
        _, joint = np.unique(joint * n + codes, return_inverse=True)
    n_different = int(joint.max(initial=0)) + 1
    few = n_different <= min(MOST_DIFFERENT * n, MORE_THAN_VALUES * most)
    return n_different if few and most > LEVELS_OF_A_SCALE else None


def subjects(beside: Beside) -> Cautions:
    """Check for a column that names subjects with several rows each."""
    table = beside.table
    by_id = [] if table.row_names is None else [table.row_names[0]]
    names = [one for one in by_id if one in table.columns]
    # Rows that are called by their subjects are checked with the data.
    if beside.has_clusters or any(map(names_subjects, names)):
        return
    try:
        for name in (names or [*filter(names_subjects, beside.unused)])[:1]:
            yield from _repeated(name, table.values(name), beside)
    except InputError:
        return  # A column that cannot be read names nobody.


def names_subjects(column: str) -> bool:
    """Return True for names of columns that name what was measured.

    Examples
    --------
    >>> names_subjects("patient_id"), names_subjects("PID")
    (True, False)
    """
    return _SUBJECT.fullmatch(column) is not None


def _kept_together(subject: Data | Beside, name: str = "") -> str:
    """Return what to do with rows of one subject."""
    value = f"='{name}'" if name else ""
    return f"pass `clusters{value}`" if subject.takes_clusters else "keep one of them"


def _repeated(name: str, values: Sequence[Any], subject: Data | Beside) -> Cautions:
    """Check whether the names of rows come several times."""
    present = [str(value) for value in values if value is not None]
    n_different = len(set(present))
    if 1 < n_different <= MOST_DIFFERENT * len(present):
        yield RepeatedRowsWarning(
            f"{name!r} has {n_different:,} different values in {len(present):,} rows; if rows with "
            f"the same one belong together, {_kept_together(subject, name)}."
        )


def few_units(data: Data) -> Cautions:
    """Check the number of rows, clusters and events."""
    n = data.n
    counts = [len(np.unique(labels.codes)) for labels in data.dataset.clusterings]
    n_clusters = min(counts, default=None)
    if n_clusters is not None and n_clusters < FEW["clusters"]:
        yield FewUnitsWarning(f"P-values are approximate for {n_clusters} clusters.")
    elif n < FEW["rows"]:
        yield FewUnitsWarning(f"P-values are approximate for {counted(n, 'row')}.")
    for name, variable in data.variables.items():
        if not isinstance(variable, Items):
            continue
        lifetimes = [item for item in variable.items if isinstance(item, Lifetime)]
        n_events = sum(item.event for item in lifetimes)
        if lifetimes and n_events < FEW["events"]:
            yield FewUnitsWarning(
                f"Only {counted(n_events, 'event')} in {name!r}: the answer rests on these, not "
                f"on {n} rows."
            )


def few_rows_of_groups(groups: Mapping[str, Data]) -> Cautions:
    """Check the number of rows of every group."""
    least = FEW["rows of a group"]
    small = [f"{name} ({data.n})" for name, data in groups.items() if data.n < least]
    # Few rows in all have a caution of their own.
    if small and sum(data.n for data in groups.values()) >= FEW["rows"]:
        yield FewUnitsWarning(
            f"P-values are approximate for groups of few rows: {listed(small, 5)}; "
            "`test='permutation'` suits small groups."
        )
