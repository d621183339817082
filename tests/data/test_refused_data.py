"""What cannot be read is refused in words that name the file, what is wrong, and the way out."""

import datetime
import gzip
import io
import pickle
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import reldep
import spreadsheets
from calls import refused

FRAME = pl.DataFrame({"id": ["m1", "m2", "m3"], "n": [1, 2, 3], "day": [datetime.date.min] * 3})
COLUMNS = {"id": [*"abcd"], "diet": ["sun", "fish"] * 2, "C14": [0.1, 0.2, 0.3, 0.4]}
SIZES = {"size": [*"sml"], "C14": [1.0, 2.0, 3.0], "C16": [1.0, 2.0, 4.0]}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
AGES = 'note,age\n"two\nlines",31\nb,unknown\nc,45\nd,\n'


def text(content, name="x.csv", take="@all", **options):
    """Read the columns of a file that has this content."""
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    reldep.read(name, **options).take(take)


def sheet(*rows, **options):
    text(spreadsheets.sheets(data=rows), "x.xlsx", **options)


def rds(data):
    pytest.importorskip("rdata").write_rds("x.rds", data)
    reldep.read("x.rds")


def npz(**arrays):
    np.savez("x.npz", **arrays)
    reldep.read("x.npz")


def half(ending):
    """Read the first half of a file."""
    made = io.BytesIO()
    if ending == "xlsx":
        made.write(spreadsheets.sheets(data=[["a"], [1]]))
    elif ending == "npz":
        np.savez(made, a=np.arange(1000))
    else:
        (FRAME.write_parquet if ending == "parquet" else FRAME.write_ipc)(made)
    text(made.getvalue()[: len(made.getvalue()) // 2], f"x.{ending}")


def joined(first, second, join="id", take="@all"):
    Path("a.csv").write_text(first)
    Path("b.csv").write_text(second)
    reldep.read(["a.csv", "b.csv"], join=join).take(take)


def frame(data, take="@all", **options):
    reldep.read(data, **options).take(take)


def variable(data):
    reldep.hsic(data, [1.0, 2.0, 3.0, 5.0])


# A call, and what is said: a ValueError unless it is called a TypeError. Dots are for anything.
REFUSED = r"""
text(PNG) -> x.csv is not a delimited text file: it looks like a PNG image
text(gzip.compress(PNG)) -> x.csv is not a delimited text file
text(b'PK\x03\x04abc') -> x.csv is damaged, or not a ZIP archive
text(gzip.compress(b'a,b\n1,2\n')[:-12]) -> x.csv is a damaged gzip file
text('a,b\n1,2\n'.encode('utf-16-le')) -> a NUL byte on line 1. If … `encoding='utf-16'`
text('a,b\n1,x\n2,é\n'.encode('latin1')) -> line 3 of x.csv is not UTF-8 … `encoding='latin1'`
text(b'a,b\n' + b'1,x\n' * 1_500_000 + b'2,\xe9\n') -> line 1500002 of x.csv is not UTF-8 text
text(AGES, take='age') -> x.csv: column 'age' contains numbers and words: 'unknown' (line 4). Write
text(AGES, where='age > 40') -> name it in `categories`. Or leave a column out with '!age'
text(PNG, 'x.parquet') -> x.parquet is not a Parquet file: it looks like a PNG image
text(b'PAR1' + bytes(40), 'x.parquet') -> x.parquet is damaged, or only a part of a Parquet file
text(b'\xff\xfb' + bytes(40), 'x.parquet') -> x.parquet is damaged, or not a Parquet file
text(b'FEA1' + bytes(40), 'x.feather') -> is not an Arrow … Feather file of the first version
text(b'\xd0\xcf\x11\xe0' + bytes(20), 'x.xlsx') -> x.xlsx is damaged, or
text(b'\x93NUMPY' + bytes(20), 'x.npz') -> x.npz is not an NPZ … it looks like a NumPy .npy
text(pickle.dumps([1]), 'x.npz') -> x.npz is damaged, or not an NPZ archive
text(b'$FL2@(#) not really', 'x.sav') -> x.sav is damaged, or only a part of a file of SPSS
text(b'nonsense', 'x.rds') -> x.rds is damaged, or only a part of a file of R
text(b'', 'x.parquet') -> x.parquet is empty
half('parquet') -> x.parquet is damaged, or only a part of a Parquet file
half('arrow') -> x.arrow is damaged, or only a part of an Arrow
half('xlsx') -> x.xlsx is damaged, or only a part of an Excel
half('npz') -> x.npz is damaged, or only a part of an NPZ
sheet() -> x.xlsx is empty: its sheet 'data' has no columns and no rows
sheet(['a', 'b']) -> x.xlsx has 2 columns, but no rows
sheet(['a', 'b', 'a'], [1, 2, 3]) -> x.xlsx has more than one column named 'a'
sheet(['x'], [1.5], ['oops'], [2.5]) -> contains numbers and words: 'oops' (line 3)
sheet(['a'], [1], sheet='dta') -> `sheet='dta'` is not known (did you mean 'data'?)
sheet(['a'], [1], sheet=2) -> `sheet=2` is not there: x.xlsx has the sheets 'data'
rds([1.0, 2.0]) -> x.rds contains 0 data frames
npz(a=np.array([1, 'x'], dtype=object)) -> contains pickled Python objects, … never loaded
npz(a=np.zeros((2, 2, 2))) -> 'a' of x.npz has 3 dimensions, its shape is (2, 2, 2)
npz(a=np.float64(3)) -> 'a' of x.npz has 0 dimensions
npz(a=np.zeros(2), b=np.zeros(3)) -> must have equally many rows; they have 'a': 2, 'b': 3
npz(a=np.zeros(2, dtype=complex)) -> 'a' of x.npz is complex128; expected numbers, booleans
npz(a=np.array([b'\xff'])) -> 'a' of x.npz contains bytes that are not UTF-8 text
npz(x=np.zeros((2, 1)), x_0=np.zeros(2)) -> more than one column named 'x_0'
npz(a=np.zeros(0)) -> x.npz has 1 column, but no rows
npz() -> must have equally many rows; they have none
joined('id,x\n1,1\n1,2\n2,3\n', 'id,y\n1,1\n') -> does not identify the rows of a.csv: 1 comes 2
joined('id,x\n1,1\n', 'id,y\nu,1\nu,2\n') -> identify the rows of b.csv: 'u' comes 2 times
joined('id,x\n1,1\n', 'id,y\n2,1\n') -> no value of 'id' is in every file: for example 1 in … 2 in
joined('id,x\n1,1\n', 'Id,y\n1,1\n') -> no column 'id' in b.csv; nearest: 'Id'
joined('id,x\n1.5,1\n', 'id,y\nu,1\n') -> cannot join on 'id': it is number in … text in b.csv
joined('id,x\n1e300,1\n', 'id,y\n1,1\n') -> values above 2^53 as numbers with decimals
joined('a_x,x\n1,2\n', 'a_x,x\n1,3\n', 'a_x') -> columns 'x' are in more than one file
joined('id,V\n1,1\n', 'id,V\n1,2\n', take='V') -> no column 'V' in … nearest: 'a_V', 'b_V'
joined('id,V\n1,5\n2,4\n', 'id,y\n1,no\n2,3\n9,4\n', take='y') -> and words: 'no' (line 2)
joined('id,V\n1,5\n2,oops\n3,6\n', 'id,V\n3,1\n', take='a_V') -> and words: 'oops' (line 3)
joined('id\n1\n', 'id\n1\n', None) -> 2 files need a column to be joined on. Pass `join='id'`
text('id\n1\n', join='id') -> `join='id'` needs at least two files; only 'x.csv'
frame(['a.csv', 'a.csv'], join='id') -> 'a.csv' is given more than once
reldep.read(COLUMNS).read([]) -> name at least one column of the data
frame([]) -> `data` names no file; name at least one
frame(COLUMNS, 'diett') -> no column 'diett' in the data; nearest: 'diet'
frame(COLUMNS, where='C14 > 9') -> no row of the data satisfies
frame(COLUMNS, where='x > 9') -> there is no column 'x'
frame(COLUMNS, where=3) -> TypeError: Pass a condition such as
frame(COLUMNS, where=[True]) -> `where` has 1 booleans for 4 rows
frame(COLUMNS, join='id') -> `join` is about files
frame(np.eye(3)) -> TypeError: data is of type ndarray; pass a path
frame(pl.LazyFrame(COLUMNS)) -> TypeError: lazy frame; pass data.collect()
frame({'a': [1], 'b': [1, 2]}) -> data does not make a table
frame(reldep.read(SIZES), id='size') -> TypeError: `data` is a table already
frame(FRAME, dates='hour') -> column 'day' has no hour
frame(SIZES, decimal=',') -> `decimal` is about files
frame(SIZES, header=False) -> `header` is about files
frame(SIZES, order={'size': 's<m'}) -> column 'size' has labels that `order` lacks: 'l'
frame(SIZES, 'C14', order={'C14': '1.0<2.0<3.0'}) -> column 'C14' does not contain labels
frame(SIZES, order={'size': 's'}) -> from the lowest to the highest
frame(SIZES, id='C*') -> `id`: 'C*' names 2 columns; give one
frame(SIZES, decimal=';') -> `decimal=';'` is not known
frame(SIZES, decimal=',', thousands=',') -> `thousands=','` is also the decimal mark
frame(SIZES, delimiter='ab') -> `delimiter='ab'`; pass one plain character
frame(SIZES, encoding='utf-99') -> `encoding='utf-99'` is not known
frame(SIZES, skip_rows=-1) -> `skip_rows=-1`; pass a whole number, at least 0
frame(SIZES, dates='day') -> `dates='day'` is not known
frame(SIZES, sheet=1.5) -> TypeError: `sheet=1.5`; pass a name or a number
variable(None) -> TypeError: x is of type NoneType
variable({'a': [1]}) -> TypeError: x is of type dict
variable(np.array(3.0)) -> TypeError: single value
variable(iter([1, 2])) -> TypeError: is of type list_iterator; pass one observation per row
variable(np.empty((0, 2))) -> x has no observations
variable(pd.DataFrame({'a': pd.Series([], dtype='string')})) -> no observations
variable(pd.Series([], dtype='boolean')) -> no observations
variable(pl.DataFrame(schema={'a': pl.Int64, 'b': pl.String})) -> no observations
variable(pl.Series([], dtype=pl.List(pl.Float64))) -> no observations
variable(np.empty((5, 0))) -> x has no columns
variable(pd.DataFrame(index=range(5))) -> x has no columns
variable(sp.csr_array((5, 0))) -> x has no columns
variable([[], []]) -> x has no columns
variable(pd.Series([pd.NA] * 3, dtype='string')) -> only missing values
variable(np.array(['NaT'], dtype='M8[D]')) -> only missing values
variable(sp.csr_array(np.eye(3, dtype=complex))) -> TypeError: real numbers
variable(pl.LazyFrame({'a': [1]})) -> TypeError: pass x.collect()
variable(pl.DataFrame({'pair': [{'a': 1}] * 2})) -> TypeError: column 'pair' has type Struct
variable(pd.DataFrame({'a': [1], 'b': [{1}]})) -> TypeError: column 'b' of x is neither numbers nor
variable(pd.DataFrame([[1, 2]], columns=['a', 'a'])) -> x has more than one column named 'a'
variable([10**400, 1]) -> too large
variable(np.array([1, 10**5000], dtype=object)) -> too large
variable(np.array([np.longdouble('1e400')])) -> numbers beyond 1e308
variable(reldep.Survival(['a', 'b'], [1, 0])) -> TypeError: time is 'a' in row 0; pass the time
variable(reldep.Survival([True, False], [1, 0])) -> TypeError: time is 'True' in row 0
variable(reldep.Survival('days', 'died')) -> TypeError: time is the string 'days'
variable(reldep.Survival(np.ones((2, 2)), [1, 0])) -> time has 2 columns; pass one
variable(reldep.Survival([1, 2], [1])) -> time has 2 entries and event 1; pass one of each per row
variable(reldep.Survival([datetime.date.min] * 2, [1, 0])) -> time contains dates, and a lifetime is
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_what_cannot_be_read_says_why(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"gzip": gzip, "pickle": pickle, "sp": sp, **globals()}
    assert isinstance(refused(line, names), reldep.exceptions.Message)


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("x.xlsx", "fastexcel", "excel"), ("x.dta", "pyreadstat", "surveys")],
)
def test_without_its_package_a_file_says_what_to_install(
    tmp_path, monkeypatch, name, module, extra
):
    (tmp_path / name).write_bytes(spreadsheets.sheets(data=[["a"], [1]]) if "xl" in name else b"x")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"{name} needs .* pip install 'reldep\[{extra}\]'"):
        reldep.read(tmp_path / name)
