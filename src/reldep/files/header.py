"""Where a table starts and ends: delimiter, lines before it, names, units, rows of totals."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import polars as pl

from reldep.data.frames import check_unique
from reldep.data.missing_codes import is_code
from reldep.data.numbers import is_unit, looks_like_number
from reldep.data.variables import FloatArray
from reldep.exceptions import InputError
from reldep.words import composed, counted, listed, listing, printable

DELIMITERS = ",;\t|"
# Records among which a header is looked for, and that show how a text is written.
PREAMBLE, _TRIED = 50, 200
# Minimum number of rows, all with a name, for the header to lack the name of that column.
_FEWEST_NAMED = 3
_SEP_LINE = re.compile(r"sep=(?P<delimiter>.)\r?\n", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(\d+|\d*\.\d+([eE][+-]?\d+)?)")


@dataclass(frozen=True)
class Header:
    """The column names of a text or a sheet, and where its records start.

    Attributes
    ----------
    names : tuple of str
    delimiter : str
        Of a text.
    line : int
        The line of the first record.
    n_before : int
        The records before the first observation: names, and units below them.
    skip_rows : int or None
        The lines before what looks like a header further down.
    notes : tuple of str
    """

    names: tuple[str, ...]
    delimiter: str
    line: int
    n_before: int
    skip_rows: int | None = None
    notes: tuple[str, ...] = ()


def find_header(
    text: str, name: str, *, delimiter: str | None, has_header: bool, skip_rows: int
) -> Header:
    """Return the header of a text.

    Parameters
    ----------
    text : str
        The start of the text, in whole lines.
    name : str
        What to call it in an error message.
    delimiter : str, optional
        What separates the fields; found in the text by default.
    has_header : bool
        Whether the first line contains names; else these are ``c1``, ``c2``, ….
    skip_rows : int
        The number of lines before the table.
    """
    start, n_lines, own_delimiter, n_comments = _lines_before(text, skip_rows)
    rest, is_stated = text[start:], delimiter is not None
    delimiter = delimiter or own_delimiter or find_delimiter(rest)
    said = []
    if n_comments:
        count = "a comment" if n_comments == 1 else f"{n_comments} lines of comments"
        said.append(f"{count} before the table left out")
    found = records(rest, delimiter)
    if not found:
        raise InputError(f"{name} has no column names: it has no lines but comments.")
    if rest.startswith("#"):
        found[0][0] = found[0][0].lstrip("# ") or found[0][0]
    further_down = first_full_record(records(text, delimiter))
    header = header_of_records(
        found, name, n_lines + 1, has_header=has_header, skip_rows=further_down
    )
    if len(header.names) == 1 and not is_stated:
        _check_blanks(rest, name)
    said += header.notes
    if delimiter == " ":
        said.append("blanks were taken to separate the fields")
    return replace(header, delimiter=delimiter, notes=tuple(said))


def header_of_records(
    found: Sequence[Sequence[str]],
    name: str,
    line: int,
    *,
    has_header: bool,
    skip_rows: int | None,
    is_text: bool = True,
) -> Header:
    """Return the header of the records of a text or the rows of a sheet.

    Parameters
    ----------
    found : sequence of sequences of str
    name : str
        What to call their file in an error message.
    line : int
        The place of the first.
    has_header : bool
    skip_rows : int or None
        The lines before what looks like a header further down.
    is_text : bool
        Whether a line end in a name begins a new line.
    """
    names, notes = in_composed_form([field.strip().strip("\ufeff") for field in found[0]]), []
    following = found[has_header:]
    if has_header:
        notes += _check_names([field for field in names if field], name, line, skip_rows)
    else:
        names = [f"c{i + 1}" for i in range(len(names))]
    if following and len(following[0]) == len(names) + 1 and not following[0][-1].strip():
        names.append("")  # every line ends with a delimiter, but for the first
    elif has_header and has_row_names(names, following):
        names.insert(0, "")
        notes.append(
            f"line {line} names one column less than there are: the first one was taken to name "
            "the rows, as R writes them"
        )
    below = line + 1 + (sum(field.count("\n") for field in found[0]) if is_text else 0)
    has_units = has_header and len(following) > 1 and are_units(following[0], following[1])
    if has_units:
        pairs = zip(names, map(str.strip, following[0]), strict=False)
        shown = printable(listed([f"{own}: {unit}" for own, unit in pairs if unit], 4))
        notes.append(f"line {below} contains units, not an observation, and was left out ({shown})")
    return Header(tuple(names), ",", line, has_header + has_units, skip_rows, tuple(notes))


def _lines_before(text: str, skip_rows: int) -> tuple[int, int, str | None, int]:
    """Return the characters and lines before the header, its delimiter, and how many comments.

    A line such as ``sep=;``, which Excel writes, names the delimiter.
    """
    start = n_lines = n_comments = 0
    delimiter = None
    for line in io.StringIO(text, newline=""):
        if n_lines >= skip_rows:
            named = _SEP_LINE.fullmatch(line)
            if named is not None and n_lines == skip_rows:
                delimiter = named["delimiter"]
            elif line.startswith("#") and not _names_columns(line, text[start + len(line) :]):
                n_comments += 1
            elif line.strip():
                break
        start, n_lines = start + len(line), n_lines + 1
    return start, n_lines, delimiter, n_comments


def _names_columns(line: str, rest: str) -> bool:
    """Return True if a line that starts with # is the header, as in ``#id,age``."""
    following = rest[: rest.find("\n") + 1 or None]
    if following.startswith("#") or not following.strip():
        return False
    for delimiter in DELIMITERS:
        names, cells = (*records(line, delimiter), [])[0], (*records(following, delimiter), [])[0]
        if len(names) == len(cells) > 1 and any(map(looks_like_number, cells)):
            return not any(map(looks_like_number, names))
    return False


