"""Arguments of public functions, each defined once: type, default, check, help, flag, label.

Counts, levels, words and names are checked here, so that every argument is refused in the same
words.
"""

import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from reldep.exceptions import InputError, InputTypeError
from reldep.words import listing, nearest, quoted

F = TypeVar("F", bound=Callable[..., Any])
ALTERNATIVES = ("two-sided", "greater", "less")
REQUIRED = inspect.Parameter.empty
RETURNS = "Returns\n-------"

# Width of the explanations in a docstring, inside its margins.
WIDTH = 84

# A longer value, or a list of more parts, is taken for data in the code of a call.
LONGEST, MOST_PARTS = 160, 20


@dataclass(frozen=True)
class Argument:
    """One argument, written as ``name: Annotated[type, Argument(help, default)]``.

    Attributes
    ----------
    help : str
        One to three sentences for ``help()``, ``--help`` and the page.
    in_words : str
        The explanation for front ends, where values are words, if it differs.
    default : object
        Without a default the argument is positional.
    shown : str
        The type in ``help()``, if the annotation is not clear enough.
    columns : {"", "one", "several", "many", "label", "labels", "covariates"}
        Whether the value is data, or words that name columns: one variable; several, or so many
        that the question reads them itself; one column of labels, or up to two; or covariates.
    many_without : str
        The argument without which it is many variables in place of one.
    parse : callable
        Return the value of a word from a command line or a form; never raise: that is for `check`.
    check : callable, optional
        Raise InputError if a value other than None is wrong; called with name and value.
    implied : callable, optional
        Return the value from the words of a front end, if there the argument may be left out.
    is_list : bool
        Whether several words are one value each: a repeated flag, or lines of a field.
    panel : str
        The heading under which front ends show it.
    metavar : str
        How a word is written on the command line.
    flags : tuple of str
        Names on the command line, if they differ from the Python name.
    label : str
        The name on the page, if it differs from the flag.
    """

    help: str
    default: Any = REQUIRED
    shown: str = ""
    columns: Literal["", "one", "several", "many", "label", "labels", "covariates"] = ""
    parse: Callable[[Any], Any] = str
    check: Callable[[str, Any], Any] | None = None
    implied: Callable[[Mapping[str, Any]], Any] | None = None
    is_list: bool = False
    panel: str = "Method"
    metavar: str = ""
    flags: tuple[str, ...] = ()
    label: str = ""
    in_words: str = ""
    many_without: str = ""
    name: str = ""
    type: Any = Any

    def named(self, name: str, kind: Any) -> "Argument":
        """Return the argument with its name and type, and with names for the front ends."""
        flags = self.flags or ("--" + name.replace("_", "-"),)
        label = self.label or flags[0].strip("-").replace("-", " ").capitalize()
        hint = self.in_words or self.help
        return replace(self, name=name, type=kind, flags=flags, label=label, in_words=hint)

    @property
    def is_required(self) -> bool:
        """Whether a front end must have a word for it."""
        return self.default is REQUIRED and self.implied is None

    @functools.cached_property
    def choices(self) -> tuple[str, ...]:
        """The words to choose from, if the type is a Literal, with or without None."""
        return tuple(
            word
            for part in (self.type, *get_args(self.type))
            if get_origin(part) is Literal
            for word in get_args(part)
            if isinstance(word, str)
        )

    @functools.cached_property
    def is_choice(self) -> bool:
        """Whether the words to choose from are the only values."""
        plain = [part for part in get_args(self.type) if part is not type(None)]
        return get_origin(self.type) is Literal or (bool(self.choices) and len(plain) == 1)

    @property
    def is_flag(self) -> bool:
        """Whether it is True or False."""
        return self.type is bool

    def kind_beside(self, arguments: Mapping[str, Any]) -> str:
        """Return which columns it names in a call, by its other arguments."""
        is_many = self.many_without and arguments[self.many_without] is None
        return "many" if is_many else self.columns

    def value(self, word: Any) -> Any:
        """Return the value of a word, or of a list of words, from a front end."""
        return word if isinstance(word, bool) else self.parse(word)

    def typed(self, word: Any) -> list[str]:
        """Return a word, a list of words or a truth value as it is typed on a command line."""
        flag = self.flags[0]
        if isinstance(word, bool):
            return [flag if word else f"--no-{flag[2:]}"]
        each = [word] if isinstance(word, str) else word
        return [part for one in each for part in (flag, str(one))]

    def validate(self, value: Any) -> None:
        """Raise if the value is not among the choices or fails the check."""
        if value is None and self.default is None:
            return
        if self.is_choice:
            check_choice(self.name, value, self.choices)
        if self.check is not None:
            self.check(self.name, value)

    def documentation(self) -> str:
        """Return the entry in the "Parameters" section of a numpydoc docstring."""
        choices = f"{{{', '.join(map(repr, self.choices))}}}" if self.is_choice else ""
        kind = self.shown or choices or inspect.formatannotation(self.type)
        default = "" if self.default is REQUIRED else f", default {self.default!r}"
        default = ", optional" if self.default is None else default
        text = textwrap.fill(self.help, WIDTH, break_long_words=False, break_on_hyphens=False)
        return f"{self.name} : {kind}{default}\n{textwrap.indent(text, '    ')}"


