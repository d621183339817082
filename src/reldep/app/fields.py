"""Forms made from the arguments of the questions, and messages that name their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reldep.arguments import Argument
from reldep.questions.request import all_offered
from reldep.report.html import Markup, element, joined
from reldep.words import error_text, spelled


def form(action: str, *parts: Any, **attributes: Any) -> Markup:
    """Return a form that sends its fields to an action."""
    return element("form", *parts, method="post", action=action, **attributes)


def button(text: str, **attributes: Any) -> Markup:
    """Return a button that sends its form."""
    return element("button", text, type="submit", **attributes)


def hidden(**values: Any) -> Markup:
    """Return fields that nobody sees."""
    fields = [element("input", type="hidden", name=name, value=values[name]) for name in values]
    return joined(*fields)


def line(name: str, value: Any = "", **attributes: Any) -> Markup:
    """Return a field for a line of text."""
    plain = {"type": "text", "autocomplete": "off", **attributes}
    return element("input", name=name, value=value, **plain)


def option(value: str, text: str, chosen: str) -> Markup:
    """Return one entry of a list to choose from."""
    return element("option", text, value=value, selected="" if value == chosen else None)


def fields(
    arguments: Mapping[str, Argument],
    chosen: Mapping[str, Any],
    columns: Sequence[str],
    prefix: str,
) -> list[Markup]:
    """Return a labelled field for every option."""
    made = []
    for name, one in arguments.items():
        place = f"{prefix}-{name}"
        control = _control(one, chosen.get(name), columns, {"name": name, **described(place)})
        made.append(labelled(place, one.label, control, in_page(one.in_words)))
    return made


def described(name: str) -> dict[str, str]:
    """Return the attributes of a control whose label has a hint."""
    return {"id": name, "aria_describedby": f"{name}-hint"}


def labelled(name: str, text: str, control: Markup, hint: str = "") -> Markup:
    """Return a label, its control and what it means."""
    about = element("p", hint, class_="hint", id=f"{name}-hint") if hint else ""
    return element("div", element("label", text, for_=name), control, about, class_="field")


def _control(
    argument: Argument, value: Any, columns: Sequence[str], shared: Mapping[str, Any]
) -> Markup:
    if argument.is_flag:
        on = argument.default if value is None else value
        return element("input", type="checkbox", value="yes", checked="" if on else None, **shared)
    now = argument.default if value is None else value
    if argument.is_choice:
        entries = [option(word, word, str(now)) for word in argument.choices]
        if argument.default is None:
            entries.insert(0, option("", "as found", "" if value is None else str(now)))
        return element("select", *entries, **shared)
    if argument.columns in ("label", "labels"):
        # By position: a name may contain signs that no page can contain. Longer lists would take
        # the page seconds to show.
        named = [
            element("option", name, value=i, selected="" if name == value else None)
            for i, name in enumerate(columns[:2_000])
        ]
        return element("select", option("", "none", str(value or "")), *named, **shared)
    if argument.is_list:
        return element("textarea", "\n".join(map(str, value or ())), rows="2", **shared)
    mode = "decimal" if argument.metavar == "N" else None
    return line(value="" if now is None else now, inputmode=mode, **shared)


def in_page(message: str) -> str:
    """Return a message with the arguments in backticks as fields of a form, which are chosen.

    Examples
    --------
    >>> in_page("pass `missing='drop'` or `max_lag`")
    'choose “Missing: drop” or “Longest lag”'
    """
    for word, chosen in (("pass", "choose"), ("Pass", "Choose")):
        message = message.replace(f"{word} `", f"{chosen} `")
        message = message.replace(f"{word} one of", f"{chosen} one of")
    return spelled(message, lambda name, value: f"“{label(name, value)}”")


def label(name: str, value: str | None = None) -> str:
    """Return an option as the page names it, with the value that is chosen there."""
    argument = all_offered().get(name)
    known = name.replace("_", " ").capitalize() if argument is None else argument.label
    known = "Level" if name == "alpha" else known
    return known if value is None else f"{known}: {value}"


def remedies(message: str) -> list[tuple[str, str]]:
    """Return the options in backticks that have a value, which may be what to choose.

    Examples
    --------
    >>> remedies("fill them in, or pass `missing='drop'` or `max_lag`")
    [('missing', 'drop')]
    """
    found: dict[tuple[str, str], None] = {}

    def keep(name: str, value: str | None) -> str:
        if value is not None and name in all_offered() and "..." not in value:
            found[name, value] = None
        return ""

    spelled(message, keep)
    return list(found)


def message(error: BaseException) -> str:
    """Return the words of an error as sentences; one that nobody expected asks to be reported."""
    words = error_text(error, in_page, "Please report this.")
    return words if words.endswith((".", "?", "!")) else f"{words}."
