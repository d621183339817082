"""Writing figures, tables and pages, none of them ever half-written."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.figure import Figure

from reldep.exceptions import ReldepWarning
from reldep.io import write
from reldep.plotting.style import BLUE, ORANGE

Rows = list[dict[str, Any]]

# Text stays text in an SVG, and its identifiers do not change from run to run.
SVG_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "reldep"}


class Series(NamedTuple):
    """How one of several things in the same picture looks, also without colour."""

    colour: str
    line: Any
    marker: str


GREEN, PURPLE, BLACK = "#009E73", "#CC79A7", "#000000"
SERIES = (
    Series(BLUE, "-", "o"),
    Series(ORANGE, "--", "s"),
    Series(GREEN, "-.", "^"),
    Series(PURPLE, ":", "D"),
    Series(BLACK, (0, (5, 1, 1, 1, 1, 1)), "v"),
)


def series(i: int) -> Series:
    """Return the look of the i-th series; after five the looks repeat."""
    return SERIES[i % len(SERIES)]


class Output:
    """The files of one experiment.

    Attributes
    ----------
    folder : Path
    paths : list of Path
        What has been written so far.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths: list[Path] = []

    def figure(self, name: str, figure: Figure) -> None:
        """Write a figure as PNG and as SVG."""
        with mpl.rc_context(SVG_SETTINGS):
            for kind, options in (("png", {"dpi": 110}), ("svg", {"metadata": {"Date": None}})):
                path = self.folder / f"{name}.{kind}"
                file = io.BytesIO()
                figure.savefig(file, format=kind, **options)
                write(path, file.getvalue(), overwrite=True)
                self.paths.append(path)

    def table(self, name: str, rows: Rows) -> None:
        """Write rows as CSV; numbers have ten significant digits."""
        path = self.folder / f"{name}.csv"
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([_plain(value) for value in row.values()] for row in rows)
        write(path, file.getvalue(), overwrite=True)
        self.paths.append(path)

    def page(self, name: str, paragraphs: Iterable[str]) -> None:
        """Write a Markdown page; it comes first among the paths."""
        path = self.folder / f"{name}.md"
        write(path, "\n\n".join(paragraphs) + "\n", overwrite=True)
        self.paths.insert(0, path)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, text to the left and all other columns to the right."""
    rule = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *rows))


def image(name: str, caption: str) -> str:
    """Return the Markdown of a figure next to the page, with its caption."""
    return f"![{caption}]({name}.png)\n\n*{caption}*"


def pvalue(value: float) -> str:
    """Return a p-value with two digits."""
    if value < 1e-300:
        return "< 1e-300"
    return f"{value:.1e}" if value < 1e-3 else f"{value:.2g}"


@contextmanager
def unprinted_cautions() -> Iterator[None]:
    """Leave cautions in the results, without printing each of hundreds of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReldepWarning)
        yield


def cautions_of(result: Any) -> str:
    """Return the kinds of cautions of a result, for a cell of a table."""
    return " ".join(type(caution).__name__.removesuffix("Warning") for caution in result.warnings)


def _plain(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
