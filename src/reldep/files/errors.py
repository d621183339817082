"""What libraries raise while they read, and their words in one line."""

from __future__ import annotations

from reldep.data.checks import printable

_LONGEST = 200


def reading_errors() -> tuple[type[BaseException], ...]:
    """Return what polars raises while it reads; a panic in its core is not an Exception."""
    import polars as pl

    return (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def reason(error: BaseException) -> str:
    """Return the first line of what a library says, cut if it is long."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    first = printable(lines[0].strip())
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}…"


def missing_package(name: str, extra: str) -> ImportError:
    """Return the error for a file that needs an optional package."""
    return ImportError(
        f"reading {printable(name)} needs an extra package: pip install 'reldep[{extra}]'"
    )
