"""Pipes, devices, archives and names that would do harm are refused or contained."""

import gzip
import os
import random
import struct
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import typed_files

import reldep
from reldep.data.objects import read_variable
from reldep.files.byte_sources import open_source
from reldep.files.opening import read_source
from reldep.files.read import completed
from reldep.words import cell, printable

SOURCE = str(Path(reldep.__file__).parents[1])


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "pipe"])
def test_pipes_and_devices_and_links_to_them_are_refused(tmp_path, device):
    if device == "pipe":
        device = tmp_path / "pipe"
        os.mkfifo(device)
    (tmp_path / "link.csv").symlink_to(device)
    for path in (device, tmp_path / "link.csv"):
        with pytest.raises(ValueError, match=r"is a pipe, device or socket, not a file"):
            reldep.read(path)


def write_bomb(path: Path) -> None:
    """Write a small file that unpacks to 1.1 GB, or says so."""
    if path.suffix in (".gz", ".rds"):
        block = gzip.compress(b"1,2\n" * 25_000_000 if path.suffix == ".gz" else bytes(10**8), 1)
        path.write_bytes(gzip.compress(b"a,b\n") + 11 * block)
    elif path.suffix == ".parquet":
        pl.select(pl.repeat(0.0, 137_500_000).alias("a")).write_parquet(path)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.npy" if path.suffix == ".npz" else "a.csv", bytes(1000))
        content = bytearray(path.read_bytes())
        struct.pack_into("<I", content, content.index(b"PK\x01\x02") + 24, 1_100_000_000)
        path.write_bytes(content)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.zip", "a.npz", "a.rds", "a.parquet"])
def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, name):
    path = tmp_path / name
    write_bomb(path)
    assert path.stat().st_size < 10_000_000
    with pytest.raises(ValueError, match=r"would unpack from .* to 1.* GB of memory \("):
        reldep.read(path)["a"]


def test_a_small_file_of_many_rows_is_refused_before_they_are_dealt(tmp_path):
    """Also with memory for one column, and where a question would put all rows on disk."""
    path = tmp_path / "a.parquet"
    many = pl.LazyFrame({"a": [1]}).select(pl.repeat(1, 400_000_000, dtype=pl.Int8).alias("a"))
    many.sink_parquet(path, compression="zstd")
    assert path.stat().st_size < 3_600_000
    with pytest.raises(ValueError, match=r"1 column of 400,000,000 rows of .* would unpack from"):
        reldep.read(path)


def test_an_archive_in_an_archive_in_an_archive_is_refused(tmp_path):
    packed = b"a\n1\n2\n"
    for _ in range(3):
        packed = gzip.compress(packed)
    (tmp_path / "a.csv.gz").write_bytes(packed)
    with pytest.raises(ValueError, match="is packed too often"):
        reldep.read(tmp_path / "a.csv.gz")


def bytes_read() -> int:
    """Return the bytes that this process has read so far."""
    return int(Path("/proc/self/io").read_text().split()[1])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="counts bytes in /proc")
@pytest.mark.parametrize(
    ("name", "start", "said"),
    [
        ("a.csv", b"a,b\n1,2\n3,\0", "with a NUL byte on line 3"),
        ("a.xlsx", b"a,b\n1,2\n3,\0", "is damaged, or not an Excel"),
        ("a.xlsx", b"XX\x03\x04", "is damaged, or not an Excel"),
        ("a.xlsx", b"PK\x03\x04", "is damaged, or only a part of an Excel"),
        (
            "a.csv",
            b'a,b\n1,2\n"3,4\n' + (b"3," + b"4" * 997 + b"\n") * 100_000,
            "line 3 of .* is not closed",
        ),
    ],
    ids=range(5),
)
def test_a_large_file_that_is_not_what_it_says_is_refused_without_reading_on(
    tmp_path, name, start, said
):
    with (tmp_path / name).open("wb") as file:
        file.write(start)
        file.truncate(3_000_000_000)
    before = bytes_read()
    with pytest.raises(ValueError, match=said):
        reldep.read(tmp_path / name)
    assert bytes_read() - before < 100_000_000


def test_a_file_that_ends_its_reader_does_not_end_the_program(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / "a.sav"
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [1.0, 2, 1, 2]})
    pyreadstat.write_sav(frame, path, variable_value_labels={"b": {1: "lo", 2: "hi"}})
    assert reldep.read(path)["b"].to_list() == ["lo", "hi", "lo", "hi"]
    damaged = bytearray(path.read_bytes())
    # The type of the second variable: text of eight letters, with labels of numbers.
    struct.pack_into("<i", damaged, 176 + 32 + 4, 8)
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"a.sav is damaged, or too large to be read"):
        reldep.read(path)


def test_a_file_that_changes_while_it_is_used_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": [1, 2, 3]}).write_parquet(path)
    table = reldep.read(path)
    pl.DataFrame({"a": [4, 5, 6]}).write_parquet(path)
    os.utime(path, (1, 1))
    with pytest.raises(ValueError, match=r"a.parquet has changed while it was read"):
        table["a"]