@dataclass(frozen=True)
class Interface:
    """The arguments of one public function, read from its annotations."""

    name: str
    arguments: dict[str, Argument]
    signature: inspect.Signature

    @staticmethod
    @functools.cache
    def of(function: Callable[..., Any]) -> "Interface":
        """Return the interface of a function; ``**options: Unpack[X]`` stands for X's fields."""
        hints = get_type_hints(inspect.unwrap(function), include_extras=True)
        returns, options = hints.pop("return"), get_args(hints.pop("options"))[0]
        own = list(hints)
        hints |= get_type_hints(options, include_extras=True)
        arguments = {n: h.__metadata__[0].named(n, h.__origin__) for n, h in hints.items()}
        parameters = [
            parameter(one.name, one.type, one.default, by_place=one.name in own)
            for one in arguments.values()
        ]
        signature = inspect.Signature(parameters, return_annotation=returns)
        return Interface(function.__name__, arguments, signature)

    def dress(self, call: Callable[..., Any], function: F) -> F:
        """Return `call` with the name, the full signature and the full docstring of `function`."""
        entries = "\n".join(argument.documentation() for argument in self.arguments.values())
        section = f"Parameters\n----------\n{entries}\n\n{RETURNS}"
        dressed: Any = functools.wraps(function)(call)
        dressed.__signature__ = self.signature
        dressed.__annotations__ = {name: one.type for name, one in self.arguments.items()}
        dressed.__doc__ = inspect.cleandoc(function.__doc__ or "").replace(RETURNS, section, 1)
        return dressed  # type: ignore[no-any-return]

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name, checked, without defaults."""
        for name in kwargs:
            if name not in self.arguments:
                self.refuse(name)
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise InputTypeError(f"{self.name}(): {error}.") from None
        for name, value in given.items():
            self.arguments[name].validate(value)
        return given

    def refuse(self, name: str) -> None:
        """Raise InputTypeError for an argument that the function does not have."""
        known = nearest(name, self.arguments)
        words = f"{self.name}() has no argument `{name}`{known}"
        raise InputTypeError(f"{words}; its help lists those that it has.")

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given arguments, and the defaults of the others."""
        return {name: given.get(name, one.default) for name, one in self.arguments.items()}

    def code(self, given: Mapping[str, Any]) -> str:
        """Return a call as Python code; data in memory appear under the name of the argument."""
        written = []
        # Where the columns are stands last.
        for name in sorted(given, key="data".__eq__):
            text = python_code(given[name])
            if text is None or len(text) > LONGEST:
                text = name
            if self.arguments[name].default is REQUIRED:
                written.append(text)
            elif text != python_code(self.arguments[name].default):
                written.append(f"{name}={text}")
        return f"reldep.{self.name}({', '.join(written)})"


