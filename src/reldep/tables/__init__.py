"""From files and column expressions to named blocks of columns.

Nothing here imports polars before a file is opened.
"""

from __future__ import annotations

from reldep.tables.cleaning import MISSING_WORDS
from reldep.tables.columns import (
    ColumnType,
    parse_named,
    parse_weight,
    quote_column,
    select_blocks,
    select_columns,
)
from reldep.tables.description import ColumnDescription, describe
from reldep.tables.joining import JoinedFile, JoinReport
from reldep.tables.opening import open_table
from reldep.tables.table import Table

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
