"""Many targets of one source: a mapping, the columns of a frame, or those of an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import check_names_known
from reldep.data.objects import frame_library, native_name
from reldep.exceptions import InputError, InputTypeError
from reldep.words import counted, in_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.engine import Influence


def read_targets(targets: Any) -> dict[str, Any]:
    """Give every target its name; a column of a frame or an array is a target of its own."""
    blocks = read_variables("targets", targets)
    if len(blocks) < 2:
        only = f": {next(iter(blocks))!r}" if blocks else ""
        raise InputError(
            f"targets has {len(blocks)} of at least 2 targets{only}. For one target ask "
            "reldep.dependence; several columns that belong together are one target as {'name': "
            "frame}."
        )
    return blocks


def read_variables(argument: str, data: Any, *, at_least: int = 0) -> dict[str, Any]:
    """Give every variable its name; a column of a frame or an array is one of its own."""
    noun = argument.removesuffix("s")
    if isinstance(data, Mapping):
        blocks = list(data.items())
    elif frame_library(data) is not None or hasattr(data, "__narwhals_dataframe__"):
        blocks = _columns_of_frame(argument, data)
    elif isinstance(data, np.ndarray) and data.ndim == 2:
        blocks = [(f"{noun} {i}", column) for i, column in enumerate(data.T)]
    else:
        raise InputTypeError(
            f"{argument} is of type {type(data).__name__}; pass a mapping of names to data, a data "
            f"frame or a two-dimensional array, whose columns are the {argument}."
        )
    names = [in_one_line(str(name)) for name, _ in blocks]
    if "" in names:
        raise InputError(f"{argument} has a variable without a name; give it one.")
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise InputError(
            f"{argument} has {names.count(repeated[0])} columns of the name {repeated[0]!r}; "
            "rename them, so that the answer can tell them apart."
        )
    if len(names) < at_least:
        raise InputError(
            f"{argument} has {len(names)} of at least {counted(at_least, 'variable')}; pass more."
        )
    return dict(zip(names, (block for _, block in blocks), strict=True))


def _columns_of_frame(argument: str, frame: Any) -> list[tuple[Any, Any]]:
    """Take a frame apart; by position, since names may repeat."""
    if frame_library(frame) == "pandas" and hasattr(frame, "iloc") and frame.ndim == 2:
        return [(name, frame.iloc[:, i]) for i, name in enumerate(frame.columns)]
    import narwhals as nw

    native = nw.from_native(frame, allow_series=True)
    if not isinstance(native, nw.DataFrame):
        raise InputTypeError(
            f"{argument} is a {type(frame).__name__}; pass a data frame with one column for each, "
            "or a mapping of names to data."
        )
    return [(name, native[name].to_native()) for name in native.columns]


def name_all(
    source: Any, targets: Mapping[str, Any], names: Sequence[str] | None
) -> tuple[str, list[str]]:
    """Choose the names of source and targets for the result."""
    if names is not None:
        chosen = [str(name) for name in names]
        if len(chosen) != len(targets) + 1 or len(set(chosen)) != len(chosen):
            raise InputError(
                f"names has {len(chosen)} entries, {len(set(chosen))} of them different; pass "
                f"{len(targets) + 1} different names, for the source and {len(targets)} targets."
            )
        return chosen[0], chosen[1:]
    own = native_name(source)
    if own is None or own in targets:
        own = "source"
    if own in targets:
        raise InputError(
            "targets has a target of the name 'source', which is also what the source is called; "
            "pass names=(source, *targets)."
        )
    return own, list(targets)


def names_in_influence(
    source: Any, influence: Influence, names: Sequence[str] | None
) -> tuple[str, list[str]]:
    """Find the targets of a source among the pairs that are computed already."""
    if not isinstance(source, str):
        raise InputTypeError(
            f"source is of type {type(source).__name__}; with an Influence in place of targets "
            "pass the name of the source."
        )
    if names is not None:
        raise InputError("names are those of the Influence; leave names out.")
    check_names_known("source", [source], influence.names)
    others = [
        pair[1] if pair[0] == source else pair[0] for pair in influence.pairs if source in pair
    ]
    targets = [name for name in dict.fromkeys(others) if name != source]
    if len(targets) < 2:
        raise InputError(
            f"the Influence has {counted(len(targets), 'pair')} of {source!r} with another "
            "variable; a "
            "ranking needs at least 2. Add them to the pairs of reldep.influence()."
        )
    return source, targets
