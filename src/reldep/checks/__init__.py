"""Checks: what a reader should know before believing an answer.

A check is a generator from a subject to cautions; a new one is a function and its name below. An
answer about the data of a question is checked by `DATA_CHECKS`, what is tested by `TEST_CHECKS`,
groups of rows by `GROUP_CHECKS`. A scan maps the checks of single variables over its columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.checks import answers, copies, groups, rows, tables, variables
from reldep.checks.subjects import Data, Tested
from reldep.checks.tables import Beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from reldep.exceptions import ReldepWarning

__all__ = ["Beside", "Data", "Tested", "cautions_about"]

#: Checks of single variables.
VARIABLE_CHECKS: tuple[Callable[[Data], Iterator[ReldepWarning]], ...] = (
    variables.missing_codes,
    variables.kinds,
    variables.scales,
    variables.bandwidths,
)

#: Checks of the data of a question.
DATA_CHECKS: tuple[Callable[[Data], Iterator[ReldepWarning]], ...] = (
    rows.alignment,
    rows.repeated_rows,
    copies.copied,
    *VARIABLE_CHECKS,
    rows.few_units,
    answers.covariates,
    variables.prepared_alike,
)

#: Checks of what is tested.
TEST_CHECKS: tuple[Callable[[Tested], Iterator[ReldepWarning]], ...] = (
    rows.dependent_rows,
    rows.slow_series,
    answers.near_copies,
    answers.no_error,
    answers.unlike_targets,
    answers.influential,
    answers.measures,
)

#: Checks of the columns of a table that a question does not use.
TABLE_CHECKS: tuple[Callable[[Beside], Iterator[ReldepWarning]], ...] = (
    tables.censored,
    tables.subjects,
)

#: Checks of rows in groups.
GROUP_CHECKS: tuple[Callable[[Mapping[str, Data]], Iterator[ReldepWarning]], ...] = (
    groups.few_rows,
    groups.spreads,
)


_CHECKS: dict[type, tuple[Callable[[Any], Iterator[ReldepWarning]], ...]] = {
    Data: DATA_CHECKS,
    Tested: TEST_CHECKS,
    Beside: TABLE_CHECKS,
}


def cautions_about(subject: Data | Tested | Beside) -> tuple[ReldepWarning, ...]:
    """Return the cautions of all checks of a subject."""
    return tuple(caution for check in _CHECKS[type(subject)] for caution in check(subject))


def cautions_about_values(data: Data) -> tuple[ReldepWarning, ...]:
    """Return the cautions that concern a plain number, which is as good as the data."""
    checks = (rows.alignment, *VARIABLE_CHECKS)
    return tuple(caution for check in checks for caution in check(data))


def cautions_about_groups(parts: Mapping[str, Tested]) -> tuple[ReldepWarning, ...]:
    """Return the cautions about groups of rows, and about what is tested in each."""
    data = {name: part.data for name, part in parts.items()}
    between = (caution for check in GROUP_CHECKS for caution in check(data))
    within = (caution for part in parts.values() for caution in cautions_about(part))
    return (*between, *one_per_kind(within))


def one_per_kind(cautions: Iterable[ReldepWarning]) -> tuple[ReldepWarning, ...]:
    """Return the first caution of every kind."""
    first: dict[type[ReldepWarning], ReldepWarning] = {}
    for caution in cautions:
        first.setdefault(type(caution), caution)
    return tuple(first.values())
