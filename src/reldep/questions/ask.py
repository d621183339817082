"""The road of every question: check the arguments, read the columns, answer, announce cautions."""

import inspect
import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from reldep.arguments import Argument, F, Interface
from reldep.checks import Beside, cautions_about
from reldep.data.selectors import parse_named
from reldep.exceptions import InputError, InputTypeError, ReldepWarning, by_weight
from reldep.files.read import as_table
from reldep.files.table import Table
from reldep.files.wide_columns import TableColumns
from reldep.questions.options import check_clusterings
from reldep.words import in_one_line

# What to do in place of `given`, where a question does not take it: it would regress every group,
# source or bandwidth by itself.
INSTEAD_OF_GIVEN = {
    "groups": "Ask for dependence(x, y, given=...) in each group, and compare the intervals.",
    "scan": "Call compare(..., given=...) or rank(..., given=...) for the columns of interest.",
    "sensitivity": "Call compare(..., given=...) with the kernels of interest.",
}


def question(function: F) -> F:
    """Return the public question of a function.

    The function receives every argument, checked; those that name columns of `data` as data, with
    the names of the variables in `names`, and those of the rows in `ids`.
    """
    interface = Interface.of(function)

    def ask(*args: Any, **kwargs: Any) -> Any:
        if "given" in kwargs and interface.name in INSTEAD_OF_GIVEN:
            raise InputTypeError(
                f"{interface.name}() holds no covariates fixed: it does not take `given`. "
                f"{INSTEAD_OF_GIVEN[interface.name]}"
            )
        given = interface.bind(args, kwargs)
        taken = take_columns(interface, interface.complete(given))
        with quiet_numbers():
            answer = function(**taken.arguments)
        noted = replace(
            answer.provenance,
            call=interface.code(given),
            seed=_seed_in_words(given.get("rng")),
            scope=taken.scope,
            notes=(*taken.notes, *answer.provenance.notes),
        )
        said = by_weight((*taken.cautions, *answer.warnings))
        answer = replace(answer, provenance=noted, warnings=said)
        announce(answer.warnings)
        return answer

    return interface.dress(ask, function)


