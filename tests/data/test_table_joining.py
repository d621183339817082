"""Several files as one table."""

from __future__ import annotations

import datetime

import polars as pl
import pytest

import reldep


def test_rows_with_one_key_come_together_in_the_order_of_the_first_file(write):
    genes = write("genes.csv", "id,ge_1\nc,3\na,1\nx,9\nb,2\n")
    lipids = write("lipids.tsv", "C14\tid\n0.1\ta\n0.2\tb\n0.3\tc\n0.9\ty\n0.8\t\n")
    diet = write("diet.csv", "id,diet\nb,sun\na,fish\nc,sun\n")
    table = reldep.read([genes, lipids, diet], join="id")
    assert list(table.columns) == ["id", "ge_1", "C14", "diet"]
    assert table.read(["id", "ge_1", "C14", "diet"]).rows() == [
        ("c", 3, 0.3, "sun"),
        ("a", 1, 0.1, "fish"),
        ("b", 2, 0.2, "sun"),
    ]
    assert table.name == f"{genes} + {lipids} + {diet}"
    assert table.joined == (
        f"joined on 'id': 3 rows; unmatched: 1 of 4 rows of {genes}, 2 of 5 rows of {lipids}"
    )
    assert [str(caution) for caution in table.notes_about(["C14"])] == [f"{table.joined}."]
    assert table.restricted("ge_1 > 1 and diet = 'sun'").read(["C14"])["C14"].to_list() == [
        0.3,
        0.2,
    ]


def test_a_join_without_loss_says_so(write):
    paths = [write("a.csv", "id,x\n1,1\n2,2\n"), write("b.csv", "id,y\n2,2\n1,1\n")]
    assert reldep.read(paths, join="id").joined == "joined on 'id': 2 rows; every row is matched"


def test_standard_input_can_be_joined(write, pipe):
    first = pipe(b"id,x\n1,7\n2,8\n")
    table = reldep.read([first, write("b.csv", "id,x\n2,5\n")], join="id")
    assert table.read(["stdin_x", "b_x"]).rows() == [(8, 5)]


def test_shared_column_names_get_the_files_names_in_front(write):
    genes = write("genes.csv.gz", "id,V1,V2\n1,10,20\n2,11,oops\n3,12,21\n")
    lipids = write("lipids.csv", "id,V1\n1,30\n2,31\n3,32\n")
    table = reldep.read([genes, lipids], join="id")
    assert list(table.columns) == ["id", "genes_V1", "V2", "lipids_V1"]
    assert table.read(["genes_V1", "lipids_V1"]).row(0) == (10, 30)
    with pytest.raises(ValueError, match=r"no column 'V1' in .*; nearest: 'genes_V1', 'lipids_V1'"):
        table.select("V1")
    with pytest.raises(ValueError, match=r"'V2' holds numbers and words: 'oops' \(line 3\)"):
        table.read(["V2"])


def test_kinds_are_stated_by_the_names_of_the_joined_table(write):
    genes = write("genes.csv", "id,V1,n\n1,10,5\n2,11,6\n")
    lipids = write("lipids.csv", "id,V1\n1,30\n2,low\n")
    table = reldep.read([genes, lipids], join="id", categories="genes_V1,n", numbers="lipids_V1")
    assert [table.columns[name] for name in ("genes_V1", "n")] == ["category", "category"]
    assert table["lipids_V1"].to_list() == [30, None]


def test_files_whose_names_do_not_tell_columns_apart_are_refused(write, tmp_path):
    (tmp_path / "other").mkdir()
    first, second = write("x.csv", "id,V1\n1,1\n"), write("other/x.csv", "id,V1\n1,1\n")
    with pytest.raises(ValueError, match=r"columns 'V1' are in more than one file, .*'x', 'x'"):
        reldep.read([first, second], join="id")


@pytest.mark.parametrize(
    ("first", "second", "n_rows"),
    [
        ([1, 2], pl.Series([2, 3], dtype=pl.Int32), 1),
        ([1, 2], [2.0, 2.5], 1),
        ([1, 2], ["2", "b"], 1),
        (["a", "b"], pl.Series(["b", "c"], dtype=pl.Categorical), 1),
        ([datetime.date(2024, 1, 1)] * 1, [datetime.date(2024, 1, 1)], 1),
    ],
)
def test_keys_of_kindred_types_are_compared(tmp_path, first, second, n_rows):
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    pl.DataFrame({"id": first}).with_columns(x=1).write_parquet(paths[0])
    pl.DataFrame({"id": second}).with_columns(y=1).write_parquet(paths[1])
    table = reldep.read(paths, join="id")
    assert len(table) == n_rows


def test_words_among_the_numbers_of_a_key_are_no_mistake(write):
    first = write("a.csv", "id,x\n7,1\n8,2\n7b,3\n")
    second = write("b.csv", "id,y\n8,5\n7,6\n")
    table = reldep.read([first, second], join="id")
    assert table.read(["id", "x", "y"]).rows() == [("7", 1, 6), ("8", 2, 5)]
