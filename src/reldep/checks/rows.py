"""Checks on rows: correlated with adjacent ones, repeated, out of step, or few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.checks import neighbours
from reldep.checks.tables import names_subjects, repeated
from reldep.data.lifetimes import Lifetime
from reldep.data.variables import Items, Labels, Numeric
from reldep.exceptions import (
    AlignmentWarning,
    DependentRowsWarning,
    FewUnitsWarning,
    RepeatedRowsWarning,
)
from reldep.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reldep.checks.subjects import Data, Tested
    from reldep.data.variables import BoolArray, FloatArray, IntArray, Variable

# Adjacent rows are correlated if in both variables of a pair their correlation is above this, and
# this many deviations from 0.
CORRELATED, DEVIATIONS = 0.2, 2.5
# It does harm where the influence on what is tested is correlated, too; one deviation leaves out
# most files that are only sorted (docs/calibration.md).
HARM_DEVIATIONS = 1.0
# Objects have no columns, so that the influence decides alone.
CORRELATED_INFLUENCE, INFLUENCE_DEVIATIONS = 0.2, 3.5
# A correlation of fewer rows shows nothing, unless a date says that they are a series.
FEWEST_FOR_CORRELATION = 20

# Rows are repeated if at most this share of them is different, and there are more different ones
# than a scale of answers has, but hardly more than values of the most detailed variable.
MOST_DIFFERENT, LEVELS_OF_A_SCALE, MORE_THAN_VALUES = 0.9, 10, 1.05

# Levels of the jackknife test lie near 5% for this many rows or more (docs/calibration.md).
FEW_ROWS = 30
# Student's law with G - 1 degrees of freedom is only approximate for fewer clusters.
FEW_CLUSTERS = 40
# An answer about lifetimes rests on the events, however many rows there are.
FEW_EVENTS = 20
# A series that is worth fewer independent rows has blocks that are alike: on autoregressions of 50
# to 200 rows the level at 5% then goes beyond .075.
FEW_ROWS_IN_TIME = 25


def alignment(data: Data) -> Iterator[AlignmentWarning]:
    """Check whether data without an index stand next to an index in another order."""
    if data.unmatched is not None:
        without, shuffled = data.unmatched
        have = "has" if len(without) == 1 else "have"
        were = "was" if len(without) == 1 else "were"
        yield AlignmentWarning(
            f"{_quoted(without)} {have} no index and {were} matched by position, while the rows "
            f"of {_quoted(shuffled)} stand in another order; give all of them an index."
        )


def _quoted(names: tuple[str, ...]) -> str:
    return listed(list(map(repr, names)), 5)


def dependent_rows(tested: Tested) -> Iterator[DependentRowsWarning]:
    """Check whether adjacent rows are correlated, unless the question allows for it."""
    data, n = tested.data, len(tested.data)
    time = data.rows.time
    is_series = time is not None and time.is_series
    if tested.found.rows.any or (n < FEWEST_FOR_CORRELATION and not is_series):
        return
    names = dict.fromkeys(name for pair in tested.found.pairs for name in pair)
    columns = {
        name: values
        for name in names
        if name in data.variables
        if (values := neighbours.ranked_columns(data.variables[name])) is not None
    }
    ranks = None if time is None else time.ranks
    if ranks is not None:
        columns = {name: values[:, np.argsort(ranks)] for name, values in columns.items()}
    way_out = "use `max_lag='auto'` for a series, `clusters` for repeated measurements"
    if len(columns) < len(names):
        if not tested.found.keeps_rows:
            return
        harm = _mean_lag_correlation(tested.psi)
        if harm > max(CORRELATED_INFLUENCE, INFLUENCE_DEVIATIONS / np.sqrt(n)):
            yield DependentRowsWarning(
                f"Adjacent rows have similar influence{tested.where} (correlation {harm:.2f}), so "
                f"that p-values may be too small; {way_out}."
            )
        return
    of = {name: neighbours.correlation(values) for name, values in columns.items()}
    # A dependence is affected where both of its variables are.
    both = np.array([min(of[x], of[y]) for x, y in tested.found.pairs])
    bar = max(CORRELATED, DEVIATIONS / np.sqrt(min(n, neighbours.MOST_ROWS)))
    if not both.max() > bar:
        return
    if not is_series and (neighbours.only_sorted(columns) or not _does_harm(tested, both > bar)):
        return
    by = f"Rows are a series by {time.column!r}, and adjacent" if time is not None else ""
    rows = by if is_series else "Adjacent"
    if ranks is not None:
        way_out = "sort the rows by it and use `max_lag='auto'`"
    yield DependentRowsWarning(
        f"{rows} rows are correlated{tested.where} ({both.max():.2f}), so that p-values may be too "
        f"small; {way_out}."
    )


def _does_harm(tested: Tested, correlated: BoolArray) -> bool:
    """Return True if adjacent rows have similar influence on tests of correlated pairs."""
    if not tested.found.keeps_rows:
        return True
    affected = np.abs(tested.weights) @ correlated > 0
    harm = _mean_lag_correlation(tested.psi[affected])
    return harm > HARM_DEVIATIONS / float(np.sqrt(len(tested.data)))


def _mean_lag_correlation(psi: FloatArray) -> float:
    found = neighbours.lag_correlations(psi)
    return float(np.mean(found)) if len(found) else 0.0


def repeated_rows(data: Data) -> Iterator[RepeatedRowsWarning]:
    """Check whether rows are copies of each other, or of one subject."""
    if data.clusters:
        return
    if data.rows.labels is not None and names_subjects(data.rows.noun):
        yield from repeated(data.rows.noun, data.rows.values())
    n = len(data)
    n_different = _n_different(data)
    if n_different is not None:
        yield RepeatedRowsWarning(
            f"{n - n_different} of {n} rows repeat others; drop them or pass `clusters`."
        )
        return
    for name, kernel in data.kernels.items():
        variable = data.variables.get(name)
        if variable is None or kernel.preparation(variable) is None:
            continue
        n_texts = len(np.unique(variable.codes)) if isinstance(variable, Labels) else n
        if n_texts <= MOST_DIFFERENT * n:
            yield RepeatedRowsWarning(
                f"{name!r} has {n_texts} different texts in {n} rows; if rows with the same text "
                "are repeated measurements, pass `clusters`."
            )


def _n_different(data: Data) -> int | None:
    """Return the number of different rows if others are copies of them, else None.

    Values that repeat by themselves, as on a scale of five, combine to many different rows. In
    copied rows they do not: there are hardly more different rows than different values of the
    most detailed variable.
    """
    n = len(data)
    if any(_is_detailed(variable) for variable in data.variables.values()):
        return None
    joint, most = np.zeros(n, dtype=np.int64), 0
    for variable in data.variables.values():
        codes = _codes(variable)
        if codes is None:
            return None
        n_values = int(codes.max()) + 1
        if n_values > MOST_DIFFERENT * n:
            return None
        most = max(most, n_values)
        _, joint = np.unique(joint * n + codes, return_inverse=True)
    n_different = int(joint.max(initial=0)) + 1
    few = n_different <= min(MOST_DIFFERENT * n, MORE_THAN_VALUES * most)
    return n_different if few and most > LEVELS_OF_A_SCALE else None


def _is_detailed(variable: Variable) -> bool:
    """Return True if the first column alone has too many different values for repeated rows."""
    if not isinstance(variable, Numeric):
        return False
    ordered = np.sort(variable.values[:, 0])
    n_different = 1 + np.count_nonzero(ordered[1:] != ordered[:-1])
    return bool(n_different > MOST_DIFFERENT * len(variable))


def _codes(variable: Variable) -> IntArray | None:
    """Return numbers for the different values of a variable; None for objects."""
    if isinstance(variable, Labels):
        return np.unique(variable.codes, return_inverse=True)[1].reshape(-1)
    if not isinstance(variable, Numeric):
        return None
    codes = np.zeros(len(variable), dtype=np.int64)
    for column in variable.values.T[: neighbours.MOST_COLUMNS]:
        _, inverse = np.unique(column, return_inverse=True)
        _, codes = np.unique(codes * len(codes) + inverse.reshape(-1), return_inverse=True)
        if len(codes) and codes.max() >= MOST_DIFFERENT * len(codes):
            break  # Too many different rows already.
    return codes


def few_units(data: Data) -> Iterator[FewUnitsWarning]:
    """Check the number of rows, clusters and events."""
    n = len(data)
    n_clusters = min((len(np.unique(codes)) for codes in data.clusters), default=n)
    if n_clusters < FEW_CLUSTERS and data.clusters:
        yield FewUnitsWarning(f"P-values are approximate for {n_clusters} clusters.")
    elif n < FEW_ROWS:
        yield FewUnitsWarning(f"P-values are approximate for {counted(n, 'row', 'rows')}.")
    for name, variable in data.variables.items():
        items = variable.items if isinstance(variable, Items) else ()
        if not any(isinstance(item, Lifetime) for item in items):
            continue
        n_events = sum(isinstance(item, Lifetime) and item.event for item in items)
        if n_events < FEW_EVENTS:
            yield FewUnitsWarning(
                f"Only {counted(n_events, 'event', 'events')} in {name!r}: the answer rests on "
                f"these, not on {n} rows."
            )


def slow_series(tested: Tested) -> Iterator[FewUnitsWarning]:
    """Check whether a series moves so slowly that its blocks depend on each other."""
    if not tested.found.rows.max_lag:
        return
    data = tested.data
    columns = {
        name: values
        for name, variable in data.variables.items()
        if (values := neighbours.ranked_columns(variable)) is not None
    }
    worth = {
        (x, y): len(data) * neighbours.independent_share(columns[x], columns[y])
        for x, y in tested.found.pairs
        if x in columns and y in columns
    }
    pair = min(worth, key=lambda one: worth[one], default=None)
    if pair is not None and worth[pair] < FEW_ROWS_IN_TIME:
        yield FewUnitsWarning(
            f"{pair[0]!r} and {pair[1]!r} move so slowly that {len(data)} rows are worth about "
            f"{max(round(worth[pair]), 2)} independent ones, and p-values are too small; observe a "
            "longer time, or ask about changes from one time to the next."
        )
