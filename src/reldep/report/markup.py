"""HTML from values: whatever is not markup already is escaped."""

from __future__ import annotations

from typing import Any

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
    return element(
        "section",
        element("h2", title, id=name),
        *children,
        aria_labelledby=name,
    )


def facts(pairs: dict[str, Any]) -> Markup:
    """Return names with their values as a description list."""
    rows = [
        f"<div><dt>{str(name).translate(SAFE)}</dt><dd>{str(value).translate(SAFE)}</dd></div>"
        for name, value in pairs.items()
    ]
    return element("dl", Markup("".join(rows)))
