"""Descriptions as HTML: a report in one file, and its parts for pages and notebooks."""

from __future__ import annotations

import base64
import importlib.resources
import inspect
import platform
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reldep.description import Column, Description, Picture, Section, Table, Value
from reldep.exceptions import ReldepWarning
from reldep.io import MADE_BY_US
from reldep.version import __version__
from reldep.words import number

VOID = frozenset({"img", "meta", "br", "input", "link"})

# Characters that no HTML document may contain, those that turn the direction of writing, so that
# a name reads as another, and halves of characters, which no file can contain.
_TURNING = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
SAFE: dict[int, str] = dict.fromkeys([*range(32), *range(127, 160), *_TURNING], "�")
SAFE |= {ord(white): white for white in "\t\n"} | dict.fromkeys(range(0xD800, 0xE000), "?")
SAFE |= {
    ord(sign): f"&{name};"
    for sign, name in {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#x27"}.items()
}


class Markup(str):
    """Text that is HTML already. Only this room and constants make it."""

    __slots__ = ()


def escaped(value: Any) -> Markup:
    """Return markup that shows the text of a value; markup stays what it is."""
    return value if isinstance(value, Markup) else Markup(str(value).translate(SAFE))


def joined(*parts: Any) -> Markup:
    """Return values one after the other as markup."""
    return Markup("".join(map(escaped, parts)))


def element(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Return an HTML element; children and attribute values are escaped.

    Attributes are written as in Python: ``class_="wide"``, ``aria_label="…"``. None leaves an
    attribute out.

    Examples
    --------
    >>> element("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    # A page has hundreds of elements, so this is one loop without functions of its own.
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is not None:
            text = value if isinstance(value, Markup) else str(value).translate(SAFE)
            parts.append(f' {key.rstrip("_").replace("_", "-")}="{text}"')
    parts.append(">")
    parts += [
        child if isinstance(child, Markup) else str(child).translate(SAFE) for child in children
    ]
    return Markup("".join(parts) + ("" if name in VOID else f"</{name}>"))


def section(title: str, *children: Any, name: str) -> Markup:
    """Return a section under its heading, which screen readers jump to."""
    return element("section", element("h2", title, id=name), *children, aria_labelledby=name)


def facts(pairs: dict[str, Any]) -> Markup:
    """Return names with their values as a description list."""
    rows = [
        f"<div><dt>{str(name).translate(SAFE)}</dt><dd>{str(value).translate(SAFE)}</dd></div>"
        for name, value in pairs.items()
    ]
    return element("dl", Markup("".join(rows)))


def html_table(table: Table) -> Markup:
    """Return a table with its caption; the first column names the rows."""
    columns = table.columns
    look = [' class="number"' * (column.is_numeric and i > 0) for i, column in enumerate(columns)]
    head = [
        f'<th scope="col"{one}>{column.heading.translate(SAFE)}</th>'
        for column, one in zip(columns, look, strict=True)
    ]
    body = []
    for first, *others in table.rows:
        body.append(f'<tr><th scope="row">{first.translate(SAFE)}</th>')
        for cell, one in zip(others, look[1:], strict=True):
            body.append(f"<td{one}>{cell.translate(SAFE)}</td>")
        body.append("</tr>")
    written = Markup(
        f"<table><caption><span>{table.caption.translate(SAFE)}</span></caption>"
        f"<thead><tr>{''.join(head)}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )
    # A wide table scrolls by itself, also with the keyboard, and the page does not.
    label = {"role": "group", "aria_label": table.caption}
    return element("div", written, class_="scroll", tabindex="0", **label)


# Rows of a table that a report, a page and a notebook show; files have all.
MOST_ROWS, MOST_ON_PAGE, MOST_IN_NOTEBOOKS = 200, 50, 30

NONE = element("p", "None: no check found a problem.")

# Nothing is loaded and nothing runs, whatever a name in the data may contain.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(parts: Description) -> str:
    """Return a report as an HTML document that needs no other file."""
    body = element(
        "main",
        element("h1", parts.question),
        element("p", parts.sentence, class_="answer"),
        _numbers(parts.numbers),
        section(
            "Cautions",
            *(map(_caution, parts.cautions) if parts.cautions else [NONE]),
            name="cautions",
        ),
        section("Picture", *figures(parts.pictures), name="picture"),
        section(
            "Table",
            html_table(parts.table.top(MOST_ROWS)),
            element("p", MEASURES_IN_WORDS[parts.measure]),
            name="table",
        ),
        *(section(one.title, *_contents(one, MOST_ROWS), name=one.name) for one in parts.sections),
        section("How it was computed", *_computed(parts), _repetition(parts.call), name="computed"),
        section("References", _references(parts.references), name="references"),
    )
    foot = element("footer", f"{MADE_BY_US} {__version__}.")
    return _document(parts.question, body, "\n", foot)


def several(articles: Sequence[str], calls: Sequence[str]) -> str:
    """Return several articles, each with the call that repeats it, as one HTML document."""
    shown = []
    for one, call in zip(articles, calls, strict=True):
        # Nothing can be unfolded on paper, and the first heading is the document's.
        opened = one.replace("<details>", "<details open>")
        shown.append(Markup(opened.replace("<h3 ", "<h2 ").replace("</h3>", "</h2>")))
        shown.append(_repetition(call))
    many = element(
        "p",
        f"There are {len(articles)} answers below, each with the error rate that it states. The "
        "chance that at least one of them is a false claim is larger.",
    )
    head = element("h1", "Answers")
    return _document("Answers", element("main", head, many if len(articles) > 1 else "", *shown))


def article(parts: Description, name: str) -> Markup:
    """Return an answer for a page that has others: further parts are folded away."""
    folded = [
        element("details", element("summary", one.title), *_contents(one, MOST_ON_PAGE))
        for one in parts.sections
    ]
    cautions = element("div", *map(_caution, parts.cautions), **_CAUTIONS)
    return element(
        "article",
        element("h3", parts.question, id=name),
        element("p", parts.sentence, class_="answer"),
        cautions if parts.cautions else "",
        _numbers(parts.numbers),
        *figures(parts.pictures[:1]),
        html_table(parts.table.top(MOST_ON_PAGE)),
        *folded,
        element(
            "details",
            element("summary", "How it was computed"),
            element("p", MEASURES_IN_WORDS[parts.measure]),
            *_computed(parts),
        ),
        aria_labelledby=name,
    )


_CAUTIONS = {"role": "group", "aria_label": "Cautions"}


def fragment(parts: Description) -> Markup:
    """Return the sentence, the table and the cautions, as a notebook shows them."""
    cautions = [element("p", element("strong", "Caution: "), caution) for caution in parts.cautions]
    return element(
        "div",
        element("p", element("strong", parts.sentence)),
        html_table(parts.table.top(MOST_IN_NOTEBOOKS)),
        *cautions,
    )


def figures(pictures: Iterable[Picture]) -> list[Markup]:
    """Draw pictures, each with what it shows in words."""
    # Matplotlib takes a while to import, and a notebook's fragment has no pictures.
    from reldep.report.vector import svg

    made = []
    for one in pictures:
        data = base64.b64encode(svg(one.draw).encode("utf-8")).decode("ascii")
        drawn = element("img", src=f"data:image/svg+xml;base64,{data}", alt=one.alt)
        made.append(element("figure", drawn, element("figcaption", one.caption)))
    return made


VIEWPORT = element("meta", name="viewport", content="width=device-width, initial-scale=1")


def _document(title: str, *body: Any) -> str:
    folder = importlib.resources.files("reldep.report") / "static"
    style = Markup((folder / "report.css").read_text("utf-8"))
    policy = element("meta", http_equiv="Content-Security-Policy", content=POLICY)
    return document(title, *body, head=[policy, VIEWPORT, element("style", style)])


def document(title: str, *body: Any, head: Sequence[Markup]) -> str:
    """Return an HTML document from its title, what else is in its head, and its body."""
    charset = element("meta", charset="utf-8")
    top = element("head", charset, *head, element("title", title))
    return "<!DOCTYPE html>\n" + element("html", top, element("body", *body), lang="en")


def _numbers(values: Iterable[Value]) -> Markup:
    return facts({one.heading: one.text for one in values if one.heading})


def _caution(caution: ReldepWarning) -> Markup:
    """Return one caution with what its kind means."""
    kind = type(caution)
    # The first line of the class's documentation is the meaning of the kind.
    meaning = (inspect.getdoc(kind) or "").split("\n")[0].replace("``", "")
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in kind.__name__)
    return element(
        "div",
        element("strong", f"{words.removesuffix('warning').strip().capitalize()}: "),
        caution,
        element("p", f"What it means: {meaning}") if meaning else "",
        class_="caution",
    )


def _contents(part: Section, most: int) -> list[Markup]:
    """Return the words, the pictures and the table of a further part."""
    tables = [] if part.table is None else [html_table(part.table.top(most))]
    paragraphs = [element("p", paragraph) for paragraph in part.paragraphs]
    return [*paragraphs, *figures(part.pictures), *tables]


def _computed(parts: Description) -> list[Markup]:
    """Return the choices, versions and kernels behind an answer."""
    chosen = {one.heading: one.text for one in parts.facts if one.heading and one.text}
    notes = [element("p", note) for note in parts.notes]
    return [*notes, facts({**chosen, **_versions()}), _kernels(parts.kernels)]


def _versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute.

    They come from the packages themselves: a source tree that is not installed has no metadata.
    """
    import numpy
    import scipy

    own = {"Python": platform.python_version(), "reldep": __version__}
    return {**own, "numpy": numpy.__version__, "scipy": scipy.__version__}


def _kernels(kernels: Mapping[str, Mapping[str, Any]]) -> Markup:
    """Return a table of the fitted kernel of every variable with its parameters."""
    fitted = list(kernels.values())
    table = Table(
        (
            Column("variable", "variable", list(kernels)),
            Column("kernel", "kernel", [kernel["kernel"] for kernel in fitted]),
            Column("parameters", "parameters", [_parameters(kernel) for kernel in fitted]),
        ),
        "The kernel of every variable, as fitted.",
        shown="The first {n:,} of {all:,} variables.",
    )
    # Of many variables most are targets, whose kernels are alike.
    return html_table(table.top(40))


def _parameters(kernel: Mapping[str, Any]) -> str:
    written = [
        f"{name} = {number(value, 6) if isinstance(value, float) else value}"
        for name, value in kernel.items()
        # Yes or no says something about the kernel's values, not about the fit.
        if name != "kernel" and not isinstance(value, bool)
    ]
    return ", ".join(written) or "none"


def _repetition(call: str) -> Markup:
    if not call:
        return Markup()
    code = element("pre", element("code", call), tabindex="0")
    return joined(element("p", "To repeat it:"), code)


def _references(sources: Iterable[str | tuple[str, str]]) -> Markup:
    """Return what to read and to cite: sources by key, or whole."""
    named = [REFERENCES[source] if isinstance(source, str) else source for source in sources]
    return element(
        "ul", *(element("li", text, " ", element("a", url, href=url)) for text, url in named)
    )


# What a report explains and cites: the measures in words, and the sources.
MEASURES_IN_WORDS = {
    "hsic": (
        "HSIC (the Hilbert-Schmidt independence criterion) is 0 for independent variables and "
        "grows with any kind of dependence, straight or curved. It has the scale of its kernels, "
        "so compare it only between targets measured alike."
    ),
    "cka": (
        "CKA (centred kernel alignment) is HSIC on a scale from 0 (independent) to 1 (the same, as "
        "far as the kernels can tell), so that targets of different kinds can be compared. It is "
        "not a correlation: two bell-shaped variables with a correlation of .5 have a CKA of 0.12."
    ),
    "dcor": (
        "The squared distance correlation is 0 for independent variables and 1 for a straight "
        "line; targets of different kinds can be compared."
    ),
}

REFERENCES = {
    "test": (
        "Bounliphone, W., Gretton, A., Tenenhaus, A., Blaschko, M. (2015). A low variance "
        "consistent test of relative dependency. ICML, PMLR 37, 20–29.",
        "https://proceedings.mlr.press/v37/bounliphone15.html",
    ),
    "hsic": (
        "Song, L., Smola, A., Gretton, A., Bedo, J., Borgwardt, K. (2012). Feature selection via "
        "dependence maximization. Journal of Machine Learning Research 13, 1393–1434. (The "
        "unbiased estimate of HSIC.)",
        "https://jmlr.org/papers/v13/song12a.html",
    ),
    "cka": (
        "Kornblith, S., Norouzi, M., Lee, H., Hinton, G. (2019). Similarity of neural network "
        "representations revisited. ICML, PMLR 97, 3519–3529.",
        "https://proceedings.mlr.press/v97/kornblith19a.html",
    ),
    "dcor": (
        "Székely, G. J., Rizzo, M. L. (2013). The distance correlation t-test of independence in "
        "high dimension. Journal of Multivariate Analysis 117, 193–213.",
        "https://doi.org/10.1016/j.jmva.2013.02.012",
    ),
    "ranking": (
        "Mogstad, M., Romano, J. P., Shaikh, A. M., Wilhelm, D. (2024). Inference for ranks with "
        "applications to mobility across neighbourhoods and academic achievement across "
        "countries. Review of Economic Studies 91, 476–518.",
        "https://doi.org/10.1093/restud/rdad006",
    ),
}
