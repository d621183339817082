"""Small files of every kind of mess, and what is read from each in one line."""

from __future__ import annotations

import gzip
import importlib
import sys
from pathlib import Path

import reldep

TOOLS = Path(__file__).parents[2] / "tools"
MICE = "id,diet,C14\nm1,fish,0.5\nm2,sun,NA\nm3,sun,0.7\n"


def column(*cells, end=""):
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
    "below one": ("0,125",),
    "thin spaces": ("15\u202f100", "2"),
    "odd groups": ("1,23,4.5", "2"),
    "a stray among commas": ("1,5", "2,25", "low", "3"),
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

# Files as people export them; what is right or refused was looked at one by one.
EXPORTS: dict[str, str | bytes] = {
    "two header rows": "subject,blood,blood,urine\nid,HDL,LDL,pH\np1,1,3,6\np2,2,3.5,7\np3,1,2,8\n",
    "two header rows distinct": "who,blood,,urine\nid,HDL,LDL,pH\np1,1,3,6\np2,2,3.5,7\np3,1,2,8\n",
    "second header distinct full": "who,a,b,c\nid,HDL,LDL,pH\np1,1,3,6\np2,2,3.5,7\np3,1,2,8\n",
    "units row brackets": "id,weight,temp\n,[kg],[°C]\np1,70.5,36.6\np2,80.1,37.0\n",
    "units mixed dash": "id,weight,ratio\n-,kg,-\np1,70.5,0.5\np2,80.1,0.7\n",
    "subtotals": "d,x,y\na,1,10\na,2,20\nSubtotal,3,30\nb,5,1\nb,6,2\nSubtotal,11,3\nTotal,14,33\n",
    "total last no label": "x,y\n1,1\n2,4\n3,9\n4,16\n5,25\n6,36\n7,49\n28,140\n",
    "thousand spaces": "city;pop\nA;1 234 567\nB;12 345\nC;987\n",
    "thousand nbsp": "city;pop\nA;1\xa0234\xa0567\nB;12\xa0345\nC;987\n",
    "dates month names": "d,x\n31-Jan-2024,1\n01-Feb-2024,2\n15-Mar-2024,3\n",
    "dates month words": 'd,x\n"January 31, 2024",1\n"February 1, 2024",2\n',
    "dates short year": "d,x\n31.01.24,1\n01.02.24,2\n",
    "dates mixed": "d,x\n2024-01-31,1\n01/02/2024,2\n2024-03-01,3\n",
    "datetime ampm": "t,x\n1/31/2024 3:45 PM,1\n2/1/2024 10:05 AM,2\n",
    "datetime zone": "t,x\n2024-01-31T10:00:00Z,1\n2024-02-01T11:00:00Z,2\n",
    "datetime offset": "t,x\n2024-01-31T10:00:00+02:00,1\n2024-02-01T11:00:00+02:00,2\n",
    "durations": "t,x\n1:02:03,1\n25:10:00,2\n",
    "year-month": "m,x\n2024-01,1\n2024-02,2\n2024-03,3\n",
    "quarters": "q,x\n2024Q1,1\n2024Q2,2\n2024Q3,3\n",
    "na words": "x,y\n1.5,n/a\n2.5,N.A.\n#N/A,3\nnot available,4\n",
    "na german": "x;y\n1,5;k.A.\n2,5;3\nk. A.;4\n",
    "trailing delim rows only": "a,b\n1,2,\n3,4,\n5,6,\n",
    "dup names case": "Age,age\n1,2\n4,5\n",
    "names newline": '"a\nunit",b\n1,2\n3,4\n',
    "plus minus": "x\n1.2±0.1\n1.3±0.2\n",
    "scientific comma": "x;y\n1,5E-03;2\n2,0E+02;3\n",
    "exponent x10": "x\n1.5x10^3\n2.5x10^4\n",
    "stars": "x,p\n1.2,0.03*\n1.4,0.5\n1.1,0.001**\n",
    "bool yes no": "smoker,x\nyes,1\nno,2\nyes,3\n",
    "long ids": "id,x\n12345678901234567890,1\n12345678901234567891,2\n",
    "phone": "tel,x\n+49 170 1234567,1\n+49 171 7654321,2\n",
    "ip": "ip,x\n10.0.0.1,1\n10.0.0.2,2\n",
    "versions": "v,x\n1.2.3,1\n1.10.0,2\n",
    "fractions": "x\n1/2\n3/4\n",
    "coordinates": "lat\n52°30'N\n48°08'N\n",
    "hex": "x\n0x1F\n0x2A\n",
    "inf": "x,y\ninf,1\n-inf,2\n1.5,3\n",
    "single quotes": "'x','y'\n'1.5','2'\n'2.5','3'\n",
    "footer note blank": 'a,b\n1,2\n3,4\n\n"Source: census, 2024",\n',
    "header later with blank": "\n\nReport 2024\n\na,b\n1,2\n3,4\n",
    "comments percent": "% weka\n% arff\na,b\n1,2\n3,4\n",
    "mixed decimals cols": "a;b\n1.5;1,5\n2.5;2,5\n",
    "one col with comma decimals": "a\n1,5\n2,5\n",
    "comma decimals comma delim quoted": 'a,b\n"1,5","2,5"\n"3,5","4,5"\n',
    "negative trailing": "p,q\n5-,1\n7-,2\n3,3\n",
    "negative brackets": "p,q\n(5.5),1\n7,2\n3,3\n",
    "merged label blanks": "group,x\nA,1\n,2\n,3\nB,4\n,5\n",
    "index col pandas": ",a,b\n0,1,2\n1,3,4\n",
    "index col pandas twice": ",Unnamed: 0,a\n0,0,1\n1,1,3\n",
    "json in csv": '[{"a":1},{"a":2}]\n',
    "decimal point arabic": "x\n١٢\n٣٤\n",
    "fullwidth": "x\n１２\n３４\n",
}


