"""The table of a result in LaTeX, for the package booktabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reldep.report.cells import cell, heading, is_numeric

if TYPE_CHECKING:
    from reldep.results.base import Answer

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "%": r"\%",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)


def escaped(text: str) -> str:
    """Write text so that LaTeX prints it as it is, on one line, without control characters."""
    printable = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return printable.translate(_SPECIAL)


def latex_table(result: Answer) -> str:
    """Write the result's table, which needs the LaTeX package booktabs."""
    columns = result.table()
    alignment = "".join("r" if is_numeric(values) else "l" for values in columns.values())
    rows = [
        " & ".join(_latex_cell(name, value) for name, value in zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    lines = [
        r"% needs \usepackage{booktabs}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(escaped(heading(name)) for name in columns) + r" \\",
        r"\midrule",
        *[row + r" \\" for row in rows],
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(column: str, value: object) -> str:
    """Write a cell; numbers are set as mathematics, with a proper minus and power of ten."""
    text = cell(column, value)
    if not isinstance(value, float):
        return escaped(text)
    mantissa, e, exponent = text.partition("e")
    power = rf" \cdot 10^{{{int(exponent)}}}" if e else ""
    return f"${mantissa}{power}$"
