"""The whole page, with the parts that answer and that let people take the answer along."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from reldep.app.data_part import data_part
from reldep.app.fields import button, form, hidden, label
from reldep.app.jobs import CANCELLED, FAILED
from reldep.app.question_part import question_part
from reldep.app.worker import FILES, SHOWN
from reldep.report.markup import Markup, element, joined, section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.app.jobs import Task
    from reldep.app.sessions import Asked, Session

DOING = {
    "read": "Reading the file",
    "plan": "Looking at how long it will take",
    "answer": "Computing",
}


def whole_page(session: Session) -> str:
    """Return the page of a session."""
    state, data = state_part(session), data_part(session)
    asked = [question_part(session), answer_part(session), take_part(session)]
    main = element(
        "main",
        element("div", state, id="state", aria_live="polite"),
        element("div", data, class_="left"),
        element("div", *asked, class_="right"),
        id="page",
        tabindex="-1",
        data_session=json.dumps(session.saved()) if session.files else None,
        class_="wide" if session.table is not None else None,
    )
    header = element(
        "header",
        element("a", "Skip to the question", href="#question", class_="skip"),
        element("h1", "reldep"),
        element("p", "Which dependence is stronger?"),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", "reldep: which dependence is stronger?"),
        element("link", rel="stylesheet", href="static/report.css"),
        element("link", rel="stylesheet", href="static/app.css"),
        element("link", rel="icon", href="data:,"),
        element("script", src="static/app.js", defer=""),
    )
    body = element("body", header, main, element("div", "", id="said", role="status"))
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en")


def state_part(session: Session) -> Markup:
    """Return what is going on: work under way with a way to stop it, or what went wrong."""
    job = session.job
    if job is not None and job.is_running:
        return _under_way(job)
    if session.message:
        return element("p", session.message, role="alert", class_="message")
    if job is not None and job.state == FAILED:
        said = element("p", job.error, role="alert")
        return element("div", said, _remedies(session, job.remedies), class_="message")
    if job is not None and job.state == CANCELLED and session.shown is None:
        return element("p", "Stopped.", role="status", class_="note")
    return Markup()


def _remedies(session: Session, remedies: Sequence[Sequence[str]]) -> Markup:
    """Return a button for each option that a message proposes."""
    buttons = [
        form("choose", hidden(name=name, value=value), button(label(name, value)))
        for name, value in session.choices.proposed(remedies)[:4]  # more would hide the first
    ]
    return element("div", "Choose: ", *buttons, class_="row") if buttons else Markup()


def _under_way(job: Task) -> Markup:
    known = {"value": job.done, "max": job.total} if job.total else {}
    return element(
        "div",
        element("span", f"{DOING[job.kind]} …", id="doing"),
        element("progress", aria_labelledby="doing", id="progress", **known),
        element("span", "", id="elapsed", class_="hint"),
        form("cancel", button("Cancel", id="cancel")),
        class_="under-way",
        data_poll="job",
        role="status",
    )


def answer_part(session: Session) -> Markup:
    """Return the third part of the page."""
    if session.table is None:
        return Markup()
    content: list[Markup] = []
    shown = session.answered
    if shown is not None:
        path = session.folder_of(shown.number) / SHOWN
        content = [Markup(path.read_text("utf-8")), _remedies(session, shown.remedies)]
    elif not session.choices.is_full:
        content = [element("p", "Fill the places of the question.", class_="hint")]
    elif not session.is_busy:
        content = [_ready(session)]
    return section("3. Answer", *content, name="answer")


def _ready(session: Session) -> Markup:
    """Return what many rows will take, and a button to begin."""
    more = Markup()
    if not session.is_small and session.choices.has_bandwidths:
        text, name = " and over a range of bandwidths, which takes longer", "bandwidths"
        box = element("input", type="checkbox", name=name, value="yes", id=name)
        more = element("p", box, element("label", text, for_=name))
    plan = element("pre", session.plan) if session.plan else ""
    return form("answer", plan, more, button("Compute the answer", class_="main"))


def take_part(session: Session) -> Markup:
    """Return the last part of the page."""
    if session.table is None and not session.answers:
        return Markup()
    shown = session.answered
    save = element("a", "Save this session", href="session.json", download="")
    return section(
        "4. Take it with you",
        _downloads(shown) if shown is not None else "",
        _list(session) if session.answers else "",
        element("p", save, ": the choices and the file's hash, not the data."),
        name="take",
    )


def _downloads(one: Asked) -> Markup:
    links = [
        element("li", element("a", text, href=f"answers/{one.number}/{name}", download=""))
        for name, (_, text) in FILES.items()
    ]
    return joined(
        element("ul", *links, class_="links"),
        element("p", "The same in Python and on the command line, next to the file:"),
        _code(one.python, "python"),
        _code(one.command, "command"),
    )


def _code(text: str, name: str) -> Markup:
    shown, about = f"{name}-code", f"the {name} code"
    copy = {"type": "button", "data_copy": shown, "aria_label": f"Copy {about}"}
    return element(
        "div",
        element("pre", text, id=shown, tabindex="0", aria_label=about.capitalize()),
        element("button", "Copy", **copy),
        class_="code",
    )


def _list(session: Session) -> Markup:
    """Return the answers of the session."""
    items = [
        element(
            "li",
            element("strong", one.question, " "),
            element("span", one.sentence),
            _act("show", one.number),
            _act("remove", one.number),
            aria_current="true" if one.number == session.shown else None,
        )
        for one in session.answers
    ]
    return joined(
        element("h3", "Answers so far"),
        element("ol", *items, class_="answers"),
        element("p", element("a", "All answers as one report", href="report.html", download="")),
    )


def _act(action: str, number: int) -> Markup:
    text = action.capitalize()
    return form(action, hidden(number=number), button(text, aria_label=f"{text} answer {number}"))
