"""Messages as they are written in a shell, and names that are safe on a terminal."""

from __future__ import annotations

import re
import shlex
from functools import cache

from reldep.words import spelled

_NEW_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_KERNEL = re.compile(r"([A-Z]\w*)(\(.*\))?")


def in_shell(message: str) -> str:
    """Return a message with the arguments in backticks as options.

    Examples
    --------
    >>> in_shell("use `missing='drop'`, `rng=3`, `max_lag` or `kernel=EditDistance()`")
    'use --missing drop, --seed 3, --max-lag or --kernel edit-distance'
    """
    return spelled(message, _option)


def _option(name: str, value: str | None) -> str:
    flag = _flags().get(name, "--" + name.replace("_", "-"))
    if value is None:
        return flag
    kernel = _KERNEL.fullmatch(value) if name == "kernel" else None
    if kernel is not None:
        return f"{flag} {_NEW_WORD.sub('-', kernel[1]).lower()}"
    return f"{flag} {shlex.quote(value) if ' ' in value else value}"


@cache
def _flags() -> dict[str, str]:
    """Return the flags of all arguments."""
    from reldep.files.reading import READING
    from reldep.questions import SENTENCES
    from reldep.questions.request import offered

    own = {name: one for question in SENTENCES for name, one in offered(question).items()}
    return {name: one.flags[0] for name, one in {**own, **READING}.items()}


def visible(text: str) -> str:
    r"""Return a text with control characters as escapes: names must not command a terminal.

    Examples
    --------
    >>> visible("red \x1b[31m name\n")
    'red \\x1b[31m name\n'
    """
    hidden = [sign for sign in set(text) if not sign.isprintable() and sign != "\n"]
    return text.translate({ord(one): one.encode("unicode_escape").decode() for one in hidden})
