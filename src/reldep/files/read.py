"""``reldep.read`` and the argument `data`; the options, each defined once, for front ends too."""

import codecs
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Annotated, Any, Literal, TypedDict, Unpack, cast, get_type_hints

from reldep.arguments import Argument, Interface, check_choice, check_count, public
from reldep.data.selectors import ColumnType, known_column, parse_lifetime
from reldep.exceptions import InputError, InputTypeError
from reldep.files.byte_sources import STANDARD_INPUT, open_source
from reldep.files.table import Table
from reldep.words import composed, listing

Words = str | Sequence[str]
COLUMNS = "str or sequence of str"
PANEL = "Reading files"
Decimal = Literal[".", ","]
Thousands = Literal[",", ".", " ", "'"]
DATES = ("elapsed", "hour", "weekday", "month")
"""What dates and times may become: days since the first, or a place in a cycle."""


def words(given: str | Sequence[str]) -> Words:
    """Return the words of a repeated flag or the lines of a field; one of them as it is."""
    each = given.splitlines() if isinstance(given, str) else list(given)
    return each[0] if len(each) == 1 else each


def number(given: str) -> Any:
    """Return a whole number if the word is one, else the word, which the check refuses."""
    return int(given) if str(given).lstrip("-").isdigit() else given


def codes_for_missing(na: Any) -> tuple[str | float, ...]:
    """Return the values that mean missing; a user may pass one or several.

    Examples
    --------
    >>> codes_for_missing(-999), codes_for_missing(["n.d.", -1])
    ((-999,), ('n.d.', -1))
    """
    are_several = isinstance(na, Iterable) and not isinstance(na, (str, Mapping))
    codes = () if na is None else tuple(na) if are_several else (na,)
    if not all(isinstance(code, (str, Real)) for code in codes):
        raise InputTypeError(f"`na={na!r}`; pass a number, a string, or a list of these.")
    return codes


def _check_delimiter(name: str, value: Any) -> None:
    is_one = isinstance(value, str) and len(value) == 1 and value.isascii()
    if not is_one or value in '"\n\r':
        raise InputError(f"`{name}={value!r}`; pass one plain character.")


def _check_encoding(name: str, value: Any) -> None:
    """Raise if an encoding is not known, or is not one of text, as zlib is not."""
    try:
        is_known = codecs.lookup(value)._is_text_encoding
    except (LookupError, TypeError, ValueError):
        is_known = False
    if not is_known:
        raise InputError(
            f"`{name}={value!r}` is not known; pass an encoding such as 'utf-8' or 'latin1'."
        )


def _check_dates(name: str, value: Any) -> None:
    for rule in value.values() if isinstance(value, Mapping) else [value]:
        check_choice(name, rule, DATES)


