"""A table in HTML, LaTeX and Markdown: readable headings, rounded numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from reldep.report.markup import SAFE, Markup, element

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reldep.description import Description, Table

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{sign: f"\\{sign}" for sign in "{}$&%#_"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)
# What Markdown reads as emphasis, code, links, HTML or the edge of a cell.
_MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|#~$&"})

# A number as tables write it, perhaps with a power of ten.
_NUMBER = re.compile(r"([-−]?[\d.,]+)(?:e([-+]?\d+))?")


def html_table(table: Table) -> Markup:
    """Return a table with its caption; the first column names the rows."""
    columns = table.columns
    look = [' class="number"' * (column.is_numeric and i > 0) for i, column in enumerate(columns)]
    head = [
        f'<th scope="col"{one}>{column.heading.translate(SAFE)}</th>'
        for column, one in zip(columns, look, strict=True)
    ]
    body = []
    for first, *others in table.rows:
        body.append(f'<tr><th scope="row">{first.translate(SAFE)}</th>')
        for cell, one in zip(others, look[1:], strict=True):
            body.append(f"<td{one}>{cell.translate(SAFE)}</td>")
        body.append("</tr>")
    written = Markup(
        f"<table><caption><span>{table.caption.translate(SAFE)}</span></caption>"
        f"<thead><tr>{''.join(head)}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )
    # A wide table scrolls by itself, also with the keyboard, and the page does not.
    label = {"role": "group", "aria_label": table.caption}
    return element("div", written, class_="scroll", tabindex="0", **label)


def latex_table(parts: Description) -> str:
    """Return the table in LaTeX; it needs the package booktabs."""
    columns = parts.table.columns
    cells = zip(*(map(_latex_cell, column.texts, column.values) for column in columns), strict=True)
    lines = [
        r"% needs \usepackage{booktabs}",
        rf"\begin{{tabular}}{{{''.join('r' if c.is_numeric else 'l' for c in columns)}}}",
        r"\toprule",
        " & ".join(_latex_text(column.heading) for column in columns) + r" \\",
        r"\midrule",
        *[" & ".join(row) + r" \\" for row in cells],
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(text: str, value: Any) -> str:
    """Return a cell; numbers are set as mathematics, with a proper minus and power of ten."""
    found = _NUMBER.fullmatch(text.removeprefix("< "))
    if not isinstance(value, float) or found is None:
        return _latex_text(text)
    power = rf" \cdot 10^{{{int(found[2])}}}" if found[2] else ""
    less = "< " if text.startswith("<") else ""
    return f"${less}{found[1].replace('−', '-')}{power}$"


def markdown_table(parts: Description) -> str:
    """Return the answer in a sentence, its table below it, and its cautions."""
    columns = parts.table.columns
    lines = [
        _markdown_row(_markdown_text(column.heading) for column in columns),
        _markdown_row("---:" if column.is_numeric else "---" for column in columns),
        *[_markdown_row(map(_markdown_text, row)) for row in parts.table.rows],
    ]
    cautions = [f"\n**Caution:** {_markdown_text(str(caution))}" for caution in parts.cautions]
    return "\n".join([f"{_markdown_text(parts.sentence)}\n", *lines, *cautions]) + "\n"


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_text(text: str) -> str:
    return _one_line(text).translate(_LATEX)


def _markdown_text(text: str) -> str:
    return _one_line(text).translate(_MARKDOWN)


def _one_line(text: str) -> str:
    """Return text on one line and without control characters, which break documents."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
