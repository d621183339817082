"""The part of the page that asks: a sentence with places for columns, and folded options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reldep.app.choices import GIVEN, split_name, worded
from reldep.app.fields import fields, labelled, option
from reldep.app.wording import in_page
from reldep.exceptions import InputError
from reldep.questions import SENTENCES
from reldep.questions.request import offered
from reldep.report.markup import Markup, element, joined, section

if TYPE_CHECKING:
    from reldep.app.choices import Choices
    from reldep.app.sessions import Session
    from reldep.arguments import Argument

_PLACE = re.compile(r"\{(\w+)\}")
# What an empty place is called in a sentence, and above it.
PLACES = {
    "source": ("one variable", "One variable"),
    "first": ("a second", "The first to compare it with"),
    "second": ("a third", "The second to compare it with"),
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
    """Write the second part of the page."""
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
    """Write the questions to choose from, as sentences."""
    plain = [_entry(one, choices, covariates=False) for one in SENTENCES]
    given = [_entry(one, choices, covariates=True) for one in SENTENCES if GIVEN in offered(one)]
    return element(
        "form",
        element("label", "What do you want to know?", for_="ask"),
        element(
            "select",
            *plain,
            element("optgroup", *given, label="With covariates held fixed"),
            name="question",
            id="ask",
            data_auto="",
        ),
        element("button", "Ask this", type="submit", class_="without-script"),
        method="post",
        action="ask",
        class_="ask",
    )


def _entry(question: str, choices: Choices, *, covariates: bool) -> Markup:
    """Write one question, with the names of its places."""
    words = {name: empty for name, (empty, _) in PLACES.items()}
    value = f"{question} {GIVEN}" if covariates else question
    now = f"{choices.question} {GIVEN}" if choices.covariates else choices.question
    return option(value, worded(question, covariates=covariates).format(**words), now)


def _sentence(choices: Choices) -> Markup:
    """Write the question with what was put into its places."""
    parts: list[Markup | str] = []
    for i, piece in enumerate(_PLACE.split(choices.sentence)):
        if i % 2 == 0:
            parts.append(piece)
            continue
        values = choices.slots.get(piece, [])
        names = ", ".join(split_name(value)[0] for value in values)
        empty, _ = PLACES[piece]
        parts.append(element("mark", names or empty, class_=None if names else "empty"))
    return element("p", *parts, class_="sentence", id="sentence")


def _slot(session: Session, slot: Argument) -> Markup:
    """Write one place: what is in it, and the ways to put columns there."""
    values = session.choices.slots.get(slot.name, [])
    _, name = PLACES.get(slot.name, ("", slot.label))
    optional = "" if slot.is_required or slot.name == GIVEN else " (or leave empty)"
    put = ""
    if slot.columns:
        put = element(
            "button",
            "Put ticked columns here",
            type="submit",
            form="place",
            name="slot",
            value=slot.name,
            id=f"put-{slot.name}",
            aria_describedby=f"slot-{slot.name}",
        )
    return element(
        "div",
        element("h3", name, element("small", optional), id=f"slot-{slot.name}"),
        element("p", in_page(slot.in_words), class_="hint"),
        element(
            "ul",
            *(_chip(session, slot, i, value) for i, value in enumerate(values)),
            class_="chips",
        )
        if values
        else "",
        put,
        _typed(slot),
        class_="slot",
        data_slot=slot.name if slot.columns else None,
        role="group",
        aria_labelledby=f"slot-{slot.name}",
    )


def _chip(session: Session, slot: Argument, position: int, value: str) -> Markup:
    """Write what is in a place: its name, which can be changed, and a way to take it out."""
    called, columns = split_name(value)
    count = _count(session, slot, value)
    hidden = joined(
        element("input", type="hidden", name="slot", value=slot.name),
        element("input", type="hidden", name="position", value=position),
    )
    place = f"{slot.name}-{position}"
    is_block = slot.columns in ("one", "several") and slot.name != GIVEN and columns != value
    name = (
        element(
            "form",
            hidden,
            element("label", "Name", for_=f"name-{place}", class_="small"),
            element(
                "input",
                type="text",
                name="name",
                value=called,
                id=f"name-{place}",
                size="10",
                data_auto="",
            ),
            element("span", count, class_="small"),
            element("code", columns),
            method="post",
            action="rename",
        )
        if is_block
        else element("span", element("strong", called), " ", element("span", count, class_="small"))
    )
    out = element(
        "form",
        hidden,
        element(
            "button",
            "×",
            type="submit",
            aria_label=f"Take {called} out",
            class_="out",
            id=f"out-{place}",
        ),
        method="post",
        action="take-out",
    )
    return element("li", name, out)


def _count(session: Session, slot: Argument, value: str) -> str:
    """Say how many columns a variable has, where that is not one."""
    if not slot.columns:
        return ""
    try:
        n = len(session.columns_of(value))
    except InputError:
        return "not in this file"
    return f"{n} columns" if n > 1 else ""


def _typed(slot: Argument) -> Markup:
    """Write the field for those who type the columns."""
    name = f"type-{slot.name}"
    example = {"": "x~y=1", "label": "genotype"}.get(slot.columns, "lipids=C*")
    return element(
        "form",
        element("input", type="hidden", name="slot", value=slot.name),
        element("label", "or write them", for_=name, class_="small"),
        element(
            "input",
            type="text",
            name="text",
            id=name,
            placeholder=example,
            autocomplete="off",
            size="14",
        ),
        element("button", "Put", type="submit", aria_label=f"Put into {slot.name}"),
        method="post",
        action="place",
        class_="typed",
    )


def _options(session: Session) -> Markup:
    """Write the options, folded away, with the condition on the rows and the level."""
    choices = session.choices
    columns = session.columns
    return element(
        "details",
        element("summary", _changed(choices)),
        element(
            "form",
            labelled(
                "option-where",
                "Only rows for which",
                element(
                    "input",
                    type="text",
                    name="where",
                    id="option-where",
                    value=choices.where or "",
                    placeholder="age > 40 and sex = 'f'",
                    autocomplete="off",
                    aria_describedby="option-where-hint",
                ),
                "A condition on the columns.",
            ),
            *fields(choices.folded, choices.options, columns, "option"),
            labelled(
                "option-alpha",
                "Level",
                element(
                    "input",
                    type="text",
                    name="alpha",
                    id="option-alpha",
                    value=f"{choices.alpha:g}",
                    inputmode="decimal",
                    aria_describedby="option-alpha-hint",
                ),
                "Of the test; intervals are at 1 - level.",
            ),
            element("button", "Apply", type="submit"),
            method="post",
            action="options",
            class_="fields",
            id="options",
        ),
        id="folded-options",
    )


def _changed(choices: Choices) -> str:
    """Name the options that are not as they are by default, so that none is forgotten."""
    named = [f"{name}: {value}" for name, value in choices.options.items()]
    if choices.where:
        named.append(f"rows: {choices.where}")
    if choices.alpha != 0.05:
        named.append(f"level: {choices.alpha:g}")
    return f"Options ({'; '.join(named)})" if named else "Options"
