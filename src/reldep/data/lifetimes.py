"""Lifetimes that may be censored: times and events, read without guessing.

Whether a time ended with the event is written in many ways, and read the wrong way round it gives
a confident wrong answer. So only what has one meaning is understood; everything else is refused,
with a way to say which value marks the event.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reldep.data.frames import native_name, one_per_row, own_index
from reldep.data.variables import BoolArray, FloatArray, IntArray, Rows
from reldep.data.written_numbers import are_moments, float_of, is_missing, is_number, read_moments
from reldep.exceptions import InputError, InputTypeError
from reldep.words import cell, composed, counted, listing

# What marks an event, and what a censored time, whatever the column is called.
_EVENT = {"event", "dead", "died", "deceased", "death", "failed", "failure"}
_EVENT |= {"relapse", "relapsed", "progressed", "progression", "recurred", "recurrence"}
_CENSORED = {"censored", "alive", "living", "no event", "not dead", "event-free", "event free"}
_CENSORED |= {"disease free", "diseasefree", "disease-free", "lost to follow-up", "withdrawn"}
# What answers the question that the column's name asks.
_YES = {"1", "1.0", "true", "t", "yes", "y"}
_NO = {"0", "0.0", "false", "f", "no", "n"}
# Columns of such names ask whether the event did *not* happen.
_ASKS_THE_OPPOSITE = re.compile(r"cens|alive|living|surviv(ed|or)", re.IGNORECASE)
# Names by which times under observation and their events are often stored.
_TIMES = {"time", "days", "weeks", "months", "years", "survival", "followup", "futime", "duration"}
_TIMES |= {"lifetime", "os", "pfs", "dfs", "rfs", "tte"}
_EVENTS = {"event", "died", "dead", "death", "deceased", "censored", "censor", "cens", "fustat"}
_EVENTS |= {"vital", "events", "deaths", "censors"}


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The time under observation, and whether it ended with the event."""

    time: float
    event: bool


class Survival(Sequence[Lifetime | None]):
    """Right-censored lifetimes, to be passed in place of an array.

    Parameters
    ----------
    time : array_like of float
        The time under observation, at least 0; spans of time are counted in days.
    event : array_like
        Whether the time ended with the event (death, failure, relapse); otherwise it is censored:
        the event had not happened by then. Booleans, 1/0, yes/no, and words such as dead/alive
        are understood. Anything else is refused unless `event_value` says how to read it.
    event_value : object, optional
        The value of `event` that marks an event; all others then are censored.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> risk, other = rng.normal(size=(2, 200))
    >>> lifetime, left = rng.exponential(np.exp(-risk)), rng.exponential(np.exp(-2 * other))
    >>> patients = reldep.Survival(np.minimum(lifetime, left), lifetime <= left)
    >>> patients
    Survival(200 observations, 105 events)
    >>> bool(reldep.compare(patients, risk, other).pvalue < 0.001)
    True

    Taken as a lifetime, the time seems to depend on what only made people leave:

    >>> time = np.minimum(lifetime, left)
    >>> bool(reldep.compare(time, other, risk).pvalue < 0.05)
    True

    R's package survival writes 1 for a censored time and 2 for an event:

    >>> reldep.Survival([306, 455, 1010], [2, 2, 1], event_value=2)
    Survival(3 observations, 2 events)
    """

    def __init__(self, time: Any, event: Any, *, event_value: Any = None) -> None:
        self._read(time, event, event_value)

    @classmethod
    def of_columns(cls, time: Any, event: Any, value: str | None, rows: Rows) -> Survival:
        """Return the lifetimes in two columns of a table; errors name `survival` and the rows."""
        made = cls.__new__(cls)
        made._read(time, event, value, rows)
        return made

    def _read(self, time: Any, event: Any, value: Any, rows: Rows | None = None) -> None:
        names = native_name(time) or "time", native_name(event) or "event"
        self.row_index = _common_index(time, event)
        times, events = one_per_row(time, "time"), one_per_row(event, "event")
        if len(times) != len(events):
            raise InputError(
                f"time has {counted(len(times), 'entry', 'entries')} and event {len(events)}; "
                "pass one of each per row."
            )

        def way_out(one: Any) -> str:
            said = f"event_value={one!r}" if rows is None else f"survival='{','.join(names)}={one}'"
            return f"Say which value marks the event, as in `{said}`."

        places = rows or Rows.of(len(times))
        lengths = _read_times(times, names[0], places)
        marks = _read_events(events, names[1], value, way_out, places)
        known = np.isfinite(lengths) & ~np.isnan(marks)
        _check_censored(marks, known, names)
        each = zip(lengths.tolist(), marks.tolist(), known.tolist(), strict=True)
        self._items = [Lifetime(length, mark == 1) if own else None for length, mark, own in each]

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        return self._items[index]

    def __repr__(self) -> str:
        n_events = sum(one.event for one in self._items if one is not None)
        return f"Survival({len(self)} observations, {n_events} events)"

    def take(self, rows: IntArray) -> list[Lifetime | None]:
        """Return some observations, in the order given."""
        return [self._items[row] for row in rows]


