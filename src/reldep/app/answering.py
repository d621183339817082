"""An answer as files: the part of the page that shows it, and everything to take along."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from reldep.app.wording import in_page
from reldep.report import page
from reldep.report.document import caution_box, figures, section_headings
from reldep.report.markup import Markup, element, facts, joined
from reldep.report.tabular import html_table
from reldep.report.vector import svg

if TYPE_CHECKING:
    from pathlib import Path

    from reldep.questions.asking import Request
    from reldep.results.answer import Answer
    from reldep.results.description import Section

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
# The page shows so many rows of a table; the files have all.
MOST = 50
DOTS_PER_INCH = 200


def answer(request: Request, folder: Path, number: int, *, bandwidths: bool) -> dict[str, Any]:
    """Answer a request, write the answer's files into a folder, and give what the page lists."""
    found, curve = request.answer_with_bandwidths() if bandwidths else (request.answer(), None)
    document = page(
        found, alpha=request.alpha, sensitivity=curve, command=request.command(), spell=in_page
    )
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        SHOWN: shown(request, found, curve, f"answer-{number}"),
        "report.html": document,
        "table.csv": table_as_csv(found.table(request.alpha)),
        "table.tex": found.to_latex(),
        "picture.svg": svg(found.plot),
        "answer.json": found.to_json(request.alpha),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    (folder / "picture.png").write_bytes(_png(found))
    return {
        "question": found.question(),
        "sentence": found.sentence(request.alpha),
        "command": request.command(),
        "python": request.python(),
        "n_observations": found.n_observations,
    }


def plan(request: Request) -> dict[str, Any]:
    """Say what an answer will take, where that can be known."""
    known = request.asked.has_plan and request.options.get("given") is None
    return {"plan": str(request.plan()) if known else ""}


def table_as_csv(columns: dict[str, list[Any]]) -> str:
    """Write a table as CSV, numbers unrounded."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _png(found: Answer) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    found.plot(figure)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS_PER_INCH)
    return drawn.getvalue()


def shown(request: Request, found: Answer, curve: Answer | None, name: str) -> Markup:
    """Write an answer as the page shows it: sentence, cautions, numbers, picture, table."""
    alpha = request.alpha
    further: list[Section] = [*found.sections()]
    if curve is not None:
        further.insert(0, curve.as_section(alpha))  # type: ignore[attr-defined]
    given = [*found.warnings, *(curve.warnings if curve is not None else ())]
    kinds = {in_page(str(caution)): type(caution) for caution in given}
    columns, which = found.strongest(alpha, MOST)
    numbers = {**found.key_numbers(alpha), "Observations": f"{found.n_observations:,}"}
    return element(
        "article",
        element("h3", found.question(), id=name),
        element("p", found.sentence(alpha), class_="answer"),
        *_cautions(kinds),
        facts(numbers),
        *figures(found, found.pictures()[:1]),
        html_table(columns, found.headings(), f"{found.table_caption(alpha)}{which}", most=MOST),
        *(_folded(part) for part in further),
        aria_labelledby=name,
    )


def _cautions(kinds: dict[str, Any]) -> list[Markup]:
    if not kinds:
        return []
    boxes = [caution_box(text, kind) for text, kind in kinds.items()]
    return [element("div", *boxes, role="group", aria_label="Cautions")]


def _folded(part: Section) -> Markup:
    """Write a further part of an answer, folded away."""
    table = Markup()
    if part.table is not None:
        headings = section_headings(part.table, part.answer.headings())
        table = html_table(part.table, headings, part.caption, most=MOST)
    return element(
        "details",
        element("summary", part.title),
        *(element("p", paragraph) for paragraph in part.paragraphs),
        *figures(part.answer, part.pictures),
        table,
    )


def several(articles: list[str], commands: list[str], style: str, policy: str) -> str:
    """Write several answers as one document that needs nothing else."""
    parts = [
        joined(Markup(article), element("p", "To repeat it:"), element("pre", command))
        for article, command in zip(articles, commands, strict=True)
    ]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", "Answers"),
        element("style", Markup(style)),
    )
    body = element("body", element("main", element("h1", "Answers"), *parts))
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en")
