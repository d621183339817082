"""A description as a document: an HTML report, a notebook's fragment, text, tables to paste.

Every function takes a :class:`reldep.description.Description` and knows no answer.
"""

from reldep.report.page import article, fragment, page, several
from reldep.report.plain import plain_text
from reldep.report.tables import latex_table, markdown_table
from reldep.report.values import csv_text, dictionary

__all__ = [
    "article",
    "csv_text",
    "dictionary",
    "fragment",
    "latex_table",
    "markdown_table",
    "page",
    "plain_text",
    "several",
]
