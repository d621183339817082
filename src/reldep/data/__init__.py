"""From files and objects to named variables with kinds and rows; the only input checks.

Nothing here imports polars before a file is opened.
"""

from __future__ import annotations

from reldep.data.cells import MISSING_WORDS
from reldep.data.files.joining import JoinedFile, JoinReport
from reldep.data.files.opening import open_table
from reldep.data.files.options import ReadingOptions
from reldep.data.files.overview import ColumnDescription, describe
from reldep.data.files.table import Table
from reldep.data.rows import Rows
from reldep.data.selectors import (
    ColumnType,
    parse_named,
    parse_weight,
    quote_column,
    select_blocks,
    select_columns,
)

__all__ = [
    "MISSING_WORDS",
    "ColumnDescription",
    "ColumnType",
    "JoinReport",
    "JoinedFile",
    "ReadingOptions",
    "Rows",
    "Table",
    "describe",
    "open_table",
    "parse_named",
    "parse_weight",
    "quote_column",
    "select_blocks",
    "select_columns",
]
