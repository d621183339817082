"""How a question is called: columns named by words, and a call that can be repeated."""

from __future__ import annotations

import functools
import inspect
import itertools
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from reldep.checks import Beside, cautions_about
from reldep.data.selectors import parse_named, quote_column
from reldep.exceptions import InputError, InputTypeError, by_weight
from reldep.files.partitions import Partitions, open_partitions
from reldep.files.selection import Selection, select_data
from reldep.files.table import Table
from reldep.files.wide_columns import TableColumns
from reldep.kernels.base import Kernel
from reldep.results.answer import Answer
from reldep.system import available_memory

if TYPE_CHECKING:
    from reldep.exceptions import ReldepWarning

P = ParamSpec("P")
A = TypeVar("A", bound=Answer)

# The arguments that are one variable, that hold several, and that name a single column.
BLOCKS = ("source", "first", "second", "x", "y", "given")
SEVERAL = ("sources", "targets", "variables", "columns")
COLUMNS = ("by", "clusters", "ids")

# The questions that data in pieces can answer.
IN_PIECES = ("compare", "paper_test", "contrast", "dependence", "rank")

# What to do in place of `given`, where a question does not take it: it would regress every group,
# source or bandwidth by itself.
INSTEAD_OF_GIVEN = {
    "groups": "Ask for dependence(x, y, given=...) in each group, and compare the intervals.",
    "scan": "Call compare(..., given=...) or rank(..., given=...) for the columns of interest.",
    "sensitivity": "Call compare(..., given=...) with the kernels of interest.",
}

# Longer values are data, which the reader has under the argument's own name.
LONGEST = 160
MOST_PARTS = 20


def quiet_numbers() -> np.errstate:
    """Keep NumPy's warnings in: what overflows is refused in words where A is checked."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore")


def asked(question: Callable[P, A]) -> Callable[P, A]:
    """Let a question take columns of `data` by name, and note in its answer how it was called."""
    signature = inspect.signature(question)

    @functools.wraps(question)
    def ask(*args: P.args, **kwargs: P.kwargs) -> A:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            if "given" in kwargs and question.__name__ in INSTEAD_OF_GIVEN:
                raise InputTypeError(
                    f"{question.__name__}() holds no covariates fixed: it does not take `given`. "
                    f"{INSTEAD_OF_GIVEN[question.__name__]}"
                ) from None
            raise InputTypeError(f"{question.__name__}() {error}") from None
        given = dict(bound.arguments)
        cautions: tuple[ReldepWarning, ...] = ()
        chosen: Selection | None = None
        if given.get("data") is not None:
            found, cautions, chosen = from_data(in_pieces(question.__name__, given))
            bound.arguments.update(found)
        elif given.get("where") is not None:
            raise InputError(f"`where={given['where']!r}` chooses rows of `data`")
        with quiet_numbers():
            answer = question(*bound.args, **bound.kwargs)
        noted = replace(
            answer.provenance,
            call=call_text(question.__name__, given, signature),
            seed=seed_text(given.get("rng")),
            scope=None if chosen is None else chosen.scope,
            notes=(*(() if chosen is None else chosen.notes), *answer.provenance.notes),
        )
        said = by_weight((*cautions, *answer.warnings))
        noted_answer = replace(answer, provenance=noted, warnings=said)
        announce(noted_answer.warnings)
        return noted_answer

    return ask


def announce(cautions: Iterable[ReldepWarning]) -> None:
    """Raise one Python warning for every kind of caution; the answer itself has the details.

    A kind is announced in the same words each time, so that Python shows it once for a line of
    code, however often that line runs. Raised as an error, it names the caution as its cause.
    """
    first_of_kind = {type(caution): caution for caution in reversed([*cautions])}
    for caution in reversed(first_of_kind.values()):
        announced = caution.announced()
        announced.__cause__ = caution
        warnings.warn(announced, stacklevel=_frames_of_package())


def raise_in_full(cautions: Iterable[ReldepWarning]) -> None:
    """Raise each caution as a Python warning: for functions whose value cannot carry them."""
    for caution in cautions:
        warnings.warn(caution, stacklevel=_frames_of_package())


def _frames_of_package() -> int:
    """Count the callers that belong to this package, with the one outside it."""
    count, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("reldep."):
        count, frame = count + 1, frame.f_back
    # This function is among those counted, but is not there any more when the warning is raised.
    return count - 1


def in_pieces(question: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Open data that stay in pieces, for the questions that can be answered so."""
    partitions = open_partitions(given["data"], available_memory())
    if partitions is None:
        return given
    check_in_pieces(question)
    return {**given, "data": partitions}


def check_in_pieces(question: str) -> None:
    """Refuse a question that data in pieces cannot answer."""
    if question not in IN_PIECES:
        raise InputError(
            f"{question} needs all rows in one place, and the data are in partitions. Ask by "
            f"{', '.join(IN_PIECES[:-1])} or {IN_PIECES[-1]}, or read the rows you need into a "
            "data frame, and pass that."
        )


