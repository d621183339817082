"""The table that is made messy, and what a case of mess is."""

from __future__ import annotations

import tempfile
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = ("age", "fat", "income")
N = 24
TRUE = {
    "age": [21 + (17 * i) % 60 for i in range(N)],
    "fat": [round(18.5 + (7 * i) % 23 * 1.1, 1) for i in range(N)],
    "income": [900 + (7919 * i) % 90_000 for i in range(N)],
}
SEX = ["f", "m"] * (N // 2)
Cells = dict[str, list[str]]


@dataclass(frozen=True)
class Case:
    """One kind of mess.

    Attributes
    ----------
    name : str
        What is wrong with the file.
    outcome : {"understood", "said", "cautioned", "refused"}
        What happens: read right; read right, and said; read as it is, with a caution; an error.
    make : callable
        Gives the content of the file, or the data itself.
    words : str
        What the message says, a part of it.
    file : str
        The file's name.
    options : dict
        Of `reldep.read`.
    columns : tuple of str
        The columns asked for.
    values : dict or None
        The right values; None if they are not looked at.
    """

    name: str
    outcome: str
    make: Callable[[], Any]
    words: str = ""
    file: str = "study.csv"
    options: dict[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = COLUMNS
    values: dict[str, list[float]] | None = field(default_factory=lambda: dict(TRUE))


def cells(**changed: Callable[[Any], str]) -> Cells:
    """Write the table's cells, some columns in another way."""
    plain: Cells = {"id": [f"p{i}" for i in range(N)], "sex": list(SEX)}
    for name, values in TRUE.items():
        plain[name] = [changed.get(name, str)(value) for value in values]
    return plain


def text(table: Cells | None = None, *, sep: str = ",", end: str = "\n") -> str:
    """Write a table as text."""
    table = table or cells()
    records = [list(table), *map(list, zip(*table.values(), strict=True))]
    return "".join(sep.join(record) + end for record in records)


def quoted(write: Callable[[Any], str]) -> Callable[[Any], str]:
    """Put what is written into double quotes."""
    return lambda value: f'"{write(value)}"'


def with_cells(column: str, *replaced: tuple[int, str]) -> Cells:
    """Replace some cells of a column."""
    table = cells()
    for row, word in replaced:
        table[column][row] = word
    return table


def lines(*, before: str = "", after: dict[int, str] | None = None, end: str = "") -> str:
    """Put lines before, behind and into the text; `after` goes by the line before it."""
    written = text().splitlines(keepends=True)
    for line, extra in sorted((after or {}).items(), reverse=True):
        written.insert(line, extra)
    return before + "".join(written) + end


def r_table(sep: str) -> str:
    """Write the table as R's write.table does: rows with names, and no name for that column."""
    header, *records = text().splitlines()
    rows = [",".join(f'"{name}"' for name in header.split(","))]
    rows += [f'"{i + 1}",{record}' for i, record in enumerate(records)]
    return "".join(row.replace(",", sep) + "\n" for row in rows)


def turned_round() -> str:
    """Write the table with a row for every variable."""
    columns = cells()
    names = ["variable", *columns.pop("id")]
    rows = [names, *([name, *values] for name, values in columns.items())]
    return "".join(",".join(row) + "\n" for row in rows)


def without(*rows: int) -> dict[str, list[float]]:
    """Give the right values without some rows."""
    kept = [i for i in range(N) if i not in rows]
    return {name: [values[i] for i in kept] for name, values in TRUE.items()}


def zipped(**files: str) -> bytes:
    """Pack texts into an archive."""
    with tempfile.TemporaryFile() as packed:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name.replace("_", "."), content)
        packed.seek(0)
        return packed.read()


def with_value(column: str, *rows: int, value: float) -> dict[str, list[float]]:
    """Give the right values with some replaced."""
    return {
        name: [value if name == column and i in rows else v for i, v in enumerate(values)]
        for name, values in TRUE.items()
    }


def comma(value: float) -> str:
    """Write a number with a decimal comma."""
    return str(value).replace(".", ",")
