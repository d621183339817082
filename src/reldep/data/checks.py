"""Checks of options, and the words that messages are made of.

Counts, levels and names are checked here and nowhere else, so that every argument is refused in
the same words.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, TypeGuard

import numpy as np

from reldep.exceptions import InputError, InputTypeError, Message

ALTERNATIVES = ("two-sided", "greater", "less")
# Names, and characters of a cell and of a library's reason, that a message shows: it stays within
# three lines of a terminal.
_SHOWN, _LONGEST_CELL, _LONGEST_REASON = 6, 40, 200


def check_choice(argument: str, value: object, choices: Iterable[str]) -> None:
    """Raise an error for a word that is not among the choices, with the nearest one."""
    known = list(choices)
    way_out = f"pass one of {quoted(known)}."
    if not isinstance(value, str):
        raise InputTypeError(f"`{argument}` is of type {type(value).__name__}; {way_out}")
    if value not in known:
        raise InputError(f"`{argument}={value!r}` is not known{nearest(value, known)}; {way_out}")


def check_level(argument: str, value: object) -> float:
    """Return a number strictly between 0 and 1; raise InputError for anything else."""
    if not _is_real(value) or not 0 < value < 1:
        raise InputError(f"`{argument}={value!r}`; pass a number strictly between 0 and 1.")
    return float(value)


def check_count(argument: str, value: object, *, at_least: int, at_most: int | None = None) -> None:
    """Raise an error for anything but a whole number from `at_least` to `at_most`."""
    way_out = f"pass a whole number, at least {at_least}."
    if at_most is not None:
        way_out = f"pass a whole number from {at_least} to {at_most}."
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputTypeError(f"`{argument}={value!r}`; {way_out}")
    if not at_least <= value <= (sys.maxsize if at_most is None else at_most):
        raise InputError(f"`{argument}={value!r}`; {way_out}")


def check_positive(argument: str, value: object) -> None:
    """Raise an error for anything but a positive, finite number."""
    if not _is_real(value):
        raise InputTypeError(f"`{argument}={value!r}`; pass a positive number.")
    if not is_positive(value):
        raise InputError(f"`{argument}={value!r}`; pass a positive number.")


def is_positive(value: Any) -> bool:
    """Return True for a positive number that is finite in double precision."""
    # In single precision the limit itself would overflow.
    exact = float(value) if isinstance(value, np.floating) else value
    return bool(0 < exact <= sys.float_info.max)


def _is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_names_known(
    argument: str, used: Iterable[str], known: Iterable[str], noun: str = "variable"
) -> None:
    """Raise InputError for a name that no variable (or column) has."""
    names = list(known)
    for name in used:
        if name not in names:
            raise InputError(
                f"{argument} names {name!r}, which is not a {noun}{nearest(name, names)}; the "
                f"{noun}s are {listing(names)}."
            )


def nearest(word: object, known: Iterable[str]) -> str:
    """Propose the nearest known word, as a clause to put into a message.

    Examples
    --------
    >>> nearest("gausian", ["gaussian", "linear"])
    " (did you mean 'gaussian'?)"
    """
    close = nearest_names(str(word), known, limit=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def nearest_names(name: str, known: Iterable[str], *, limit: int = 3) -> list[str]:
    """Return the known names most like `name`, the closest first.

    Upper and lower case count as the same letter: ``age`` typed for ``Age``
    is the commonest slip of all. If no name is like it, those that contain it
    are near, such as ``lipids_C14`` for ``C14``.

    Examples
    --------
    >>> nearest_names("Wieght", ["weight", "height", "age"])
    ['weight', 'height']
    >>> nearest_names("C14", ["id", "lipids_C14", "other_c14"]), nearest_names("", ["age"])
    (['lipids_C14', 'other_c14'], [])
    """
    spellings: dict[str, list[str]] = {}
    for candidate in known:
        spellings.setdefault(str(candidate).lower(), []).append(candidate)
    typed = name.lower()
    close = get_close_matches(typed, spellings, n=limit)
    if not close and typed:
        close = [spelling for spelling in spellings if typed in spelling]
    return [spelling for match in close for spelling in spellings[match]][:limit]


def hint(name: str, known: Iterable[str], *, kind: str) -> str:
    """Return the nearest known names as words, or all of them if none is near.

    Examples
    --------
    >>> hint("agee", ["age", "sex"], kind="columns")
    "nearest: 'age'"
    >>> hint("zzz", ["age", "sex"], kind="columns")
    "columns: 'age', 'sex'"
    """
    known = list(known)
    close = nearest_names(name, known)
    return f"nearest: {listing(close)}" if close else f"{kind}: {listing(known)}"


def quoted(words: Iterable[object]) -> str:
    """Return all words in quotes, separated by commas."""
    return ", ".join(repr(word) for word in words)


def listing(names: Iterable[object]) -> str:
    """Return names for a message, quoted, and cut if there are many.

    Examples
    --------
    >>> listing(["a", "b"]), listing("abcdefg")
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e', 'f', … (7 in all)")
    """
    shown = list(names)
    if len(shown) <= _SHOWN:
        return quoted(shown)
    return f"{quoted(shown[:_SHOWN])}, … ({len(shown)} in all)"


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that come more than once.

    Examples
    --------
    >>> repeated(["a", "b", "a"])
    ['a']
    """
    return [name for name, times in Counter(names).items() if times > 1]


def check_unique(names: Iterable[str], what: str, more: str = "") -> None:
    """Raise InputError if two columns have one name, with a further way out."""
    twice = repeated(names)
    if twice:
        raise InputError(
            f"{what} has more than one column named {listing(twice)}. Give every column a name of "
            f"its own{more}."
        )


def printable(text: object) -> str:
    r"""Return a text from a file so that a terminal shows it and does not obey it.

    Control characters, and those that change the direction of writing, are escaped.

    Examples
    --------
    >>> printable("a\x1b[31m\tb")
    'a\\x1b[31m\\tb'
    """
    if str(text).isprintable():
        return str(text)
    return "".join(
        character
        if unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in str(text)
    )


def composed(value: Any) -> Any:
    r"""Return a string in Unicode's composed form (NFC), and anything else as it is.

    Two strings that look alike can differ in how an accent is stored; they are compared in this
    form everywhere.

    Examples
    --------
    >>> composed("e\u0301") == "\u00e9", composed(3)
    (True, 3)
    """
    plain = not isinstance(value, str) or value.isascii()
    return value if plain else unicodedata.normalize("NFC", value)


def cell(value: object) -> str:
    """Return a cell of a file for a message: quoted, without controls, and not too long.

    Examples
    --------
    >>> cell("oops"), len(cell("x" * 1000))
    ("'oops'", 43)
    """
    text = str(value)
    cut = text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
    return repr(cut)


def reason(error: BaseException) -> str:
    """Return the first line of what a library says, cut if it is long."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    first = printable(lines[0].strip())
    return first if len(first) <= _LONGEST_REASON else f"{first[:_LONGEST_REASON]}…"


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise InputError for whatever foreign code raises: `what` is wrong, and its first line.

    Examples
    --------
    >>> with translated("x cannot be read"):
    ...     [][0]
    Traceback (most recent call last):
    reldep.exceptions.InputError: x cannot be read: list index out of range
    """
    try:
        yield
    except (Message, ImportError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic in the core of polars is not an Exception
        raise InputError(f"{what}: {reason(error)}") from error
