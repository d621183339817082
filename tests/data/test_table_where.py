"""Conditions on rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from reldep.data import Table, open_table

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = """id,age,sex,born,C16:0,size
1,39,m,2020-01-05,0.1,
2,41,f,2021-02-03,0.2,1
3,55,f,2022-03-04,NA,2
4,,m,2023-04-05,0.4,3
"""


@pytest.fixture
def mice(tmp_path: Path) -> Table:
    path = tmp_path / "mice.csv"
    path.write_text(CONTENT)
    return open_table(path)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("age > 40", [2, 3]),
        ("age > 40 and sex = 'f'", [2, 3]),
        ("age > 40 AND sex == 'f' and id <> 3", [2]),
        ("not (age > 40)", [1]),
        ("age is null", [4]),
        ("sex in ('m', 'x') or age between 50 and 60", [1, 3, 4]),
        ('"C16:0" > 0.15', [2, 4]),
        ("born >= date '2022-01-01'", [3, 4]),
        ("sex like 'm%'", [1, 4]),
        ("age % 2 = 1 and id < 3", [1, 2]),
        ("sex != 'select; from (select'", [1, 2, 3, 4]),
    ],
)
def test_a_condition_keeps_these_rows(mice: Table, where: str, expected: list[int]) -> None:
    assert mice.read(["id"], where=where)["id"].to_list() == expected
    assert mice.count_rows(where) == len(expected)


def test_nan_does_not_pass_a_comparison(tmp_path: Path) -> None:
    pl.DataFrame({"x": [1.0, float("nan"), 5.0]}).write_parquet(tmp_path / "x.parquet")
    table = open_table(tmp_path / "x.parquet")
    assert table.read(["x"], where="x > 3")["x"].to_list() == [5.0]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (
            "agee > 40",
            r"no column 'agee' in .*mice.csv, in the condition 'agee > 40'; nearest: 'age'",
        ),
        ('sex = "f"', r"no column 'f' in .*Text values stand in single quotes: 'f'"),
        ("age >", r"cannot understand the condition 'age >': .*columns: 'id', 'age', 'sex'"),
        ("", r"cannot understand the condition ''"),
        ("age > 1, sex = 'f'", r"cannot understand the condition"),
        ("(age > 1", r"cannot understand the condition"),
        ("age + 1", r"cannot understand the condition 'age \+ 1': .*[Bb]oolean"),
        ("sex > 1", r"cannot understand the condition 'sex > 1': cannot compare string with num"),
        ("born > '2020-01-01'", r"a date is compared with a text\. .* DATE '2024-01-31'"),
        ("nonsense(age) > 1", r"cannot understand the condition .*unsupported function"),
        ("age > 100", r"no row of .*mice.csv satisfies the condition 'age > 100'"),
        ("age > 1; drop table x", r"holds ';': a condition compares columns and values"),
        ("age in (select 1)", r"holds 'select': .*it cannot hold a query or a comment"),
        ("age in (FROM read_csv('/etc/passwd'))", r"holds '\(FROM'"),
        ("age in ( values (1))", r"holds '\( values'"),
        ("age > 1 -- and more", r"holds '--'"),
        ("age > 1 /* and */", r"holds '/\*'"),
        ("$$'$$ = sex or age in (from x) or sex = '", r"holds '\$\$'"),
        ("`'` = sex", "holds '`'"),
    ],
)
def test_a_wrong_condition_says_what_is_wrong(mice: Table, where: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mice.read(["id"], where=where)


def test_a_condition_that_fails_on_a_value_names_the_file(mice: Table) -> None:
    with pytest.raises(ValueError, match=r"cannot read .*mice.csv: "):
        mice.read(["id"], where="sex::int > 1")


def test_a_long_reason_is_cut(mice: Table) -> None:
    with pytest.raises(ValueError, match="…") as caught:
        mice.read(["id"], where=f"nonsense{'x' * 500}(age)")
    assert len(str(caught.value).partition("': ")[2]) < 400


def test_counting_needs_no_row_to_satisfy_the_condition(mice: Table) -> None:
    assert mice.count_rows("age > 100") == 0
    assert mice.count_rows() == 4
