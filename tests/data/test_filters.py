"""Conditions on rows: what they keep, what they refuse, and that they open nothing."""

import builtins
import operator as op
import random
import socket
from datetime import date, datetime

import pandas as pd
import polars as pl
import pytest

import reldep

MICE = pl.DataFrame(
    {
        "id": [1, 2, 3, 4],
        "age": [39, 41, 55, None],
        "sex": ["m", "f", "f", "m"],
        "C16:0": [0.1, 0.2, None, 0.4],
        "ok": [True, False, True, None],
        'a"b': [1, 1, 2, 2],
        "class": [1, 2, 3, 4],
        "list": [[1]] * 4,
        "*": [4, 3, 2, 1],
        "size": pl.Series(["s", "l", "s", None], dtype=pl.Enum(["s", "l"])),
        "born": [date(2020, 1, 5), date(2021, 2, 3), date(2022, 3, 4), date(2023, 4, 5)],
        "at": [datetime(2020, 1, 5), datetime(2021, 2, 3), datetime(2022, 3, 4), None],
        "note": ["it's", "C:\\temp", "x", "y"],
    }
)


def kept(where):
    return reldep.read(MICE, where=where).values("id")


KEPT = {
    "age > 40": [2, 3],
    "age > 40 AND sex == 'f' and id <> 3": [2],
    "not (age > 40)": [1],
    "age > 40 and sex = 'f'": [2, 3],
    "age is null": [4],
    "age IS NOT NULL and not ok": [2],
    "sex in ('m', 'x') or 50 <= age <= 60": [1, 3, 4],
    "sex not in ('m',)": [2, 3],
    '"C16:0" > 0.15': [2, 4],
    "born >= '2022-01-01'": [3, 4],
    "at < '2020-01-05 10:00'": [1],
    "'2021-01-01' <= born < '2022-03-04'": [2],
    "born in ('2020-01-05')": [1],
    "ok": [1, 3],
    "sex != 'select; from (select'": [1, 2, 3, 4],
    '"a""b" = 2': [3, 4],
    "note = 'it''s'": [1],
    "class > 3": [4],
    "age % 2 = 1 and id < 3": [1, 2],
    "ok = true": [1, 3],
    "id in [1, 3]": [1, 3],
    "size != 'huge' and size in ('s', 'xl')": [1, 3],
    '"*" > 3': [1],
    "-1 < id - 2 and id * 2 / 2 < 3": [2],
    "-id < -3 or -(id) + 1 > -1": [1, 4],
    "not (age > 40 or age is null)": [1],
    "id * 9223372036854775807 > 0": [1, 2, 3, 4],
    "sex = 'm' or " * 300 + "id = 2": [1, 2, 4],
    "age is null or\n id = 1": [1, 4],
    f"id in ({', '.join(map(str, range(3, 2000)))})": [3, 4],
    "1 < 2": [1, 2, 3, 4],
}


@pytest.mark.parametrize(("where", "expected"), KEPT.items(), ids=lambda one: str(one)[:40])
def test_a_condition_keeps_these_rows(where, expected):
    assert kept(where) == expected


WRONG = {
    "agee > 40": "no column 'agee' .nearest: 'age'",
    'sex = "f"': "single quotes: 'f'",
    "age >": "not a condition",
    " ": "`where` is empty. Write it like",
    "age > 1, sex = 'f'": "only columns",
    "(age > 1": "not a condition",
    "age > 1) or (id > 1": "not a condition",
    "age + 1": "a number stands where a condition is needed",
    "sex > 1": "a text is compared with a number|a number is compared with a text",
    "born > 'May'": "a date is written '2024-01-31'",
    "age = null": "age is null",
    "age between 1 and 5": "1 <= x <= 5",
    "age in (id, 3)": "values only",
    "sex": "a text stands",
    "sex like 'm%'": "not a condition",
    "age > 1 # x": "not a condition",
    "age > 1; id > 2": "not a condition",
    "sex is 'm'": "age is null",
    "born > 3": "compared",
    "list = 1": "lists or objects",
    "age > 100": "no row of the data satisfies the condition 'age > 100'",
}
HOSTILE = [
    "s = $q$'$q$ or a in (select x from read_csv('private.csv')) or s = 'a'",
    "age in (select x from read_csv('http://127.0.0.1:1/x'))",
    "age in (FROM read_csv('/etc/passwd'))",
    "__import__('os').system('true')",
    "().__class__.__bases__[0]",
    "age.__class__",
    "id[0] > 1",
    "age.map_elements(print)",
    "print(age)",
    "__class__ = 1",
    "None > 1",
    "lambda: 1",
    "[x for x in id]",
    "id if id else id",
    "{1: 2}",
    "{1}",
    "*id",
    "...",
    "1j > id",
    "b'm' = sex",
    "f'{sex}' = 'm'",
    "'''m''' = sex",
    "9**9**9 > id",
    "id @ id",
    "1 << 10000000000",
    "~ok",
    "(id := 3)",
    "id > " + "9" * 5000,
    "id > 0x" + "f" * 5000,
    "id > 1 -- x",
    "(" * 5000 + "id" + ")" * 5000,
    "not " * 4000 + "ok",
    "\0",
    "$x > 1",
    "id" + "+1" * 500 + " > 1",
    "id" + "+1" * 9000 + " > 1",
    "-" * 5000 + "1 < id",
    "sex = 'a\0b'",
    "sex = '" + "x" * 30_000 + "'",
    "sex = '\udcff'",
    "`rm` > 1",
    "[" * 60 + "]" * 60,
    "await id",
    "True + True > 1",
    "ok and " * 12_000 + "ok",
]