def _check_sheet(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InputTypeError(f"`{name}={value!r}`; pass a name or a number.")


_option = partial(Argument, default=None, panel=PANEL)
_list = partial(_option, parse=words, is_list=True)
_columns = partial(_option, shown=COLUMNS, columns="several", parse=words, metavar="COLS")


class Reading(TypedDict, total=False):
    """The options of :func:`reldep.read`."""

    join: Annotated[
        str | None,
        _option(
            "The column that identifies a row, to join several files; rows that are not in all of "
            "them are left out.",
            panel="Data",
            metavar="COL",
        ),
    ]
    where: Annotated[
        Any,
        _list(
            "A condition on the rows, such as \"age > 40 and sex = 'f'\", several that must "
            "all hold, or one boolean per row.",
            shown="str, sequence of str or array of bool",
            panel="Data",
            metavar="COND",
            label="Only rows for which",
            in_words="Only rows for which this holds: \"age > 40 and sex = 'f'\". All of several "
            "conditions must hold.",
        ),
    ]
    id: Annotated[
        str | None,
        _option(
            "The column that names the rows in messages and tables.",
            columns="label",
            panel="Data",
            metavar="COL",
            label="Id column",
        ),
    ]
    na: Annotated[
        Any,
        _list(
            "A value that means missing, besides blanks and NA, such as -999.",
            default=(),
            shown="str, float or sequence of these",
            metavar="VALUE",
            label="Missing codes",
            check=lambda _, value: codes_for_missing(value),
        ),
    ]
    categories: Annotated[
        Words | None, _columns("Columns of labels, even if they look like numbers.")
    ]
    numbers: Annotated[Words | None, _columns("Columns of numbers; other cells become missing.")]
    date_columns: Annotated[Words | None, _columns("Columns of dates; other cells become missing.")]
    dates: Annotated[
        str | Mapping[str, str],
        _option(
            "What dates become: days since the first (elapsed), or their place in a cycle: hour, "
            "weekday or month. In Python also by column.",
            default="elapsed",
            shown='{"elapsed", "hour", "weekday", "month"} or mapping',
            metavar="RULE",
            check=_check_dates,
        ),
    ]
    order: Annotated[
        Mapping[str, str | Sequence[str]] | Words | None,
        _list(
            "The order of labels, such as 'size=s<m<l'.",
            shown="str, sequence of str or mapping",
            metavar="COL=A<B",
            label="Order of labels",
        ),
    ]
    survival: Annotated[
        str | Sequence[str],
        _list(
            "Censored lifetimes, by their columns: 'days,died', or 'days,status=2' if 2 marks the "
            "event. The column of times then contains lifetimes.",
            default=(),
            shown=COLUMNS,
            metavar="TIME,EVENT",
        ),
    ]
    delimiter: Annotated[
        str | None,
        _option(
            "The character between fields of a text file.",
            metavar="TEXT",
            check=_check_delimiter,
        ),
    ]
    decimal: Annotated[Decimal | None, _option("The decimal mark of numbers.")]
    thousands: Annotated[
        Thousands | None, _option("The mark between groups of three digits.", metavar="MARK")
    ]
    encoding: Annotated[
        str | None,
        _option(
            "The encoding of a text file, such as latin1.", metavar="TEXT", check=_check_encoding
        ),
    ]
    header: Annotated[
        bool, _option("Whether the first line contains the names of columns.", default=True)
    ]
    skip_rows: Annotated[
        int,
        _option(
            "Lines of a text, or rows of a sheet, before the header.",
            default=0,
            parse=number,
            metavar="N",
            label="Lines before the header",
            check=lambda name, value: check_count(name, value, at_least=0),
        ),
    ]
    sheet: Annotated[
        str | int | None,
        _option(
            "The sheet of a workbook, by name or by number from 1.",
            parse=number,
            metavar="NAME",
            check=_check_sheet,
        ),
    ]
    layer: Annotated[
        str | None, _option("The layer of an AnnData file with the genes, not X.", metavar="TEXT")
    ]
    drop_summary: Annotated[
        bool, _option("Whether to leave out a last row that sums up the others.", default=False)
    ]


# The options that state the kind of columns, labels last, so that they stand.
STATED = {"numbers": "numbers", "date_columns": "dates", "categories": "labels"}
READING: dict[str, Argument] = {
    name: hint.__metadata__[0].named(name, hint.__origin__)
    for name, hint in get_type_hints(Reading, include_extras=True).items()
}


def completed(given: Mapping[str, Any]) -> Reading:
    """Return options of which some are given, with the defaults of the others.

    Raises
    ------
    ValueError
        If one mark is to be read in two ways.
    """
    options = cast("Reading", {name: given.get(name, one.default) for name, one in READING.items()})
    if options["decimal"] is not None and options["decimal"] == options["thousands"]:
        raise InputError(
            f"`thousands={options['thousands']!r}` is also the decimal mark. Name two marks."
        )
    options["na"] = codes_for_missing(options["na"])
    return options


def date_rule(options: Reading, column: str) -> str:
    """Return what the dates of a column become."""
    rule = options["dates"]
    return rule if isinstance(rule, str) else rule.get(column, "elapsed")


DATA = Argument(
    "Delimited text (.csv, .tsv, .txt, .tab, also compressed), Parquet, Arrow and Feather files, a "
    "directory or pattern of Parquet files, lines of JSON, workbooks (.xlsx, .xls, .ods), NumPy "
    "archives (.npz), files of SPSS, Stata, SAS and R, AnnData (.h5ad), '-' for text from standard "
    "input; several files with `join`; a data frame of any library, or a mapping of names to "
    "columns.",
    shown="path, sequence of paths, file object, data frame, mapping or AnnData",
)


@public
def read(
    data: Annotated[Any, DATA],
    **options: Unpack[Reading],
) -> Table:
    r"""Read a file or take a data frame as a table, for the argument `data` of every question.

    Parquet and Arrow files are not read before columns are asked for. Ambiguous files are rejected
    with the cells at fault and the argument that settles the question.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If the file is damaged or ambiguous, or an option does not fit it.
    OSError
        If the file does not exist or may not be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import reldep
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mice.csv"
    >>> _ = path.write_text("id,diet,C14,C16\n1,fish,0.5,0.7\n2,sun,0.4,NA\n")
    >>> mice = reldep.read(path, where="diet = 'fish'", id="id")
    >>> mice.to_frame("C*").rows(), str(mice.scope)
    ([(0.5, 0.7)], "the 1 of 2 rows with diet = 'fish'")
    """
    given = completed(options)
    survival = given["survival"]
    # Once polars is imported, Ctrl-C does not end waiting for standard input.
    source = _with_input_read(data)
    from reldep.files.opening import open_table

    table = open_table(source, given)
    table = _with_lifetimes(table, [survival] if isinstance(survival, str) else survival)
    if given["order"] is not None:
        table = _with_orders(table, given["order"])
    if given["where"] is not None:
        table = table.restricted(given["where"])
    if given["id"] is not None:
        name = _single(table, "id", given["id"])
        table = replace(table, row_names=(name, table.values(name)), dated=None)
    return replace(table, call=_call(data, options))


def _with_input_read(data: Any) -> Any:
    """Return data in which the text from standard input stands for ``"-"``."""
    are_several = isinstance(data, (list, tuple))
    read = [
        open_source(one) if isinstance(one, str) and one == STANDARD_INPUT else one
        for one in (data if are_several else [data])
    ]
    return read if are_several else read[0]


def as_table(data: Any) -> Table:
    """Return a table as it is, and a path, a data frame or a mapping as a table."""
    return data if isinstance(data, Table) else read(data)


def _single(table: Table, argument: str, words: str) -> str:
    found = table.select(words)
    if len(found) > 1:
        raise InputError(f"`{argument}`: {words!r} names {len(found)} columns; give one.")
    return found[0]


def _with_lifetimes(table: Table, definitions: Sequence[str]) -> Table:
    """Return the table with columns of times that contain lifetimes."""
    columns, found = dict(table.columns), dict[str, tuple[str, str | None]]()
    for text in definitions:
        *pair, value = parse_lifetime(text)
        time, event = (_single(table, "survival", str(words)) for words in pair)
        if time == event or {time, event} & {*found, *(one for one, _ in found.values())}:
            raise InputError(
                f"`survival={text!r}` names a column twice; give each lifetime two columns."
            )
        found[time] = (event, value)
        columns[time] = ColumnType.LIFETIME
        del columns[event]
    return replace(table, columns=columns, lifetimes=found) if found else table


def _with_orders(table: Table, order: Mapping[str, str | Sequence[str]] | Words) -> Table:
    """Return the table with the labels in orders such as {"size": "s<m<l"} or "size=s<m<l"."""
    if not isinstance(order, Mapping):
        pairs = [text.rpartition("=") for text in ([order] if isinstance(order, str) else order)]
        order = {name.strip(): labels for name, _, labels in pairs}
    found = {}
    for name, labels in order.items():
        split = labels.split("<") if isinstance(labels, str) else labels
        found[name] = tuple(composed(str(label).strip()) for label in split)
        if len(set(found[name])) < max(2, len(found[name])):
            raise InputError(
                f"`order` of {name!r} is {labels!r}. Name all from the lowest to the highest."
            )
        known_column(name, table.columns, table.name)
        present = {str(value) for value in table.values(name) if value is not None}
        unknown = sorted(present - set(found[name]) - {"nan"})
        if unknown:
            raise InputError(f"column {name!r} has labels that `order` lacks: {listing(unknown)}.")
    return replace(table, orders=found)


def _call(data: Any, options: Mapping[str, Any]) -> str:
    """Return the call that repeats a table; empty for data in memory."""
    places = data if isinstance(data, (list, tuple)) else [data]
    if not all(isinstance(place, (str, os.PathLike)) for place in places):
        return ""
    written = [os.fspath(place) for place in places]
    named = written if isinstance(data, (list, tuple)) else written[0]
    others = Interface.of(read).code(options).removeprefix("reldep.read(")
    return f"reldep.read({named!r}{', ' if others != ')' else ''}{others}"
