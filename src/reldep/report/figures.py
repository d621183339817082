"""Pictures inside a page: drawn alike everywhere, kept in the file itself."""

from __future__ import annotations

import base64
import io
import warnings
from typing import TYPE_CHECKING, Any

from reldep.report.markup import Markup, element

if TYPE_CHECKING:
    from collections.abc import Callable

# Text stays text, so that every script the reader's fonts know is shown; the salt makes the
# names inside the picture, and so the whole file, the same at every run.
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "reldep"}


def figure(draw: Callable[[Any], Any], *, alt: str, caption: str) -> Markup:
    """Draw a picture and write it as a figure with its caption.

    Parameters
    ----------
    draw : callable
        Takes an empty matplotlib Figure and draws on it.
    alt : str
        What the picture shows, for those who do not see it.
    """
    data = base64.b64encode(svg(draw)).decode("ascii")
    return element(
        "figure",
        element("img", src=f"data:image/svg+xml;base64,{data}", alt=alt),
        element("figcaption", caption),
    )


def svg(draw: Callable[[Any], Any]) -> bytes:
    """Draw a picture as SVG, with matplotlib's own style whatever the reader's settings are."""
    import matplotlib.style
    from matplotlib.figure import Figure

    buffer = io.BytesIO()
    with matplotlib.style.context(["default", SETTINGS]), warnings.catch_warnings():
        # Matplotlib measures with its own font; the reader's will have the signs it lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        canvas = Figure(layout="constrained")
        draw(canvas)
        canvas.savefig(buffer, format="svg", dpi=150, metadata={"Date": None})
    return buffer.getvalue()