@pytest.mark.parametrize(("where", "message"), WRONG.items())
def test_a_wrong_condition_says_what_is_wrong(where, message):
    with pytest.raises(ValueError, match=message):
        kept(where)


@pytest.mark.parametrize("where", HOSTILE, ids=lambda one: repr(one[:30]))
def test_a_hostile_condition_is_refused_and_opens_nothing(where, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError(f"opened {arguments}")

    for place, name in ((builtins, "open"), (socket.socket, "connect"), (pl, "scan_csv")):
        monkeypatch.setattr(place, name, refuse)
    with pytest.raises(ValueError, match=r"^`where=") as caught:
        kept(where)
    assert len(str(caught.value)) < 500


OPERATORS = {"=": op.eq, "!=": op.ne, "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge}


def drawn(rng, depth=0):
    """Draw a condition: its text, and a function of a row that returns True, False or None."""
    kind = rng.choice(
        ["compare", "in", "null", "chain"] if depth > 2 else ["and", "or", "not", "compare"]
    )
    if kind in ("and", "or"):
        parts = [drawn(rng, depth + 1) for _ in range(rng.randint(2, 3))]
        text = f" {kind} ".join(f"({one})" for one, _ in parts)
        decides = kind == "or"

        def both(row):
            found = [holds(row) for _, holds in parts]
            if decides in found:
                return decides
            return None if None in found else not decides

        return text, both
    if kind == "not":
        text, holds = drawn(rng, depth + 1)
        return f"not ({text})", lambda row: None if holds(row) is None else not holds(row)
    name = rng.choice(["x", "y", "w"])
    values = ["a", "b", "ab"] if name == "w" else [-1, 0, 1, 2.5]
    sign, value, members = rng.choice([*OPERATORS]), rng.choice(values), rng.sample(values, 2)
    has = rng.random() < 0.5
    text, holds = {
        "null": (f"{name} is {'' if has else 'not '}null", None),
        "in": (f"{name} in ({', '.join(map(repr, members))})", lambda x: x in members),
        "chain": (f"0 <= {name} < 2", lambda x: 0 <= x < 2),
        "compare": (f"{name} {sign} {value!r}", lambda x: OPERATORS[sign](x, value)),
    }["compare" if (name, kind) == ("w", "chain") else kind]
    if holds is None:
        return text, lambda row: (row[name] is None) == has
    return text, lambda row: None if row[name] is None else holds(row[name])


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_drawn_conditions_agree_with_a_loop_over_rows(library):
    rng = random.Random(5)  # noqa: S311
    rows = [
        {
            "x": rng.choice([None, -1, 0, 1, 2]),
            "y": rng.choice([None, -1.0, 0.5, 2.5]),
            "w": rng.choice([None, "a", "b", "ab"]),
        }
        for _ in range(30)
    ]
    columns = {name: [row[name] for row in rows] for name in "xyw"}
    table = reldep.read((pl if library == "polars" else pd).DataFrame(columns))
    n_kept = 0
    for _ in range(1000):
        where, holds = drawn(rng)
        expected = [i for i, row in enumerate(rows) if holds(row)]
        if not expected:
            with pytest.raises(ValueError, match="no row of"):
                table.restricted(where)
            continue
        n_kept += 1
        assert table.restricted(where).rows.positions.tolist() == expected, where
    assert n_kept > 300


def test_nan_does_not_pass_a_comparison(tmp_path):
    frame = pl.DataFrame({"x": [1.0, float("nan"), 5.0]})
    frame.write_parquet(tmp_path / "x.parquet")
    for data in (tmp_path / "x.parquet", frame, frame.to_pandas()):
        assert reldep.read(data, where="x > 3").values("x") == [5.0]
        assert reldep.read(data, where="(x - 1) / (x - 1) > 0").values("x") == [5.0]
        assert reldep.read(data, where="x is null").rows.positions.tolist() == [1]
