"""Amounts of memory as a user writes them."""

from __future__ import annotations

import re
from typing import Any

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-z]+)\s*")


def bytes_of(memory: Any) -> int:
    """Turn an amount such as ``"512MB"``, ``"1.5 GiB"`` or a number of bytes into bytes.

    Examples
    --------
    >>> from reldep.engine.memory import bytes_of
    >>> bytes_of("1.5GB")
    1500000000
    """
    way_out = 'pass a positive amount such as "512MB" or "2 GiB", or a number of bytes.'
    if isinstance(memory, bool) or not isinstance(memory, (str, int)):
        raise TypeError(f"memory is of type {type(memory).__name__}; {way_out}")
    amount = memory
    if isinstance(memory, str):
        match = _AMOUNT.fullmatch(memory)
        unit = match and _UNITS.get(match[2].upper())
        if not match or not unit:
            raise ValueError(f"memory={memory!r} is not understood; {way_out}")
        amount = int(float(match[1]) * unit)
    if int(amount) <= 0:
        raise ValueError(f"memory={memory!r}; {way_out}")
    return int(amount)


def in_words(n_bytes: float) -> str:
    """Write an amount of memory with a unit that suits it.

    Examples
    --------
    >>> from reldep.engine.memory import in_words
    >>> in_words(1_234_000_000)
    '1.23 GB'
    """
    for unit in ("TB", "GB", "MB", "KB"):
        if n_bytes >= _UNITS[unit]:
            return f"{n_bytes / _UNITS[unit]:.3g} {unit}"
    return f"{n_bytes:.0f} B"
