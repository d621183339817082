"""What ``reldep`` raises: mistakes in the input, and cautions about an answer.

Wrong input raises :class:`ValueError` or :class:`TypeError`, as everywhere in scientific Python.
Statistical cautions have classes of their own, so that each kind can be filtered with
:func:`warnings.filterwarnings`.

Both may name arguments of a function, in backticks: ``"use `missing='drop'`"``. The command line
and the page write these as their own options: :func:`reldep.words.spelled`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import ClassVar

from reldep.words import printable

# Characters of a reason that a message shows: two lines of a terminal.
_LONGEST_REASON = 200


class Message(Exception):  # noqa: N818 (a mistake or a caution, by its second base)
    """A message in plain text, with arguments in backticks."""


class InputError(Message, ValueError):
    """A value that cannot be used."""


class InputTypeError(Message, TypeError):
    """Something of a kind that cannot be used."""


class NoVariationError(InputError):
    """Observations look all the same or all different, so that every HSIC is 0."""


class UnknownPairError(InputError, KeyError):
    """A pair that nothing was computed for."""

    def __str__(self) -> str:
        # KeyError would write the message as a quoted string.
        return str(self.args[0])


def reason(error: BaseException) -> str:
    """Return the first line of what a library says, cut if it is long."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    first = printable(lines[0].strip())
    return first if len(first) <= _LONGEST_REASON else f"{first[:_LONGEST_REASON]}…"


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise InputError for whatever foreign code raises: `what` is wrong, and its first line.

    Examples
    --------
    >>> with translated("x cannot be read"):
    ...     [][0]
    Traceback (most recent call last):
    reldep.exceptions.InputError: x cannot be read: list index out of range
    """
    try:
        yield
    except (Message, ImportError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic in the core of polars is not an Exception
        raise InputError(f"{what}: {reason(error)}") from error


class Weight(IntEnum):
    """How much a caution matters for the conclusion."""

    NOTE = 1
    CAREFUL = 2
    SERIOUS = 3


class ReldepWarning(Message, UserWarning):
    """A statistical caution: the answer stands, but read this with it.

    Its class is the kind of caution. An answer keeps its cautions in ``.warnings``, the most
    serious first, and shows them wherever it is displayed. As a Python warning only the `headline`
    of each kind is raised.
    """

    #: What all cautions of a kind say, as the beginning of a sentence.
    headline: ClassVar[str] = "this answer carries a caution"
    #: How much this kind matters.
    weight: ClassVar[Weight] = Weight.CAREFUL

    @property
    def message(self) -> str:
        """What was found, and what to do about it; arguments stand in backticks."""
        return str(self)

    def announced(self) -> ReldepWarning:
        """Return the warning that points to this caution, in words that do not vary."""
        return type(self)(f"{self.headline}: print the answer, or read its .warnings.")


class AlignmentWarning(ReldepWarning):
    """Rows were matched by position although an index is in another order."""

    headline = "rows may not be matched"
    weight = Weight.SERIOUS


class DependentRowsWarning(ReldepWarning):
    """Adjacent rows are correlated, which makes p-values too small."""

    headline = "rows may depend on each other, which makes p-values too small"
    weight = Weight.SERIOUS


class RepeatedRowsWarning(ReldepWarning):
    """Rows repeat others or belong to one subject, which makes p-values too small."""

    headline = "rows may be repeated, which makes p-values too small"
    weight = Weight.SERIOUS


class CopyWarning(ReldepWarning):
    """Variables are related by construction: copies, shared columns, formulas."""

    headline = "variables may be related by construction"
    weight = Weight.SERIOUS


class MissingCodesWarning(ReldepWarning):
    """A value may stand for a missing one."""

    headline = "a value may stand for a missing one"
    weight = Weight.SERIOUS


class CensoredWarning(ReldepWarning):
    """A time may be censored, and is taken as a lifetime."""

    headline = "a time may be censored"
    weight = Weight.SERIOUS


class KindWarning(ReldepWarning):
    """Numbers may be codes of categories, or labels may be one and the same."""

    headline = "a variable may be of another kind"


class ScaleWarning(ReldepWarning):
    """A column or a value outweighs the others."""

    headline = "a column or a value outweighs the others"


class FewUnitsWarning(ReldepWarning):
    """Few rows, clusters or events: p-values and intervals are approximate."""

    headline = "there are few observations"


class CovariatesWarning(ReldepWarning):
    """Covariates may not be held fixed well."""

    headline = "covariates may not be held fixed well"


class UnlikeTargetsWarning(ReldepWarning):
    """One of two dependences rests on few rows: ties are rejected too often."""

    headline = "one of the dependences rests on few rows"


class InfluentialWarning(ReldepWarning):
    """One row carries a large share of the variance."""

    headline = "one row carries much of the answer"


class MeasureWarning(ReldepWarning):
    """Raw HSIC and CKA disagree about which dependence is stronger."""

    headline = "raw HSIC and CKA disagree"


class UnequalWarning(ReldepWarning):
    """A variable varies more in one group than in another, or texts are prepared differently."""

    headline = "what is compared is not alike"


class BandwidthWarning(ReldepWarning):
    """A median bandwidth is 0 for most pairs, or may jump from sample to sample."""

    headline = "a bandwidth may jump from sample to sample"
    weight = Weight.NOTE
