"""The language in which columns are named: lists, ranges, globs, types, exclusions.

=================  =========================================================
``age,sex``        columns by name, separated by commas
``C14:C18``        a range: from the first to the last, in the file's order
``ge_*``           a glob: ``*`` any text, ``?`` one character, ``[ab]`` one of these
``@numeric``       all columns of a type; also ``@categorical``, ``@genes`` (of an AnnData
                   file) and ``@all``
``!age``           not this one; ``!`` stands before a name, a range, a glob or a type
``"a,b"``          a name as it is, in double quotes (``""`` stands for one quote)
=================  =========================================================

A name that a column bears exactly is that column, before any other reading of
``:``, ``*``, ``?``, ``[``, ``!`` or ``@``. Exclusions are taken off at the end,
wherever they stand; an expression of exclusions alone starts from all columns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Container, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from reldep.exceptions import InputError
from reldep.words import composed, hint

Words: TypeAlias = "str | Sequence[str]"


class ColumnType(StrEnum):
    """The type of a column, in plain words."""

    NUMBER = "number"
    INTEGER = "integer"
    CATEGORY = "category"
    BOOLEAN = "boolean"
    TEXT = "text"
    DATE = "date"
    CYCLE = "place in a cycle"
    LIFETIME = "lifetime"
    GENE = "gene"
    MIXED = "numbers and words"
    OTHER = "other"


# A column without any value has no type; objects of pandas are read when they are used.
_KINDS = {
    "Boolean": ColumnType.BOOLEAN,
    **dict.fromkeys(("String", "Null", "Object"), ColumnType.TEXT),
    **dict.fromkeys(("Categorical", "Enum"), ColumnType.CATEGORY),
    **dict.fromkeys(("Date", "Datetime", "Time", "Duration"), ColumnType.DATE),
}
# A column of numbers with a stray word answers to both types, so that neither
# passes over it in silence: reading it is an error that says what to do.
_TYPES = {
    "@numeric": {"number", "integer", "place in a cycle", "gene", "numbers and words"},
    "@categorical": {"category", "boolean", "text", "numbers and words"},
    "@genes": {"gene"},
    "@all": set(map(str, ColumnType)),
}
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
# A double quote opens a quoted name at the start and after one of these signs.
_QUOTED_PLACE = re.compile(rf"(^|[,:!~=])(\s*{_QUOTED.pattern})")


def kind_of(dtype: Any) -> ColumnType:
    """Return the kind of a column by its type, of polars or of narwhals.

    Examples
    --------
    >>> import polars
    >>> str(kind_of(polars.Float32()))
    'number'
    """
    if dtype.is_integer():
        return ColumnType.INTEGER
    if dtype.is_numeric():
        return ColumnType.NUMBER
    return _KINDS.get(type(dtype).__name__, ColumnType.OTHER)


def select_columns(
    words: Words, schema: Mapping[str, ColumnType], *, source: str = "the table"
) -> list[str]:
    """Return the columns that words name, each once, in the order named.

    Parameters
    ----------
    words : str or sequence of str
        Comma-separated names, ranges, globs, types and exclusions; see the
        module's table. The entries of a list are words each.
    schema : mapping of str to ColumnType
        The columns there are, in the file's order.
    source : str
        What to call the table in an error message.

    Returns
    -------
    list of str
        At least one name.

    Raises
    ------
    ValueError
        If a name is unknown, a range runs backwards, a pattern matches
        nothing, or nothing is left.

    Examples
    --------
    >>> number, text = ColumnType.NUMBER, ColumnType.TEXT
    >>> schema = {"id": text, "C14": number, "C16": number, "C18": number}
    >>> select_columns("C14:C18,!C16", schema)
    ['C14', 'C18']
    >>> select_columns(["@categorical", "C1[46]"], schema)
    ['id', 'C14', 'C16']
    """
    each = [words] if isinstance(words, str) else words
    names = {composed(name): name for name in schema}
    if len(names) == len(schema):
        each = [composed(word) for word in each]
    else:  # some differ in the form of their letters only
        names = {name: name for name in schema}
    known = {own: schema[name] for own, name in names.items()}
    found = [names[own] for word in each for own in _select(word, known, source)]
    return list(dict.fromkeys(found))


def _select(expression: str, schema: Mapping[str, ColumnType], source: str) -> list[str]:
    if expression in schema:
        # A name may hold commas, quotes and whatever else has a meaning here.
        return [expression]
    chosen: list[str] = []
    excluded: set[str] = set()
    for item in _split(expression, ","):
        is_excluded = item.startswith("!") and item not in schema
        wanted = item[1:].lstrip() if is_excluded else item
        if not wanted:
            raise InputError(
                f'{expression!r} has an empty place; a column without a name is written ""'
            )
        found = _resolve(wanted, schema, source)
        if is_excluded:
            excluded.update(found)
        else:
            chosen += found
    kept = [name for name in chosen or schema if name not in excluded]
    if not kept:
        raise InputError(f"{expression!r} leaves no column of {source}: all are excluded with '!'")
    return kept


def _resolve(item: str, schema: Mapping[str, ColumnType], source: str) -> list[str]:
    """Return the columns of one name, range, type or glob."""
    if item in schema and item[0] != '"':
        return [item]
    pieces = _split(item, ":")
    if len(pieces) == 1 and item[0] == '"':
        return [known_column(_unquoted(item), schema, source)]
    # Names may hold colons themselves: each is tried as the one between the ends of a range.
    cuts = [(":".join(pieces[:cut]), ":".join(pieces[cut:])) for cut in range(1, len(pieces))]
    ends = [(_unquoted(first), _unquoted(last)) for first, last in cuts if first and last]
    ranges = [pair for pair in ends if pair[0] in schema and pair[1] in schema]
    if len(ranges) > 1:
        raise InputError(f"{item!r} can be read as more than one range; put names in double quotes")
    if ranges:
        return _between(*ranges[0], list(schema))
    if item[0] == "@":
        return _of_type(item, schema, source)
    matched = [name for name in schema if fnmatchcase(name, item)]
    if not matched and len(ends) != 1 and any(mark in item for mark in "*?["):
        near = hint(item, schema, kind="columns")
        raise InputError(f"no column of {source} matches {item!r}; {near}")
    names = ends[0] if len(ends) == 1 else (item,)
    return matched or [known_column(name, schema, source) for name in names]


def _between(first: str, last: str, order: list[str]) -> list[str]:
    low, high = order.index(first), order.index(last)
    if low > high:
        raise InputError(
            f"the range '{first}:{last}' runs backwards: {first!r} comes after {last!r}; write "
            f"{last}:{first}"
        )
    return order[low : high + 1]


def _of_type(item: str, schema: Mapping[str, ColumnType], source: str) -> list[str]:
    if item not in _TYPES:
        raise InputError(f"unknown type of column {item!r}; {hint(item, _TYPES, kind='types')}")
    matched = [name for name, kind in schema.items() if kind in _TYPES[item]]
    if not matched:
        raise InputError(f"{source} has no column of the type {item!r}")
    return matched


def known_column(name: str, schema: Collection[str], source: str) -> str:
    """Return the name if there is such a column; else raise, with the nearest names."""
    if name not in schema:
        raise InputError(f"no column {name!r} in {source}; {hint(name, schema, kind='columns')}")
    return name


def select_variables(
    words: Words | Mapping[str, Words],
    schema: Mapping[str, ColumnType],
    *,
    several: bool = False,
    source: str = "the table",
) -> dict[str, list[str]]:
    """Return the columns of every variable that words name.

    ``NAME=COLS`` is one variable. Other words are one variable too, called by its only column or
    else as it is written; with `several` they are one variable per column. An entry of a list is
    a word of its own, and a mapping has one entry per variable.

    Examples
    --------
    >>> schema = dict.fromkeys(["diet", "C14", "C16", "ge_1"], ColumnType.NUMBER)
    >>> select_variables("C*", schema)
    {'C*': ['C14', 'C16']}
    >>> select_variables(["C*", "genes=ge_*"], schema, several=True)
    {'C14': ['C14'], 'C16': ['C16'], 'genes': ['ge_1']}
    """
    if isinstance(words, Mapping):
        plain = {
            name: parse_named(text, schema)[1] if isinstance(text, str) else text
            for name, text in words.items()
        }
        return {name: select_columns(one, schema, source=source) for name, one in plain.items()}
    if not several and not isinstance(words, str):
        return {", ".join(words): select_columns(words, schema, source=source)}
    blocks: dict[str, list[str]] = {}
    for word in [words] if isinstance(words, str) else words:
        name, text = parse_named(word, schema)
        columns = select_columns(text, schema, source=source)
        if several and not name:
            own = {column: [column] for column in columns}
        else:
            own = {name or (columns[0] if len(columns) == 1 else word): columns}
        twice = next((name for name in own if name in blocks and own[name] != blocks[name]), None)
        if twice is not None:
            raise InputError(
                f"two variables are named {twice!r}. Give them names of their own, as in NAME=COLS."
            )
        blocks |= own
    return blocks


def parse_named(text: str, schema: Container[str] = ()) -> tuple[str, str]:
    """Return the name and the columns of ``NAME=COLS``; of ``COLS`` the name is empty.

    Examples
    --------
    >>> parse_named("lipids=C14*,C16*"), parse_named("C14*")
    (('lipids', 'C14*,C16*'), ('', 'C14*'))
    >>> parse_named("dose=5", ["dose=5"])
    ('', 'dose=5')
    """
    # A column's own name may contain an equals sign.
    if text in schema or _split(text, ",")[0] in schema:
        return "", text
    pieces = _split(text, "=", maximum=1)
    return (_unquoted(pieces[0]), pieces[1]) if len(pieces) == 2 and all(pieces) else ("", text)


def parse_weight(text: str) -> tuple[tuple[str, str], float]:
    """Read the weight of a pair of variables, written ``a~b=1``.

    Examples
    --------
    >>> parse_weight("diet~genes=-0.5")
    (('diet', 'genes'), -0.5)
    """
    pieces = _split(text, "=")
    names = [_unquoted(name) for name in _split(pieces[0], "~")]
    try:
        weight = float(pieces[-1])
    except ValueError:
        weight = math.nan
    if len(pieces) != 2 or len(names) != 2 or "" in names or not math.isfinite(weight):
        raise InputError(
            f"expected a pair and its weight, a finite number, such as 'a~b=1'; got {text!r}"
        )
    return (names[0], names[1]), weight


def parse_lifetime(text: str) -> tuple[str, str, str | None]:
    """Read the columns of a lifetime, written ``TIME,EVENT`` or ``TIME,EVENT=VALUE``.

    Examples
    --------
    >>> parse_lifetime("days,died"), parse_lifetime("days,status=2")
    (('days', 'died', None), ('days', 'status', '2'))
    """
    pieces = _split(text, ",")
    event, *value = _split(pieces[-1], "=", maximum=1)
    if len(pieces) != 2 or "" in (*pieces, event, *value):
        raise InputError(
            f"expected a column of times and one of events, such as 'days,died' or "
            f"'days,status=2' if 2 marks an event; got {text!r}"
        )
    return pieces[0], event, value[0] if value else None


def quote_column(name: str) -> str:
    """Return a column's name as words that name this column and nothing else.

    Examples
    --------
    >>> quote_column("C16:0, total")
    '"C16:0, total"'
    """
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _split(text: str, separator: str, *, maximum: int = -1) -> list[str]:
    """Return the pieces between separators outside quoted names, trimmed."""
    hidden = _QUOTED_PLACE.sub(lambda found: found[1] + "_" * len(found[2]), text)
    pieces, start = [], 0
    for bare in hidden.split(separator, maximum):
        pieces.append(text[start : start + len(bare)].strip())
        start += len(bare) + 1
    return pieces


def _unquoted(piece: str) -> str:
    """Return the name that a piece stands for, without its quotes."""
    if not piece.startswith('"'):
        return piece
    match = _QUOTED.fullmatch(piece)
    if match is None:
        raise InputError(f"{piece!r} begins a quoted name; end it with a double quote")
    return match[1].replace('""', '"')
