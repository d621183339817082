"""Options of the library as they are typed in a shell, and names that are safe on a terminal."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import TYPE_CHECKING, Any

from reldep.exceptions import Worded

if TYPE_CHECKING:
    from reldep.exceptions import Option

_NEW_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


def spell(option: Option) -> str:
    """Write an argument of the library as it is typed in a shell.

    Examples
    --------
    >>> from reldep.exceptions import Option
    >>> spell(Option("missing", "drop")), spell(Option("rng", 3)), spell(Option("max_lag"))
    ('--missing drop', '--seed 3', '--max-lag')
    """
    flag = _flags().get(option.name, "--" + option.name.replace("_", "-"))
    if option.value is None or option.value is True:
        return flag
    return f"{flag} {_typed(option.value)}"


@cache
def _flags() -> dict[str, str]:
    """Find the options whose names on the command line differ from those of the library."""
    from reldep.questions.asking import catalogue
    from reldep.questions.declaring import SHARED

    own = [choice for question in catalogue() for choice in question.choices]
    return {choice.name: choice.flag for choice in (*SHARED, *own)}


def _typed(value: Any) -> str:
    """Write a value as a word of a command; kernels by their names."""
    if isinstance(value, (str, int, float)):
        return shlex.quote(str(value)) if isinstance(value, str) and " " in value else str(value)
    from reldep.kernels.base import Kernel

    kind = value if isinstance(value, type) else type(value)
    if issubclass(kind, Kernel):
        return _NEW_WORD.sub("-", kind.__name__).lower()
    return str(value)


def message(error: BaseException) -> str:
    """Give an error's or a caution's words, with arguments spelled as options."""
    return error.worded(spell) if isinstance(error, Worded) else str(error)


def visible(text: str) -> str:
    r"""Write control characters as escapes: a file's names must not command a terminal.

    Examples
    --------
    >>> visible("red \x1b[31m name\n")
    'red \\x1b[31m name\n'
    """
    return "".join(
        sign if sign.isprintable() or sign == "\n" else sign.encode("unicode_escape").decode()
        for sign in text
    )