def _check_names(names: Sequence[str], name: str, line: int, skip_rows: int | None) -> list[str]:
    """Return notes about names; raise InputError for repeated names and for numbers."""
    more = f", or pass `skip_rows={skip_rows}` for the names further down" * bool(skip_rows)
    check_unique(names, name, more)
    if not names or not all(map(_NUMBER.fullmatch, names)):
        return []
    if not all(map(str.isdecimal, names)):
        raise InputError(
            f"line {line} of {name} contains numbers in place of column names: {listing(names)}. "
            "If the file has no header, pass `header=False`."
        )
    return [f"line {line} contains whole numbers, which were taken as the names of columns"]


def check_rows(n_rows: int, names: Collection[str], name: str) -> None:
    """Raise InputError if there is no row below the names."""
    if n_rows < 1:
        raise InputError(f"{name} has {counted(len(names), 'column')}, but no rows.")


def in_composed_form(names: Sequence[str]) -> list[str]:
    """Return names in Unicode's composed form, unless two would become one."""
    formed = [composed(name) for name in names]
    return [*names] if len(set(formed)) < len(set(names)) else formed


def are_units(record: Sequence[str], following: Sequence[str]) -> bool:
    """Return True if a record names the units of the columns.

    Examples
    --------
    >>> are_units(["", "kg", "mmol/L"], ["m1", "0.5", "12"])
    True
    """
    if len(record) != len(following) or any(map(looks_like_number, record)):
        return False
    under = [
        text.strip()
        for text, below in zip(record, following, strict=True)
        if looks_like_number(below) and text.strip() and not is_code(text)
    ]
    return bool(under) and all(map(is_unit, under))


def has_row_names(names: Sequence[str], found: Sequence[Sequence[str]]) -> bool:
    """Return True if the first field of every record names it, and the header does not, as in R.

    They are different words, or count from 1: other numbers may be values.

    Examples
    --------
    >>> has_row_names(["age"], [["m1", "40"], ["m2", "38"], ["m3", "41"]])
    True
    >>> has_row_names(["age"], [["40", "5"], ["38", "2"], ["41", "5"]])
    False
    """
    found = [record for record in found if any(record) and not record[0].startswith("#")]
    if len(found) < _FEWEST_NAMED or {len(record) for record in found} != {len(names) + 1}:
        return False
    first = [record[0].strip() for record in found]
    if first == [str(i + 1) for i in range(len(first))]:
        return True
    return len(set(first)) == len(first) and not any(map(looks_like_number, first))


def records(text: str, delimiter: str) -> list[list[str]]:
    """Return the first records of a text, as far as it can be read."""
    found: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    with suppress(csv.Error):  # a field longer than the reader takes: what came before will do
        found.extend(islice(reader, _TRIED))
    return found


def find_delimiter(text: str) -> str:
    r"""Return the delimiter that cuts most lines into as many fields as there are names.

    One field more is as good: R leaves out the name of the column of row names. A delimiter that
    does not fit half of the lines is none; a comma stands for a file of one column.

    Examples
    --------
    >>> find_delimiter("a;b\n1,5;2\n"), find_delimiter("a\n1\n")
    (';', ',')
    """
    best, best_fit = ",", (0.5, 1)
    for candidate in DELIMITERS:
        widths = _widths(text, candidate)
        n_fitting = widths.count(widths[0]) + widths.count(widths[0] + 1)
        fit = (n_fitting / len(widths), widths[0])
        # A comma that fits as well may be in the decimals and in the names, as in "size, cm".
        is_as_good = best_fit[1] > 1 and best == "," and fit[0] == best_fit[0]
        are_decimals = is_as_good and _has_decimal_commas(text, candidate)
        if widths[0] > 1 and (fit > best_fit or are_decimals):
            best, best_fit = candidate, fit
    if best_fit[1] > 1:
        return best
    widths = _widths(text, " ")
    are_equal = len(widths) > 1 and set(widths) <= {widths[0], widths[0] + 1}
    return " " if widths[0] > 1 and are_equal else best


