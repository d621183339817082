"""Every refusal of a file names an argument of `reldep.read` that helps: each way out is taken."""

import inspect
import re

import pytest

import reldep

ARGUMENTS = set(inspect.signature(reldep.read).parameters)
ROWS = "".join(f"{i}.5,{i},2024-01-{i + 1:02}\n" for i in range(9))
# The content of a file, the column that is refused ("" for the file), and a way out that is named.
REFUSED = {
    "words": ("x,i,d\nlow,1,2024-01-01\n" + ROWS, "x", {"na": "low"}),
    "words as numbers": ("x,i,d\nlow,1,2024-01-01\n" + ROWS, "x", {"numbers": "x"}),
    "words as labels": ("x,i,d\nlow,1,2024-01-01\n" + ROWS, "x", {"categories": "x"}),
    "two headers": ("who,a,b\nid,x,y\np1,1,2\np2,3,4\n", "a", {"skip_rows": 1}),
    "two headers alike": ("who,a,a\nid,x,y\np1,1,2\np2,3,4\n", "", {"skip_rows": 1}),
    "limits": ("x,i,d\n<0.5,1,2024-01-01\n" + ROWS, "x", {"na": "<0.5"}),
    "limits as missing": ("x,i,d\n<0.5,1,2024-01-01\n" + ROWS, "x", {"numbers": "x"}),
    "dates": ("x,i,d\n1.5,1,unknown\n" + ROWS, "d", {"date_columns": "d"}),
    "dates as labels": ("x,i,d\n1.5,1,unknown\n" + ROWS, "d", {"categories": "d"}),
    "open commas": ("x;i\n1,234;1\n5,678;2\n", "x", {"decimal": ","}),
    "open thousands": ("x;i\n1,234;1\n5,678;2\n", "x", {"thousands": ","}),
    "open points": ("x;i\n303;1\n484;2\n1.162;3\n", "x", {"decimal": "."}),
    "different units": ("x,i\n5 mg,1\n7 g,2\n", "x", {"categories": "x"}),
    "day or month": ("x,i\n01/02/2024,1\n02/02/2024,2\n", "x", {"categories": "x"}),
    "totals": ("x,i\n2019,1\n2020,2\n2021,4\nTotal,7\n", "x", {"drop_summary": True}),
    "title": ("Our study\n\na,b\n1,2\n3,4\n", "", {"skip_rows": 2}),
    "numbers for names": ("1.5,2\n3,4\n5,6\n", "", {"header": False}),
    "latin": ("a,b\n1,é\n".encode("latin1"), "", {"encoding": "latin1"}),
    "two bytes": ("a,b\n1,2\n".encode("utf-16-le"), "", {"encoding": "utf-16-le"}),
}


@pytest.mark.parametrize(("content", "column", "way"), REFUSED.values(), ids=REFUSED)
def test_a_way_out_that_is_named_leads_out(tmp_path, content, column, way):
    path = tmp_path / "study.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=r"study\.csv") as caught:
        reldep.read(path).take(column or "@all")
    named = {word.partition("=")[0] for word in re.findall(r"`([^`]+)`", str(caught.value))}
    assert named <= ARGUMENTS
    assert set(way) <= named
    table = reldep.read(path, **way)
    assert len(table.take(column if column in table.columns else "@all")) == 1


def test_a_stated_kind_that_does_not_fit_can_be_taken_back(tmp_path):
    path = tmp_path / "study.csv"
    path.write_text("x,i\na,1\nb,2\n")
    for argument in ("numbers", "date_columns"):
        with pytest.raises(ValueError, match=f"Take the column out of .*`{argument}`"):
            reldep.read(path, **{argument: "x"}).take("x")
    assert reldep.read(path).take("x")
