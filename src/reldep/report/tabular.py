"""The table of an answer in HTML, LaTeX and Markdown: readable headings, rounded numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.report.markup import Markup, element, joined
from reldep.words import number, pvalue_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.results.answer import Answer

_LATEX = str.maketrans(
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
# What Markdown reads as emphasis, code, links, HTML or the edge of a cell.
_MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|#~$&"})


# A page has room for so many rows of a table.
MOST_ROWS = 200


def cell(column: str, value: Any) -> str:
    """Write a value as people read it; the data frame has it unrounded."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if column == "as_correlation":
            return f"{value:.2f}"
        if column.endswith("pvalue"):
            return pvalue_text(value).removeprefix("p = ").removeprefix("p ")
        return number(value)
    return str(value)


def is_numeric(values: Sequence[Any]) -> bool:
    """Tell whether a column is set to the right, as numbers are."""
    present = [value for value in values if value is not None]
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present)


def html_table(
    columns: Mapping[str, Sequence[Any]],
    headings: Mapping[str, str],
    caption: str,
    *,
    most: int = MOST_ROWS,
) -> Markup:
    """Write a table with a caption; the first column names the rows.

    A table of more than `most` rows is cut, and says so.
    """
    names = list(columns)
    numeric = {name: is_numeric(columns[name]) for name in names} | {names[0]: False}
    rows = list(zip(*columns.values(), strict=True))
    head = [
        element("th", headings[name], scope="col", class_="number" if numeric[name] else None)
        for name in names
    ]
    body = [_html_row(names, row, numeric) for row in rows[:most]]
    left_out = f" The first {most} of {len(rows)} rows." if len(rows) > most else ""
    table = element(
        "table",
        element("caption", element("span", f"{caption}{left_out}")),
        element("thead", element("tr", *head)),
        element("tbody", *body),
    )
    # A wide table scrolls by itself, also with the keyboard, and the page does not.
    return element("div", table, class_="scroll", tabindex="0", role="group", aria_label=caption)


def _html_row(names: Sequence[str], row: Sequence[Any], numeric: Mapping[str, bool]) -> Markup:
    first, *others = zip(names, row, strict=True)
    cells = [
        element("td", cell(name, value), class_="number" if numeric[name] else None)
        for name, value in others
    ]
    return element("tr", element("th", cell(*first), scope="row"), joined(*cells))


def latex_table(answer: Answer) -> str:
    """Write the answer's table, which needs the LaTeX package booktabs."""
    columns, headings = answer.table(), answer.headings()
    alignment = "".join("r" if is_numeric(values) else "l" for values in columns.values())
    rows = [
        " & ".join(_latex_cell(name, value) for name, value in zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    lines = [
        r"% needs \usepackage{booktabs}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(_latex_text(headings[name]) for name in columns) + r" \\",
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
        return _latex_text(text)
    mantissa, e, exponent = text.partition("e")
    power = rf" \cdot 10^{{{int(exponent)}}}" if e else ""
    return f"${mantissa}{power}$"


def _latex_text(text: str) -> str:
    return _one_line(text).translate(_LATEX)


def markdown_table(answer: Answer) -> str:
    """Write the answer in a sentence, its table below it, and its cautions."""
    columns, headings = answer.table(), answer.headings()
    lines = [
        _markdown_row(_markdown_text(headings[name]) for name in columns),
        _markdown_row("---:" if is_numeric(values) else "---" for values in columns.values()),
        *[
            _markdown_row(
                _markdown_text(cell(name, value)) for name, value in zip(columns, row, strict=True)
            )
            for row in zip(*columns.values(), strict=True)
        ],
    ]
    cautions = [f"\n**Caution:** {_markdown_text(str(caution))}" for caution in answer.warnings]
    return "\n".join([f"{_markdown_text(answer.sentence())}\n", *lines, *cautions]) + "\n"


def _markdown_row(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_text(text: str) -> str:
    return _one_line(text).translate(_MARKDOWN)


def _one_line(text: str) -> str:
    """Write text on one line and without control characters, which break documents."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