def test_values_that_change_between_two_passes_are_refused(tmp_path):
    """Also where size and time of the file stay, and in partitions that are drawn anew."""
    path = tmp_path / "a.parquet"
    rows = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 4.0]})
    rows.write_parquet(path, compression="uncompressed")
    table, before = reldep.read(path, where="a > 1"), path.stat()
    rows.select(pl.col("a").reverse(), "b").write_parquet(path, compression="uncompressed")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    with pytest.raises(ValueError, match=r"a.parquet has changed while it was read"):
        table["b"]
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(rows.to_pandas(), npartitions=2)
    drawn = frame.map_partitions(lambda part: part + np.random.default_rng().random())
    for data, changes in ((frame, False), (drawn, True)):
        table = reldep.read(data, where="a > 1")
        if changes:
            with pytest.raises(ValueError, match="the values of 'a' of the data have changed"):
                table["b"]
        else:
            assert table["b"].to_list() == [2.0, 4.0]


@pytest.mark.parametrize("kind", ["h5ad csr", "h5ad csc", "h5ad array", "npz"])
def test_a_mutated_file_is_read_or_refused_in_words(tmp_path, kind):
    """In this process: that a child is tried first is tested by itself."""
    pytest.importorskip("h5py")
    rng = random.Random(1)  # noqa: S311
    good = typed_files.write_format(tmp_path, kind).read_bytes()
    path, outcomes = tmp_path / f"broken.{kind.partition(' ')[0]}", set()
    for _ in range(60):
        bad = bytearray(good)
        for _ in range(rng.choice([1, 2, 8])):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        path.write_bytes(bad[: rng.choice([len(bad)] * 3 + [rng.randrange(9, len(bad))])])
        try:
            read_source(open_source(path), completed({}), is_tried=True).to_frame("@numeric")
            outcomes.add("read")
        except (reldep.exceptions.InputError, reldep.exceptions.InputTypeError):
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_dates_that_python_cannot_count_are_refused(tmp_path):
    days = pl.Series("day", [0, 9_999_999, None], dtype=pl.Int32).cast(pl.Date)
    pl.DataFrame([days]).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="'day' has dates outside of the years 1 to 9999"):
        reldep.read(tmp_path / "a.parquet").describe()


def array_that_raises():
    class Tensor:
        def __array__(self, *args, **options):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    return Tensor()


def sparse(make, places="indices", at=1, to=90, **options):
    matrix = make(np.eye(6), **options)
    (matrix.coords[1] if places == "coords" else getattr(matrix, places))[at] = to
    return matrix


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (array_that_raises(), "cannot be converted to an array: Can't call numpy"),
        (sparse(scipy.sparse.csr_array), "x is not a valid sparse matrix"),
        (sparse(scipy.sparse.csc_array, to=-7), "x is not a valid sparse matrix"),
        (sparse(scipy.sparse.csr_array, "indptr"), "x is not a valid sparse matrix"),
        (sparse(scipy.sparse.coo_array, "coords"), "values outside of its shape"),
        (sparse(scipy.sparse.bsr_array, blocksize=(2, 2)), "x is not a valid sparse matrix"),
    ],
)
def test_objects_that_lie_or_raise_are_refused_in_words(data, said):
    with pytest.raises((ValueError, TypeError), match=said) as caught:
        read_variable(data, "x")
    assert isinstance(caught.value, reldep.exceptions.Message)


def test_a_block_sparse_matrix_is_read_like_its_values():
    x = np.random.default_rng(0).normal(size=(30, 4))
    y, z = x[:, :1] + 1, x[:, 2:] ** 2
    found = [reldep.compare(one, y, z).pvalue for one in (x, scipy.sparse.bsr_array(x))]
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_names_and_cells_reach_no_terminal_as_commands(tmp_path):
    path = tmp_path / "\x1b[31mred.csv"
    path.write_text('"\x1b]0;title\x07",x\n1,2\n3,\x1b[2Jword\n4,5\n')
    table = reldep.read(path)
    for ask in (
        lambda: table.read(["x"]),
        lambda: table.select("y"),
        lambda: reldep.read(tmp_path / "\x1b[31mno.csv"),
    ):
        with pytest.raises((ValueError, OSError)) as caught:
            ask()
        assert "\x1b" not in str(caught.value)
    assert printable("a\u202eb\n") == "a\\u202eb\\n"
    assert len(cell("x" * 10_000_000)) < 60


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak from /proc")
def test_the_memory_to_describe_wide_tables_allows_a_hundred_thousand_columns(tmp_path):
    n = 10_000
    # Decimals: each has NaN to be looked for.
    values = ",".join(str(i % 97 + 0.5) for i in range(n))
    with (tmp_path / "wide.csv").open("w") as file:
        file.write(",".join(f"c{i}" for i in range(n)) + "\n" + f"{values}\n" * 5)
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        import reldep
        columns = reldep.read(sys.argv[1]).describe()
        status = Path("/proc/self/status").read_text()
        peak = next(line.split()[1] for line in status.splitlines() if "VmHWM" in line)
        print(len(columns), columns[-1].kernel, peak)
        """
    )
    command = [sys.executable, "-c", program, str(tmp_path / "wide.csv")]
    environment = os.environ | {"PYTHONPATH": SOURCE}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    n_columns, *kernel, peak = done.stdout.split()
    assert (int(n_columns), " ".join(kernel)) == (n, "none: constant")
    # Memory grows with the columns, beyond some 130 MB of libraries: ten times as many columns
    # stay below a gigabyte.
    assert int(peak) < 210_000  # kB
