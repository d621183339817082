"""The road of every question: check the arguments, name the variables, announce cautions."""

import inspect
import itertools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, get_type_hints

import numpy as np

from reldep.arguments import F, Interface, check_count
from reldep.checks import Beside, cautions_about
from reldep.data.frames import frame_library, native_name
from reldep.data.selectors import parse_named
from reldep.exceptions import InputError, InputTypeError, ReldepWarning
from reldep.files.in_parts import WideColumns
from reldep.files.read import as_table
from reldep.files.table import Table
from reldep.questions.dealing import stored_rows
from reldep.questions.options import N_PERMUTATIONS, Options
from reldep.words import counted, in_one_line, repeated

# The defaults of the shared options, for questions that do not have all of them.
DEFAULTS: dict[str, Any] = {
    name: hint.__metadata__[0].default
    for name, hint in get_type_hints(Options, include_extras=True).items()
}

# Options that exclude each other, and the way out.
EXCLUSIVE = (
    ("`clusters`", "`max_lag`", "for a panel of units over time, pass `clusters=(unit, time)`"),
    ("`variance='fixed-kernel'`", "`clusters`", "leave one out"),
    ("`variance='fixed-kernel'`", "`max_lag`", "leave one out"),
    ("`given`", "two `clusters`", "pass one of them in `given`"),
    ("`test='permutation'`", "`given`", "leave one out"),
    ("`engine='blocks'`", "`variance='fixed-kernel'`", "use `engine='tiled'`"),
    ("`engine='blocks'`", "two `clusters`", "use `engine='tiled'`"),
)


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
        found = (*taken.cautions, *answer.warnings)
        # Those that can turn the answer come first.
        cautions = tuple(sorted(found, key=attrgetter("weight"), reverse=True))
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
        name: one.kind_beside(arguments)
        for name, one in interface.arguments.items()
        if one.columns and arguments[name] is not None
    }
    chosen = {name: _variables(name, kind, arguments[name], table) for name, kind in kinds.items()}
    _leave_out_columns_used(chosen, kinds)
    names = _names(chosen, kinds)
    table, stored = stored_rows(table, chosen, names, interface.name, arguments)
    found = arguments | _read(table, chosen, kinds)
    if stored is not None:
        found["stored"] = stored
    if arguments.get("names", ()) is None:
        found["names"] = names or None
    used = list(dict.fromkeys(_columns_in(chosen)))
    # What the columns that the question does not use tell about its rows.
    has_clusters = arguments.get("clusters") is not None
    beside = Beside(table, used, has_clusters, "clusters" in arguments)
    # Random rows of a larger table are in no order.
    found["ids"] = replace(table.rows, time=None if stored else table.time_order())
    scope = None if table.scope is None else str(table.scope)
    return Taken(found, cautions_about(beside), scope, table.notes_about(used))


def _variables(argument: str, kind: str, words: Any, table: Table) -> dict[str, list[str]]:
    """Return the columns of every variable that the words of an argument name."""
    texts = [*words.values()] if isinstance(words, Mapping) else [words]
    asked = [one for text in texts for one in (text if isinstance(text, (list, tuple)) else [text])]
    if not asked or not all(isinstance(one, str) for one in asked):
        kind = type(words).__name__
        raise InputTypeError(f"`{argument}` is of type {kind}, and `data` is given; name columns.")
    if kind in ("label", "labels"):
        found = {word: table.select(word) for word in asked}
        several = next((word for word in found if len(found[word]) > 1), None)
        if several is not None:
            n = len(found[several])
            raise InputError(f"`{argument}={several!r}` names {n} columns; give one.")
        if len(found) > (1 if kind == "label" else 2):
            most = "one" if kind == "label" else "one, or two that cross each other"
            raise InputError(f"`{argument}` names {len(found)} columns; give {most}.")
        return found
    if kind == "one" and isinstance(words, (list, tuple)):
        name, columns = parse_named(words[0], table.columns)
        words = {name: [columns, *words[1:]]} if name else words
    found = table.variables(words, several=kind in ("several", "many"))
    if kind == "one" and len(found) != 1:
        raise InputError(f"`{argument}` names {len(found)} variables; name one.")
    if kind == "covariates":
        return {argument: list(dict.fromkeys(_columns_in({argument: found})))}
    return {in_one_line(name): columns for name, columns in found.items()}


def _columns_in(chosen: Mapping[str, Mapping[str, list[str]]]) -> list[str]:
    return [name for blocks in chosen.values() for block in blocks.values() for name in block]


