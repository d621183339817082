"""How an answer describes itself, in parts that any page, terminal or window can render."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reldep.results.answer import Answer

Columns = Mapping[str, list[Any]]

# Headings people read, for the columns that tables of different answers share.
HEADINGS = {
    "hsic": "HSIC",
    "cka": "CKA",
    "dcor": "squared distance correlation",
    "as_correlation": "as a correlation",
    "standard_error": "standard error",
    "low": "from",
    "high": "to",
    "statistic": "z",
    "pvalue": "p-value",
    "adjusted_pvalue": "adjusted p-value",
    "may_be_best": "may be the best",
    "rank_low": "rank from",
    "rank_high": "rank to",
}


@dataclass(frozen=True)
class Picture:
    """A picture of an answer and what it shows in words.

    Attributes
    ----------
    drawing : str or callable
        The function of :mod:`reldep.plotting` that draws the answer, by name; or a function of
        the Axes, where it is not the answer itself that is drawn.
    alt : str
        What it shows, for those who do not see it.
    caption : str
        How to read it.
    options : mapping
        Further arguments of the function.
    """

    drawing: str | Callable[[Any], Any]
    alt: str
    caption: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def draw(self, answer: Answer, ax: Any = None) -> Any:
        """Draw the answer and return the matplotlib Axes."""
        if callable(self.drawing):
            return self.drawing(ax)
        return rendered("plotting", self.drawing)(answer, ax, **self.options)


@dataclass(frozen=True)
class Section:
    """A part of a report beside the answer itself.

    Attributes
    ----------
    title : str
    name : str
        A short name to jump to.
    answer : Answer
        What the pictures draw.
    paragraphs : tuple of str
    table : mapping of str to list, or None
    caption : str
        Of the table.
    pictures : tuple of Picture
    """

    title: str
    name: str
    answer: Answer
    paragraphs: tuple[str, ...] = ()
    table: Columns | None = None
    caption: str = ""
    pictures: tuple[Picture, ...] = ()


def rendered(room: str, name: str) -> Any:
    """Find a renderer by name when it is needed.

    Rooms above this one render answers; naming them here, in place of importing them, keeps the
    direction of imports and spares a plain answer the cost of matplotlib.
    """
    return resolve_name(f"reldep.{room}:{name}")
