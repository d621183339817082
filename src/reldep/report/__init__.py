"""A description as a document: an HTML report, a notebook's fragment, text, tables to paste.

Every function takes a :class:`reldep.description.Description` and knows no answer.
"""

from reldep.report.html import article, fragment, page, several
from reldep.report.text import csv_text, dictionary, latex_table, plain_text

__all__ = [
    "article",
    "csv_text",
    "dictionary",
    "fragment",
    "latex_table",
    "page",
    "plain_text",
    "several",
]
