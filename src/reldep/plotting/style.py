"""Colours, labels, fonts and axes shared by all pictures."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from reldep.data.variables import FloatArray
from reldep.exceptions import InputError
from reldep.words import MEASURE_NAMES

P = ParamSpec("P")

# Okabe and Ito's palette: told apart by colour-blind readers, and dark enough for grey print.
BLUE, ORANGE, GREY, PALE = "#0072B2", "#D55E00", "#595959", "#E3E3E3"


def axes(ax: Any, *, size: tuple[float, float] = (5.0, 4.0)) -> Any:
    """Return the Axes to draw on: the caller's, those of an empty figure, or new ones.

    An empty figure is given the size that suits the picture. It need not belong to pyplot, so
    that a program can draw without touching the state of an interactive session.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        _, new = plt.subplots(figsize=size, layout="constrained")
        return new
    from matplotlib.figure import Figure

    if isinstance(ax, Figure):
        ax.set_size_inches(*size)
        return ax.add_subplot()
    return ax


def shaped(name: str, values: Any, shape: tuple[int, ...], what: str) -> FloatArray:
    """Return an argument as an array; raise InputError if it has another shape."""
    given = np.asarray(values, dtype=np.float64)
    if given.shape != shape:
        raise InputError(f"`{name}` has shape {given.shape}; pass {what}.")
    return given


def named(argument: str, names: Sequence[str] | None, n: int) -> list[str]:
    """Return names as strings, by default numbers; raise InputError if they are not n."""
    written = [str(name) for name in (range(n) if names is None else names)]
    if len(written) != n:
        raise InputError(f"`{argument}` has {len(written)} entries for {n}; pass one name each.")
    return written


def readable(draw: Callable[P, Any]) -> Callable[P, Any]:
    """Return a drawing function whose texts get fonts that have their characters, if installed."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Any:
        ax = draw(*args, **kwargs)
        _choose_fonts(ax)
        return ax

    return drawn


def _choose_fonts(ax: Any) -> None:
    from matplotlib.font_manager import fontManager, get_font
    from matplotlib.text import Text

    for text in ax.findobj(Text):
        if text.get_text().isascii():
            continue
        has = get_font(fontManager.findfont(text.get_fontproperties())).get_charmap()
        lacking = frozenset(sign for sign in text.get_text() if ord(sign) not in has)
        if lacking:
            text.set_fontfamily([*text.get_fontfamily(), *_fonts_with(lacking)])


# Parts of the names of fonts made for many scripts: they are looked into first, because
# opening every font of a computer can take seconds.
WIDE_FONTS = ("Unicode", "CJK", "Noto", "Gothic", "Malgun", "PingFang", "Hiragino", "WenQuanYi")


@functools.lru_cache(maxsize=64)
def _fonts_with(signs: frozenset[str]) -> tuple[str, ...]:
    """Return installed fonts that together have as many of the characters as possible."""
    from matplotlib.font_manager import fontManager, get_font

    upright = [
        font
        for font in fontManager.ttflist
        # The font of last resort has a box for every sign.
        if font.style == "normal" and not font.name.startswith("Last Resort")
    ]
    upright.sort(key=lambda font: not any(part in font.name for part in WIDE_FONTS))
    found: list[str] = []
    lacking = set(signs)
    for font in upright:
        if not lacking:
            break
        has = get_font(font.fname).get_charmap()
        known = {sign for sign in lacking if ord(sign) in has}
        if known:
            found.append(font.name)
            lacking -= known
    return tuple(found)


def without_frame(ax: Any) -> None:
    """Take away the lines that carry no information."""
    ax.spines[["top", "right"]].set_visible(False)


def label(text: Any, longest: int = 34) -> str:
    """Return a name from the data for a picture: one line, not too long, never a formula.

    Matplotlib sets what stands between two dollar signs as mathematics.
    """
    words = " ".join(str(text).split())
    # Control characters and halves of characters break fonts and files.
    words = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)
    if len(words) > longest:
        kept = (longest - 1) // 2
        words = f"{words[:kept]}…{words[-kept:]}"
    return words.replace("$", r"\$")


def labels(names: Sequence[str], longest: int = 34) -> list[str]:
    """Return many names for a picture, so that different ones still look different.

    Where cutting the middle out makes two alike, what all have in common is cut instead.
    """
    plain = [label(name, longest) for name in names]
    if len(set(plain)) == len(set(names)):
        return plain
    start = _common_start(names)
    end = _common_start([name[start:][::-1] for name in names])
    cut = [name[start : len(name) - end] for name in names]
    return [label(f"{'…' * bool(start)}{name}{'…' * bool(end)}", longest) for name in cut]


def _common_start(names: Sequence[str]) -> int:
    """Measure how much all names begin alike, in whole words."""
    # The first and the last in the alphabet differ as early as any two.
    first, last = min(names), max(names)
    same = 0
    while same < len(first) and first[same] == last[same]:
        same += 1
    return len(re.sub(r"[^\W_]+$", "", first[:same]))


def measure_of(measure: str, x: str, y: str) -> str:
    """Return the label of an axis, "CKA(x, y)"."""
    return f"{MEASURE_NAMES[measure]}({label(x, 18)}, {label(y, 18)})"


def legend_above(ax: Any, *, columns: int = 1) -> None:
    """Put the legend above the picture, where it cannot hide anything."""
    ax.legend(
        frameon=False,
        fontsize="small",
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.3,
        ncols=columns,
    )


def row_height(rows: int) -> float:
    """Choose how many inches a row of a long picture gets: less when there are many."""
    return max(0.17, min(0.4, 12.0 / max(rows, 1)))


def thinned(names: Sequence[str], most: int = 60) -> tuple[list[int], list[str]]:
    """Choose which of many names are written along an axis: all, or every k-th."""
    step = -(-len(names) // most)
    positions = list(range(0, len(names), step))
    written = labels(names, 24)
    return positions, [written[i] for i in positions]
