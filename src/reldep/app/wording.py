"""Messages in the words of the page: arguments by the names of the fields of its forms."""

from __future__ import annotations

from functools import cache

from reldep.files.reading import READING
from reldep.questions import SENTENCES
from reldep.questions.request import offered
from reldep.words import spelled


@cache
def _labels() -> dict[str, str]:
    """Return the labels of all arguments."""
    own = {name: one for question in SENTENCES for name, one in offered(question).items()}
    labels = {name: one.label for name, one in {**READING, **own}.items()}
    return {**labels, "alpha": "Level"}


def in_page(message: str) -> str:
    """Return a message with the arguments in backticks as fields of a form, which are chosen.

    Examples
    --------
    >>> in_page("pass `missing='drop'` or `max_lag`")
    'choose “Missing: drop” or “Longest lag”'
    """
    for word, chosen in (("pass", "choose"), ("Pass", "Choose")):
        message = message.replace(f"{word} `", f"{chosen} `")
        message = message.replace(f"{word} one of", f"{chosen} one of")
    return spelled(message, _field)


def label(name: str, value: str | None = None) -> str:
    """Return an option as the page names it, with the value that is chosen there."""
    known = _labels().get(name, name.replace("_", " ").capitalize())
    return known if value is None else f"{known}: {value}"


def remedies(message: str) -> list[tuple[str, str]]:
    """Return the options in backticks that have a value, which may be what to choose.

    Examples
    --------
    >>> remedies("fill them in, or pass `missing='drop'` or `max_lag`")
    [('missing', 'drop')]
    """
    found: dict[tuple[str, str], None] = {}

    def keep(name: str, value: str | None) -> str:
        if value is not None and name in _labels() and "..." not in value:
            found[name, value] = None
        return ""

    spelled(message, keep)
    return list(found)


def _field(name: str, value: str | None) -> str:
    return f"“{label(name, value)}”"


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
