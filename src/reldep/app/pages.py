"""The whole page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from reldep.app.answer_part import answer_part, state_part, take_part
from reldep.app.data_part import data_part
from reldep.app.question_part import question_part
from reldep.report.markup import element

if TYPE_CHECKING:
    from reldep.app.sessions import Session


def whole_page(session: Session) -> str:
    """Write the page of a session."""
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
        element("link", rel="stylesheet", href="/static/report.css"),
        element("link", rel="stylesheet", href="/static/app.css"),
        element("link", rel="icon", href="data:,"),
        element("script", src="/static/app.js", defer=""),
    )
    body = element("body", header, main, element("div", "", id="said", role="status"))
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en")
