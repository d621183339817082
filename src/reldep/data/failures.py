"""What polars says when a file cannot be read, in words that name the place and the way out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reldep.data.dialect import not_utf8, signature

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reldep.data.textfile import TextFile

_UNPARSED = re.compile(
    r"could not parse `(?P<value>.*?)` as dtype `(?P<dtype>\w+)` "
    r"at column '(?P<column>.*?)' \(column number (?P<number>\d+)\)",
    re.DOTALL,
)
_LONGEST_REASON = 200


def polars_errors() -> tuple[type[BaseException], ...]:
    """Return what polars raises; a panic in its core is no ordinary exception."""
    import polars as pl

    return (pl.exceptions.PolarsError, pl.exceptions.PanicException)


def reading_errors() -> tuple[type[BaseException], ...]:
    """Return what polars raises while it reads: also OSError, for a file cut short or gone."""
    return (*polars_errors(), OSError)


def reason(error: BaseException) -> str:
    """Return the first line of what polars says, cut if it is long."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    first = lines[0].strip()
    return first if len(first) <= _LONGEST_REASON else f"{first[:_LONGEST_REASON]}…"


def not_as_named(path: Path, expected: str, mark: bytes, error: BaseException) -> ValueError:
    """Return the error to raise if a file is not of the kind that its name promises.

    `mark` is how a file of that kind starts: one that does is of the kind, but damaged.
    """
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(mark):
        return ValueError(f"{path} is damaged, or only a part of {expected}: {reason(error)}")
    what = signature(start)
    looks = f"it looks like {what}" if what else reason(error)
    return ValueError(f"{path} is not {expected}: {looks}")


def explain(error: BaseException, name: str, texts: Sequence[TextFile]) -> ValueError:
    """Return the error to raise in place of one that came while reading `name`.

    Parameters
    ----------
    error : exception
        What polars raised.
    name : str
        The file, or the files joined.
    texts : sequence of TextFile
        The text files among them: searched for the line at fault.
    """
    message = str(error)
    unparsed = _UNPARSED.search(message)
    if unparsed is not None and unparsed["dtype"] != "str":
        return ValueError(_unparsed_value(unparsed, name, texts))
    if unparsed is not None or "CSV malformed" in message:
        return ValueError(
            f"{name} has a double quote that is not closed or stands inside a value; "
            'write such a value in quotes, with its own quotes doubled: "5"" pipe"'
        )
    if "more fields than" in message:
        return ValueError(_too_many_fields(name, texts))
    if "utf-8" in message.lower() or "utf8" in message.lower():
        return ValueError(not_utf8(name))
    return ValueError(f"cannot read {name}: {reason(error)}")


def _unparsed_value(found: re.Match[str], name: str, texts: Sequence[TextFile]) -> str:
    """Say which value is of another type than its column, and on which line it stands."""
    position = int(found["number"]) - 1
    lines = [(text, text.line_of_value(position, found["value"])) for text in texts]
    places = [f"line {line} of {text.name}" for text, line in lines if line is not None]
    return (
        f"{places[0] if places else name}: column {found['column'].strip()!r} holds "
        f"{found['value']!r}, which is not of the type seen in the rows before it. Write "
        "missing values as NA or leave them empty; if the column holds labels, put a row "
        "with a label that is not a number among the first rows"
    )


def _too_many_fields(name: str, texts: Sequence[TextFile]) -> str:
    """Say which line has more fields than there are column names."""
    way_out = (
        "Every column needs a name in the first line, and a value that holds the delimiter "
        "must stand in double quotes"
    )
    for text in texts:
        found = text.line_too_long()
        if found is not None:
            line, fields = found
            return (
                f"line {line} of {text.name} has {fields} fields, but the first line "
                f"names {len(text.header)} columns. {way_out}"
            )
    return f"a line of {name} has more fields than the first line names columns. {way_out}"
