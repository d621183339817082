"""Reading a variable as strings, for every kernel that compares strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.variables import Labels, rows_in_words

if TYPE_CHECKING:
    from reldep.data.variables import Items


def strings_of(variable: Labels | Items, kernel: str) -> list[str]:
    """Give the string of every observation; bytes are read one character a byte.

    Parameters
    ----------
    variable : Labels or Items
        The observations.
    kernel : str
        The name of the kernel that asks, for messages.
    """
    values: list[Any] = variable.values() if isinstance(variable, Labels) else list(variable.items)
    for row, value in enumerate(values):
        if not isinstance(value, (str, bytes)):
            raise TypeError(
                f"observation {row} of {variable.name} is of type {type(value).__name__}; kernel "
                f"{kernel} takes strings only. Convert all observations to str."
            )
    refuse_where(variable.name, [not value for value in values], "an empty string")
    return [value if isinstance(value, str) else value.decode("latin-1") for value in values]


def refuse_where(name: str, bad: list[bool], fault: str) -> None:
    """Refuse observations with a fault, naming the rows."""
    rows = np.flatnonzero(bad).astype(np.int64)
    if len(rows):
        raise ValueError(
            f"{name} has {fault} in {rows_in_words(rows)}; leave these observations out or "
            "fill them in."
        )
