"""Messages in the words of the page: arguments by the names of the fields of its forms."""

from __future__ import annotations

from reldep.words import spelled

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


def in_page(message: str) -> str:
    """Return a message with the arguments in backticks as fields of a form.

    Examples
    --------
    >>> in_page("use `missing='drop'` or `max_lag`")
    'use “Missing: drop” or “Time order: longest lag”'
    """
    return spelled(message, _field)


def _field(name: str, value: str | None) -> str:
    label = field_name(name)
    return f"“{label}”" if value is None else f"“{label}: {value}”"


def message(error: BaseException) -> str:
    """Give the words of an error as sentences; one that nobody expected asks to be reported."""
    words = _words(error)
    return words if words.endswith((".", "?", "!")) else f"{words}."


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    words = " ".join(in_page(str(error)).split()) or type(error).__name__
    if isinstance(error, (ValueError, TypeError, ImportError, OSError)):
        return words
    return f"Something unexpected happened ({type(error).__name__}: {words}). Please report this."