def messy_files():
    """Return the module in tools/ that makes the page about messy files, if it is there."""
    if not TOOLS.is_dir():
        return None
    sys.path.insert(0, str(TOOLS))
    try:
        return importlib.import_module("messy_files")
    finally:
        sys.path.remove(str(TOOLS))


def messy():
    """Return the cases of mess that the page shows."""
    found = messy_files()
    return [] if found is None else [one for part in found.CHAPTERS.values() for one in part]


def cases():
    """Return the name, content and options of every file."""
    found = {name: ("x.csv", column(*cells), {}) for name, cells in CELLS.items()}
    found |= {name: ("x.csv", content, options) for name, (content, options) in TEXTS.items()}
    found |= {name: ("x.csv", content, {}) for name, content in EXPORTS.items()}
    german = "Prüfling;Größe (cm);Datum;Betrag\nMüller;172,5;31.01.2024;1.234,50 €\n"
    german += "Weiß;168,0;01.02.2024;987,00 €\nJäger;181,25;15.02.2024;12.000,10 €\n"
    found["german"] = ("x.csv", german.encode("cp1252"), {"encoding": "cp1252"})
    for case in messy():
        made = case.make()
        if isinstance(made, (str, bytes)):
            name = f"{case.name} {case.options or ''}".strip()
            found[name] = (case.file, made, case.options)
    return found


def in_one_line(folder, file, content, options):
    """Return what is read from a file: kinds, missing values and sums, or the error's start."""
    path = folder / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_in_one_line(path, folder, options)


def read_in_one_line(path, folder, options):
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


def digest(values):
    if values.dtype.is_numeric():
        return f"{values.sum():.10g}"
    if not values.count():
        return ""
    if values.dtype.is_temporal():
        return f"{values.min()} {values.max()}"
    if values.dtype.is_nested():
        return f"{sum(part for one in values.drop_nulls().to_list() for part in one):.6g}"
    return f"{values.n_unique()} {values.drop_nulls().cast(str).sort().to_list()[:1]}"


