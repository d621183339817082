"""The whole page, with the parts that ask, answer, and let people take the answer along."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from reldep.app.choices import GIVEN, Choices, split_name, worded
from reldep.app.data import data_part
from reldep.app.fields import (
    button,
    described,
    fields,
    form,
    hidden,
    in_page,
    label,
    labelled,
    line,
    option,
)
from reldep.app.jobs import CANCELLED, FAILED, FILES, SHOWN
from reldep.app.sessions import Asked, Session
from reldep.arguments import Argument
from reldep.exceptions import InputError
from reldep.questions import SENTENCES
from reldep.questions.request import offered
from reldep.report.html import VIEWPORT, Markup, document, element, joined, section

_PLACE = re.compile(r"\{(\w+)\}")
# What an empty place is called in a sentence, and what stands above it.
PLACES = {
    "source": "one variable",
    "first": "one candidate",
    "second": "another candidate",
    "targets": "several others",
    "sources": "many variables",
    "x": "one variable",
    "y": "another",
    "by": "a column of groups",
    "variables": "several variables",
    "weights": "(pairs with weights)",
    GIVEN: "covariates",
}
# What is typed into a place, by what it takes.
EXAMPLES = {"": "x~y=1", "label": "sex"}


def question_part(session: Session) -> Markup:
    """Return the second part of the page."""
    if session.table is None:
        return Markup()
    return section(
        "2. Question",
        _questions(session.choices),
        _sentence(session.choices),
        element(
            "div",
            *(_slot(session, slot) for slot in session.choices.places.values()),
            class_="slots",
        ),
        _options(session),
        name="question",
    )


def _questions(choices: Choices) -> Markup:
    """Return the questions to choose from, as sentences."""
    plain = [_entry(one, choices, covariates=False) for one in SENTENCES]
    given = [_entry(one, choices, covariates=True) for one in SENTENCES if GIVEN in offered(one)]
    held = element("optgroup", *given, label="With covariates held fixed")
    return form(
        "ask",
        element("label", "What do you want to know?", for_="ask"),
        element("select", *plain, held, name="question", id="ask", data_auto=""),
        button("Ask this", class_="without-script"),
        class_="ask",
    )


def _entry(question: str, choices: Choices, *, covariates: bool) -> Markup:
    """Return one question, with words for its places."""
    value = f"{question} {GIVEN}" if covariates else question
    now = f"{choices.question} {GIVEN}" if choices.covariates else choices.question
    return option(value, worded(question, covariates=covariates).format(**PLACES), now)


def _sentence(choices: Choices) -> Markup:
    """Return the question with what was put into its places."""
    parts: list[Markup | str] = []
    for i, piece in enumerate(_PLACE.split(choices.sentence)):
        if i % 2 == 0:
            parts.append(piece)
            continue
        names = ", ".join(split_name(value)[0] for value in choices.slots.get(piece, []))
        empty = None if names else "empty"
        parts.append(element("mark", names or PLACES[piece], class_=empty))
    return element("p", *parts, class_="sentence", id="sentence")


def _slot(session: Session, slot: Argument) -> Markup:
    """Return one place: what is in it, and the ways to put columns there."""
    values = session.choices.slots.get(slot.name, [])
    name, typed = f"slot-{slot.name}", f"type-{slot.name}"
    example = EXAMPLES.get(slot.columns, "mood=item_*")
    title = PLACES.get(slot.name, slot.label).strip("()").capitalize()
    is_block = slot.columns == "one" and slot.name != GIVEN
    hint = "One column, or several as a block." if is_block else in_page(slot.in_words)
    optional = "" if slot.is_required or slot.name == GIVEN else " (or leave empty)"
    chips = [_chip(session, slot, i, value) for i, value in enumerate(values)]
    sent = {"form": "place", "name": "slot", "value": slot.name, "id": f"put-{slot.name}"}
    return element(
        "div",
        element("h3", title, element("small", optional), id=name),
        element("p", hint, class_="hint") if hint != f"{title}." else "",
        element("ul", *chips, class_="chips") if chips else "",
        button("Put ticked columns here", aria_describedby=name, **sent) if slot.columns else "",
        form(
            "place",
            hidden(slot=slot.name),
            element("label", "or write them", for_=typed, class_="small"),
            line("text", id=typed, placeholder=example, size="14"),
            button("Put", aria_label=f"Put into {slot.name}"),
            class_="typed",
        ),
        class_="slot",
        data_slot=slot.name if slot.columns else None,
        role="group",
        aria_labelledby=name,
    )


def _chip(session: Session, slot: Argument, position: int, value: str) -> Markup:
    """Return what is in a place: its name, which can be changed, and a way to take it out."""
    called, columns = split_name(value)
    place, which = f"{slot.name}-{position}", hidden(slot=slot.name, position=position)
    count = element("span", _count(session, slot, value), class_="small")
    name = element("span", element("strong", called), " ", count)
    if slot.columns in ("one", "several", "many") and columns != value:
        name = form(
            "rename",
            which,
            element("label", "Name", for_=f"name-{place}", class_="small"),
            line("name", called, id=f"name-{place}", size="10", data_auto=""),
            count,
            element("code", columns),
        )
    out = button("×", aria_label=f"Take {called} out", class_="out", id=f"out-{place}")
    return element("li", name, form("take-out", which, out))


def _count(session: Session, slot: Argument, value: str) -> str:
    """Return how many columns a variable has, where that is not one."""
    if not slot.columns:
        return ""
    try:
        n = len(session.columns_of(value))
    except InputError:
        return "not in this file"
    return f"{n} columns" if n > 1 else ""


def _options(session: Session) -> Markup:
    """Return the options, folded away, with the level."""
    choices, alpha = session.choices, "option-alpha"
    level = line("alpha", f"{choices.alpha:g}", inputmode="decimal", **described(alpha))
    asked = form(
        "options",
        *fields(choices.folded, choices.options, session.columns, "option"),
        labelled(alpha, "Level", level, "Of the test; intervals are at 1 - level."),
        button("Apply"),
        class_="fields",
        id="options",
    )
    summary = element("summary", _changed(choices))
    return element("details", summary, asked, id="folded-options")


def _changed(choices: Choices) -> str:
    """Return the options that are not as they are by default, so that none is forgotten."""
    chosen = {**choices.options, **({} if choices.alpha == 0.05 else {"alpha": choices.alpha})}
    texts = {
        name: ", ".join(value) if isinstance(value, list) else str(value)
        for name, value in chosen.items()
    }
    # What is ticked is named without a value.
    named = [label(name, None if text == "True" else text) for name, text in texts.items()]
    return f"Options ({'; '.join(named)})" if named else "Options"


ICON = element("link", rel="icon", href="data:,")
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
        data_session=json.dumps(session.saved()) if session.names else None,
        class_="wide" if session.table is not None else None,
    )
    header = element(
        "header",
        element("a", "Skip to the question", href="#question", class_="skip"),
        element("h1", "reldep"),
        element("p", "Which dependence is stronger?"),
    )
    head = [
        *(VIEWPORT, ICON),
        element("link", rel="stylesheet", href="static/report.css"),
        element("link", rel="stylesheet", href="static/app.css"),
        element("script", src="static/app.js", defer=""),
    ]
    told = element("div", "", id="said", role="status")
    return document("reldep: which dependence is stronger?", header, main, told, head=head)


def state_part(session: Session) -> Markup:
    """Return what is going on: work under way with a way to stop it, or what went wrong."""
    job = session.job
    if job is not None and job.is_running:
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
        # What many rows will take, and a button to begin.
        asked = [element("pre", session.plan)] if session.plan else []
        if not session.is_small and session.choices.has_bandwidths:
            text, name = " and over a range of bandwidths, which takes longer", "bandwidths"
            box = element("input", type="checkbox", name=name, value="yes", id=name)
            asked.append(element("p", box, element("label", text, for_=name)))
        content = [form("answer", *asked, button("Compute the answer", class_="main"))]
    return section("3. Answer", *content, name="answer")


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
