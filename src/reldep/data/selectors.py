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
from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeAlias

from reldep.data.checks import composed, hint
from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


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


OTHER = ColumnType.OTHER
# A column without any value has no type; objects of pandas are read when they are used.
_KINDS = {
    "Boolean": ColumnType.BOOLEAN,
    **dict.fromkeys(("String", "Null", "Object"), ColumnType.TEXT),
    **dict.fromkeys(("Categorical", "Enum"), ColumnType.CATEGORY),
    **dict.fromkeys(("Date", "Datetime", "Time", "Duration"), ColumnType.DATE),
}
# A column of numbers with a stray word answers to both types, so that neither
# passes over it in silence: reading it is an error that says what to do.
_TYPES: dict[str, frozenset[ColumnType]] = {
    "@numeric": frozenset(
        {
            ColumnType.NUMBER,
            ColumnType.INTEGER,
            ColumnType.CYCLE,
            ColumnType.GENE,
            ColumnType.MIXED,
        }
    ),
    "@categorical": frozenset(
        {ColumnType.CATEGORY, ColumnType.BOOLEAN, ColumnType.TEXT, ColumnType.MIXED}
    ),
    "@genes": frozenset({ColumnType.GENE}),
    "@all": frozenset(ColumnType),
}
_QUOTED = re.compile(r'"((?:[^"]|"")*)"', re.DOTALL)
# A double quote opens a quoted name at the start and after one of these.
_BEFORE_A_NAME = ",:!~="


def select_columns(
    expression: str, schema: Mapping[str, ColumnType], *, source: str = "the table"
) -> list[str]:
    """Return the columns an expression names, each once, in the order named.

    Parameters
    ----------
    expression : str
        Comma-separated names, ranges, globs, types and exclusions; see the
        module's table.
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
    >>> select_columns("@categorical,C1[46]", schema)
    ['id', 'C14', 'C16']
    """
    names = {composed(name): name for name in schema}
    if len(names) == len(schema) and not all(map(str.isascii, (expression, *schema))):
        composed_schema = {own: schema[name] for own, name in names.items()}
        return [names[own] for own in _select(composed(expression), composed_schema, source)]
    return _select(expression, schema, source)


def _select(expression: str, schema: Mapping[str, ColumnType], source: str) -> list[str]:
    if expression in schema:
        # A name may hold commas, quotes and whatever else has a meaning here.
        return [expression]
    chosen: list[str] = []
    excluded: set[str] = set()
    items = _split(expression, ",")
    for item in items:
        if item.startswith("!") and item not in schema:
            excluded.update(_resolve(item[1:].lstrip(), expression, schema, source))
        else:
            chosen += _resolve(item, expression, schema, source)
    if not chosen:
        chosen = list(schema)
    kept = [name for name in dict.fromkeys(chosen) if name not in excluded]
    if not kept:
        raise InputError(f"{expression!r} leaves no column of {source}: all are excluded with '!'")
    return kept


def _name_block(
    definition: str, schema: Mapping[str, ColumnType], source: str
) -> tuple[str, list[str]]:
    if definition in schema:
        return definition, [definition]
    pieces = _split(definition, "=", maximum=1)
    if _is_named(definition, schema):
        name = _bare_or_quoted(pieces[0], definition)
        return name, select_columns(pieces[1], schema, source=source)
    columns = select_columns(definition, schema, source=source)
    return columns[0] if len(columns) == 1 else definition, columns


Words: TypeAlias = "str | Sequence[str]"


def select_words(words: Words, schema: Mapping[str, ColumnType], source: str) -> list[str]:
    """Return the columns that words name, each once; the entries of a list are words each.

    Examples
    --------
    >>> schema = dict.fromkeys(["age", "C14", "C16"], ColumnType.NUMBER)
    >>> select_words(["C*", "age"], schema, "mice.csv")
    ['C14', 'C16', 'age']
    """
    each = [words] if isinstance(words, str) else words
    found = [name for word in each for name in select_columns(word, schema, source=source)]
    return list(dict.fromkeys(found))


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
    return ColumnType.NUMBER if dtype.is_numeric() else _KINDS.get(type(dtype).__name__, OTHER)


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
        return {
            name: select_words(
                columns_part(text, schema) if isinstance(text, str) else text, schema, source
            )
            for name, text in words.items()
        }
    if not several and not isinstance(words, str):
        return {", ".join(words): select_words(words, schema, source)}
    blocks: dict[str, list[str]] = {}
    for word in [words] if isinstance(words, str) else words:
        name, columns = _name_block(word, schema, source)
        own = {name: columns}
        if several and (name == word or len(columns) == 1) and not _is_named(word, schema):
            own = {column: [column] for column in columns}
        twice = next((name for name in own if name in blocks and own[name] != blocks[name]), None)
        if twice is not None:
            raise InputError(
                f"two variables are named {twice!r}. Give them names of their own, as in NAME=COLS."
            )
        blocks |= own
    return blocks


def _is_named(definition: str, schema: Mapping[str, ColumnType]) -> bool:
    # A column's own name may contain an equals sign.
    if definition in schema or _split(definition, ",")[0] in schema:
        return False
    pieces = _split(definition, "=", maximum=1)
    return len(pieces) == 2 and "" not in pieces


def quote_column(name: str) -> str:
    """Return a column's name as words that name this column and nothing else.

    Examples
    --------
    >>> quote_column("C16:0, total")
    '"C16:0, total"'
    """
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def parse_named(text: str) -> tuple[str, str]:
    """Return the name and the column expression of ``NAME=COLS``.

    Examples
    --------
    >>> parse_named("lipids=C14*,C16*")
    ('lipids', 'C14*,C16*')
    """
    pieces = _split(text, "=", maximum=1)
    if len(pieces) != 2 or "" in pieces:
        raise InputError(f"expected NAME=COLS, such as 'lipids=C14*,C16*'; got {text!r}")
    return _bare_or_quoted(pieces[0], text), pieces[1]


