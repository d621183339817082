"""The smallest Excel files that tests need, written without any library."""

import io
import zipfile
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def _relationships(**targets):
    """Write what a part of a workbook refers to: kind and target of rId1, rId2, …."""
    parts = "".join(
        f'<Relationship Id="{own}" Type="{_OFFICE}/{target.partition(" ")[0]}" '
        f'Target="{target.partition(" ")[2]}"/>'
        for own, target in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{parts}</Relationships>'


def sheets(*, hidden=(), hidden_rows=(), end="", **tables):
    """Return a workbook with some sheets; `end` stands behind the last row of each."""
    numbers = {name: i for i, name in enumerate(tables, 1)}
    listed = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="rId{i}"'
        + (' state="hidden"/>' if name in hidden else "/>")
        for name, i in numbers.items()
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": _relationships(rId1="officeDocument xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relationships(
            **{f"rId{i}": f"worksheet worksheets/sheet{i}.xml" for i in numbers.values()}
        ),
    }
    for name, i in numbers.items():
        rows = "".join(
            f"<row{' hidden=' + chr(34) + '1' + chr(34) if at in hidden_rows else ''}>"
            f"{''.join(map(_cell, row))}</row>"
            for at, row in enumerate(tables[name])
        )
        parts[f"xl/worksheets/sheet{i}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}{end}</sheetData></worksheet>'
        )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, f'<?xml version="1.0"?>{content}')
    return packed.getvalue()


def write_xlsx(path, rows):
    """Write the smallest Excel file with these cells."""
    path.write_bytes(sheets(data=rows))
