"""Workbooks of three kinds: sheets, headers, words among numbers, and cells far away."""

import zipfile
from pathlib import Path

import pytest

import reldep
import spreadsheets

# Written by xlwt 1.3, see tests/reference/README.md.
OLD_WORKBOOK = Path(__file__).parents[1] / "reference" / "mice.xls"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def row(*cells, times=1):
    return (
        f'<table:table-row table:number-rows-repeated="{times}">{"".join(cells)}</table:table-row>'
    )


def number(value, times=1):
    return (
        f'<table:table-cell table:number-columns-repeated="{times}" office:value-type="float" '
        f'office:value="{value}"><text:p>{value}</text:p></table:table-cell>'
    )


def word(text):
    return (
        f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
    )


def gap(times):
    return f'<table:table-cell table:number-columns-repeated="{times}"/>'


def write_ods(path, *rows):
    spaces = " ".join(f'xmlns:{n}="{OFFICE}:{n}:1.0"' for n in ("office", "table", "text"))
    mime = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = f"{OFFICE}:manifest:1.0"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", mime)
        archive.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{manifest}"><manifest:file-entry '
            f'manifest:full-path="/" manifest:media-type="{mime}"/></manifest:manifest>',
        )
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="data">{"".join(rows)}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


def test_an_old_workbook_is_read():
    rows = [("a", 1.5), ("b", 2.5), ("c", 0.30000000000000004)]
    assert reldep.read(OLD_WORKBOOK).read(["id", "x"]).rows() == rows


def test_an_old_workbook_that_would_take_all_memory_is_refused(tmp_path):
    # Its table of sectors says that the sector of the directory follows itself.
    looped = bytearray(OLD_WORKBOOK.read_bytes())
    table = 512 * (1 + int.from_bytes(looped[76:80], "little"))
    directory = int.from_bytes(looped[48:52], "little")
    entry = table + 4 * directory
    looped[entry : entry + 4] = directory.to_bytes(4, "little")
    path = tmp_path / "looped.xls"
    path.write_bytes(looped)
    with pytest.raises(ValueError, match=r"looped.xls is damaged, or too large to be read"):
        reldep.read(path)


def test_an_open_document_is_read_with_all_its_digits(tmp_path):
    header = row(word("id"), word("x"))
    rows = [row(word("a"), number(0.30000000000000004)), row(word("b"), word("n/a"))]
    blank_end = row(gap(16384), times=1_048_000)
    path = write_ods(tmp_path / "x.ods", header, *rows, row(word("c"), number(2)), blank_end)
    table = reldep.read(path)
    assert table.read(["x"])["x"].to_list() == [0.30000000000000004, None, 2.0]
    assert "'n/a' read as missing (1 of 3 cells)" in str(table.notes_about(["x"])[0])


@pytest.mark.parametrize(
    "rows",
    [
        [row(number(1, times=16_000), times=1_000_000)],
        [row(gap(16_000), times=1_000_000), row(gap(16_000), number(1))],
    ],
)
def test_an_open_document_that_would_fill_the_memory_is_refused(tmp_path, rows):
    path = write_ods(tmp_path / "bomb.ods", row(word("x")), *rows)
    assert path.stat().st_size < 2_000
    with pytest.raises(ValueError, match="spreads its values over more cells than are read"):
        reldep.read(path)


def excel(tmp_path, end="", rows=(["a", "b"], [1, 2], [3, 4])):
    (tmp_path / "x.xlsx").write_bytes(spreadsheets.sheets(data=rows, end=end))
    return tmp_path / "x.xlsx"


@pytest.mark.parametrize(
    "end",
    [
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        "<row r='1048576'><c r='XFD1048576'><v>1</v></c></row>",
        '<row r="9"><c r="XFD9"><v>1</v></c></row><row r="1048576"><c><v>1</v></c></row>',
        "<row>" + "<c/>" * 16_000 + "<c><v>1</v></c></row>" + "<row/>" * 900_000 + "<row/>",
    ],
    ids=["far cell", "other quotes", "far row", "rows without a place"],
)
def test_a_sheet_that_would_fill_the_memory_is_refused(tmp_path, end):
    path = excel(tmp_path, end)
    assert path.stat().st_size < 10_000
    with pytest.raises(ValueError, match=r"cells, more than are read. Delete stray cells"):
        reldep.read(path)
