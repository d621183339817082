"""Column expressions, block definitions and pair weights."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reldep.data.selectors import (
    ColumnType,
    parse_named,
    parse_weight,
    quote_column,
    select_columns,
    select_variables,
)

STEADY = settings(deadline=None, derandomize=True)
NUMBER, TEXT, MIXED = ColumnType.NUMBER, ColumnType.TEXT, ColumnType.MIXED
MICE = {
    "id": TEXT,
    "diet": ColumnType.CATEGORY,
    "knockout": ColumnType.BOOLEAN,
    "born": ColumnType.DATE,
    "litter": ColumnType.INTEGER,
    "C14": NUMBER,
    "C16": NUMBER,
    "C16:1": NUMBER,
    "C18": NUMBER,
    "ge_a": NUMBER,
    "ge_b": NUMBER,
    "dose": MIXED,
}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("diet", ["diet"]),
        (" diet , id ", ["diet", "id"]),
        ("id,diet,id", ["id", "diet"]),
        ("C14:C18", ["C14", "C16", "C16:1", "C18"]),
        ("C14 : C16", ["C14", "C16"]),
        ("C14:C14", ["C14"]),
        ("ge_*", ["ge_a", "ge_b"]),
        ("C1?", ["C14", "C16", "C18"]),
        ("C1[46]", ["C14", "C16"]),
        ("C1[!46]", ["C18"]),
        ("C16:*", ["C16:1"]),
        ("@numeric", ["litter", "C14", "C16", "C16:1", "C18", "ge_a", "ge_b", "dose"]),
        ("@categorical", ["id", "diet", "knockout", "dose"]),
        ("@all", list(MICE)),
        ("@numeric,!C*,!dose,!litter", ["ge_a", "ge_b"]),
        ("!C14:ge_b,ge_b,C14,id", ["id"]),
        ("!@numeric,!@categorical", ["born"]),
        ('!"C16:1",C16*', ["C16"]),
        ("ge_b,ge_*", ["ge_b", "ge_a"]),
    ],
)
def test_an_expression_selects_these_columns(expression, expected):
    assert select_columns(expression, MICE) == expected


@pytest.mark.parametrize(
    "name", ["C16:1", "a:b", "*", "g?", "[ab]", "!id", "@numeric", 'a"b', "a b"]
)
def test_an_exact_name_wins_over_every_other_reading(name):
    schema = {"a": NUMBER, "b": NUMBER, "id": TEXT, "gg": NUMBER, "C16": NUMBER, "1": TEXT}
    assert select_columns(name, {**schema, name: NUMBER}) == [name]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('"a,b"', ["a,b"]),
        ('"a,b",c', ["a,b", "c"]),
        ('"x*"', ["x*"]),
        ('"say ""hi"""', ['say "hi"']),
        ('"a,b":"x*"', ["a,b", "c", "x*"]),
        ('c:"x*"', ["c", "x*"]),
        ('"a,b" : c', ["a,b", "c"]),
        ('""', [""]),
        ('" c"', [" c"]),
        ('"two\nlines"', ["two\nlines"]),
    ],
)
def test_quotes_take_a_name_as_it_is(expression, expected):
    names = ["a,b", "c", "x*", "xy", 'say "hi"', "", " c", "two\nlines"]
    assert select_columns(expression, dict.fromkeys(names, NUMBER)) == expected


@STEADY
@given(st.lists(st.text(), min_size=1, unique=True), st.data())
def test_quoting_any_name_selects_exactly_that_column(names, data):
    name = data.draw(st.sampled_from(names))
    schema = dict.fromkeys(names, NUMBER)
    assert select_columns(quote_column(name), schema) == [name]
    everything = ",".join(quote_column(one) for one in names)
    assert select_columns(everything, schema) == names


@STEADY
@given(st.lists(st.text(), min_size=2, unique=True), st.data())
def test_quoted_ends_make_a_range_and_a_quoted_exclusion_excludes(names, data):
    first = data.draw(st.integers(0, len(names) - 1))
    last = data.draw(st.integers(first, len(names) - 1))
    schema = dict.fromkeys(names, NUMBER)
    between = f"{quote_column(names[first])}:{quote_column(names[last])}"
    assert select_columns(between, schema) == names[first : last + 1]
    without = f"@all,!{quote_column(names[last])}"
    expected = [name for name in names if name != names[last]]
    if "@all" not in names and f"!{quote_column(names[last])}" not in names:
        assert select_columns(without, schema) == expected


