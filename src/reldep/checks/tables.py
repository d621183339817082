"""Checks on a table: what columns that a question does not use tell about its rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reldep.data.lifetimes import event_beside
from reldep.data.selectors import ColumnType
from reldep.exceptions import CensoredWarning, InputError, RepeatedRowsWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

# Columns that name what was measured, perhaps more than once.
_SUBJECT = re.compile(
    r"(patient|subject|participant|person|individual|proband|donor|animal|mouse|rat|fish|dog|"
    r"monkey|plant|tree|family|litter|cage|sample|specimen|tumou?r|biopsy|case)s?"
    r"([ _.-]?(id|no|nr|num|number|code|name|key)\.?)?",
    re.IGNORECASE,
)
# Below this share of different names, subjects have several rows: a few may be typing errors.
MOST_DIFFERENT = 0.95


@dataclass(frozen=True, kw_only=True)
class Beside:
    """The columns of a table next to those that a question uses.

    Attributes
    ----------
    columns : mapping of str to ColumnType
    used : collection of str
    values : callable
        Return the values of a column.
    has_clusters : bool
    id : str or None
        The column that names the rows.
    """

    columns: Mapping[str, ColumnType]
    used: Collection[str]
    values: Callable[[str], Sequence[Any]]
    has_clusters: bool = False
    id: str | None = None


def censored(beside: Beside) -> Iterator[CensoredWarning]:
    """Check whether a time is used without the column that tells how it ended."""
    unused = [name for name in beside.columns if name not in beside.used]
    for name in beside.used:
        if beside.columns.get(name) in (ColumnType.NUMBER, ColumnType.INTEGER):
            event = event_beside(name, unused)
            if event is not None:
                yield CensoredWarning(
                    f"{name!r} may be censored by {event!r}, and a censored time is not a "
                    f"lifetime; if so, pass `survival='{name},{event}'` to reldep.read()."
                )


def subjects(beside: Beside) -> Iterator[RepeatedRowsWarning]:
    """Check for a column that names subjects with several rows each."""
    unused = [name for name in beside.columns if name not in beside.used]
    name = beside.id or next(filter(names_subjects, unused), None)
    # Rows that are called by their subjects are checked with the data.
    if name is None or beside.has_clusters or (name == beside.id and names_subjects(name)):
        return
    try:
        yield from repeated(name, beside.values(name))
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


def repeated(name: str, values: Sequence[Any]) -> Iterator[RepeatedRowsWarning]:
    """Check whether the names of rows come several times."""
    present = [value for value in values if value is not None]
    n_different = len(set(map(str, present)))
    if 1 < n_different < MOST_DIFFERENT * len(present):
        yield RepeatedRowsWarning(
            f"{name!r} has {n_different:,} different values in {len(present):,} rows; if rows with "
            f"the same one belong together, pass `clusters='{name}'`."
        )
