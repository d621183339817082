"""What a column of strings is: booleans, numbers, dates or labels.

One reading must fit all cells. If it fits most of them but not all, the column has a `Doubt`, which
is raised when the column is used; if it fits few, they are labels.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import polars as pl

from reldep.data.dates import judge_dates, read_moments, usual_format
from reldep.data.missing_codes import MISSING_CODES, MISSING_WORDS, as_number
from reldep.data.numbers import (
    NUMBER_LIKE,
    OPEN_POINT,
    Doubt,
    Evidence,
    Form,
    find_form,
    looks_like_number,
)
from reldep.data.selectors import ColumnType
from reldep.words import cell

Place: TypeAlias = "Callable[[int], str]"

# Different cells that decide which reading is tried, which is then verified on all cells; and cells
# in which a proof of the decimal mark is looked for first. Both take about a millisecond.
_CELLS_TRIED, _CELLS_FIRST = 2_000, 20
_PROOF = re.compile(r"\.(?!\d{3}$)|^[+-]?(0|\d{4,})?\.")
# Cells that a message shows.
_SHOWN = 3
_BLANKS = " \t\r\n\u00a0\ufeff"
_LIMITS = "<>≤≥"

WAYS_OUT = {
    "words": "Write missing values as NA, or name their code with `na`, or the column in "
    "`numbers`; if they are labels, name it in `categories`.",
    "marks": "Name the marks with `decimal` or `thousands`.",
    "units": "Convert them to one unit; if they are labels, name the column in `categories`.",
    "limits": "Replace limits by values, or make them missing: name them with `na`, or the column "
    "in `numbers`.",
    "dates": "Write dates as 2024-01-31; if they are labels, name the column in `categories`.",
    "dated": "Write missing values as NA, or name the column in `date_columns` to make them "
    "missing; if they are labels, name it in `categories`.",
    "stated": "Take the column out of `numbers` or `date_columns`.",
}
"""What to do about a column that disagrees with itself, by the kind of disagreement."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column that is read.

    Attributes
    ----------
    values : polars.Series
    kind : ColumnType
    notes : tuple of str
        What was understood beyond what the cells plainly say.
    doubt : Doubt or None
        Why it cannot be used as it is.
    proven : str
        The decimal mark that its cells prove; empty if they prove none.
    is_open : bool
        Whether its cells leave the decimal mark open.
    missing : tuple of str
        The words among numbers that were read as missing.
    """

    values: pl.Series = field(repr=False)
    kind: ColumnType
    notes: tuple[str, ...] = ()
    doubt: Doubt | None = None
    proven: str = ""
    is_open: bool = False
    missing: tuple[str, ...] = ()


def read_strings(
    cells: pl.Series,
    *,
    evidence: Evidence | None = None,
    na: Sequence[str | float] = (),
    stated: str = "",
    exact: Callable[[], pl.Series] | None = None,
    place: Place = "row {}".format,
) -> Column:
    """Return a column of strings as what it is.

    Parameters
    ----------
    cells : polars.Series of str
    evidence : Evidence, optional
        What settles marks that the cells leave open.
    na : sequence of str or float
        Values that mean missing.
    stated : {"", "labels", "numbers", "dates"}
        What the user says that the column is. Other cells then become missing, with a note.
    exact : callable, optional
        Return the numbers in the cells of a sheet, whose strings are rounded.
    place : callable
        Return the name of a row, for notes.

    Examples
    --------
    >>> import polars
    >>> read_strings(polars.Series(["32.1%", "8%", "n/a"])).values.to_list()
    [32.1, 8.0, None]
    >>> read_strings(polars.Series(["1.5", "<0.5", "2"])).doubt
    Doubt(reason='has limits, which are not values', cells=('<0.5',), kind='limits', rows=(1,))
    """
    known = evidence or Evidence()
    found = None if stated else _plain_numbers(cells, known)
    if found is None:
        words = _trimmed(cells, na)
        if stated == "labels":
            found = Column(words.cast(pl.Categorical), ColumnType.CATEGORY)
        elif stated == "numbers":
            found = _stated_numbers(words, known, place)
        elif stated == "dates":
            found = _stated_dates(words, place)
        else:
            found = _judged(words, known)
    if found.doubt is not None:
        found = replace(found, doubt=replace(found.doubt, place=place))
    return _finished(found, na, exact)


def _trimmed(cells: pl.Series, na: Sequence[str | float]) -> pl.Series:
    """Return cells without blanks around them, composed; words for missing values are null."""
    missing = [*MISSING_WORDS, *map(str, na)]
    trimmed = cells.str.strip_chars(_BLANKS).replace(missing, [None] * len(missing))
    return trimmed.str.normalize("NFC")


def _finished(
    column: Column, na: Sequence[str | float], exact: Callable[[], pl.Series] | None
) -> Column:
    """Return numbers with the digits that strings of a sheet lack, and without missing codes."""
    values = column.values
    if not values.dtype.is_numeric():
        return column
    is_plain = all(note.endswith("cells)") for note in column.notes)  # words for missing values
    if exact is not None and values.dtype.is_float() and is_plain:
        both = pl.DataFrame({"read": values, "exact": exact()})
        known = pl.when(pl.col("read").is_not_null()).then(pl.coalesce("exact", "read"))
        values = both.select(known).to_series()
    codes = [number for number in map(as_number, na) if number is not None]
    if codes:
        is_code = values.cast(pl.Float64).is_in(codes)
        values = values.to_frame("v").select(pl.when(~is_code).then("v"))["v"]
    return replace(column, values=values.alias(column.values.name))


def _plain_numbers(cells: pl.Series, evidence: Evidence) -> Column | None:
    """Return cells that are all plain numbers, by a cast alone; None if any is not."""
    numbers = cells.cast(pl.Float64, strict=False)
    if numbers.null_count() > cells.null_count():
        return None
    # One sum is faster than a look at every number, of which a wide table has many columns.
    if not math.isfinite(numbers.sum() or 0.0) and numbers.is_nan().any():
        return None
    if not numbers.count() or not (math.isfinite(numbers.sum()) or numbers.is_finite().any()):
        return None  # "inf" alone is a word
    integers = cells.cast(pl.Int64, strict=False)
    if integers.null_count() == cells.null_count():
        zeros = cells.str.contains(r"^0\d").any()
        note = "numbers that start with a zero, as codes do, read as numbers"
        return Column(integers, ColumnType.INTEGER, (note,) if zeros else ())
    first = (text for text in cells.head(_CELLS_FIRST).to_list() if text is not None)
    if any(map(_PROOF.search, first)) or _proves_point(cells):
        return Column(numbers, ColumnType.NUMBER, proven=".")
    return _open_points(cells, numbers, evidence)


def _proves_point(cells: pl.Series) -> bool:
    """Return True if a point must be a decimal mark, as in 1.5 and 0.125."""
    is_open = cells.str.contains(OPEN_POINT)
    return bool((cells.str.contains(".", literal=True) & ~is_open).any())


def _open_points(cells: pl.Series, numbers: pl.Series, evidence: Evidence) -> Column:
    """Return numbers such as 1.234, whose point may stand between thousands."""
    marked = cells.str.contains(".", literal=True).fill_null(value=False)
    if not marked.any():
        return Column(numbers, ColumnType.NUMBER)  # exponents, or more digits than integers have
    small = numbers.filter(~marked).drop_nulls()
    decimal = evidence.decimal_mark(".", small.to_list())
    found = Column(numbers, ColumnType.NUMBER, is_open=True)
    if decimal == ".":
        return found
    if decimal == ",":
        form = Form(",", ".")
        return replace(found, values=form.read(cells), notes=tuple(form.in_words()[:1]))
    reason = "has '.', which may be a decimal mark or a thousands separator"
    row = int(marked.arg_max() or 0)
    doubt = Doubt(reason, (cells[row],), "marks", (row,))
    return replace(found, kind=ColumnType.MIXED, doubt=doubt)


def _judged(words: pl.Series, evidence: Evidence) -> Column:
    """Return what trimmed words are."""
    plain = _plain_numbers(words, evidence)
    if plain is not None:
        return plain
    labels = Column(words, ColumnType.TEXT)
    present = words.drop_nulls()
    distinct = present.unique(maintain_order=True)
    if not len(distinct):
        return labels
    lower = distinct.str.to_lowercase()
    if lower.is_in(["true", "false"]).all():
        truth = words.str.to_lowercase() == "true"
        return Column(truth.alias(words.name), ColumnType.BOOLEAN)
    counts = present.unique_counts()
    numbers = distinct.cast(pl.Float64, strict=False)
    is_like = distinct.str.contains(NUMBER_LIKE) | numbers.is_not_null()
    n_like = counts.filter(is_like).sum()
    n_codes = counts.filter(lower.is_in(list(MISSING_CODES))).sum()
    if n_like and 2 * n_like >= len(present) - n_codes:
        found = _judge_numbers(words, distinct, evidence)
        if found is not None:
            return found
    return _judge_dates(words, distinct) or labels


def _judge_numbers(words: pl.Series, distinct: pl.Series, evidence: Evidence) -> Column | None:
    """Return a column that is mostly numbers; None if too many cells are something else."""
    tried = distinct.head(_CELLS_TRIED).to_list()
    present = [text for text in tried if text.lower() not in MISSING_CODES]
    strange = [text for text in present if not looks_like_number(text)]
    if 2 * len(strange) > len(present):
        return None
    form, proven = find_form(present, evidence)
    is_open = not proven and any("," in text or "." in text for text in present)
    if isinstance(form, Doubt):
        if strange:
            form = Doubt("contains numbers and words", tuple(strange))
        return replace(_doubtful(words, form), is_open=is_open)
    if form is None:
        return None
    read = form.read(distinct)
    is_code = distinct.str.to_lowercase().is_in(list(MISSING_CODES))
    wrong = distinct.filter(read.is_null() & ~is_code).to_list()
    if wrong:
        return _doubtful(words, Doubt("contains numbers and words", tuple(wrong)))
    notes = form.in_words()
    if not notes and (read.is_not_null() & distinct.cast(float, strict=False).is_null()).any():
        notes = ["special minus signs or spaces read as plain ones"]
    codes = tuple(distinct.filter(is_code & read.is_null()).to_list())
    if codes:
        n_cells = int(words.is_in(list(codes)).sum())
        notes.append(missing_in_words(codes, n_cells, words.count()))
    return Column(
        form.read(words),
        ColumnType.NUMBER,
        tuple(notes),
        proven=proven,
        is_open=is_open,
        missing=codes,
    )


def missing_in_words(codes: Sequence[str], n_cells: int, n_values: int) -> str:
    """Return the note about words among numbers that were read as missing."""
    shown = ", ".join(map(repr, codes[:_SHOWN]))
    return f"{shown} read as missing ({n_cells} of {n_values} cells)"


def _judge_dates(words: pl.Series, distinct: pl.Series) -> Column | None:
    """Return a column of dates or times; None if few of its cells are."""
    form = judge_dates(distinct.head(_CELLS_TRIED).to_list())
    if form is None:
        return None
    if isinstance(form, Doubt):
        return _doubtful(words, form)
    moments = read_moments(words, form)
    n_wrong = moments.null_count() - words.null_count()
    if not n_wrong:
        return Column(moments, ColumnType.DATE, _form_in_words(form))
    if 2 * n_wrong >= words.count():
        return None
    wrong = words.filter(moments.is_null() & words.is_not_null()).unique(maintain_order=True)
    fault = Doubt("contains dates and words", tuple(wrong), "dated")
    return _doubtful(words, fault)


def _form_in_words(form: str) -> tuple[str, ...]:
    return () if form.startswith("%Y-") else (f"read as dates of the form {form}",)


def _doubtful(words: pl.Series, why: Doubt) -> Column:
    """Return words with a doubt that names the rows of the cells at fault."""
    rows = {text: words.index_of(text) for text in why.cells[:_SHOWN]}
    known = {text: row for text, row in rows.items() if row is not None}
    doubt = replace(why, cells=tuple(known), rows=tuple(known.values()))
    return Column(words, ColumnType.MIXED, doubt=doubt)


def _stated_numbers(words: pl.Series, evidence: Evidence, place: Place) -> Column:
    """Return the numbers of a column that the user says contains numbers."""
    judged = _judged(words, evidence)
    if judged.values.dtype.is_numeric():
        return judged
    if judged.kind is ColumnType.BOOLEAN:
        return Column(judged.values.cast(pl.Int8), ColumnType.INTEGER)
    cells = words.drop_nulls().unique(maintain_order=True).head(_CELLS_TRIED).to_list()
    present = [
        text
        for text in cells
        if text.lower() not in MISSING_CODES and looks_like_number(text) and text[0] not in _LIMITS
    ]
    form, _ = find_form(present, evidence)
    if isinstance(form, Doubt) and form.kind == "marks":
        form = _usual_marks(present) or form
    if form is None:
        form = Doubt("has no numbers", tuple(cells), "stated")
    if isinstance(form, Doubt):
        return _doubtful(words, form)
    return _stated(words, form.read(words), ColumnType.NUMBER, form.in_words(), place)


def _usual_marks(cells: Sequence[str]) -> Form | None:
    """Return the form that fits most cells."""
    numbers = pl.Series(cells, dtype=pl.String)
    fitting = (form for form in (Form("."), Form(",")))
    return next((form for form in fitting if 2 * form.read(numbers).count() > len(cells)), None)


def _stated_dates(words: pl.Series, place: Place) -> Column:
    """Return the dates of a column that the user says contains dates."""
    cells = words.drop_nulls().unique(maintain_order=True).head(_CELLS_TRIED).to_list()
    form = usual_format(cells) or Doubt("has no dates", tuple(cells), "stated")
    if isinstance(form, Doubt):
        return _doubtful(words, form)
    notes = list(_form_in_words(form))
    return _stated(words, read_moments(words, form), ColumnType.DATE, notes, place)


def _stated(
    words: pl.Series, values: pl.Series, kind: ColumnType, notes: list[str], place: Place
) -> Column:
    """Return values of a stated kind, with a note about the cells that are something else."""
    noun = "dates" if kind is ColumnType.DATE else "numbers"
    is_wrong = values.is_null() & words.is_not_null()
    n_wrong = int(is_wrong.sum())
    if n_wrong == words.count():
        return _doubtful(words, Doubt(f"has no {noun}", (), "stated"))
    if n_wrong:
        rows = is_wrong.arg_true().head(_SHOWN).to_list()
        shown = ", ".join(f"{cell(words[row])} in {place(row)}" for row in rows)
        verb = f"is not a {noun[:-1]} and was" if n_wrong == 1 else f"are not {noun} and were"
        notes = [*notes, f"{n_wrong:,} of {words.count():,} cells {verb} read as missing: {shown}"]
    return Column(values, kind, tuple(notes))