def public(function: F) -> F:
    """Return a function that checks its arguments, with a full signature and docstring."""
    interface = Interface.of(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(**interface.complete(interface.bind(args, kwargs)))

    return interface.dress(call, function)


def parameter(name: str, kind: Any, default: Any, *, by_place: bool) -> inspect.Parameter:
    """Return a parameter of a signature, for keywords only unless it is `by_place`."""
    kinds = inspect.Parameter
    place = kinds.POSITIONAL_OR_KEYWORD if by_place else kinds.KEYWORD_ONLY
    return inspect.Parameter(name, place, default=default, annotation=kind)


def python_code(value: Any) -> str | None:
    """Return a plain value as Python code, or None if it is data.

    Examples
    --------
    >>> python_code({"x": [1, None]}), python_code(object())
    ("{'x': [1, None]}", None)
    """
    call = getattr(value, "call", None)
    if isinstance(call, str):
        # A table, which repeats itself; empty for data in memory.
        return call or None
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return python_code(value.item())
    if value is None or isinstance(value, (str, int, float)):
        return repr(value)
    if isinstance(value, (tuple, list, Mapping)):
        return _code_of_parts(value) if len(value) <= MOST_PARTS else None
    for room, prefix in (("reldep.kernels", "reldep.kernels."), ("reldep.engine", "reldep.")):
        if type(value).__module__.startswith(room):
            return f"{prefix}{value!r}"
    return None


def _code_of_parts(value: Any) -> str | None:
    if isinstance(value, Mapping):
        pairs = [(python_code(key), python_code(part)) for key, part in value.items()]
        written = ", ".join(f"{key}: {part}" for key, part in pairs)
        return None if any(None in pair for pair in pairs) else f"{{{written}}}"
    parts = [python_code(part) for part in value]
    if None in parts:
        return None
    inside = ", ".join(str(part) for part in parts)
    if isinstance(value, list):
        return f"[{inside}]"
    return f"({inside},)" if len(parts) == 1 else f"({inside})"


def check_choice(argument: str, value: object, choices: Iterable[str]) -> None:
    """Raise an error for a word that is not among the choices, with the nearest one."""
    known = list(choices)
    way_out = f"pass one of {quoted(known)}."
    if not isinstance(value, str):
        raise InputTypeError(f"`{argument}` is of type {type(value).__name__}; {way_out}")
    if value not in known:
        raise InputError(f"`{argument}={value!r}` is not known{nearest(value, known)}; {way_out}")


def check_level(argument: str, value: object) -> float:
    """Return a number strictly between 0 and 1; raise InputError for anything else."""
    if not _is_real(value) or not 0 < value < 1:
        raise InputError(f"`{argument}={value!r}`; pass a number strictly between 0 and 1.")
    return float(value)


def check_count(
    argument: str, value: object, *, at_least: int = 1, at_most: int | None = None
) -> None:
    """Raise an error for anything but a whole number from `at_least` to `at_most`."""
    way_out = f"pass a whole number, at least {at_least}."
    if at_most is not None:
        way_out = f"pass a whole number from {at_least} to {at_most}."
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputTypeError(f"`{argument}={value!r}`; {way_out}")
    if not at_least <= value <= (sys.maxsize if at_most is None else at_most):
        raise InputError(f"`{argument}={value!r}`; {way_out}")


def check_positive(argument: str, value: object) -> None:
    """Raise an error for anything but a positive, finite number."""
    if not _is_real(value):
        raise InputTypeError(f"`{argument}={value!r}`; pass a positive number.")
    if not is_positive(value):
        raise InputError(f"`{argument}={value!r}`; pass a positive number.")


def is_positive(value: Any) -> bool:
    """Return True for a positive number that is finite in double precision."""
    # In single precision the limit itself would overflow.
    exact = float(value) if isinstance(value, np.floating) else value
    return bool(0 < exact <= sys.float_info.max)


def _is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_names_known(
    argument: str, used: Iterable[str], known: Iterable[str], noun: str = "variable"
) -> None:
    """Raise InputError for a name that no variable (or column) has."""
    names = list(known)
    for name in used:
        if name not in names:
            raise InputError(
                f"{argument} names {name!r}, which is not a {noun}{nearest(name, names)}; the "
                f"{noun}s are {listing(names)}."
            )
