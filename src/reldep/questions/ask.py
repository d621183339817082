"""The road of every question: check the arguments, read the columns, answer, announce cautions."""

import inspect
import itertools
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reldep.arguments import F, Interface
from reldep.checks import Beside, cautions_about
from reldep.data.selectors import parse_named
from reldep.exceptions import InputError, InputTypeError, ReldepWarning, by_weight
from reldep.files.read import as_table
from reldep.files.table import Table
from reldep.files.wide_columns import TableColumns
from reldep.questions.options import check_clusterings
from reldep.questions.stored import stored_rows
from reldep.words import in_one_line


def question(function: F) -> F:
    """Return the public question of a function.

    The function receives every argument, checked; those that name columns of `data` as data, with
    the names of the variables in `names`, and those of the rows in `ids`.
    """
    interface = Interface.of(function)

    def ask(*args: Any, **kwargs: Any) -> Any:
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
        cautions = by_weight((*taken.cautions, *answer.warnings))
        announce(cautions)
        return replace(answer, provenance=noted, warnings=cautions)

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
    cautions: tuple[ReldepWarning, ...] = ()
    scope: str | None = None
    notes: tuple[str, ...] = ()


def take_columns(interface: Interface, arguments: dict[str, Any]) -> Taken:
    """Read the columns that arguments name from `data`; without `data` they are data already."""
    data = arguments.pop("data")
    if data is None:
        return Taken(arguments)
    table = as_table(data)
    kinds = {
        name: one.columns
        for name, one in interface.arguments.items()
        if one.columns and arguments[name] is not None
    }
    if interface.name == "scan" and arguments["second"] is None:
        # One source, many targets.
        kinds["first"] = "several"
    chosen = {name: _variables(name, kinds[name], arguments[name], table) for name in kinds}
    _leave_out_columns_used(chosen, kinds)
    table, stored = stored_rows(table, chosen, interface.name, arguments)
    found = arguments | _read(table, chosen, kinds, interface.name)
    if stored is not None:
        found["stored"] = stored
    if isinstance(arguments.get("clusters"), str):
        (found["clusters"],) = found["clusters"]
    if arguments.get("names", ()) is None:
        found["names"] = _names(chosen, kinds) or None
    used = list(dict.fromkeys(_columns_in(chosen)))
    id_column = None if table.row_names is None else table.row_names[0]
    # What the columns that the question does not use tell about its rows.
    beside = Beside(
        columns=table.columns,
        used=used,
        values=table.values,
        has_clusters=arguments.get("clusters") is not None,
        id=id_column if id_column in table.columns else None,
    )
    found["ids"] = replace(table.rows, time=table.time_order())
    scope = None if table.scope is None else str(table.scope)
    return Taken(found, cautions_about(beside), scope, table.notes_about(used))


def _variables(argument: str, kind: str, words: Any, table: Table) -> dict[str, list[str]]:
    """Return the columns of every variable that the words of an argument name."""
    texts = [*words.values()] if isinstance(words, Mapping) else [words]
    asked = [one for text in texts for one in (text if isinstance(text, (list, tuple)) else [text])]
    if not asked or not all(isinstance(one, str) for one in asked):
        raise InputTypeError(
            f"`{argument}` is of type {type(words).__name__}, and `data` is given; name columns of "
            "the data, such as 'age', 'C*' or 'lipids=C14:C22'."
        )
    if kind in ("label", "labels"):
        if kind == "label" and len(asked) > 1:
            raise InputError(f"`{argument}` names {len(asked)} columns; give one.")
        check_clusterings(argument, tuple(asked))
        return {str(i): _one_column(argument, word, table) for i, word in enumerate(asked)}
    for time, (event, _) in table.lifetimes.items():
        if any(event in (piece.strip() for piece in word.split(",")) for word in asked):
            raise InputError(
                f"column {event!r} is part of the lifetimes in {time!r}; name {time!r} alone."
            )
    if kind == "one" and isinstance(words, (list, tuple)) and words[0] not in table.columns:
        # The first of several words may give the variable a name, as in NAME=COLS.
        name, columns = parse_named(words[0]) if "=" in words[0] else (", ".join(words), words[0])
        words = {name: [columns, *words[1:]]}
    found = table.variables(words, several=kind == "several")
    if kind == "one" and argument != "given" and len(found) != 1:
        raise InputError(f"`{argument}` names {len(found)} variables; name one.")
    return {in_one_line(name): columns for name, columns in found.items()}


def _one_column(argument: str, words: str, table: Table) -> list[str]:
    found = [words] if words in table.columns else list(table.select(words))
    if len(found) > 1:
        raise InputError(f"`{argument}={words!r}` names {len(found)} columns; give one.")
    return found


def _columns_in(chosen: Mapping[str, Mapping[str, list[str]]]) -> list[str]:
    return [name for blocks in chosen.values() for block in blocks.values() for name in block]


def _leave_out_columns_used(
    chosen: dict[str, dict[str, list[str]]], kinds: Mapping[str, str]
) -> None:
    """Take columns that are a variable of their own out of patterns of many."""
    own = [chosen[argument] for argument, kind in kinds.items() if kind == "one"]
    alone = {block[0] for blocks in own for block in blocks.values() if len(block) == 1}
    for argument, blocks in chosen.items():
        if kinds[argument] == "several" and len(blocks) > 1:
            chosen[argument] = {
                name: block
                for name, block in blocks.items()
                if block != [name] or name not in alone
            }


def _read(
    table: Table,
    chosen: Mapping[str, Mapping[str, list[str]]],
    kinds: Mapping[str, str],
    question: str,
) -> dict[str, Any]:
    """Read all columns at once, and return the data of every argument."""
    special = {*table.lifetimes, *table.orders}
    # A scan reads its thousands of columns itself, some at a time.
    found: dict[str, Any] = {
        argument: TableColumns(table, list(blocks))
        for argument, blocks in chosen.items()
        if question == "scan" and kinds[argument] == "several" and len(blocks) > 1
        if all(block == [name] and name not in special for name, block in blocks.items())
    }
    now = {argument: blocks for argument, blocks in chosen.items() if argument not in found}
    plain = [name for name in dict.fromkeys(_columns_in(now)) if name not in table.lifetimes]
    frame = table.read(plain) if plain else None
    for argument, blocks in now.items():
        if argument == "given":
            blocks = {argument: [name for block in blocks.values() for name in block]}
        made = {name: table.block(block, name, frame) for name, block in blocks.items()}
        if kinds[argument] == "several":
            found[argument] = made
        else:
            found[argument] = tuple(made.values()) if argument == "clusters" else made.popitem()[1]
    return found


def _names(chosen: Mapping[str, Mapping[str, list[str]]], kinds: Mapping[str, str]) -> list[str]:
    """Return the names of the variables in the answer: those of their columns."""
    shown = {
        argument: next(iter(blocks))
        for argument, blocks in chosen.items()
        if kinds[argument] == "one" and argument != "given"
    }
    for (one, name), (other, again) in itertools.combinations(shown.items(), 2):
        if name == again:
            raise InputError(
                f"`{one}` and `{other}` are both {name!r}; name different columns, or give blocks "
                "names of their own, as in 'NAME=COLS'."
            )
    return [*shown.values(), *chosen.get("targets", ())]
