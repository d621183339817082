"""A call of a question as a value, for front ends: from words, to code, and run."""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from reldep.arguments import (
    Argument,
    Interface,
    check_choice,
    check_level,
    check_names_known,
    python_code,
)
from reldep.description import Description
from reldep.engine import Plan
from reldep.exceptions import InputError
from reldep.files.read import READING, read
from reldep.files.table import Table
from reldep.questions import SENTENCES
from reldep.questions.ask import least_simulations, take_columns
from reldep.results.answer import Answer

# The questions whose answer is one point of a curve over bandwidths, and those with a plan.
OVER_BANDWIDTHS, WITH_PLAN = ("compare",), ("compare", "dependence", "rank")

# Arguments that no front end offers, and the most simulations for a small level: seconds.
MOST_SIMULATIONS = 1_000_000
PYTHON_ONLY = ("data", "names", "n_simulations", "confidence_level", "factors")

PAPER = Argument(
    "The published test: raw HSIC, fixed kernels, normal law, one-sided.", False
).named("paper", bool)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A filled form, as the Python call that it stands for; a command line is a form too.

    Attributes
    ----------
    question : str
    files : tuple of str
    words : mapping of str to str, list of str or bool
        By argument, of the question and of ``reldep.read``; empty ones are left out.
    alpha : float
        The level of the answer.
    function : str
        The public function that is called.
    arguments, reading : mapping of str to object
        The values of its arguments, and of those of ``reldep.read``.
    """

    question: str
    files: tuple[str, ...]
    words: Mapping[str, Any]
    alpha: float = 0.05
    function: str = field(compare=False)
    arguments: Mapping[str, Any] = field(compare=False)
    reading: Mapping[str, Any] = field(compare=False)

    @classmethod
    def from_words(
        cls, question: str, files: Sequence[str], words: Mapping[str, Any], alpha: float = 0.05
    ) -> Request:
        """Return the request of a question, its files and the words of its arguments."""
        check_choice("question", question, SENTENCES)
        check_level("alpha", alpha)
        offers = {**offered(question), **READING}
        check_names_known("words", words, offers, "argument")
        is_paper = bool(words.get("paper"))
        asked = interface("paper_test" if is_paper else question)
        known = {**asked.arguments, **READING}
        is_default = {name: words.get(name) == one.default for name, one in known.items()}
        is_default["paper"] = not is_paper
        filled = {
            name: value
            for name, value in words.items()
            if value not in (None, "", [], ()) and not is_default.get(name, False)
        }
        # Also an option at its default: whoever wrote it expects that it holds.
        extra = next((name for name in filled if name not in known and name != "paper"), None)
        if extra is not None:
            raise InputError(
                f"`paper` is the test as published and takes no `{extra}`; leave one of them out."
                if is_paper
                else f"`{extra}` belongs to the published test; pass `paper` too."
            )
        values = {name: one.value(filled[name]) for name, one in known.items() if name in filled}
        reading = {name: values.pop(name) for name in READING if name in values}
        return cls(
            question=question,
            files=tuple(files),
            words=filled,
            alpha=alpha,
            function=asked.name,
            arguments=_completed(asked, values, reading, alpha),
            reading=reading,
        )

    @property
    def has_plan(self) -> bool:
        """Whether the engine and its time can be told beforehand."""
        return self.function in WITH_PLAN and "given" not in self.arguments

    @cached_property
    def table(self) -> Table:
        """The files; their columns are read when a question asks for them."""
        return read(self._paths(), **self.reading)

    def call(self) -> str:
        """Return the call as Python code."""
        data = repr(self._paths())
        if self.reading:
            options = (f"{name}={python_code(value)}" for name, value in self.reading.items())
            data = f"reldep.read({', '.join([data, *options])})"
        code = interface(self.function).code(self.arguments)
        return f"{code.removesuffix(')')}, data={data})"

    def code(self) -> str:
        """Return a program that makes the call."""
        return f"import reldep\n\nresult = {self.call()}"

    def command(self) -> str:
        """Return the command line that makes the call."""
        line = ["reldep", self.question, *self.files]
        for name, one in {**offered(self.question), **READING}.items():
            if name in self.words:
                line += one.typed(self.words[name])
        if self.alpha != 0.05:
            line += ["--alpha", f"{self.alpha:g}"]
        return shlex.join(line)

    def run(self) -> Answer:
        """Return the answer of the call."""
        answer: Answer = self._answer(self.function)
        return answer

    def describe(self, *, bandwidths: bool = False) -> Description:
        """Return the answer in parts, one of them how it depends on the bandwidth if asked for."""
        if bandwidths and self.function in OVER_BANDWIDTHS:
            # Kernels without a bandwidth have no such curve; other mistakes come up again.
            with suppress(InputError):
                curve = self._answer("sensitivity")
                # The answer is one point of it: at factor 1 the kernels are as they were fitted.
                how = replace(curve.provenance, dependence=curve.central.provenance.dependence)
                answer = replace(curve.central, provenance=how, warnings=curve.warnings)
                parts: Description = answer.describe(self.alpha)
                return parts.beside(curve.describe(self.alpha))
        return self.run().describe(self.alpha)

    def _answer(self, question: str) -> Any:
        answer = public(question)(**self.arguments, data=self.table)
        return replace(answer, provenance=replace(answer.provenance, call=self.call()))

    def plan(self) -> Plan:
        """Return the engine that would answer, with its memory and time."""
        from reldep.questions.ask import read_variables
        from reldep.questions.dependence import explain_plan

        if not self.has_plan:
            raise InputError(
                f"`plan` is about rows in memory, for {', '.join(WITH_PLAN)} without `given`."
            )
        asked = interface(self.function)
        taken = take_columns(asked, asked.complete({**self.arguments, "data": self.table}))
        blocks = [taken.arguments[n] for n, one in asked.arguments.items() if one.is_required]
        if self.function == "rank":
            blocks[1] = read_variables("targets", blocks[1])
        shared = ("measure", "kernel", "variance", "missing", "engine")
        return explain_plan(*blocks, **{name: taken.arguments[name] for name in shared})

    def _paths(self) -> str | list[str]:
        return self.files[0] if len(self.files) == 1 else list(self.files)

    def to_dict(self) -> dict[str, Any]:
        """Return the request as plain values, to be saved or sent to another process."""
        saved = {"files": list(self.files), "words": dict(self.words), "alpha": self.alpha}
        return {"question": self.question, **saved}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Request:
        """Return a request from saved values."""
        check_names_known("request", values, ("question", "files", "words", "alpha"), "field")
        return cls.from_words(**values)


def _completed(
    asked: Interface, arguments: Mapping[str, Any], reading: Mapping[str, Any], alpha: float
) -> dict[str, Any]:
    """Add what follows from other words; raise InputError if something is left out."""
    found = dict(arguments)
    first = next(iter(asked.arguments.values()))
    lifetimes = reading.get("survival", ())
    if isinstance(lifetimes, str) and first.columns:
        found.setdefault(first.name, lifetimes.split(",")[0].strip())
    if "confidence_level" in asked.arguments and alpha != 0.05:
        found["confidence_level"] = round(1.0 - alpha, 12)
        drawn = asked.arguments.get("n_simulations")
        least = least_simulations(found["confidence_level"])
        if drawn is not None and drawn.default < least <= MOST_SIMULATIONS:
            found["n_simulations"] = least
    for name, one in asked.arguments.items():
        if one.implied is not None:
            found[name] = one.implied(found)
        elif one.is_required and name not in found:
            raise InputError(f"nothing is put into `{name}`; name its columns.")
    return {name: found[name] for name in asked.arguments if name in found}


@cache
def public(name: str) -> Any:
    """Return a public question; no more is imported than it needs."""
    module = "compare" if name == "paper_test" else name
    return getattr(importlib.import_module(f"reldep.questions.{module}"), name)


@cache
def interface(name: str) -> Interface:
    """Return the arguments of a question."""
    return Interface.of(public(name))


@cache
def all_offered() -> dict[str, Argument]:
    """Return the arguments of all questions and of reading by name, for messages."""
    own = {name: one for question in SENTENCES for name, one in offered(question).items()}
    return {**own, **READING}


@cache
def offered(question: str) -> dict[str, Argument]:
    """Return the arguments of a question that front ends offer, in the order of its help."""
    own = dict(interface(question).arguments)
    if question == "compare":
        published = interface("paper_test").arguments
        own |= {"paper": PAPER, **{n: one for n, one in published.items() if n not in own}}
    return {name: one for name, one in own.items() if name not in PYTHON_ONLY}
