"""The part of the page that asks: a sentence with places for columns, and folded options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reldep.app.choices import GIVEN, split_name, worded
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
from reldep.exceptions import InputError
from reldep.questions import SENTENCES
from reldep.questions.request import offered
from reldep.report.markup import Markup, element, section

if TYPE_CHECKING:
    from reldep.app.choices import Choices
    from reldep.app.sessions import Session
    from reldep.arguments import Argument

_PLACE = re.compile(r"\{(\w+)\}")
# What an empty place is called in a sentence, and above it.
PLACES = {
    "source": ("one variable", "One variable"),
    "first": ("a second", "First candidate"),
    "second": ("a third", "Second candidate"),
    "targets": ("several others", "The others"),
    "sources": ("many variables", "Many variables"),
    "x": ("one variable", "One variable"),
    "y": ("another", "The other"),
    "by": ("a column of groups", "Groups"),
    "variables": ("several variables", "Variables"),
    "weights": ("(pairs with weights)", "Pairs with weights"),
    GIVEN: ("covariates", "Covariates"),
}


def question_part(session: Session) -> Markup:
    """Return the second part of the page."""
    if session.table is None:
        return Markup()
    return section(
        "2. Question",
        _questions(session.choices),
        _sentence(session.choices),
        element("div", *(_slot(session, slot) for slot in session.choices.places), class_="slots"),
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
    words = {name: empty for name, (empty, _) in PLACES.items()}
    value = f"{question} {GIVEN}" if covariates else question
    now = f"{choices.question} {GIVEN}" if choices.covariates else choices.question
    return option(value, worded(question, covariates=covariates).format(**words), now)


def _sentence(choices: Choices) -> Markup:
    """Return the question with what was put into its places."""
    parts: list[Markup | str] = []
    for i, piece in enumerate(_PLACE.split(choices.sentence)):
        if i % 2 == 0:
            parts.append(piece)
            continue
        names = ", ".join(split_name(value)[0] for value in choices.slots.get(piece, []))
        empty = None if names else "empty"
        parts.append(element("mark", names or PLACES[piece][0], class_=empty))
    return element("p", *parts, class_="sentence", id="sentence")


def _slot(session: Session, slot: Argument) -> Markup:
    """Return one place: what is in it, and the ways to put columns there."""
    values, name = session.choices.slots.get(slot.name, []), f"slot-{slot.name}"
    _, title = PLACES.get(slot.name, ("", slot.label))
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
        _typed(slot),
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


def _typed(slot: Argument) -> Markup:
    """Return the field for those who type the columns."""
    name = f"type-{slot.name}"
    example = {"": "x~y=1", "label": "sex"}.get(slot.columns, "mood=item_*")
    return form(
        "place",
        hidden(slot=slot.name),
        element("label", "or write them", for_=name, class_="small"),
        line("text", id=name, placeholder=example, size="14"),
        button("Put", aria_label=f"Put into {slot.name}"),
        class_="typed",
    )


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
