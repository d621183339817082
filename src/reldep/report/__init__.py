"""An answer as a document: an HTML report, a notebook's fragment, tables to paste."""

from reldep.report.document import fragment, page
from reldep.report.tabular import latex_table, markdown_table

__all__ = ["fragment", "latex_table", "markdown_table", "page"]
