"""Several rows of one subject: what the names of columns, and repeated identifiers, tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from reldep.exceptions import DependentRowsWarning, Option

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Columns that name what was measured, perhaps more than once.
_SUBJECT = re.compile(
    r"(patient|subject|participant|person|individual|proband|donor|animal|mouse|rat|fish|dog|"
    r"monkey|plant|tree|family|litter|cage|sample|specimen|tumou?r|biopsy|case|pid)s?"
    r"([ _.-]?(id|no|nr|num|number|code|name|key)\.?)?",
    re.IGNORECASE,
)
# Fewer rows than this share have a subject of their own.
_MOST_DISTINCT = 0.95


def subject_column(names: Iterable[str], used: Sequence[str]) -> str | None:
    """Find a column that the question does not use and that names subjects."""
    return next((name for name in names if name not in used and _SUBJECT.fullmatch(name)), None)


def repeated_subjects(name: str, values: Sequence[Any]) -> tuple[DependentRowsWarning, ...]:
    """Caution if subjects come several times.

    Examples
    --------
    >>> bool(repeated_subjects("mouse", ["m1", "m1", "m2", "m2", "m3"]))
    True
    """
    present = [value for value in values if value is not None]
    n_different = len(set(map(str, present)))
    if len(present) < 2 or not 1 < n_different < _MOST_DISTINCT * len(present):
        return ()
    return (
        DependentRowsWarning(
            f"{name!r} has {n_different:,} different values in {len(present):,} rows. If rows with "
            "the same one come from one subject they are not independent, and the p-value is too "
            "small.",
            [
                "Pass ",
                Option("clusters", name),
                " where the question takes it, or keep one row of each.",
            ],
        ),
    )