def _has_decimal_commas(text: str, delimiter: str) -> bool:
    """Return True if commas below the header stand in numbers only, as in ``Anna;172,5``."""
    cells = [cell for record in records(text, delimiter)[1:] for cell in record if "," in cell]
    return bool(cells) and all(map(looks_like_number, cells))


def _widths(text: str, delimiter: str) -> list[int]:
    return [len(record) for record in records(text, delimiter) if record] or [0]


def _check_blanks(text: str, name: str) -> None:
    """Raise InputError if fields are lined up with blanks: how many there are is not clear."""
    lines = [line.split() for line in islice(io.StringIO(text), PREAMBLE) if line.strip()]
    widths = {len(fields) for fields in lines}
    if len(lines) > 1 and len(widths) == 1 and widths.pop() > 1:
        raise InputError(f"{name} seems to have several blanks between its fields. Save it as CSV.")


def first_full_record(found: Sequence[Sequence[str]]) -> int | None:
    """Return the place of the first record of different names only, if it is not the first.

    The column of row names may have none.

    Examples
    --------
    >>> first_full_record([["Our study"], ["in 2024"], ["a", "b"], ["1", "2"]])
    2
    """
    some = found[:PREAMBLE]
    width = max(map(len, some), default=0)
    for i, record in enumerate(some):
        names = [field.strip() for field in record]
        is_full = len(names) == width and all(names[1:]) and len(set(names)) == width
        if is_full and not any(map(looks_like_number, names)):
            return i or None
    return None


_WORD = (
    r"(?i)^\s*((grand |sub)?(total|sum|mean|average|avg|median|std|sd|count|min|max)s?|"
    r"summe|(ins)?gesamt(summe)?|mittel(wert)?|durchschnitt|somme|moyenne|médiane|somma|totale|"
    r"suma|promedio|media|mediana|soma|média|totaal|gemiddelde|итого|всего|合计|总计|平均|合計):?\s*$"
)
# Numbers are added up only of tables that are read in no time.
_MOST_CELLS = 2_000_000
# Means and sums are written with few digits: by this share of the spread, or of themselves, they
# may be off.
_OFF_SPREAD, _OFF_SUM = 0.02, 1e-3


def summary_rows(
    columns: Mapping[str, pl.Series], place: Callable[[int], str]
) -> tuple[list[int], list[str]]:
    """Return the rows that sum up others, and notes about them.

    The last row is one if it says so, or has the sums or means of the rows above. Any other is one
    if it says so and has the sums or means of the rows since the one before.

    Parameters
    ----------
    columns : mapping of str to polars.Series
    place : callable
        Return the name of a row.
    """
    words = [series for series in columns.values() if series.dtype == pl.String]
    numbers = [series for series in columns.values() if series.dtype.is_numeric()]
    n_rows = len(next(iter(columns.values()), ()))
    if not n_rows:
        return [], []
    is_small = len(numbers) > 1 and n_rows * len(numbers) <= _MOST_CELLS
    table = (
        pl.DataFrame(numbers).select(pl.all().cast(pl.Float64).fill_null(np.nan)).to_numpy()
        if is_small
        else np.empty((n_rows, 0))
    )
    rows, notes, start = [], [], 0
    for row, word in _marked(words).items():
        what = _sums_up(table[start:row], table[row], fewest=2) if is_small else None
        if what is not None or row == n_rows - 1:
            rows.append(row)
            notes.append(
                f"{place(row)} looks like a row of totals ({word!r}), which is no observation"
            )
            start = row + 1
    last = n_rows - 1
    what = (
        _sums_up(np.delete(table[:last], rows, axis=0), table[last]) if last not in rows else None
    )
    if what is not None:
        rows.append(last)
        notes.append(
            f"{place(last)} contains the {what} of the rows above it, and so is no observation"
        )
    return rows, notes


def _marked(words: list[pl.Series]) -> dict[int, str]:
    """Return the rows in which a word says that they sum up others, with the word."""
    found: dict[int, str] = {}
    for series in words:
        for row in series.str.contains(_WORD).fill_null(value=False).arg_true().to_list():
            found.setdefault(row, series[row])
    return dict(sorted(found.items()))


def _sums_up(above: FloatArray, row: FloatArray, fewest: int = 5) -> str | None:
    """Return "means" or "sums" if a row has those of all columns that it fills.

    Of fewer than five rows without a word, they may be so by accident.
    """
    found: dict[str, list[bool]] = {"means": [], "sums": []}
    for column, value in zip(above.T, row.tolist(), strict=True):
        present = column[np.isfinite(column)]
        if not np.isfinite(value) or len(present) < fewest or not np.ptp(present) > 0:
            continue
        mean = float(present.mean())
        total = mean * len(present)
        found["means"].append(abs(value - mean) <= _OFF_SPREAD * float(present.std(ddof=1)))
        found["sums"].append(abs(value - total) <= _OFF_SUM * abs(total))
    for what, fits in found.items():
        if len(fits) > 1 and all(fits):
            return what
    return None
