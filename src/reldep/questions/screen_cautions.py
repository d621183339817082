"""What to beware of where hundreds of dependences are looked at: all pairs, and scans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.data.dataset import SMALL_SAMPLE
from reldep.exceptions import DependentRowsWarning, InfluentialObservationWarning
from reldep.questions.cautions import influential_bar, influential_pairs, nearly_copies
from reldep.questions.data_cautions import (
    ALIKE,
    ALIKE_DEVIATIONS,
    HARM_DEVIATIONS,
    MOST_ROWS,
    alike_in_words,
    lag_correlations,
    neighbour_correlation,
    only_sorted,
    ranked_columns,
)
from reldep.stats.diagnostics import largest_shares
from reldep.words import listed, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reldep.data.rows import Rows
    from reldep.data.variables import BoolArray, FloatArray, Variable
    from reldep.exceptions import ReldepWarning
    from reldep.questions.study import Computed, Study

# By chance the influence of neighbours has a correlation of two deviations in one of forty
# sources; where it is one in ten, or more, rows are alike.
SHARED_DEVIATIONS, SHARED = 2.0, 0.1


def cautions_about_pairs(study: Study, computed: Computed) -> tuple[ReldepWarning, ...]:
    """Screen the cells of a matrix."""
    found = computed.dependences
    return (
        *nearly_copies(found, exact=True),
        *_alike_in_pairs(study.dataset.variables, computed),
        *influential_pairs(computed.provenance.rows, found),
    )


def _alike_in_pairs(
    variables: Mapping[str, Variable], computed: Computed
) -> Iterable[DependentRowsWarning]:
    """Look at neighbours in the pairs of which both variables are alike from row to row."""
    neighbours, found = computed.neighbours, computed.dependences
    if neighbours is None or not neighbours.suspicious or neighbours.correlation is None:
        return
    named = dict.fromkeys(name for pair in found.pairs for name in pair)
    ranked = {name: ranked_columns(variables[name]) for name in named}
    of = {
        name: 0.0 if values is None else neighbour_correlation(values)
        for name, values in ranked.items()
    }
    n = found.n_observations
    both = np.array([min(of[x], of[y]) for x, y in found.pairs])
    harm = lag_correlations(found.psi[both > _alike_bar(n)])
    if len(harm) and float(np.mean(harm)) > HARM_DEVIATIONS / np.sqrt(n):
        yield alike_in_words(neighbours.correlation)


def _alike_bar(n: int) -> float:
    return float(max(ALIKE, ALIKE_DEVIATIONS / np.sqrt(min(n, MOST_ROWS))))


def cautions_about_screen(
    fixed: Mapping[str, Variable],
    names: Sequence[str],
    deviations: FloatArray,
    claimed: BoolArray,
    rows: Rows,
) -> tuple[ReldepWarning, ...]:
    """Screen a scan once its tests are done.

    Parameters
    ----------
    fixed : mapping of str to Variable
        What the many are compared with.
    names : sequence of str
        Of the many that were tested.
    deviations : ndarray, shape (S, m)
        What every observation adds to each estimate.
    claimed : ndarray of bool, shape (S,)
        Which of them are claimed.
    rows : Rows
    """
    return (
        *_alike_in_screen(fixed, deviations),
        *_carried_by_one(names, deviations, claimed, rows),
    )


def _alike_in_screen(
    fixed: Mapping[str, Variable], deviations: FloatArray
) -> Iterable[DependentRowsWarning]:
    n = deviations.shape[1]
    ranked = {name: ranked_columns(variable) for name, variable in fixed.items()}
    columns = {name: values for name, values in ranked.items() if values is not None}
    if n < SMALL_SAMPLE or not columns:
        return
    largest = max(neighbour_correlation(values) for values in columns.values())
    if not largest > _alike_bar(n) or only_sorted(columns):
        return
    harm = lag_correlations(deviations)
    if len(harm) and np.mean(harm > SHARED_DEVIATIONS / np.sqrt(n)) > SHARED:
        yield DependentRowsWarning(
            f"rows next to each other are alike (correlation {largest:.2f}). If the rows are a "
            "series in time, or several belong to one subject, all p-values are too small. Keep "
            "one row of each subject; if the file is only sorted, ignore this."
        )


def _carried_by_one(
    names: Sequence[str], deviations: FloatArray, claimed: BoolArray, rows: Rows
) -> Iterable[InfluentialObservationWarning]:
    """Name the claims that a single observation may have made."""
    places = np.flatnonzero(claimed)
    share, top = largest_shares(deviations[places])
    bar = influential_bar(len(rows))
    found = [
        f"{names[place]} ({rows.name(int(row))}, {percent(round(float(one), 2))})"
        for place, one, row in zip(places.tolist(), share, top, strict=True)
        if one > bar
    ]
    if found:
        claims = "claim" if len(places) == 1 else "claims"
        yield InfluentialObservationWarning(
            f"of {len(places):,} {claims} at a false-discovery rate of 5%, {len(found):,} "
            f"{'has' if len(found) == 1 else 'have'} much of the variance from one observation: "
            f"{listed(found, 5)}. Look at it, and at the answer without it."
        )
