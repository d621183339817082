"""What is said of the columns of a table."""

import dataclasses

import polars as pl

import reldep

CONTENT = """name,diet,C14,litter,ko,born,one,none,dose
a,fish,0.5,3,true,2024-01-01,u,,1
b,sun,NA,1,false,2024-01-02,u,,low
c,sun,-0.25,2,true,2024-01-03,u,,2
,,0.5,2,,,,,3
"""
NUMBERS = "Laplace (mean)"


def test_every_column_is_described(write):
    described = reldep.read(write("mice.csv", CONTENT)).describe()
    assert [dataclasses.astuple(column) for column in described] == [
        ("name", "text", 1, 3, "a", None, None, "none: all different"),
        ("diet", "category", 1, 2, "fish", None, None, "Delta"),
        ("C14", "number", 1, 2, "0.5", -0.25, 0.5, NUMBERS),
        ("litter", "integer", 0, 3, "3", 1, 3, NUMBERS),
        ("ko", "boolean", 1, 2, "True", None, None, "Delta"),
        ("born", "date", 1, 3, "2024-01-01", None, None, "Laplace (mean)"),
        ("one", "category", 1, 1, "u", None, None, "none: constant"),
        ("none", "text", 4, 0, "", None, None, "none: all missing"),
        ("dose", "numbers and words", 0, 4, "1", None, None, "none: numbers and words"),
    ]


def test_nested_columns_are_described_without_counting_their_values(tmp_path):
    frame = pl.DataFrame({"xs": [[1, 2], [3]], "cat": ["a", "a"], "x": [1.0, float("nan")]})
    frame.cast({"cat": pl.Categorical}).write_parquet(tmp_path / "nested.parquet")
    nested, category, number = reldep.read(tmp_path / "nested.parquet").describe()
    assert (nested.type, nested.n_unique, nested.kernel) == ("other", None, "none: other")
    assert (category.type, category.kernel) == ("category", "none: constant")
    assert (number.n_missing, number.n_unique, number.kernel) == (1, 1, "none: constant")
