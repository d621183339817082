"""A result as a document: an HTML report, a notebook's fragment, a LaTeX table."""

from reldep.report.latex import latex_table
from reldep.report.opening import fragment
from reldep.report.page import page

__all__ = ["fragment", "latex_table", "page"]