def typed_frame():
    """Return one column of every type that files have."""
    import polars as pl

    return pl.DataFrame(
        {
            "number": [0.5, None, float("nan"), 2.5],
            "count": [1, 2, None, -999],
            "word": ["a", "NA", None, "e\u0301"],
            "label": pl.Series(["x", "y", None, "x"], dtype=pl.Categorical),
            "truth": [True, False, None, True],
            "digits": ["1,5", "2", "n/a", "3"],
            "small": pl.Series([1, 2, 3, 4], dtype=pl.Int8),
            "float32": pl.Series([0.5, 1, 2, 4], dtype=pl.Float32),
        }
    )


def dated_frame():
    """Return types that not every format has."""
    import datetime as dt

    import polars as pl

    days = [dt.date(2024, 1, 31), None, dt.date(2024, 2, 1), dt.date(2023, 5, 6)]
    return typed_frame().with_columns(
        pl.Series("day", days),
        pl.Series("moment", [dt.datetime(2024, 1, 31, 10, i) for i in range(4)]),
        pl.Series("clock", [dt.time(8, 5), dt.time(23, 0), None, dt.time(1, 2)]),
        pl.Series("list", [[1, 2], [3, 4], [5, 6], None]),
        pl.Series("nothing", [None] * 4),
    )


def write_format(folder, kind):
    """Write one file with types of its own."""
    import numpy as np

    path, frame = folder / f"x.{kind.partition(' ')[0]}", dated_frame()
    plain = typed_frame().drop("label", "truth")
    pandas = plain.with_columns(typed_frame()["number"].fill_nan(None)).to_pandas
    if kind == "parquet":
        frame.write_parquet(path)
    elif kind == "arrow":
        frame.write_ipc(path)
    elif kind == "jsonl":
        typed_frame().drop("number").write_ndjson(path)
    elif kind == "npz":
        block = np.arange(8.0).reshape(4, 2)
        np.savez(
            path, x=block, w=np.array(["a", "b", "a", ""]), d=np.array(["2024-01-31"] * 4, "M8")
        )
    elif kind in ("sav", "dta", "xpt"):
        import pyreadstat

        write = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta}
        labels = {"variable_value_labels": {"small": {1: "lo", 2: "mid", 3: "hi", 4: "top"}}}
        if kind == "xpt":
            pyreadstat.write_xport(pandas().drop(columns="count"), str(path))
        else:
            write[kind](pandas().drop(columns="count"), str(path), **labels)
    elif kind == "rds":
        import rdata

        rdata.write_rds(str(path), plain.select("number").to_pandas())
    elif kind.startswith("h5ad"):
        import pandas as pd
        from scipy import sparse

        matrix = np.array([[0, 1, 2], [0, 0, 3], [4, 0, 0], [0, 5, 0.5]])
        stored = {"csr": sparse.csr_array, "csc": sparse.csc_array, "array": np.asarray}
        obs = {"n": [1.5, np.nan, 3, 4], "kind": pd.Categorical(["u", "v", None, "u"])}
        write_annotated(path, stored[kind.partition(" ")[2]](matrix), obs, stem=("obs", "var"))
    return path


FORMATS = ("parquet", "arrow", "jsonl", "npz", "sav", "dta", "xpt", "rds")
FORMATS += ("h5ad csr", "h5ad csc", "h5ad array")
# Options with which files with types are read.
HOW: tuple[tuple[tuple[str, object], ...], ...] = (
    (),
    (("na", (-999, "x", 4)), ("categories", "@numeric")),
    (("numbers", "@categorical"),),
    (("dates", {"day": "month", "moment": "hour"}),),
)


def write_annotated(path, matrix, obs, *, stem=("cell", "gene"), genes=None, layers=None):
    """Write an AnnData file as its format is described, without anndata."""
    import h5py

    own = [[f"{word}{i}" for i in range(n)] for word, n in zip(stem, matrix.shape, strict=True)]
    with h5py.File(path, "w") as file:
        write_matrix(file, "X", matrix)
        for name, layer in (layers or {}).items():
            write_matrix(file.require_group("layers"), name, layer)
        for part, names, columns in (("obs", own[0], obs), ("var", genes or own[1], {})):
            group = file.create_group(part)
            group.create_dataset("_index", data=names)
            group.attrs["_index"] = "_index"
            group.attrs.create("column-order", list(columns), dtype=h5py.string_dtype())
            for name, values in columns.items():
                if not hasattr(values, "categories"):
                    group.create_dataset(name, data=values)
                    continue
                column = group.create_group(name)
                column.attrs["encoding-type"] = "categorical"
                column.create_dataset("codes", data=values.codes)
                column.create_dataset("categories", data=[str(v) for v in values.categories])
    return path


