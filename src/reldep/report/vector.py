"""Pictures as SVG, the same bytes in every process and thread.

Matplotlib keeps its settings in one place for the whole process. A report must neither change
them, even for a moment, since another thread may be drawing, nor depend on them, so what matters
is fixed here instead.
"""

from __future__ import annotations

import hashlib
import io
from typing import Any, cast

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends import backend_mixed, backend_svg
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager, get_font
from matplotlib.text import Text

from reldep.io import MADE_BY_US

# Dots per inch of parts that can only be drawn as an image, and the unit of SVG.
DPI, POINTS_PER_INCH = 150, 72

# Without dates, so that the same picture is the same file.
METADATA: dict[str, Any] = {
    "png": {"Software": MADE_BY_US},
    "svg": {"Creator": MADE_BY_US, "Date": None},
    "pdf": {"Creator": MADE_BY_US, "CreationDate": None},
}


class _Renderer(backend_svg.RendererSVG):
    """Text stays text, so that the reader's fonts show every script; names do not vary."""

    def _make_id(self, type: str, content: Any) -> str:  # noqa: A002
        return f"{type}{hashlib.sha256(str(content).encode()).hexdigest()[:10]}"

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        write: Any = self._draw_text_as_text
        write(gc, x, y, s, prop, angle, ismath, mtext)

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> Any:
        # Matplotlib measures with its own font and warns of signs that it lacks; the reader's
        # fonts will have them, and an M is about as wide.
        measure: Any = super().get_text_width_height_descent
        if s.isascii():
            return measure(s, prop, ismath)
        known = get_font(fontManager.findfont(prop)).get_charmap()
        unknown = {ord(sign): "M" for sign in s if ord(sign) not in known}
        return measure(s.translate(unknown), prop, ismath)


class _Canvas(FigureCanvasBase):
    """A canvas that measures as it draws."""

    def get_renderer(self) -> _Renderer:
        return _renderer(self.figure, io.StringIO())


def _renderer(figure: Any, file: io.StringIO) -> _Renderer:
    width, height = figure.get_size_inches() * POINTS_PER_INCH
    kind: Any = _Renderer
    drawing: _Renderer = kind(width, height, file, image_dpi=DPI, metadata=METADATA["svg"])
    return drawing


def svg(draw: Any) -> str:
    """Return a picture as SVG.

    Parameters
    ----------
    draw : callable
        Takes an empty matplotlib Figure and draws on it.
    """
    figure = Figure(dpi=POINTS_PER_INCH, layout="constrained", facecolor="white")
    _Canvas(figure)
    draw(figure)
    _as_on_paper(figure)
    file, mixed = io.StringIO(), cast("Any", backend_mixed.MixedModeRenderer)
    renderer = mixed(figure, *figure.get_size_inches(), DPI, _renderer(figure, file))
    figure.draw(renderer)
    renderer.finalize()
    return file.getvalue()


def image(draw: Any, ending: str) -> bytes:
    """Return a picture as a file: ".png" with 200 dots per inch, ".svg" or ".pdf"."""
    kind = ending.lower().lstrip(".")
    figure, file = Figure(layout="constrained"), io.BytesIO()
    draw(figure)
    figure.savefig(file, format=kind, dpi=200, metadata=METADATA[kind])
    return file.getvalue()


def _as_on_paper(figure: Figure) -> None:
    """Set black on white and a plain size where the settings of the reader chose otherwise."""
    chosen = {mpl.rcParams[name] for name in ("text.color", "axes.labelcolor", "axes.titlecolor")}
    # Matplotlib's own size of letters is 10 points.
    scale = 10 / mpl.rcParams["font.size"]
    found: list[Any] = figure.findobj(Axes)  # also those inside others
    for ax in found:
        ax.set_facecolor("white")
        ax.grid(visible=False)
        ax.spines[:].set_color("black")
        for axis in (ax.xaxis, ax.yaxis):
            size = axis.get_major_ticks(1)[0].label1.get_fontsize()
            axis.set_tick_params(colors="black", labelsize=size)
    for text in figure.findobj(Text):
        text.set_usetex(False)  # LaTeX may be missing, and runs what the settings contain
        text.set_fontsize(text.get_fontsize() * scale)
        if text.get_color() in chosen:
            text.set_color("black")
