"""Columns whose kind the user states: numbers or dates, whatever else stands in some cells.

A cell that does not fit becomes missing, and the table says which ones did.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from reldep.data.cells import ROW, Refusal, as_moment, date_format
from reldep.data.checks import cell
from reldep.data.files.queries import collect, column, reading_errors
from reldep.data.files.table import Table, with_cycles
from reldep.data.notation import MISSING_CODES, Disagreement, Form, find_form, looks_like_number
from reldep.data.selectors import ColumnType
from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from reldep.data.files.options import ReadingOptions

_CELLS_LOOKED_AT = 2_000
_SHOWN = 3
_COMPACT_DATE = "%Y%m%d"
_LIMITS = "<>≤≥"

Reader: TypeAlias = "Callable[[pl.Expr], pl.Expr]"


def with_kinds(table: Table, options: ReadingOptions, usual: Form | None) -> Table:
    """Return the table with the columns as numbers or dates that the options name.

    Parameters
    ----------
    table : Table
    options : ReadingOptions
    usual : Form, optional
        The marks that settle what the cells of a column leave open.
    """
    numbers = table.select(options.numbers) if options.numbers is not None else []
    dates = table.select(options.date_columns) if options.date_columns is not None else []
    both = next((name for name in numbers if name in dates), None)
    if both is not None:
        raise InputError(f"column {both!r} is named both as numbers and as dates.")
    for name in numbers:
        table = _as_numbers(table, name, usual)
    for name in dates:
        table = _as_dates(table, name)
    if not dates:
        return table
    made = {name: table.columns[name] for name in dates if name not in table.refusals}
    frame, kinds, said = with_cycles(table.frame, made, options)
    said = {name: [*table.column_said.get(name, ()), *words] for name, words in said.items()}
    return replace(
        table,
        frame=frame,
        columns={**table.columns, **kinds},
        column_said={**table.column_said, **said},
    )


def _as_numbers(table: Table, name: str, usual: Form | None) -> Table:
    import polars as pl

    kind = table.columns[name]
    is_read = table.frame.select(column(name)).collect_schema()[name].is_numeric()
    if is_read:
        return table  # also one with a doubt about its marks, which this does not settle
    if kind is ColumnType.BOOLEAN:
        return _with(table, name, column(name).cast(pl.Int8), ColumnType.INTEGER, [])
    cells = _cells(table, name)
    form = _number_form(cells, usual)
    if isinstance(form, Disagreement):
        return _refused(table, name, form)
    said = form.in_words()
    return _read(table, name, form.read, ColumnType.NUMBER, "numbers", said)


def _number_form(cells: Sequence[str], usual: Form | None) -> Form | Disagreement:
    """Find the form of the cells that are numbers; where they disagree, that of most of them."""
    present = [
        text
        for text in cells
        if text.lower() not in MISSING_CODES and looks_like_number(text) and text[0] not in _LIMITS
    ]
    if not present:
        return Disagreement("has no numbers", tuple(cells[:_SHOWN]), "stated")
    found = find_form(present, usual)
    if found is None:
        return Disagreement("has no numbers", tuple(cells[:_SHOWN]), "stated")
    if isinstance(found, Form) or found.kind != "marks":
        return found
    import polars as pl

    values = pl.Series(present)
    for form in (Form("."), Form(",")):
        n_read = values.to_frame("").select(form.read(column(""))).to_series().count()
        if 2 * n_read > len(present):
            return form
    return found


def _as_dates(table: Table, name: str) -> Table:
    if table.columns[name] is ColumnType.DATE:
        return table
    cells = _cells(table, name)
    if cells and all(len(text) == 8 and text.isdigit() for text in cells):
        form: str | Disagreement | None = _COMPACT_DATE
    else:
        form = date_format(cells) or _usual_dates(cells)
    if form is None:
        form = Disagreement("has no dates", tuple(cells[:_SHOWN]), "stated")
    if isinstance(form, Disagreement):
        return _refused(table, name, form)
    way = form
    said = [] if way.startswith("%Y-") else [f"read as dates of the form {way}"]
    return _read(table, name, lambda words: as_moment(words, way), ColumnType.DATE, "dates", said)


def _usual_dates(cells: Sequence[str]) -> str | Disagreement | None:
    """Find how most cells write dates, where some are something else."""
    dated = [text for text in cells if date_format([text]) is not None]
    dated = dated or [text for text in cells if text[:4].isdigit() and text[4:5] == "-"]
    return date_format(dated) or ("%Y-%m-%d" if dated else None)


def _cells(table: Table, name: str) -> list[str]:
    """Give different cells of a column, as words."""
    import polars as pl

    words = column(name).cast(pl.String).drop_nulls().unique(maintain_order=True)
    try:
        found = collect(
            table.frame.head(_CELLS_LOOKED_AT).select(words.alias("cells")), n_expressions=1
        )
    except reading_errors():
        return []  # lists and other nested values
    return found["cells"].to_list()


def _read(
    table: Table, name: str, read: Reader, kind: ColumnType, noun: str, said: list[str]
) -> Table:
    """Read a column of words, and say which cells do not fit."""
    import polars as pl

    words = column(name).cast(pl.String)
    wrong = words.is_not_null() & read(words).is_null()
    found = collect(
        table.frame.select(
            words.filter(wrong).head(_SHOWN).implode().alias("cells"),
            column(ROW).filter(wrong).head(_SHOWN).implode().alias("records"),
            wrong.sum().alias("n_wrong"),
            words.count().alias("n_cells"),
        ),
        n_expressions=4,
    ).row(0, named=True)
    if found["n_wrong"] == found["n_cells"]:
        return _refused(table, name, Disagreement(f"has no {noun}", (), "stated"))
    if found["n_wrong"]:
        places = table.origins.get(name, table.places)
        shown = ", ".join(
            f"{cell(text)} in {places.name(record)}"
            for text, record in zip(found["cells"], found["records"], strict=True)
        )
        count = f"{found['n_wrong']:,} of {found['n_cells']:,} cells"
        verb = (
            f"is not a {noun[:-1]} and was" if found["n_wrong"] == 1 else f"are not {noun} and were"
        )
        said = [*said, f"{count} {verb} read as missing: {shown}"]
    return _with(table, name, read(words), kind, said)


def _with(table: Table, name: str, values: pl.Expr, kind: ColumnType, said: list[str]) -> Table:
    return replace(
        table,
        frame=table.frame.with_columns(values.alias(name)),
        columns={**table.columns, name: kind},
        refusals={other: why for other, why in table.refusals.items() if other != name},
        column_said={**table.column_said, name: said},
    )


def _refused(table: Table, name: str, why: Disagreement) -> Table:
    """Keep the column from being used as something that it is not."""
    import polars as pl

    words = column(name).cast(pl.String)
    records = [
        collect(
            table.frame.filter(words == text).select(column(ROW)).head(1), n_expressions=1
        ).item()
        for text in why.cells
    ]
    refusal = Refusal(why.reason, tuple(zip(why.cells, records, strict=True)), why.kind)
    return replace(
        table,
        columns={**table.columns, name: ColumnType.MIXED},
        refusals={**table.refusals, name: refusal},
    )
