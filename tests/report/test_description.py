"""The parts of an answer: what renderers may rely on."""

from reldep.description import Column, Table


def test_a_table_that_is_cut_keeps_the_rows_with_the_most_weight_and_says_so():
    values = Column("cka", "CKA", [0.1, 0.5, 0.123456, None])
    names = Column("pair", "pair", list("abcd"))
    table = Table((names, values), "All pairs.", order=[1, 2, 0, 3], shown="strongest pairs")
    assert table.top(9) is table
    cut = table.top(2)
    assert cut.caption == "All pairs. The 2 strongest pairs of 4."
    assert cut.rows == [("b", "0.500"), ("c", "0.123")]
    assert table.rows[3] == ("d", "")


def test_only_numbers_are_set_to_the_right():
    assert Column("n", "n", [1, None, 2.5]).is_numeric
    assert not Column("yes", "yes", [True, False]).is_numeric
    assert not Column("name", "name", ["a"]).is_numeric