@STEADY
@given(st.text())
def test_any_text_is_columns_or_a_value_error(expression):
    with contextlib.suppress(ValueError):
        assert set(select_columns(expression, MICE)) <= set(MICE)


def test_colons_in_names_are_tried_as_part_of_the_name():
    schema = dict.fromkeys(["C16:0", "C16:1", "C18:0"], NUMBER)
    assert select_columns("C16:0:C18:0", schema) == ["C16:0", "C16:1", "C18:0"]
    schema = dict.fromkeys(["a", "b:c", "a:b", "c"], NUMBER)
    with pytest.raises(ValueError, match="more than one range; put names in double quotes"):
        select_columns("a:b:c", schema)
    assert select_columns('a:"b:c"', schema) == ["a", "b:c"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("Diet", r"no column 'Diet' in mice.csv; nearest: 'diet'"),
        ("deit,id", r"no column 'deit' in mice.csv; nearest: 'diet'"),
        ('"C1*"', r"no column 'C1\*' in mice.csv; nearest"),
        ("qqqq", r"no column 'qqqq' in mice.csv; columns: 'id', 'diet', .* \(12 in all\)"),
        ("C18:C14", r"'C18:C14' runs backwards: 'C18' comes after 'C14'; write C14:C18"),
        ("C14:C99", r"no column 'C99' in mice.csv"),
        ("X14:C18", r"no column 'X14' in mice.csv"),
        ("a:b:c", r"no column 'a:b:c' in mice.csv"),
        ("C14:", r"no column 'C14:' in mice.csv; nearest: 'C14'"),
        ("C14:ge_*", r"no column 'ge_\*' in mice.csv"),
        ("zz*", r"no column of mice.csv matches 'zz\*'"),
        ("zz?", r"no column of mice.csv matches 'zz\?'"),
        ("!zz", r"no column 'zz' in mice.csv"),
        ("@genes", r"mice.csv has no column of the type '@genes'"),
        ("@number", r"unknown type of column '@number'; nearest: '@numeric'"),
        ("@x", r"unknown type of column '@x'; types: '@numeric', '@categorical', '@genes', '@all'"),
        ("id,!id", r"'id,!id' leaves no column of mice.csv"),
        ("!@all", r"leaves no column of mice.csv: all are excluded with '!'"),
        ("", r"'' has an empty place; a column without a name"),
        ("id,,diet", r"'id,,diet' has an empty place"),
        ("id,", r"'id,' has an empty place"),
        ("!", r"'!' has an empty place"),
        ('"id', r"'\"id' begins a quoted name; end it with a double quote"),
        ('"id"x', r"'\"id\"x' begins a quoted name"),
    ],
)
def test_a_wrong_expression_says_what_is_wrong(expression, message):
    with pytest.raises(ValueError, match=message):
        select_columns(expression, MICE, source="mice.csv")


def test_blocks_are_named_selections():
    blocks = select_variables(["lipids=C14,C16", "genes = ge_*"], MICE, several=True)
    assert blocks == {"lipids": ["C14", "C16"], "genes": ["ge_a", "ge_b"]}
    with pytest.raises(ValueError, match="two variables are named 'a'"):
        select_variables(["a=C14", "a=C16"], MICE, several=True)


PARSED = {
    "lipids=C14*,C16*": ("lipids", "C14*,C16*"),
    " lipids = C14 ": ("lipids", "C14"),
    'x="a=b"': ("x", '"a=b"'),
    "x=a=b": ("x", "a=b"),
    '"a=b"=c': ("a=b", "c"),
    **{text: ("", text) for text in ["lipids", "=C14", "lipids=", "", '"a=b"']},
    "a~b=1": (("a", "b"), 1.0),
    " a ~ b = -2.5e-1 ": (("a", "b"), -0.25),
    '"x~y"~"p=q"=3': (("x~y", "p=q"), 3.0),
}


@pytest.mark.parametrize(("text", "expected"), PARSED.items())
def test_a_name_or_a_weight_stands_beside_an_equals_sign(text, expected):
    assert (parse_weight if "~" in text else parse_named)(text) == expected


@pytest.mark.parametrize(
    "text",
    ["a~b", "a=1", "a~b~c=1", "a~b=1=2", "~b=1", "a~b=one", "a~b=", "a~b=nan", "a~b=inf"],
)
def test_what_is_no_pair_and_weight_is_refused(text):
    with pytest.raises(ValueError, match=f"a finite number, such as 'a~b=1'; got '{text}'"):
        parse_weight(text)
