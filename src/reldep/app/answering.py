"""An answer as files: the part of the page that shows it, and everything to take along."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reldep import report
from reldep.app.wording import in_page
from reldep.report.vector import svg

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reldep.questions.request import Request

# The files of an answer, with their kinds.
FILES = {
    "report.html": "text/html; charset=utf-8",
    "table.csv": "text/csv; charset=utf-8",
    "table.tex": "text/plain; charset=utf-8",
    "picture.svg": "image/svg+xml",
    "picture.png": "image/png",
    "answer.json": "application/json",
}
SHOWN = "shown.html"
DOTS_PER_INCH = 200


def answer(request: Request, folder: Path, number: int, *, bandwidths: bool) -> dict[str, Any]:
    """Answer a request, write the answer's files into a folder, and give what the page lists."""
    found, curve = request.run_over_bandwidths() if bandwidths else (request.run(), None)
    parts = found.describe(request.alpha)
    if curve is not None:
        parts = parts.beside(curve.as_section(request.alpha), curve.warnings)
    worded = replace(parts.reworded(in_page), call=request.command())
    folder.mkdir(parents=True, exist_ok=True)
    draw = parts.pictures[0].draw
    texts = {
        SHOWN: report.article(worded, f"answer-{number}"),
        "report.html": report.page(worded),
        "table.csv": report.csv_text(parts.table),
        "table.tex": report.latex_table(parts),
        "picture.svg": svg(draw),
        "answer.json": json.dumps(report.dictionary(parts), indent=2, allow_nan=False),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    (folder / "picture.png").write_bytes(_png(draw))
    return {
        "question": parts.question,
        "sentence": parts.sentence,
        "command": request.command(),
        "python": request.code(),
        "n_observations": found.n_observations,
    }


def plan(request: Request) -> dict[str, Any]:
    """Say what an answer will take, where that can be known."""
    return {"plan": str(request.plan()) if request.has_plan else ""}


def _png(draw: Callable[[Any], Any]) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    draw(figure)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
    return drawn.getvalue()
