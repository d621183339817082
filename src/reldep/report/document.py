"""The whole report as one file that needs nothing else, and the short form for notebooks."""

from __future__ import annotations

import base64
import importlib.resources
import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from reldep.data.checks import check_level
from reldep.report.markup import Markup, element, facts, joined, section
from reldep.report.method import MEASURES_IN_WORDS, computed, references, versions
from reldep.report.tabular import MOST_ROWS, html_table
from reldep.results.description import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reldep.exceptions import ReldepWarning
    from reldep.results.answer import Answer
    from reldep.results.description import Columns, Picture, Section

# Nothing is loaded and nothing runs, whatever a name in the data may contain.
# A notebook shows so many rows of a table.
MOST_IN_NOTEBOOKS = 30

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(
    answer: Answer,
    *,
    alpha: float = 0.05,
    sensitivity: Any = None,
    command: str | None = None,
    spell: Callable[[str], str] = str,
) -> str:
    """Write a report about an answer as an HTML document.

    Parameters
    ----------
    answer : Answer
    alpha : float, default 0.05
        The level of the answer.
    sensitivity : Answer, optional
        Adds a section about the bandwidth.
    command : str, optional
        What to type to repeat the result; by default the Python call.
    spell : callable, default str
        Returns a caution in the words of a front end; by default those of Python.

    Returns
    -------
    str
    """
    check_level("alpha", alpha)
    beside = () if sensitivity is None else (sensitivity.as_section(alpha),)
    given = [*answer.warnings, *(sensitivity.warnings if sensitivity is not None else ())]
    body = element(
        "main",
        _opening(answer, alpha),
        section("Picture", *figures(answer, answer.pictures()), name="picture"),
        _table(answer, alpha),
        _cautions(given, spell),
        *(_section(part) for part in (*beside, *answer.sections())),
        computed(answer, command),
        references(answer),
    )
    return "<!DOCTYPE html>\n" + element(
        "html", _head(answer), element("body", body, _foot()), lang="en"
    )


def fragment(answer: Answer) -> Markup:
    """Write the answer and the table only, as a notebook shows it."""
    cautions = [
        element("p", element("strong", "Caution: "), caution) for caution in answer.warnings
    ]
    columns, which = answer.strongest(None, MOST_IN_NOTEBOOKS)
    caption = f"{answer.n_observations} observations; variance: {answer.variance}.{which}"
    return element(
        "div",
        element("p", element("strong", answer.sentence())),
        html_table(columns, answer.headings(), caption, most=MOST_IN_NOTEBOOKS),
        *cautions,
    )


def _head(answer: Answer) -> Markup:
    css = importlib.resources.files("reldep.report").joinpath("style.css").read_text("utf-8")
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", answer.question()),
        element("style", Markup(css)),
    )


def _opening(answer: Answer, alpha: float) -> Markup:
    """Write the question as the title and the answer below it."""
    observations = {"Observations": f"{answer.n_observations:,}"}
    return joined(
        element("h1", answer.question()),
        element("p", answer.sentence(alpha), class_="answer"),
        facts({**answer.key_numbers(alpha), **observations}),
    )


def figures(answer: Answer, pictures: Iterable[Picture]) -> list[Markup]:
    """Draw pictures of an answer, with what they show in words."""
    # Matplotlib takes a while to import, and a notebook's fragment has no pictures.
    from reldep.report.vector import svg

    return [_figure(svg(partial(picture.draw, answer)), picture) for picture in pictures]


def _figure(drawn: str, picture: Picture) -> Markup:
    data = base64.b64encode(drawn.encode("utf-8")).decode("ascii")
    return element(
        "figure",
        element("img", src=f"data:image/svg+xml;base64,{data}", alt=picture.alt),
        element("figcaption", picture.caption),
    )


def _table(answer: Answer, alpha: float) -> Markup:
    """Write the table of the answer and what its measure means."""
    columns, which = answer.strongest(alpha, MOST_ROWS)
    caption = f"{answer.table_caption(alpha)}{which}"
    return section(
        "Table",
        html_table(columns, answer.headings(), caption, most=MOST_ROWS),
        element("p", MEASURES_IN_WORDS[answer.measure]),
        name="table",
    )


def _cautions(given: Iterable[ReldepWarning], spell: Callable[[str], str]) -> Markup:
    """Write every caution once, with what its kind means."""
    kinds = {spell(str(caution)): type(caution) for caution in given}
    if not kinds:
        return section("Cautions", element("p", "None: no check found a problem."), name="cautions")
    return section("Cautions", *(caution_box(*pair) for pair in kinds.items()), name="cautions")


def caution_box(text: str, kind: type[ReldepWarning]) -> Markup:
    """Write one caution with what its kind means."""
    # The first line of the class's documentation is the meaning of the kind.
    meaning = (inspect.getdoc(kind) or "").split("\n")[0].replace("``", "")
    return element(
        "div",
        element("strong", f"{_spaced(kind.__name__.removesuffix('Warning'))}: "),
        text,
        element("p", f"What it means: {meaning}") if meaning else "",
        class_="caution",
    )


def _spaced(name: str) -> str:
    """Write a class name as words: SmallSample as "Small sample"."""
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
    return words.capitalize()


def _section(part: Section) -> Markup:
    """Write a further part of the report: words, a table, pictures."""
    table = Markup()
    if part.table is not None:
        table = html_table(
            part.table, section_headings(part.table, part.answer.headings()), part.caption
        )
    return section(
        part.title,
        *(element("p", paragraph) for paragraph in part.paragraphs),
        *figures(part.answer, part.pictures),
        table,
        name=part.name,
    )


def section_headings(columns: Columns, known: dict[str, str]) -> dict[str, str]:
    """Give a heading for every column of the table of a further part."""
    first, *others = columns
    written = {name: HEADINGS.get(name, name.replace("_", " ")) for name in others}
    written |= {name: known[name] for name in others if name in known}
    # The first column may bear a name from the data, which is nobody's to translate.
    return {first: first, **written}


def _foot() -> Markup:
    return joined("\n", element("footer", f"Made with reldep {versions()['reldep']}."))
