"""What ``reldep`` raises: mistakes in the input, and cautions about an answer.

Wrong input raises :class:`ValueError` or :class:`TypeError`, as everywhere in scientific Python.
Statistical cautions have classes of their own, so that each kind can be filtered with
:func:`warnings.filterwarnings`.

Both may name arguments of a function, in backticks: ``"use `missing='drop'`"``. The command line
and the page write these as their own options: :func:`reldep.words.spelled`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Option:
    """An argument of a question, with a value for it.

    Examples
    --------
    >>> from reldep.exceptions import Option
    >>> str(Option("missing", "drop")), str(Option("kernel"))
    ("`missing='drop'`", '`kernel`')
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return f"`{self.name}`" if self.value is None else f"`{self.name}={self.value!r}`"


Words: TypeAlias = "str | Option | Sequence[str | Option]"


class Worded(Exception):  # noqa: N818 (a mistake or a caution, by its second base)
    """A message, in one piece or in parts: what is wrong, and the way out."""

    def __init__(
        self, problem: Words, way_out: Words = (), *, argument: str | None = None, value: Any = None
    ) -> None:
        text = _text(problem)
        if argument is not None:
            text = f"{Option(argument, value)} {text}".rstrip()
        end = _text(way_out)
        if end:
            # A way out is a clause of the same sentence, or a sentence of its own.
            text = f"{text} {end}" if text.endswith(".") else f"{text}; {end}"
        super().__init__(text)


def _text(words: Words) -> str:
    return str(words) if isinstance(words, (str, Option)) else "".join(map(str, words))


class InputError(Worded, ValueError):
    """A value that cannot be used."""


class InputTypeError(Worded, TypeError):
    """Something of a kind that cannot be used."""


class UnknownPairError(InputError, KeyError):
    """A pair that nothing was computed for; `value` is the pair."""

    value: Any = None

    def __str__(self) -> str:
        # KeyError would write the message as a quoted string.
        return str(self.args[0])


class ReldepWarning(Worded, UserWarning):
    """A statistical caution: the answer stands, but read this with it.

    An answer keeps its cautions, in full, in ``.warnings``, and shows them wherever it is
    displayed. As a Python warning only their `headline` is raised.
    """

    #: What all cautions of a kind say, as the beginning of a sentence.
    headline: ClassVar[str] = "this answer carries a caution"
    #: How much a kind matters: 3 can turn the answer, 2 calls for care, 1 is a remark.
    weight: ClassVar[int] = 2

    def announced(self) -> ReldepWarning:
        """Make the warning that points to this caution, in words that do not vary."""
        return type(self)(f"{self.headline}: print the answer, or read its .warnings.")


def by_weight(cautions: Iterable[ReldepWarning]) -> tuple[ReldepWarning, ...]:
    """Return cautions in order of weight, the first to be read first."""
    return tuple(sorted(cautions, key=lambda one: -one.weight))


class SmallSampleWarning(ReldepWarning):
    """Few observations: the approximation behind p-values and intervals may be rough."""

    headline = "there are few observations"


class BandwidthWarning(ReldepWarning):
    """The bandwidth could not be chosen by the plain rule."""

    weight = 1
    headline = "a bandwidth could not be chosen by the plain rule"


class DataWarning(ReldepWarning):
    """The data were understood in a way that may not be what was meant."""

    headline = "the data may not have been read as they were meant"


class CopyWarning(DataWarning):
    """A target determines the source, as a copy of it in other units or words does."""

    weight = 3
    headline = "a target determines the source"


class ApproximationWarning(ReldepWarning):
    """The kernels were approximated, as the engine asked for does.

    Attributes
    ----------
    relative_errors : dict of (str, str) to float
        By pair: how far the approximate HSIC lies from the exact one, as a share of the exact
        one, on a subsample of the observations.
    """

    weight = 1
    headline = "the kernels were approximated"

    def __init__(
        self, problem: Words, relative_errors: Mapping[tuple[str, str], float] | None = None
    ) -> None:
        super().__init__(problem)
        self.relative_errors = dict(relative_errors or {})


class PrecisionWarning(ReldepWarning):
    """Rounding has taken digits off the answer: some values are far larger than the others."""

    weight = 1
    headline = "rounding has taken digits off the answer"


class DegenerateWarning(ReldepWarning):
    """The estimated variance is mostly of second order: the p-value is conservative."""

    weight = 1
    headline = "the p-value is conservative"


class InfluentialObservationWarning(ReldepWarning):
    """One observation carries a large share of the variance."""

    headline = "one observation carries much of the answer"


class DependentRowsWarning(ReldepWarning):
    """Rows may depend on each other, which makes p-values too small."""

    weight = 3
    headline = "rows may depend on each other, which makes p-values too small"


class SignFlipWarning(ReldepWarning):
    """The answer changes sign with the bandwidth of the kernels."""

    weight = 3
    headline = "the answer changes sign with the bandwidth"


class MeasureWarning(ReldepWarning):
    """Raw HSIC and its normalised form disagree about which dependence is stronger."""

    weight = 3
    headline = "raw HSIC and its normalised form disagree"
