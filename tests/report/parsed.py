"""Read HTML the way a browser does, with Python's own parser."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "img", "br"}


class Document(HTMLParser):
    """Elements with their attributes, and all text outside the style sheet.

    Attributes
    ----------
    elements : list of (str, dict)
    text : str
    unclosed : list of str
        Elements that were not closed in order.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.unclosed: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        self.unclosed += self._open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.unclosed.append(tag)

    def handle_data(self, data):
        if "style" not in self._open:
            self.text += data

    def all(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]