def _leave_out_columns_used(
    chosen: dict[str, dict[str, list[str]]], kinds: Mapping[str, str]
) -> None:
    """Take columns that are a variable of their own out of patterns of many."""
    own = [chosen[name] for name, kind in kinds.items() if kind in ("one", "covariates")]
    alone = {block[0] for blocks in own for block in blocks.values() if len(block) == 1}
    for argument, blocks in chosen.items():
        if kinds[argument] in ("several", "many") and len(blocks) > 1:
            chosen[argument] = {
                name: block
                for name, block in blocks.items()
                if block != [name] or name not in alone
            }


def _read(
    table: Table, chosen: Mapping[str, Mapping[str, list[str]]], kinds: Mapping[str, str]
) -> dict[str, Any]:
    """Read all columns at once, and return the data of every argument."""
    special = {*table.lifetimes, *table.orders}
    # A question about thousands of columns reads them itself, some at a time.
    found: dict[str, Any] = {
        argument: WideColumns(list(blocks), table)
        for argument, blocks in chosen.items()
        if kinds[argument] == "many" and len(blocks) > 1
        if all(block == [name] and name not in special for name, block in blocks.items())
    }
    now = {argument: blocks for argument, blocks in chosen.items() if argument not in found}
    plain = [name for name in dict.fromkeys(_columns_in(now)) if name not in table.lifetimes]
    frame = table.read(plain) if plain else None
    for argument, blocks in now.items():
        made = {name: table.block(block, name, frame) for name, block in blocks.items()}
        if kinds[argument] in ("several", "many"):
            found[argument] = made
        else:
            # Two columns of labels are two clusterings.
            found[argument] = next(iter(made.values())) if len(made) == 1 else (*made.values(),)
    return found


def _names(chosen: Mapping[str, Mapping[str, list[str]]], kinds: Mapping[str, str]) -> list[str]:
    """Return the names of the variables in the answer: those of their columns."""
    shown = {name: next(iter(chosen[name])) for name, kind in kinds.items() if kind == "one"}
    for (one, name), (other, again) in itertools.combinations(shown.items(), 2):
        if name == again:
            raise InputError(
                f"`{one}` and `{other}` are both {name!r}; name others, or write 'NAME=COLS'."
            )
    several = [chosen[name] for name, kind in kinds.items() if kind == "several"]
    return [*shown.values(), *(name for blocks in several for name in blocks)]


def complete(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all shared options of a call; raise InputError if some exclude each other."""
    found = {**DEFAULTS, **options}
    is_set = {f"`{name}`": found[name] is not None for name in ("clusters", "max_lag", "given")}
    is_set["two `clusters`"] = isinstance(found["clusters"], tuple) and len(found["clusters"]) == 2
    is_set["`engine='blocks'`"] = getattr(found["engine"], "name", found["engine"]) == "blocks"
    is_set["`variance='fixed-kernel'`"] = found["variance"] == "fixed-kernel"
    is_set["`test='permutation'`"] = found.get("test") == "permutation"
    for one, other, way_out in EXCLUSIVE:
        if is_set[one] and is_set[other]:
            raise InputError(f"{one} cannot be combined with {other}; {way_out}.")
    test, n_permutations = found.get("test"), found.get("n_permutations", N_PERMUTATIONS)
    if test != "permutation" and n_permutations != N_PERMUTATIONS:
        raise InputError(
            f"`n_permutations` has no effect with `test={test!r}`; pass `test='permutation'` too."
        )
    if "n_simulations" in found:
        least = least_simulations(found.get("confidence_level", 0.95))
        check_count("n_simulations", found["n_simulations"], at_least=least)
    return found


def least_simulations(confidence_level: float) -> int:
    """Return the fewest draws that pin a critical value down: twenty are beyond it."""
    return int(np.ceil(20 / (1.0 - confidence_level)))


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
                f"`names={names!r}`; pass {len(blocks)} different names, for {', '.join(roles)}."
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
        kind = type(data).__name__
        raise InputTypeError(f"`{argument}` is of type {kind}; pass a mapping to data, or a frame.")
    names = [in_one_line(str(name)) for name, _ in blocks]
    if "" in names:
        raise InputError(f"`{argument}` has a variable without a name; give it one.")
    twice = repeated(names)
    if twice:
        n = names.count(twice[0])
        raise InputError(f"`{argument}` has {n} columns of the name {twice[0]!r}; rename them.")
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
            f"`{argument}` is a {type(frame).__name__}; pass a data frame, or a mapping to data."
        )
    return [(name, native[name].to_native()) for name in native.columns]
