"""Lifetimes that may be censored: times and events, read without guessing.

Whether a time ended with the event is written in many ways, and read the wrong way round it gives
a confident wrong answer. So only what has one meaning is understood; everything else is refused,
with a way to say which value marks the event.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from reldep.data.checks import cell, listing
from reldep.data.rows import Rows
from reldep.data.written_numbers import are_moments, float_of, is_missing, is_number, read_moments
from reldep.exceptions import InputError, InputTypeError
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reldep.data.variables import BoolArray, FloatArray, IntArray

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
# From this share on, events that are missing are hardly an accident.
_MANY_MISSING = 0.1


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
        self._read(time, event, event_value, lambda _, value: f"`event_value={value!r}`.")

    @classmethod
    def of_columns(cls, time: Any, event: Any, value: str | None, rows: Rows) -> Survival:
        """Return the lifetimes in two columns of a table; errors name `survival` and the rows."""
        made = cls.__new__(cls)
        made._read(
            time, event, value, lambda names, one: f"`survival='{','.join(names)}={one}'`.", rows
        )
        return made

    def _read(
        self,
        time: Any,
        event: Any,
        event_value: Any,
        way_out: Callable[[tuple[str, str], Any], str],
        rows: Rows | None = None,
    ) -> None:
        """Read times and events; `way_out` tells how to say that a value marks the event."""
        names = (
            str(getattr(time, "name", None) or "time"),
            str(getattr(event, "name", None) or "event"),
        )
        self.row_index: Any = _common_index(time, event)
        times, events = _listed(time, "time"), _listed(event, "event")
        if len(times) != len(events):
            raise InputError(
                f"time has {counted(len(times), 'entry', 'entries')} and event {len(events)}; "
                "pass one of each per row."
            )
        places = rows or Rows.of(len(times))
        self._times = _read_times(times, names[0], places)
        marks = _read_events(events, names[1], event_value, lambda v: way_out(names, v), places)
        self._events, self._known = marks == 1, np.isfinite(self._times) & ~np.isnan(marks)
        _check_censored(marks, self._known, names)

    def __len__(self) -> int:
        return len(self._times)

    @overload
    def __getitem__(self, index: int) -> Lifetime | None: ...

    @overload
    def __getitem__(self, index: slice) -> list[Lifetime | None]: ...

    def __getitem__(self, index: int | slice) -> Lifetime | list[Lifetime | None] | None:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        if not self._known[index]:
            return None
        return Lifetime(float(self._times[index]), bool(self._events[index]))

    def __repr__(self) -> str:
        n_events = int((self._events & self._known).sum())
        return f"Survival({len(self)} observations, {n_events} events)"

    def take(self, rows: IntArray) -> list[Lifetime | None]:
        """Return some observations, in the order given."""
        return [self[int(row)] for row in rows]


def _check_censored(marks: FloatArray, known: BoolArray, names: tuple[str, str]) -> None:
    """Raise InputError if those who were censored are missing."""
    gaps, is_censored = np.isnan(marks), marks == 0
    if not is_censored.any() and gaps.mean() >= _MANY_MISSING and (marks == 1).any():
        raise InputError(
            f"{names[1]} marks {int((marks == 1).sum())} events and no censored time, and is "
            f"missing in {int(gaps.sum())} rows. If a missing value stands for a censored time, "
            "write 0 there; without these rows nobody would be censored."
        )
    if is_censored.any() and not (known & is_censored).any():
        raise InputError(
            f"{names[0]} is missing in all {int(is_censored.sum())} rows that are censored. Fill "
            "in how long these were observed; without them the lifetimes of those with the event "
            "alone say nothing about the hazard."
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
        spans = read_moments(values, name)
        if "spans" not in str(spans.notes[0]):
            raise InputError(
                f"{name} holds dates, and a lifetime is a length of time; subtract the date at "
                "which each was first observed."
            )
        values = spans.values[:, 0].tolist()
    lengths = np.array([_number(value, name, i, places) for i, value in enumerate(values)])
    if (lengths < 0).any():
        row = int(np.argmax(lengths < 0))
        raise InputError(
            f"{name} is {lengths[row]:g} in {places.name(row)}; pass times since the start, at "
            "least 0."
        )
    return np.asarray(lengths, dtype=np.float64)


def _number(value: Any, name: str, row: int, places: Rows) -> float:
    if isinstance(value, (bool, np.bool_)) or not (is_number(value) or is_missing(value)):
        raise InputTypeError(
            f"{name} is {cell(value)} in {places.name(row)}, which is not a number; pass the time "
            "under observation as a number."
        )
    return float_of(value, name)


def _read_events(
    values: list[Any],
    name: str,
    event_value: Any,
    way_out: Callable[[Any], str],
    places: Rows,
) -> FloatArray:
    """Return 1 for an event, 0 for a censored time and NaN where it is not known."""
    words = [None if is_missing(value) else word_of(value) for value in values]
    distinct = list(dict.fromkeys(word for word in words if word is not None))
    if event_value is not None:
        wanted = word_of(event_value)
        if wanted not in distinct:
            raise InputError(
                f"{name} is nowhere {cell(event_value)}; its values are {listing(distinct)}."
            )
        meaning = {word: float(word == wanted) for word in distinct}
    else:
        meaning = _meanings(values, words, distinct, name, way_out, places)
    return np.array([np.nan if word is None else meaning[word] for word in words])


def _meanings(
    values: list[Any],
    words: list[str | None],
    distinct: list[str],
    name: str,
    way_out: Callable[[Any], str],
    places: Rows,
) -> dict[str, float]:
    """Return whether each word marks an event; raise InputError if it can be read in two ways."""

    def shown(among: list[str]) -> Any:
        return values[words.index(min(among, key=lambda word: word not in _NO))]

    found = [values[words.index(word)] for word in distinct]
    answers = [word for word in distinct if word in _YES | _NO]
    if answers and _ASKS_THE_OPPOSITE.search(name):
        raise InputError(
            f"{name} holds {listing(found)}, and by its name it may say who was censored, not "
            f"who had the event. Say which value marks the event, as in {way_out(shown(answers))}"
        )
    if set(distinct) == {"1", "2"}:
        raise InputError(
            f"{name} holds 1 and 2, which can be read in two ways. Say which value marks the "
            f"event; if it is 2, as in R, with {way_out(2)}"
        )
    meaning = {word: _meaning(word) for word in distinct}
    unknown = [word for word in distinct if meaning[word] is None]
    if unknown:
        row = words.index(unknown[0])
        raise InputError(
            f"{name} is {cell(values[row])} in {places.name(row)}, which can be an event or a "
            f"censored time (its values are {listing(found)}). Say which value marks the event, "
            f"as in {way_out(values[row])}"
        )
    return {word: float(bool(own)) for word, own in meaning.items()}


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


def word_of(value: Any) -> str:
    """Return a value of an event column as a word, so that the same ones compare as equal.

    Examples
    --------
    >>> word_of(True), word_of(2.0), word_of(" Dead ")
    ('true', '2', 'dead')
    """
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if is_number(value):
        return f"{float_of(value, 'event'):g}"
    return unicodedata.normalize("NFC", str(value)).strip().casefold()


def _listed(values: Any, argument: str) -> list[Any]:
    for method in ("to_list", "to_pylist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InputTypeError(
            f"{argument} is of type {type(values).__name__}; pass one value for each row."
        )
    array = np.asarray(values) if not isinstance(values, (list, tuple)) else None
    if array is not None and array.ndim > 1:
        raise InputError(f"{argument} has the shape {array.shape}; pass one value for each row.")
    return list(values)


def _common_index(time: Any, event: Any) -> Any | None:
    """Return the index of pandas series, by which rows are matched with other frames."""
    from reldep.data.frames import own_index

    first, second = own_index(time), own_index(event)
    if first is not None and second is not None and not first.equals(second):
        raise InputError(
            "time and event have different indexes, so that their rows may not belong together; "
            "take both from one frame."
        )
    return first if first is not None else second