def write_matrix(place, name, matrix):
    if not hasattr(matrix, "indptr"):
        place.create_dataset(name, data=matrix)
        return
    group = place.create_group(name)
    group.attrs["encoding-type"] = f"{matrix.format}_matrix"
    group.attrs["shape"] = matrix.shape
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(matrix, part))


# What Python objects are read as: the cells of `CELLS` as strings, and other lists.
def objects():
    import datetime as dt
    from decimal import Decimal

    import numpy as np

    day = dt.date(2024, 1, 31)
    found: dict[str, object] = {f"list of {name}": list(cells) for name, cells in CELLS.items()}
    found |= {
        "ints": [1, 2, None, 4],
        "decimals of python": [Decimal("1.5"), Decimal(2), None],
        "numbers and words": [1, "2", 3.5, "x"],
        "numbers and strings of numbers": [1, "2,5", 3.5, None],
        "bytes": [b"a", b"b", b"a"],
        "bytes of numbers": [b"1.5", b"2", b"3"],
        "booleans": [True, None, False],
        "dates": [day, None, day + dt.timedelta(2)],
        "zones": [
            dt.datetime(2024, 1, 31, 10, tzinfo=dt.UTC),
            dt.datetime(2024, 2, 1, tzinfo=dt.UTC),
        ],
        "times": [dt.time(8, 30), dt.time(23)],
        "spans": [dt.timedelta(1), dt.timedelta(hours=6)],
        "numpy dates": np.array(["2024-01-31", "NaT", "2024-02-02"], "M8[D]"),
        "numpy spans": np.array([1, 2, 3], "m8[h]"),
        "rows": [[1, 2], [3, 4], None],
        "rows of words": [["a", 1], ["b", 2]],
        "ragged rows": [[1], [2, 3]],
        "masked": np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        "cube": np.ones((3, 2, 2)),
        "strings of numpy": np.array(["5 mg", "7 mg"]),
        "table of objects": np.array([["a", 1], ["b", 2.5]], dtype=object),
        "half all different": [f"w{i}" for i in range(11)] + ["w0"],
        "many codes": [f"{i:03d}" for i in range(12)],
        "sizes": [f"{i}-{i + 5}" for i in range(12)] * 2,
        "empty": [],
        "nothing": [None, None],
        "text alone": "abc",
        "a number alone": 3,
        "complex": np.array([1j, 2]),
        "typed frame": typed_frame(),
        "pandas": typed_frame().to_pandas(),
        "arrow": typed_frame().to_arrow(),
        "dates of a frame": dated_frame().select("day", "moment", "clock"),
        "a column of lists": dated_frame()["list"],
    }
    return found


def object_in_one_line(data):
    """Return what an object is read as."""
    from reldep.data.objects import read_variable

    try:
        variable = read_variable(data, "x")
    except (ValueError, TypeError) as error:
        return f"refused: {str(error)[:60]}"
    parts = getattr(variable, "parts", (variable,))
    return "; ".join(map(part_in_one_line, parts)) + "; ".join(["", *variable.notes])


def part_in_one_line(part):
    import numpy as np

    kind = type(part).__name__
    if kind == "Numeric":
        gaps = int(np.isnan(part.values).sum())
        return f"{kind} {part.values.shape} {gaps} {np.nansum(part.values):.10g} {part.columns}"
    if kind == "Labels":
        said = [text[:50] for text in (part.doubt, part.caution) if text]
        return f"{kind} {part.codes.tolist()} {part.categories[:3]} {part.order} {said}"
    return f"{kind} {len(part)}"
