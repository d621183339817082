"""What ``reldep`` raises: mistakes in the input, and cautions about an answer.

Wrong input raises :class:`ValueError` or :class:`TypeError`, as everywhere in scientific Python.
Statistical cautions have classes of their own, so that each kind can be filtered with
:func:`warnings.filterwarnings`.

Both may name an argument of the question. A Python user passes ``missing="drop"``, a user of the
command line types ``--missing drop``, so a message keeps its arguments as :class:`Option` and
every front end words them in its own way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Option:
    """An argument of a question, with a value for it.

    Examples
    --------
    >>> from reldep.exceptions import Option
    >>> str(Option("missing", "drop")), str(Option("kernel"))
    ("missing='drop'", 'kernel=')
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        return f"{self.name}=" if self.value is None else f"{self.name}={self.value!r}"


Words: TypeAlias = "str | Option | Sequence[str | Option]"


class Worded(Exception):  # noqa: N818 (a mistake or a caution, by its second base)
    """A message in parts: what is wrong, and the way out.

    Parameters
    ----------
    problem : str, Option or sequence of these
        What is wrong. After an `argument` it continues the sentence that the argument begins.
    way_out : str, Option or sequence of these, optional
        What to do about it.
    argument : str, optional
        The argument that is wrong.
    value : object, optional
        Its value.
    """

    def __init__(
        self, problem: Words, way_out: Words = (), *, argument: str | None = None, value: Any = None
    ) -> None:
        self.problem = _parts(problem)
        self.way_out = _parts(way_out)
        self.argument = argument
        self.value = value
        super().__init__(self.worded(str))

    def worded(self, spell: Callable[[Option], str]) -> str:
        """Write the message with every argument spelled by `spell`."""
        start: tuple[str | Option, ...] = ()
        if self.argument is not None:
            space = (" ",) if self.problem != ("",) else ()
            start = (Option(self.argument, self.value), *space)
        text = _text((*start, *self.problem), spell)
        if not self.way_out:
            return text
        # A way out is a clause of the same sentence, or a sentence of its own.
        end = _text(self.way_out, spell)
        return f"{text} {end}" if text.endswith(".") else f"{text}; {end}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.__dict__)


def _parts(words: Words) -> tuple[str | Option, ...]:
    return (words,) if isinstance(words, (str, Option)) else tuple(words)


def _text(parts: Sequence[str | Option], spell: Callable[[Option], str]) -> str:
    return "".join(part if isinstance(part, str) else spell(part) for part in parts)


def _restored(kind: type[Worded], fields: dict[str, Any]) -> Worded:
    """Make a message again in another process."""
    message = kind.__new__(kind)
    message.__dict__.update(fields)
    BaseException.__init__(message, message.worded(str))
    return message


class InputError(Worded, ValueError):
    """A value that cannot be used."""


class InputTypeError(Worded, TypeError):
    """Something of a kind that cannot be used."""


class UnknownPairError(InputError, KeyError):
    """A pair that nothing was computed for; `value` is the pair."""

    def __str__(self) -> str:
        return self.worded(str)


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


class IndependenceWarning(ReldepWarning):
    """There is no evidence that the two variables of a pair depend on each other at all."""

    weight = 1
    headline = "there may be no dependence to compare"


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
