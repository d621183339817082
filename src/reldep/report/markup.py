"""HTML from values: whatever is not markup already is escaped."""

from __future__ import annotations

import html
from typing import Any

VOID = frozenset({"img", "meta", "br", "input", "link"})

# Characters that no HTML document may hold, and those that turn the direction of writing, so that
# a name reads as another; names in data sometimes hold them.
_TURNING = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_CONTROL = dict.fromkeys([*range(32), *range(127, 160), *_TURNING], "�")
_CONTROL |= {ord(white): white for white in "\t\n"}


class Markup(str):
    """Text that is HTML already. Only this module and constants make it."""

    __slots__ = ()


def escaped(value: Any) -> Markup:
    """Return markup that shows the text of a value; markup stays what it is.

    Lone surrogates, which no file can contain, become question marks.
    """
    if isinstance(value, Markup):
        return value
    text = str(value).translate(_CONTROL).encode("utf-8", "replace").decode("utf-8")
    return Markup(html.escape(text, quote=True))


def joined(*parts: Any) -> Markup:
    """Return values one after the other as markup."""
    return Markup("".join(escaped(part) for part in parts))


def element(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Return an HTML element; children and attribute values are escaped.

    Attributes are written as in Python: ``class_="wide"``, ``aria_label="…"``. None leaves an
    attribute out.

    Examples
    --------
    >>> element("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def section(title: str, *children: Any, name: str) -> Markup:
    """Return a section under its heading, which screen readers jump to."""
    return element(
        "section",
        element("h2", title, id=name),
        *children,
        aria_labelledby=name,
    )


def facts(pairs: dict[str, Any]) -> Markup:
    """Return names with their values as a description list."""
    rows = [
        element("div", element("dt", name), element("dd", value)) for name, value in pairs.items()
    ]
    return element("dl", *rows)
