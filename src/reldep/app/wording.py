"""Messages in the words of the page: arguments by the names of the fields of its forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reldep.exceptions import Worded

if TYPE_CHECKING:
    from reldep.exceptions import Option

# Names of fields, where that of the argument would not say enough.
NAMES = {
    "na": "Missing codes",
    "rng": "Seed",
    "ids": "Id column",
    "clusters": "Clusters",
    "max_lag": "Time order: longest lag",
    "skip_rows": "Lines before the header",
    "alpha": "Level",
}


def field_name(argument: str) -> str:
    """Give an argument of the library the name that stands beside its field."""
    return NAMES.get(argument, argument.replace("_", " ").capitalize())


def spell(option: Option) -> str:
    """Write an argument of the library as the field of a form.

    Examples
    --------
    >>> from reldep.exceptions import Option
    >>> spell(Option("missing", "drop")), spell(Option("max_lag"))
    ('“Missing: drop”', '“Time order: longest lag”')
    """
    label = field_name(option.name)
    if option.value is None or option.value is True:
        return f"“{label}”"
    return f"“{label}: {option.value}”"


def message(error: BaseException) -> str:
    """Give the words of an error as sentences; one that nobody expected asks to be reported."""
    words = _words(error)
    return words if words.endswith((".", "?", "!")) else f"{words}."


def _words(error: BaseException) -> str:
    if isinstance(error, Worded):
        return error.worded(spell)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    words = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, (ValueError, TypeError, ImportError, OSError)):
        return words
    return f"Something unexpected happened ({type(error).__name__}: {words}). Please report this."
