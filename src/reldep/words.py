"""Numbers, lists, names and tables in plain words: one way to write each of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# An argument in a message: `kernel` or `missing='drop'`.
_ARGUMENT = re.compile(r"`(\w+)(?:=([^`]+))?`(?: to reldep\.read\(\))?")

MEASURE_NAMES = {"hsic": "HSIC", "cka": "CKA", "dcor": "squared distance correlation"}


def number(value: float, digits: int = 4) -> str:
    """Write a number with a few significant digits."""
    return f"{value:.{digits}g}"


def pvalue_text(value: float, log10: float | None = None) -> str:
    """Write a p-value as one writes it in a paper.

    Parameters
    ----------
    value : float
    log10 : float, optional
        Its decimal logarithm, for p-values too small to be a number.

    Examples
    --------
    >>> pvalue_text(0.0412), pvalue_text(3.2e-7), pvalue_text(0.0, log10=-783.9)
    ('p = 0.041', 'p = 3.2e-07', 'p = 1.3e-784')
    """
    if value == 0:
        if log10 is None:
            return "p < 1e-300"
        exponent = int(log10 // 1)
        return f"p = {10 ** (log10 - exponent):.1f}e{exponent}"
    if value < 1e-3:
        return f"p = {value:.1e}"
    return f"p = {value:.3f}" if value < 0.9995 else "p > 0.999"


def interval_text(low: float, high: float) -> str:
    """Write an interval."""
    return f"[{number(low)}, {number(high)}]"


def percent(level: float) -> str:
    """Write a level as a percentage."""
    return f"{100 * level:.6g}%"


def listed(words: Sequence[str], limit: int = 8) -> str:
    """List a few words and say how many more there are."""
    shown = ", ".join(words[:limit])
    return shown + (f" and {len(words) - limit} more" if len(words) > limit else "")


def counted(n: int, one: str, several: str) -> str:
    """Write how many there are of something.

    Examples
    --------
    >>> counted(1, "entry", "entries"), counted(1200, "row", "rows")
    ('1 entry', '1,200 rows')
    """
    return f"{n:,} {one if n == 1 else several}"


def in_one_line(name: str) -> str:
    r"""Write a column's name without line breaks, which would break the lines of an answer.

    Examples
    --------
    >>> in_one_line("age\n(years)")
    'age (years)'
    """
    return name if name.isprintable() else " ".join(name.split())


def spelled(message: str, write: Callable[[str, str | None], str]) -> str:
    """Return a message with the arguments in backticks as a front end writes them.

    There the options of ``reldep.read`` stand beside those of the question.

    Parameters
    ----------
    message : str
    write : callable
        Returns an argument as the front end writes it, from its name and its value. A value is
        a string without its quotes, and None where there is none or where it is True.

    Examples
    --------
    >>> spelled("use `missing='drop'` or `paper=True`", lambda name, value: f"--{name} {value}")
    'use --missing drop or --paper None'
    """

    def written(found: re.Match[str]) -> str:
        value = found[2]
        if value == "True":
            value = None
        elif value is not None and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        return write(found[1], value)

    return _ARGUMENT.sub(written, message)


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align a table: the first column to the left, the others to the right."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    written = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    rule = "-" * max(len(line) for line in written)
    return "\n".join([written[0], rule, *written[1:]])
