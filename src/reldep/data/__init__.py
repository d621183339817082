"""From files and column expressions to named blocks of columns.

Nothing here imports polars before a file is opened.
"""

from __future__ import annotations

from reldep.data.cleaning import MISSING_WORDS
from reldep.data.columns import (
    ColumnType,
    parse_named,
    parse_weight,
    quote_column,
    select_blocks,
    select_columns,
)
from reldep.data.description import ColumnDescription, describe
from reldep.data.joining import JoinedFile, JoinReport
from reldep.data.opening import open_table
from reldep.data.table import Table

__all__ = [
    "MISSING_WORDS",
    "ColumnDescription",
    "ColumnType",
    "JoinReport",
    "JoinedFile",
    "Table",
    "describe",
    "open_table",
    "parse_named",
    "parse_weight",
    "quote_column",
    "select_blocks",
    "select_columns",
]
