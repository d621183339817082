"""From files and objects to named variables with kinds and rows; the only input checks.

Nothing here imports polars before a file is opened.
"""

from __future__ import annotations

from reldep.data.cells import MISSING_WORDS
from reldep.data.joining import JoinedFile, JoinReport
from reldep.data.opening import open_table
from reldep.data.options import ReadingOptions
from reldep.data.overview import ColumnDescription, describe
from reldep.data.rows import Rows
from reldep.data.selection import Selection, select_data
from reldep.data.selectors import (
    ColumnType,
    parse_named,
    parse_weight,
    quote_column,
    select_blocks,
    select_columns,
)
from reldep.data.table import Table

__all__ = [
    "MISSING_WORDS",
    "ColumnDescription",
    "ColumnType",
    "JoinReport",
    "JoinedFile",
    "ReadingOptions",
    "Rows",
    "Selection",
    "Table",
    "describe",
    "open_table",
    "parse_named",
    "parse_weight",
    "quote_column",
    "select_blocks",
    "select_columns",
    "select_data",
]
