"""Small files of every kind of mess, and what is read from each in one line."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import reldep

if TYPE_CHECKING:
    import polars as pl

TOOLS = Path(__file__).parents[2] / "tools"
MICE = "id,diet,C14\nm1,fish,0.5\nm2,sun,NA\nm3,sun,0.7\n"


def column(*cells: str, end: str = "") -> str:
    return "x;i\n" + "".join(f"{cell};{i}\n" for i, cell in enumerate(cells)) + end


# What a column of these cells is, between semicolons: nothing but the cells tells.
CELLS = {
    "plus": ("+1", "2"),
    "decimals": ("+1.5", "2"),
    "infinite": ("1", "inf"),
    "forms": ("1e3", ".5", "1."),
    "huge": ("99999999999999999999", "1"),
    "day": ("2024-01-31", " 2024-02-29"),
    "no day": ("2024-01-31", "2024-02-30"),
    "day first": ("31/01/2024", "01/02/2024"),
    "month first": ("12/31/2024", "01/02/2024"),
    "points in dates": ("31.1.2024", "1.2.2024"),
    "moments": ("2024-01-31 10:30", "2024-02-01 08:00"),
    "seconds": ("2024-01-31T10:30:01", "2024-02-01T08:00:02"),
    "clock": ("8:05", "12:30"),
    "words": ("inf", "con"),
    "ordinals": ("1st", "2nd", "3"),
    "ranges": ("10-20", "20-30", "30-40"),
    "seats": ("7A", "8B", "9C"),
    "zeros": ("007", "013"),
    "truth": ("true", "FALSE", ""),
    "grades": ("grade 1", "grade 2"),
    "question marks": ("1.5", "?", "2.5", "3"),
    "bars": ("1.5", "-", "n/a", "3"),
    "thousands": ("15,100", "900"),
    "three digits": ("1,234", "5,678"),
    "lakh": ("1,00,000", "5"),
    "apostrophes": ("15'100", "7"),
    "both marks": ("1,234.5", "7"),
    "other marks": ("1.234,5", "7"),
    "many points": ("1.234.567", "7"),
    "decimal commas": ("1,5", "2,25"),
    "exponents": ("1,5e3", "2"),
    "mixed marks": ("1.5", "1,5"),
    "marks astray": ("1,2,3", "4"),
    "accounts": ("(1,234)", "5"),
    "euros": ("-3,20 €", "1,00 €"),
    "dollars": ("$1,200.50", "$7"),
    "percent": ("32.1%", "5%"),
    "units": ("5 mg", "7 mg"),
    "different units": ("5 mg", "7 g"),
    "limits": ("<0.5", "1.5", "2"),
    "stray word": ("1.5", "2.5", "low"),
    "blanks": (" 1.5", "2.5 ", "\t3"),
    "missing": ("NA", "", "NULL"),
    "quoted blanks": ('" a "', "b"),
    "minus": ("−1.5", "2"),
}
# Contents of a file, and the options with which it is read.
TEXTS = {
    "tabs": (MICE.replace(",", "\t"), {}),
    "windows": (MICE.replace("\n", "\r\n"), {}),
    "mac": (MICE.replace("\n", "\r"), {}),
    "utf-16": (MICE.encode("utf-16"), {}),
    "gzip": (gzip.compress(MICE.encode(), mtime=0), {}),
    "blank lines": ("\n\n" + MICE.replace("\nm2", "\n\nm2") + "\n,,\n", {}),
    "no end": (MICE.rstrip("\n"), {}),
    "ends with delimiters": (MICE.replace("\n", ",,\n"), {}),
    "half ends": (MICE.replace("\n", ",\n").replace(",\n", "\n", 1), {}),
    "long cells": ('note,"the ""x"", y"\n"two\nlines",1\n"say ""hi""",2\n', {}),
    "nameless": ("*,^.*$,,a\n1,u,v,4\n2,u,v,5\n", {}),
    "labels": ("chromosome,group,x\n1,1,0.5\n2,2,0.5\nX,1,0.7\n", {"categories": "chromosome,gr*"}),
    "stated": (
        "a,b,day,c\n1.5,low,2024-01-31,true\n2.5,3,unknown,false\n?x?,4,2024-02-02,true\n",
        {"numbers": "a,b,c", "date_columns": "day"},
    ),
    "stated marks": ("a;b;c\n1.234;2,5;1.5\n2.345;3,5;2.5\n7.123;4,5;3.25\n", {"decimal": ","}),
    "open point": ("a;b\n1.234;2,5\n2.345;3,5\n", {}),
    "one column": ("a\n1\n2\n", {}),
    "ragged": ("a,b\n1,2\n1,2,3\n", {}),
    "short": ("a,b,c\n1,2,3\n4,5\n", {}),
    "quote": ('a,b\n1,"x\n2,y\n', {}),
    "latin": ("a,b\n1,x\n2,é\n".encode("latin-1"), {}),
    "no rows": ("a,b\n\n,\n", {}),
    "weekdays": ("d,x\n2024-01-01,1\n2024-01-02,2\n", {"dates": "weekday"}),
    "codes": ("w,x\na,-999\nunknown,2\nb,3\n", {"na": (-999, "unknown")}),
}


def cases() -> dict[str, tuple[str, str | bytes, dict[str, object]]]:
    """Return the name, content and options of every file."""
    found = {name: ("x.csv", column(*cells), {}) for name, cells in CELLS.items()}
    found |= {name: ("x.csv", content, options) for name, (content, options) in TEXTS.items()}
    sys.path.insert(0, str(TOOLS))
    try:
        import messy_files
    finally:
        sys.path.remove(str(TOOLS))
    for case in messy_files.CASES:
        made = case.make()
        if isinstance(made, (str, bytes)):
            name = f"{case.name} {case.options or ''}".strip()
            found[name] = (case.file, made, case.options)
    return found


def in_one_line(folder: Path, file: str, content: str | bytes, options: dict[str, object]) -> str:
    """Return what is read from a file: kinds, missing values and sums, or the error's start."""
    path = folder / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        table = reldep.read(path, **options)
    except (ValueError, TypeError, OSError) as error:
        return "refused: " + str(error).replace(f"{folder}/", "")[:60]
    parts = [str(len(table))]
    for name, kind in table.columns.items():
        try:
            values = table[name]
        except ValueError as error:
            parts.append(f"{name} refused: " + str(error).split(f"column {name!r} ")[1][:40])
            continue
        parts.append(f"{name} {kind} {values.null_count()} {digest(values)}")
    return "; ".join(parts)


def digest(values: pl.Series) -> str:
    if values.dtype.is_numeric():
        return f"{values.sum():.10g}"
    if values.dtype.is_temporal():
        return f"{values.min()} {values.max()}"
    if values.dtype.is_nested():
        return f"{sum(part for one in values.drop_nulls().to_list() for part in one):.6g}"
    return f"{values.n_unique()} {values.drop_nulls().cast(str).sort().to_list()[:1]}"
