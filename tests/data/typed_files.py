"""Files whose columns have types, and AnnData files, written without anndata."""

import datetime as dt

import numpy as np
import polars as pl


def typed_frame():
    """Return one column of every type that files have."""
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
        words, days = np.array(["a", "b", "a", ""]), np.array(["2024-01-31"] * 4, "M8")
        np.savez(path, x=np.arange(8.0).reshape(4, 2), w=words, d=days)
    elif kind in ("sav", "dta", "xpt"):
        import pyreadstat

        named = {"variable_value_labels": {"small": {1: "lo", 2: "mid", 3: "hi", 4: "top"}}}
        write = getattr(pyreadstat, "write_xport" if kind == "xpt" else f"write_{kind}")
        write(pandas().drop(columns="count"), str(path), **({} if kind == "xpt" else named))
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
