"""Numbers, lists, names and tables in plain words: one way to write each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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
