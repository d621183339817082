"""The variables of a question: which data belong to each, and what it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import repeated
from reldep.data.objects import frame_library, native_name
from reldep.exceptions import InputError, InputTypeError
from reldep.words import counted, in_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence


def name_variables(
    single: Mapping[str, Any], many: Mapping[str, Mapping[str, Any]], names: Sequence[str] | None
) -> dict[str, Any]:
    """Return the data of every variable by its name in the answer.

    Parameters
    ----------
    single : mapping of str to data
        By argument, of one variable each. They are called by the names that the data carry, or by
        their arguments if they carry none or two carry the same.
    many : mapping of str to mapping of str to data
        By argument, of several variables with their names.
    names : sequence of str, optional
        Names for all variables, in this order.
    """
    blocks = [*single.values(), *(block for each in many.values() for block in each.values())]
    if names is not None:
        chosen = [str(name) for name in names]
        if len(chosen) != len(blocks) or len(set(chosen)) != len(chosen):
            roles = [*single, *(f"{len(each)} {role}" for role, each in many.items())]
            raise InputError(
                f"`names={names!r}` does not name the variables; pass {len(blocks)} different "
                f"names, for {', '.join(roles)}."
            )
        return dict(zip(chosen, blocks, strict=True))
    others = [name for each in many.values() for name in each]
    own = [native_name(block) or role for role, block in single.items()]
    if len({*own, *others}) < len(own) + len(others):
        own = list(single)
    found = dict(zip([*own, *others], blocks, strict=True))
    if len(found) < len(blocks):
        twice = next(name for name in others if name in own or others.count(name) > 1)
        raise InputError(f"two variables are called {twice!r}; rename one of them.")
    return found


def read_variables(argument: str, data: Any, *, at_least: int = 0) -> dict[str, Any]:
    """Return several variables by name; a column of a frame or an array is one of its own."""
    noun = argument.removesuffix("s")
    if isinstance(data, Mapping):
        blocks = list(data.items())
    elif frame_library(data) is not None or hasattr(data, "__narwhals_dataframe__"):
        blocks = _columns_of_frame(argument, data)
    elif isinstance(data, np.ndarray) and data.ndim == 2:
        blocks = [(f"{noun} {i}", column) for i, column in enumerate(data.T)]
    else:
        raise InputTypeError(
            f"`{argument}` is of type {type(data).__name__}; pass a mapping of names to data, a "
            f"data frame or a two-dimensional array, whose columns are the {argument}."
        )
    names = [in_one_line(str(name)) for name, _ in blocks]
    if "" in names:
        raise InputError(f"`{argument}` has a variable without a name; give it one.")
    twice = repeated(names)
    if twice:
        raise InputError(
            f"`{argument}` has {names.count(twice[0])} columns of the name {twice[0]!r}; rename "
            "them, so that the answer can tell them apart."
        )
    if len(names) < at_least:
        only = f": {names[0]!r}" if names else ""
        way_out = "For one target ask reldep.dependence." if noun == "target" else "Pass more."
        raise InputError(
            f"`{argument}` has {len(names)} of at least {counted(at_least, noun)}{only}. {way_out} "
            "Columns that belong together are one variable as {'name': frame}."
        )
    return dict(zip(names, (block for _, block in blocks), strict=True))


def _columns_of_frame(argument: str, frame: Any) -> list[tuple[Any, Any]]:
    """Return the columns of a frame; by position, since names may repeat."""
    if frame_library(frame) == "pandas" and hasattr(frame, "iloc") and frame.ndim == 2:
        return [(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns)]
    import narwhals as nw

    native = nw.from_native(frame, allow_series=True)
    if not isinstance(native, nw.DataFrame):
        raise InputTypeError(
            f"`{argument}` is a {type(frame).__name__}; pass a data frame with one column for each "
            "of them, or a mapping of names to data."
        )
    return [(name, native[name].to_native()) for name in native.columns]
