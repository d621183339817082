"""Files made to do harm: nothing runs, the server lives, and the page says what is wrong."""

from __future__ import annotations

import gzip
import html
import io
import json
import pickle
import re
import struct
import zipfile
import zlib

import numpy as np
import pytest

from spreadsheets import write_xlsx

from .browsing import new_page
from .served import complaints

ROWS = "".join(f"{i % 7},{i % 5},{(i * i) % 11}\n" for i in range(40))
SCRIPT = "<script>window.hacked=1</script>"
NAMES = {
    "script": f"{SCRIPT}<img src=x onerror=window.hacked=1>",
    "attribute": '" onmouseover=window.hacked=1 autofocus onfocus=window.hacked=1 x="',
    "address": "javascript:window.hacked=1",
    "terminal": "a\x1b[31m\x1b]0;hacked\x07",
    "direction": "abc\u202egpj.exe",
    "end of markup": "</title></textarea></select>--></svg><svg onload=window.hacked=1>",
    "template": "{{7*7}}${7*7}{source}%s",
}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


TABLE = b"0,1\n" * 4_000_000
TIMES = 268


def packed_table():
    """Compress a table so that the result can stand after itself as often as one likes."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    return squeeze.compress(TABLE) + squeeze.flush(zlib.Z_FULL_FLUSH)


def bomb(_):
    """Make an archive of some megabytes that unpacks to four gigabytes."""
    stream = packed_table() * TIMES + zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    name = b"data.csv"
    size = len(TABLE) * TIMES
    about = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, 0, len(stream), size, len(name), 0)
    local = b"PK\x03\x04" + about + name + stream
    entry = b"PK\x01\x02\x14\x00" + about + bytes(14) + name
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), len(local), 0)
    return local + entry + end


def endless(_):
    """Make a gzip file of many members, which does not say how much it holds."""
    return gzip.compress(TABLE, 9) * TIMES


def boundless_sheet(folder):
    """Write a workbook that says it has all cells that a workbook can have."""
    write_xlsx(folder / "small.xlsx", [["a", "b"], *([i, i % 3] for i in range(20))])
    made = io.BytesIO()
    with zipfile.ZipFile(folder / "small.xlsx") as book, zipfile.ZipFile(made, "w") as other:
        for name in book.namelist():
            content = book.read(name).decode()
            if name == "xl/worksheets/sheet1.xml":
                content = re.sub(r"<dimension[^>]*/>", "", content)
                content = content.replace(
                    "<sheetData>", '<dimension ref="A1:XFD1048576"/><sheetData>'
                ).replace(
                    "</sheetData>",
                    '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>',
                )
            other.writestr(name, content)
    return made.getvalue()


def half_a_parquet(folder):
    import polars as pl

    pl.DataFrame({"a": np.arange(1000), "b": np.arange(1000)}).write_parquet(folder / "a.parquet")
    whole = (folder / "a.parquet").read_bytes()
    return whole[: len(whole) // 2]


class Payload:
    def __reduce__(self):
        return (open, ("hacked", "w"))


def array_of_objects(_):
    made = io.BytesIO()
    np.savez(made, a=np.array([Payload()], dtype=object))
    return made.getvalue()


WIDE = [f"c{i}" for i in range(20_000)]
# The name, what is in it, and what the page says of it (None: it is a table like any other).
FILES = {
    "bomb.zip": (bomb, "would unpack from 4.* MB to 4.* GB of memory"),
    "boundless.xlsx": (boundless_sheet, "spreads 43 values over 17,179,869,184 cells"),
    "nul.csv": (lambda _: b"a,b\n1,2\n3,\x004\n" * 20, "NUL|null|zero byte|binary|not text"),
    "wide.csv": (lambda _: f"{','.join(WIDE)}\n" + f"{','.join('1' * len(WIDE))}\n" * 3, None),
    "cell.csv": (lambda _: f"a,b,c\n{'x' * 1_000_000},1,2\n{ROWS}", None),
    "latin.csv": (lambda _: "größe,b\n1,ä\n2,é\n".encode("latin1"), "UTF-8"),
    "half.parquet": (half_a_parquet, "Parquet|parquet"),
    "page.csv": (
        lambda _: f"<!DOCTYPE html>\n<html><body>{SCRIPT}<p>Log in, please</p></body></html>\n",
        "HTML|web page|line",
    ),
    "pickle.csv": (lambda _: pickle.dumps(Payload()), "binary|not text|UTF-8|NUL|pickle"),
    "pickle.npz": (lambda _: pickle.dumps(Payload()), "NPZ|npz|zip|archive"),
    "objects.npz": (array_of_objects, "object|pickle"),
    "../../x.csv": (lambda _: f"a,b,c\n{ROWS}", None),
    "empty.csv": (lambda _: b"", "empty"),
    "blank.csv": (lambda _: b"\n\n", "empty|no columns|blank"),
    "not.xlsx": (lambda _: b"PK\x03\x04 nothing", "workbook|Excel|zip|xlsx"),
    "ragged.csv": (lambda _: "a,b\n1,2,3\n4\n", "fields"),
    **{
        f"{kind}.csv": (lambda _, n=n: f"{quoted(n)},b,c\n{ROWS}", None)
        for kind, n in NAMES.items()
    },
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_file_takes_nothing_down(server, visitor, tmp_path, name):
    make, said = FILES[name]
    content = make(tmp_path)
    given = content if isinstance(content, bytes) else content.encode()
    response = visitor.upload(name, given)
    page = visitor.settled()
    told = complaints(response.text if response.status >= 400 else page)
    if said is None:
        assert told == []
        assert 'id="size"' in page
    else:
        assert re.search(said, told[0]), told
        assert told[0].endswith("."), told
    assert "Traceback" not in page
    assert "\x1b" not in page
    assert SCRIPT not in page
    assert re.findall(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', '""', page)) == []
    assert len(page) < 2_000_000
    # Nothing ran, nothing was written elsewhere, and the next file is read.
    assert not list(server.folder.rglob("hacked"))
    assert not list(server.folder.glob("**/x.csv")) or name == "../../x.csv"
    assert {path.parent.name for path in server.folder.glob("**/x.csv")} <= {"data"}
    assert server.process.poll() is None
    assert "40 rows, 3 columns" in visitor.give("good.csv", f"a,b,c\n{ROWS}")


def test_hostile_names_run_nothing_in_a_browser(browser, server):
    """Every name goes the whole way: columns, places, sentence, answer, report."""
    names = list(NAMES.values())
    head = ",".join(quoted(name) for name in [*names, "y", "z"])
    rows = "\n".join(
        ",".join(str((i * (k + 3) + i * i) % (7 + k)) for k in range(len(names) + 2))
        for i in range(40)
    )
    page = new_page(browser, server)
    file = {"name": "names.csv", "mimeType": "text/csv", "buffer": f"{head}\n{rows}\n".encode()}
    page.set_input_files("#file", file)
    page.locator("#size", has_text="names.csv").wait_for()
    page.select_option("#ask", "matrix")
    page.locator("#put-variables").wait_for()
    page.click("#select-shown")
    page.click("#put-variables")
    page.locator("p.answer").wait_for()
    page.locator("details").evaluate_all("all => all.forEach(d => { d.open = true; })")
    page.mouse.move(200, 400)
    page.locator("#columns tr label").first.hover()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x], [onmouseover], [onfocus], [onload]").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0
    assert page.locator("main script").count() == 0
    assert "49" not in page.locator("#columns").inner_text()
    text = page.locator("#columns").inner_text()
    assert SCRIPT in text
    # A sign that turns the writing round, or talks to a terminal, is not passed on.
    assert not {"\u202e", "\x1b", "\x07"} & set(page.content())
    with page.expect_download() as waiting:
        page.click("text=Report (HTML)")
    report = waiting.value.path().read_text("utf-8")
    assert SCRIPT not in report
    assert html.escape(SCRIPT, quote=False) in report
    assert page.complaints == []
    page.context.close()


def test_reading_a_file_that_unpacks_to_much_can_be_stopped(server, visitor):
    import psutil

    visitor.send("GET", "/")
    workers = psutil.Process(server.process.pid).children()
    visitor.upload("endless.csv.gz", endless(None))
    assert json.loads(visitor.send("GET", "/job").text)["busy"]
    visitor.act("/cancel")
    page = visitor.settled(seconds=10)
    assert "Stopped." in page
    assert "endless.csv.gz was not read to the end" in page
    gone, _ = psutil.wait_procs(workers, timeout=10)
    assert len(gone) == 1
    assert "40 rows, 3 columns" in visitor.give("good.csv", f"a,b,c\n{ROWS}")