def _check_censored(marks: FloatArray, known: BoolArray, names: tuple[str, str]) -> None:
    """Raise InputError if those who were censored are missing."""
    gaps, is_censored = np.isnan(marks), marks == 0
    # A tenth of the events is hardly missing by accident.
    if not is_censored.any() and gaps.mean() >= 0.1 and (marks == 1).any():
        raise InputError(
            f"{names[1]} marks {int((marks == 1).sum())} events and no censored time, and is "
            f"missing in {int(gaps.sum())} rows. If a missing value means censored, write 0 there."
        )
    if is_censored.any() and not (known & is_censored).any():
        raise InputError(
            f"{names[0]} is missing in all {int(is_censored.sum())} rows that are censored. Fill "
            "in how long these were observed; those with the event alone do not show the hazard."
        )


def event_beside(name: str, columns: Iterable[str]) -> str | None:
    """Return the column that by its name tells how a time, by its name, ended.

    Examples
    --------
    >>> event_beside("OS_days", ["age", "OS_event"]), event_beside("age", ["died"])
    ('OS_event', None)
    """
    if not _TIMES & _parts(name) or _EVENTS & _parts(name):
        return None
    both = {name.casefold(), "status"} == {"time", "status"}
    for other in columns:
        if _EVENTS & _parts(other) or (both and other.casefold() == "status"):
            return other
    return None


def _parts(name: str) -> set[str]:
    return set(re.split(r"[^a-z]+", name.casefold()))


def _read_times(values: list[Any], name: str, places: Rows) -> FloatArray:
    """Read how long each was observed."""
    present = [value for value in values if not is_missing(value)]
    if present and are_moments(present):
        if not isinstance(present[0], (datetime.timedelta, np.timedelta64)):
            raise InputError(
                f"{name} contains dates, and a lifetime is a length of time; subtract the first "
                "date."
            )
        values = read_moments(values, name).values[:, 0].tolist()
    for row, value in enumerate(values):
        if not (is_number(value) or is_missing(value)):
            raise InputTypeError(
                f"{name} is {cell(value)} in {places.name(row)}; pass the time as a number."
            )
    lengths = np.array([float_of(value, name) for value in values], dtype=np.float64)
    if (lengths < 0).any():
        row = int(np.argmax(lengths < 0))
        raise InputError(
            f"{name} is {lengths[row]:g} in {places.name(row)}; pass times since the start."
        )
    return lengths


def _read_events(
    values: list[Any],
    name: str,
    event_value: Any,
    way_out: Callable[[Any], str],
    places: Rows,
) -> FloatArray:
    """Return 1 for an event, 0 for a censored time and NaN where it is not known."""
    words = [None if is_missing(value) else _word(value) for value in values]
    # One value of every word, as it is written.
    known = {word: value for word, value in zip(words, values, strict=True) if word is not None}
    meaning = {word: _meaning(word) for word in known}
    answers = [word for word in known if word in _YES | _NO]
    if event_value is not None:
        wanted = _word(event_value)
        if wanted not in known:
            raise InputError(
                f"{name} is nowhere {cell(event_value)}; its values are {listing(known)}."
            )
        meaning = {word: word == wanted for word in known}
    elif answers and _ASKS_THE_OPPOSITE.search(name):
        shown = min(answers, key=lambda word: word not in _NO)
        raise InputError(
            f"{name} contains {listing(known.values())}, and by its name it may say who was "
            f"censored, not who had the event. {way_out(known[shown])}"
        )
    elif None in meaning.values():
        row = next(i for i, word in enumerate(words) if word is not None and meaning[word] is None)
        raise InputError(
            f"{name} is {cell(values[row])} in {places.name(row)}, which can be an event or a "
            f"censored time (its values are {listing(known.values())}). {way_out(values[row])}"
        )
    return np.array([None if word is None else meaning[word] for word in words], dtype=np.float64)


def _meaning(word: str) -> bool | None:
    """Return True for an event, False for a censored time, None for any other word."""
    if word in _EVENT | _YES:
        return True
    if word in _CENSORED | _NO:
        return False
    # A code with its meaning, as in "1:DECEASED".
    code, mark, own = word.partition(":")
    both = {_meaning(code.strip()), _meaning(own.strip())} if mark else {None}
    return both.pop() if len(both) == 1 else None


def _word(value: Any) -> str:
    """Return a value of an event column as a word, so that the same ones compare as equal."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if is_number(value):
        return f"{float_of(value, 'event'):g}"
    return str(composed(str(value))).strip().casefold()


def _common_index(time: Any, event: Any) -> Any | None:
    """Return the index of pandas series, by which rows are matched with other frames."""
    first, second = own_index(time), own_index(event)
    if first is not None and second is not None and not first.equals(second):
        raise InputError("time and event have different indexes; take both from one frame.")
    return first if first is not None else second
