"""What is said of the columns of a table."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

import reldep
from reldep.files.describe import ColumnDescription

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Write = Callable[[str, str | bytes], Path]

CONTENT = """name,diet,C14,litter,ko,born,one,none,dose
a,fish,0.5,3,true,2024-01-01,u,,1
b,sun,NA,1,false,2024-01-02,u,,low
c,sun,-0.25,2,true,2024-01-03,u,,2
,,0.5,2,,,,,3
"""
NUMBERS = "Laplace (mean)"


def test_every_column_is_described(write: Write) -> None:
    assert reldep.read(write("mice.csv", CONTENT)).describe() == [
        ColumnDescription("name", "text", 1, 3, "a", None, None, "none: all different"),
        ColumnDescription("diet", "category", 1, 2, "fish", None, None, "Delta"),
        ColumnDescription("C14", "number", 1, 2, "0.5", -0.25, 0.5, NUMBERS),
        ColumnDescription("litter", "integer", 0, 3, "3", 1, 3, NUMBERS),
        ColumnDescription("ko", "boolean", 1, 2, "True", None, None, "Delta"),
        ColumnDescription("born", "date", 1, 3, "2024-01-01", None, None, "Laplace (mean)"),
        ColumnDescription("one", "category", 1, 1, "u", None, None, "none: constant"),
        ColumnDescription("none", "text", 4, 0, "", None, None, "none: all missing"),
        ColumnDescription(
            "dose", "numbers and words", 0, 4, "1", None, None, "none: numbers and words"
        ),
    ]


def test_nested_columns_are_described_without_counting_their_values(tmp_path: Path) -> None:
    frame = pl.DataFrame({"xs": [[1, 2], [3]], "cat": ["a", "a"], "x": [1.0, float("nan")]})
    frame.cast({"cat": pl.Categorical}).write_parquet(tmp_path / "nested.parquet")
    nested, category, number = reldep.read(tmp_path / "nested.parquet").describe()
    assert (nested.type, nested.n_unique, nested.kernel) == ("other", None, "none: other")
    assert (category.type, category.kernel) == ("category", "none: constant")
    assert (number.n_missing, number.n_unique, number.kernel) == (1, 1, "none: constant")


def test_numbers_named_as_categories_get_the_kernel_of_labels(write: Write) -> None:
    table = reldep.read(write("g.csv", "group\n1\n2\n1\n"), categories="group")
    assert table.describe()[0].kernel == "Delta"


def test_a_file_that_cannot_be_read_is_named(write: Write) -> None:
    with pytest.raises(ValueError, match=r"line 2 of .*bad.csv has 3 fields"):
        reldep.read(write("bad.csv", "a,b\n1,2,3\n")).describe()


def test_importing_tables_loads_no_polars() -> None:
    code = "import sys, reldep.data; print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