def quiet_numbers() -> np.errstate:
    """Return a context without NumPy's warnings: overflow is refused where A is checked."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore")


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
    """Return the number of callers that belong to this package, with the one outside it."""
    count, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("reldep."):
        count, frame = count + 1, frame.f_back
    # This function is among those counted, but is gone when the warning is raised.
    return count - 1


def _seed_in_words(rng: Any) -> str:
    if rng is None:
        return "0 (the default)"
    whole = isinstance(rng, (int, np.integer))
    return str(int(rng)) if whole else "a generator passed as rng"


@dataclass(frozen=True, eq=False)
class Taken:
    """The arguments of a question with data in place of words.

    Attributes
    ----------
    arguments : dict
    cautions : tuple of ReldepWarning
        What columns that the question does not use tell about its rows.
    scope : str or None
        The rows that a condition chose.
    notes : tuple of str
        What was understood about the table.
    """

    arguments: dict[str, Any]
    cautions: tuple[ReldepWarning, ...] = field(default=())
    scope: str | None = None
    notes: tuple[str, ...] = ()


def take_columns(interface: Interface, arguments: Mapping[str, Any]) -> Taken:
    """Read the columns that arguments name from `data`; without `data` they are data already."""
    data = arguments["data"]
    found = {name: value for name, value in arguments.items() if name != "data"}
    if data is None:
        return Taken(found)
    table = as_table(data)
    chosen = {
        one.name: _variables(one, _kind(one, arguments), arguments[one.name], table)
        for one in interface.arguments.values()
        if one.columns and arguments[one.name] is not None
    }
    _leave_out_columns_used(chosen, interface)
    found |= _read(table, chosen, interface, arguments)
    _add_names(found, chosen, interface, arguments)
    used = [name for blocks in chosen.values() for block in blocks.values() for name in block]
    rows = replace(table.rows, time=table.time_order())
    # What the columns that the question does not use tell about its rows.
    beside = Beside(
        columns=table.columns,
        used=list(dict.fromkeys(used)),
        values=table.values,
        has_clusters=arguments.get("clusters") is not None,
        id=_id_column(table),
    )
    scope = None if table.scope is None else str(table.scope)
    return Taken({**found, "ids": rows}, cautions_about(beside), scope, table.notes_about(used))


def _id_column(table: Table) -> str | None:
    """Return the column that names the rows; an index is not a column."""
    name = None if table.row_names is None else table.row_names[0]
    return name if name in table.columns else None


def _kind(argument: Argument, arguments: Mapping[str, Any]) -> str:
    """Return whether an argument is one variable or several.

    A scan without `second` has one source and many targets.
    """
    is_scan = "sources" in arguments and argument.name == "first"
    return "several" if is_scan and arguments["second"] is None else argument.columns


def _variables(argument: Argument, kind: str, words: Any, source: Table) -> dict[str, list[str]]:
    """Return the columns of every variable that the words of an argument name."""
    _check_words(argument.name, words)
    if kind == "labels" and not isinstance(words, str):
        check_clusterings(argument.name, tuple(words))
        return {str(i): _one_column(argument.name, one, source) for i, one in enumerate(words)}
    if kind in ("label", "labels"):
        return {argument.name: _one_column(argument.name, words, source)}
    if kind == "one" and not isinstance(words, (str, Mapping)):
        words = _one_block(argument.name, list(words), source)
    _check_no_events(words, source)
    found = source.variables(words, several=kind == "several")
    if kind == "one" and argument.name != "given" and len(found) != 1:
        raise InputError(f"`{argument.name}` names {len(found)} variables; name one.")
    return {in_one_line(name): columns for name, columns in found.items()}


def _check_no_events(words: Any, table: Table) -> None:
    """Raise InputError for a column that is part of lifetimes."""
    texts = words.values() if isinstance(words, Mapping) else [words]
    asked = [one for text in texts for one in ([text] if isinstance(text, str) else text)]
    for time, (event, _) in table.lifetimes.items():
        if any(event in (piece.strip() for piece in word.split(",")) for word in asked):
            raise InputError(
                f"column {event!r} is part of the lifetimes in {time!r}; name {time!r} alone."
            )


def _one_block(argument: str, words: list[str], source: Any) -> dict[str, list[str]]:
    """Return a list of words as one variable; the first may give it a name, as in NAME=COLS."""
    named = [word for word in words if "=" in word and word not in source.columns]
    if not named:
        return {", ".join(words): words}
    if named != words[:1]:
        raise InputError(
            f"`{argument}` is one variable of {len(words)} words, and {named[-1]!r} has a name; "
            "give the name in the first word, as in NAME=COLS."
        )
    name, columns = parse_named(words[0])
    return {name: [columns, *words[1:]]}


def _one_column(argument: str, words: str, source: Any) -> list[str]:
    found = [words] if words in source.columns else source.select(words)
    if len(found) > 1:
        raise InputError(f"`{argument}={words!r}` names {len(found)} columns; give one.")
    return [*found]


def _check_words(argument: str, words: Any) -> None:
    """Raise InputTypeError if an argument is data though `data` is given."""
    parts = words.values() if isinstance(words, Mapping) else [words]
    for part in parts:
        each = part if isinstance(part, (list, tuple)) and part else [part]
        if not all(isinstance(one, str) for one in each):
            raise InputTypeError(
                f"`{argument}` is of type {type(words).__name__}, and `data` is given; name "
                "columns of the data, such as 'age', 'C*' or 'lipids=C14:C22'."
            )


def _leave_out_columns_used(chosen: dict[str, dict[str, list[str]]], interface: Interface) -> None:
    """Take columns that are a variable of their own out of patterns of many."""
    one = {
        blocks[name][0]
        for argument, blocks in chosen.items()
        for name in blocks
        if interface.arguments[argument].columns == "one" and len(blocks[name]) == 1
    }
    for argument, blocks in chosen.items():
        if interface.arguments[argument].columns == "several" and len(blocks) > 1:
            chosen[argument] = {
                name: columns
                for name, columns in blocks.items()
                if columns != [name] or name not in one
            }


def _read(
    table: Table,
    chosen: Mapping[str, Mapping[str, list[str]]],
    interface: Interface,
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    """Read all columns at once, and return the data of every argument.

    A scan reads its thousands of columns itself, some at a time.
    """
    kinds = {name: _kind(interface.arguments[name], arguments) for name in chosen}
    found: dict[str, Any] = {
        argument: TableColumns(table, list(blocks))
        for argument, blocks in chosen.items()
        if interface.name == "scan" and kinds[argument] == "several" and _is_plain(table, blocks)
    }
    now = {argument: blocks for argument, blocks in chosen.items() if argument not in found}
    used = [name for blocks in now.values() for block in blocks.values() for name in block]
    plain = [name for name in dict.fromkeys(used) if name not in table.lifetimes]
    frame = table.read(plain) if plain else None
    for argument, blocks in now.items():
        kind = kinds[argument]
        if kind == "several" and _is_plain(table, blocks):
            found[argument] = _columns_of(frame, list(blocks))
            continue
        made = {name: table.block(block, name, frame) for name, block in blocks.items()}
        if kind == "several":
            found[argument] = made
        elif argument == "given" and len(made) > 1:
            found[argument] = _columns_of(
                frame, [name for block in blocks.values() for name in block]
            )
        elif kind == "labels" and isinstance(arguments[argument], (tuple, list)):
            found[argument] = tuple(made.values())
        else:
            found[argument] = next(iter(made.values()))
    return found


def _is_plain(table: Table, blocks: Mapping[str, Sequence[str]]) -> bool:
    """Return True if every variable is one column under its own name, without a special kind."""
    special = {*table.lifetimes, *table.orders}
    return len(blocks) > 1 and all(
        block == [name] and name not in special for name, block in blocks.items()
    )


def _columns_of(frame: Any, names: Sequence[str]) -> Any:
    import narwhals as nw

    return nw.from_native(frame, eager_only=True).select(*names).to_native()


def _add_names(
    found: dict[str, Any],
    chosen: Mapping[str, Mapping[str, list[str]]],
    interface: Interface,
    arguments: Mapping[str, Any],
) -> None:
    """Name the variables in the answer by their columns, if the question has names."""
    if "names" not in interface.arguments or arguments["names"] is not None:
        return
    shown = {
        argument: next(iter(blocks))
        for argument, blocks in chosen.items()
        if _kind(interface.arguments[argument], arguments) == "one" and argument != "given"
    }
    for (one, name), (other, again) in itertools.combinations(shown.items(), 2):
        if name == again:
            raise InputError(
                f"`{one}` and `{other}` are both {name!r}; name different columns, or give blocks "
                "names of their own, as in 'NAME=COLS'."
            )
    names = [*shown.values(), *chosen.get("targets", ())]
    found["names"] = names or None
