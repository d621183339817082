"""Checks: what a reader should know before believing an answer.

A check is a generator from a subject to cautions. A new one is a function and its name in the
tuple of its subject below. A scan maps the checks of single variables over its columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reldep.checks import answers, rows, variables
from reldep.checks.subjects import Beside, Cautions, Data, Scanned, Tested
from reldep.exceptions import ReldepWarning

__all__ = ["Beside", "Data", "Scanned", "Tested", "cautions_about"]

_VALUE_CHECKS: tuple[Callable[[Data], Cautions], ...] = (
    rows.alignment,
    variables.missing_codes,
    variables.kinds,
    variables.scales,
    variables.bandwidths,
)

_GROUP_CHECKS: tuple[Callable[[Mapping[str, Data]], Cautions], ...] = (
    rows.few_rows_of_groups,
    variables.spreads_of_groups,
)

#: The checks of each subject: the data of a question, what is tested about them, one by one or in a
#: scan, and the columns of a table that the question does not use.
CHECKS: dict[type, tuple[Callable[[Any], Cautions], ...]] = {
    Data: (
        *_VALUE_CHECKS,
        rows.repeated_rows,
        answers.copied,
        rows.few_units,
        answers.covariates,
        variables.prepared_alike,
    ),
    Tested: (
        rows.dependent_rows,
        rows.slow_series,
        rows.seasons,
        answers.near_copies,
        answers.no_error,
        answers.unlike_targets,
        answers.influential,
        answers.measures,
    ),
    Scanned: (rows.dependent_rows, answers.influential),
    Beside: (variables.censored, rows.subjects),
}


def cautions_about(
    subject: Any, checks: Sequence[Callable[[Any], Cautions]] | None = None
) -> tuple[ReldepWarning, ...]:
    """Return the cautions of some checks of a subject, by default of all that it has."""
    if checks is None:
        checks = next(own for kind, own in CHECKS.items() if isinstance(subject, kind))
    found: list[ReldepWarning] = []
    for check in checks:
        found.extend(check(subject))
    return tuple(found)


def cautions_about_values(data: Data) -> tuple[ReldepWarning, ...]:
    """Return the cautions that concern a plain number, which is as good as the data."""
    return cautions_about(data, _VALUE_CHECKS)


def cautions_about_groups(parts: Mapping[str, Tested]) -> tuple[ReldepWarning, ...]:
    """Return the cautions about groups of rows, and the first of each kind about one group."""
    subjects = {name: part.data for name, part in parts.items()}
    between = cautions_about(subjects, _GROUP_CHECKS)
    first: dict[type[ReldepWarning], ReldepWarning] = {}
    for part in parts.values():
        for caution in cautions_about(part):
            first.setdefault(type(caution), caution)
    return (*between, *first.values())