def from_data(
    given: Mapping[str, Any],
) -> tuple[dict[str, Any], tuple[ReldepWarning, ...], Selection]:
    """Take the columns that arguments name from `data`.

    Returns
    -------
    dict
        The arguments with data in place of names.
    tuple of ReldepWarning
        What columns that the question does not use tell about its rows.
    Selection
        The columns that were taken.
    """
    selectors = _selectors(given)
    clusters = given.get("clusters")
    chosen = select_data(
        given["data"],
        selectors,
        where=given.get("where"),
        ids=given.get("ids"),
        clusters=clusters if isinstance(clusters, str) else None,
        later=_many_columns(given),
        **_reading(given),
    )
    found: dict[str, Any] = {"data": None, "where": None, "ids": chosen.rows}
    if chosen.clusters is not None:
        found["clusters"] = chosen.clusters
    for key, block in chosen.blocks.items():
        argument, _, name = key.partition("\0")
        if name:
            found.setdefault(argument, {})[name] = block
        elif argument in SEVERAL:
            found[argument] = _one_by_one(block, chosen.columns[key], given)
        else:
            found[argument] = block
    if isinstance(clusters, tuple):
        found["clusters"] = tuple(found["clusters"].values())
    if given.get("names") is None:
        shown: dict[str, str] = {
            argument: _name(chosen.columns[argument], selectors[argument])
            for argument in ("source", "first", "second", "x", "y")
            if argument in selectors
        }
        _check_distinct(shown)
        targets = found.get("targets", {})
        if shown and "variables" not in selectors:
            found["names"] = [*shown.values(), *targets]
    return found, _about_table(chosen, given), chosen


def _about_table(chosen: Selection, given: Mapping[str, Any]) -> tuple[ReldepWarning, ...]:
    """Return what the columns that the question does not use tell about its rows."""
    if chosen.table is None:
        return ()
    return cautions_about(
        Beside(
            columns=chosen.table.columns,
            used=list(dict.fromkeys(name for block in chosen.columns.values() for name in block)),
            values=chosen.table.values,
            has_clusters=given.get("clusters") is not None,
            id=given.get("ids"),
        )
    )


def _reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a question that belong to reading."""
    na = given.get("na", ())
    return {} if isinstance(given["data"], (Table, Partitions)) or na in ((), None) else {"na": na}


def _selectors(given: Mapping[str, Any]) -> dict[str, str]:
    """Give the words that name the columns of every block."""
    selectors: dict[str, str] = {}
    for argument in (*BLOCKS, *SEVERAL, "by"):
        value = given.get(argument)
        if isinstance(value, Mapping):
            selectors |= {
                f"{argument}\0{name}": _words(argument, one) for name, one in value.items()
            }
        elif value is not None:
            selectors[argument] = _words(argument, value)
    for argument in ("ids", "clusters"):
        value = given.get(argument)
        if isinstance(value, tuple) and argument == "clusters":
            # Two clusterings that cross each other.
            selectors |= {f"clusters\0{i}": _words("clusters", one) for i, one in enumerate(value)}
        elif not isinstance(value, (str, type(None))):
            raise _not_a_name(argument, value)
    return selectors


def _many_columns(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the argument whose columns a scan reads some at a time."""
    if "sources" not in given:
        return ()
    return ("sources",) if given.get("second") is not None else ("first",)


def _words(argument: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, str) for one in value):
        return ",".join(quote_column(one) for one in value)
    raise _not_a_name(argument, value)


def _not_a_name(argument: str, value: Any) -> InputTypeError:
    return InputTypeError(
        f"{argument} is of type {type(value).__name__}, and `data` is given; name columns of the "
        "data, such as 'age', 'C*' or 'lipids=C14:C22'."
    )


def _name(columns: list[str], definition: str) -> str:
    """Name a block: by the one column it has, by ``NAME=COLS``, or as it was written."""
    if columns == [definition]:
        return definition
    try:
        return parse_named(definition)[0]
    except InputError:
        if len(columns) == 1:
            return columns[0]
        return ", ".join(columns) if definition.startswith('"') else definition


def _check_distinct(shown: Mapping[str, str]) -> None:
    for (one, name), (other, again) in itertools.combinations(shown.items(), 2):
        if name == again:
            raise InputError(
                f"{one} and {other} are both {name!r}; name different columns, or give blocks "
                "names of their own, as in 'NAME=COLS'."
            )


def _one_by_one(block: Any, columns: list[str], given: Mapping[str, Any]) -> Any:
    """Take a frame apart into its columns, but for the source's own."""
    if isinstance(block, TableColumns):
        return block
    if len(columns) == 1:
        return {columns[0]: block}
    source = given.get("source")
    return {name: block[name] for name in columns if name != source}


def call_text(name: str, given: Mapping[str, Any], signature: inspect.Signature) -> str:
    """Write a call; data stand under the names of their arguments, defaults are left out."""
    written = []
    for argument, value in given.items():
        default = signature.parameters[argument].default
        text = spelled(value)
        short = argument if text is None or len(text) > LONGEST else text
        if default is inspect.Parameter.empty:
            written.append(short)
        elif text is None or text != spelled(default):
            written.append(f"{argument}={short}")
    return f"reldep.{name}({', '.join(written)})"


def spelled(value: Any) -> str | None:
    """Write a value as in a program, or give None where that cannot be done."""
    if isinstance(value, np.generic):
        return spelled(value.item())
    if value is None or isinstance(value, (str, int, float, Kernel)):
        return repr(value)
    if isinstance(value, Table):
        return value.call or None
    if isinstance(value, (tuple, list, Mapping)) and len(value) > MOST_PARTS:
        return None
    if isinstance(value, (tuple, list)):
        parts = [spelled(part) for part in value]
        if None in parts:
            return None
        inside = ", ".join(str(part) for part in parts)
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(parts) == 1 else f"({inside})"
    if isinstance(value, Mapping):
        pairs = [(spelled(key), spelled(part)) for key, part in value.items()]
        if any(None in pair for pair in pairs):
            return None
        return "{" + ", ".join(f"{key}: {part}" for key, part in pairs) + "}"
    return None


def seed_text(rng: Any) -> str:
    """Say what random steps start from."""
    if rng is None:
        return "0 (the default)"
    return spelled(rng) or "a generator passed as rng"
