"""Figures of the experiment on languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from reldep import plotting
from reldep.data.variables import FloatArray
from reldep.kernels.documents import STEMMERS
from reldep.plotting.style import BLUE, GREY, ORANGE
from reproduction.languages.questions import TESTS
from reproduction.output import Rows, pvalue
from reproduction.paper import LEVEL, is_yes

# The tree of the Romance languages that the paper judges its tests by (after Gray and Atkinson,
# 2003): Spanish and Portuguese parted last (A), before that French from these two (B), and first
# of all Italian from the rest. The heights only give the order.
ROMANCE = ("it", "fr", "es", "pt")
_ROMANCE_LINKAGE = np.array([[2.0, 3.0, 1.0, 2.0], [1.0, 4.0, 2.0, 3.0], [0.0, 5.0, 3.0, 4.0]])
_PARTINGS = {"A": {"es", "pt"}, "B": {"fr", "es", "pt"}}
_SAID = {
    "A": "A  Spanish and Portuguese are nearest to each other",
    "B": "B  French is nearer to these two than Italian is",
}
_YES, _NO = "✓", "✗"
# Where the three verdicts stand, as shares of the width.
_COLUMNS = (0.46, 0.62, 0.84)


def heatmap(cka: FloatArray, languages: Sequence[str]) -> Figure:
    """Draw the CKA of all pairs."""
    figure = Figure(layout="constrained")
    plotting.heatmap(cka, _names(languages), figure, measure="cka")
    return figure


def tree(linkage: FloatArray, languages: Sequence[str], confidence: FloatArray) -> Figure:
    """Draw the tree that our CKAs give."""
    figure = Figure(layout="constrained")
    plotting.tree(linkage, _names(languages), figure, supports=confidence)
    return figure


def parting_of(row: dict[str, Any]) -> str:
    """Name the parting of the Romance tree that a test is about.

    Source and near language are on one side of it, the far one is on the other.
    """
    return next(
        letter
        for letter, group in _PARTINGS.items()
        if {row["source"], row["near"]} <= group and row["far"] not in group
    )


def romance(rows: Rows) -> Figure:
    """Draw the Romance tree, and at each of its partings the verdicts of the tests about it."""
    figure = Figure(figsize=(9.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.9))
    _draw_romance_tree(left)
    chosen = [row for row in rows if row["table"] == "romance"]
    right.set(xlim=(0.0, 1.0), ylim=(9.4, -1.0))
    right.axis("off")
    for x, title in zip(_COLUMNS, ("printed", "here: paper's test", "here: default"), strict=True):
        right.text(x, -0.6, title, fontsize="small", color=GREY)
    y = 0.2
    for letter, said in _SAID.items():
        right.text(0.0, y, said, weight="bold", fontsize="small")
        tests = [row for row in chosen if parting_of(row) == letter]
        for first, second in _paired(tests):
            y += 0.9
            _write_verdicts(right, y, first, second)
        y += 1.1
    return figure


def _paired(rows: Rows) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Draw the two tests of each question next to each other."""
    by_test = [[row for row in rows if row["test"] == test] for test in TESTS]
    return list(zip(*by_test, strict=True))


def _write_verdicts(ax: Any, y: float, first: dict[str, Any], second: dict[str, Any]) -> None:
    """Draw a question and its three p-values, each with a mark for yes or no at 5%."""
    source, near, far = _names([first[key] for key in ("source", "near", "far")])
    ax.text(0.03, y, f"{source}: {near} over {far}", fontsize="small")
    printed = first["printed_p"]
    found = [(is_yes(printed), printed)]
    found += [(row["p"] < LEVEL, pvalue(row["p"])) for row in (first, second)]
    for x, (yes, text) in zip(_COLUMNS, found, strict=True):
        mark, colour = (_YES, BLUE) if yes else (_NO, ORANGE)
        ax.text(x, y, f"{mark} {text}", color=colour, fontsize="small")


def _draw_romance_tree(ax: Any) -> None:
    """Draw the tree with its partings named; only their order means something."""
    plotting.tree(_ROMANCE_LINKAGE, _names(ROMANCE), ax=ax)
    for letter, line in zip("AB", ax.lines, strict=False):
        meeting = line.get_xdata().max()
        middle = line.get_ydata().mean()
        ax.plot(meeting, middle, "o", color=BLUE, markersize=15)
        ax.text(meeting, middle, letter, color="white", ha="center", va="center", weight="bold")
    ax.set(xlabel="", xticks=[])
    ax.spines["bottom"].set_visible(False)


def _names(languages: Sequence[str]) -> list[str]:
    """Return the English names of languages that are known by their code."""
    return [
        STEMMERS[language].capitalize() if language in STEMMERS else language
        for language in languages
    ]