def columns_part(text: str, schema: Container[str]) -> str:
    """Return the columns of ``COLS`` or ``NAME=COLS``; a name may contain an equals sign.

    Examples
    --------
    >>> columns_part("lipids=C*", ["C14"]), columns_part("dose=5", ["dose=5"])
    ('C*', 'dose=5')
    """
    if text in schema:
        return text
    try:
        return parse_named(text)[1]
    except InputError:
        return text


def parse_weight(text: str) -> tuple[tuple[str, str], float]:
    """Read the weight of a pair of variables, written ``a~b=1``.

    Examples
    --------
    >>> parse_weight("diet~genes=-0.5")
    (('diet', 'genes'), -0.5)
    """
    form = f"expected a pair and its weight, such as 'a~b=1'; got {text!r}"
    pieces = _split(text, "=")
    names = _split(pieces[0], "~")
    if len(pieces) != 2 or len(names) != 2 or "" in names:
        raise InputError(form)
    try:
        weight = float(pieces[1])
    except ValueError:
        raise InputError(f"{form}: {pieces[1]!r} is not a number") from None
    if not math.isfinite(weight):
        raise InputError(f"{form}: a weight must be finite")
    return (_bare_or_quoted(names[0], text), _bare_or_quoted(names[1], text)), weight


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


def _split(text: str, separator: str, *, maximum: int = -1) -> list[str]:
    """Return the pieces between separators outside quoted names, trimmed."""
    pieces: list[str] = []
    start = position = 0
    may_open = True
    while position < len(text):
        character = text[position]
        if character == '"' and may_open:
            match = _QUOTED.match(text, position)
            if match is None:
                raise InputError(f"a double quote in {text!r} is not closed")
            position, may_open = match.end(), False
            continue
        if character == separator and len(pieces) != maximum:
            pieces.append(text[start:position])
            start = position + 1
        if not character.isspace():
            may_open = character in _BEFORE_A_NAME
        position += 1
    return [piece.strip() for piece in [*pieces, text[start:]]]


def _bare_or_quoted(piece: str, text: str) -> str:
    """Return the name that a piece stands for, without its quotes."""
    if not piece.startswith('"'):
        return piece
    match = _QUOTED.fullmatch(piece)
    if match is None:
        raise InputError(f"unexpected text after the closing quote of {piece!r} in {text!r}")
    return match[1].replace('""', '"')


def _resolve(
    item: str, expression: str, schema: Mapping[str, ColumnType], source: str
) -> list[str]:
    """Return the columns that one item of an expression stands for."""
    if not item:
        raise InputError(
            f"{expression!r} has an empty place where a column should be; a column without a "
            'name is written ""'
        )
    if item in schema and not item.startswith('"'):
        return [item]
    pieces = _split(item, ":")
    if len(pieces) == 1 and item.startswith('"'):
        return [known_column(_bare_or_quoted(item, expression), schema, source)]
    matched = (
        _range(pieces, expression, schema)
        or _of_type(item, schema, source)
        or [name for name in schema if fnmatchcase(name, item)]
    )
    if matched:
        return matched
    if len(pieces) == 2 and all(pieces):
        ends = [_bare_or_quoted(piece, expression) for piece in pieces]
        raise _unknown(next(end for end in ends if end not in schema), schema, source)
    if any(mark in item for mark in "*?["):
        raise InputError(f"no column of {source} matches {item!r}; {_hint(item, schema)}")
    raise _unknown(item, schema, source)


def _range(pieces: list[str], expression: str, schema: Mapping[str, ColumnType]) -> list[str]:
    """Return the columns of ``first:last``, or none if this is not a range.

    Names may hold colons themselves, so every colon is tried as the one that
    separates the two ends.
    """
    found: list[tuple[str, str]] = []
    for cut in range(1, len(pieces)):
        ends = (":".join(pieces[:cut]), ":".join(pieces[cut:]))
        if all(ends):
            first, last = (_bare_or_quoted(end, expression) for end in ends)
            if first in schema and last in schema:
                found.append((first, last))
    if not found:
        return []
    if len(found) > 1:
        raise InputError(
            f"{':'.join(pieces)!r} can be read as more than one range; "
            "put the names in double quotes"
        )
    first, last = found[0]
    order = list(schema)
    low, high = order.index(first), order.index(last)
    if low > high:
        raise InputError(
            f"the range {':'.join(pieces)!r} runs backwards: {first!r} comes after {last!r}; "
            f"write {last}:{first}"
        )
    return order[low : high + 1]


def _of_type(item: str, schema: Mapping[str, ColumnType], source: str) -> list[str]:
    """Return the columns of a type such as ``@numeric``, or none if it is no type."""
    if not item.startswith("@"):
        return []
    if item not in _TYPES:
        raise InputError(f"unknown type of column {item!r}; {hint(item, _TYPES, kind='types')}")
    matched = [name for name, kind in schema.items() if kind in _TYPES[item]]
    if not matched:
        raise InputError(f"{source} has no column of the type {item!r}")
    return matched


def known_column(name: str, schema: Mapping[str, ColumnType], source: str) -> str:
    """Return the name if there is such a column; else raise, with the nearest names."""
    if name not in schema:
        raise _unknown(name, schema, source)
    return name


def _unknown(name: str, schema: Mapping[str, ColumnType], source: str) -> InputError:
    return InputError(f"no column {name!r} in {source}; {_hint(name, schema)}")


def _hint(name: str, schema: Mapping[str, ColumnType]) -> str:
    return hint(name, schema, kind="columns")
