"""Forms made from the arguments of the questions: a new option is a field at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.app.wording import in_page
from reldep.report.markup import Markup, element

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.arguments import Argument

# More columns than this are not offered in a list: a page could not hold them.
MOST_OFFERED = 2_000


def option(value: str, text: str, chosen: str) -> Markup:
    """Write one entry of a list to choose from."""
    return element("option", text, value=value, selected="" if value == chosen else None)


def fields(
    arguments: Sequence[Argument], chosen: Mapping[str, Any], columns: Sequence[str], prefix: str
) -> list[Markup]:
    """Write a labelled field for every option."""
    return [_field(one, chosen.get(one.name), columns, prefix) for one in arguments]


def labelled(name: str, text: str, control: Markup, help_text: str = "") -> Markup:
    """Write a label, its control and what it means."""
    return element(
        "div",
        element("label", text, for_=name),
        control,
        element("p", help_text, class_="hint", id=f"{name}-hint") if help_text else "",
        class_="field",
    )


def _field(argument: Argument, value: Any, columns: Sequence[str], prefix: str) -> Markup:
    name = f"{prefix}-{argument.name}"
    shared = {"id": name, "name": argument.name, "aria_describedby": f"{name}-hint"}
    control = _control(argument, value, columns, shared)
    return labelled(name, argument.label, control, in_page(argument.in_words))


def _control(
    argument: Argument, value: Any, columns: Sequence[str], shared: Mapping[str, str]
) -> Markup:
    if argument.is_flag:
        on = argument.default if value is None else value
        return element("input", type="checkbox", value="yes", checked="" if on else None, **shared)
    if argument.is_choice:
        now = str(argument.default if value is None else value)
        entries = [option(word, word, now) for word in argument.choices]
        if argument.default is None:
            entries.insert(0, option("", "as found", "" if value is None else now))
        return element("select", *entries, **shared)
    if argument.columns in ("label", "labels"):
        entries = [option("", "none", str(value or "")), *_columns(columns, value)]
        return element("select", *entries, **shared)
    if argument.is_list:
        lines = "\n".join(str(one) for one in value or ())
        return element("textarea", lines, rows="2", **shared)
    written = argument.default if value is None else value
    mode = "decimal" if argument.metavar == "N" else None
    return element(
        "input",
        type="text",
        value="" if written is None else written,
        inputmode=mode,
        autocomplete="off",
        **shared,
    )


def _columns(columns: Sequence[str], value: Any) -> list[Markup]:
    # By position: a name may hold signs that no page can hold.
    return [
        element("option", name, value=position, selected="" if name == value else None)
        for position, name in enumerate(columns[:MOST_OFFERED])
    ]
