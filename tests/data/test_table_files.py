"""Parquet, Arrow, Excel and NPZ; files that are missing, damaged, or not what they say."""

import numpy as np
import polars as pl
import pytest

import reldep

FRAME = pl.DataFrame({"id": ["m1", "m2", "m3"], "n": [1, 2, 3]})


def test_only_the_columns_asked_for_are_read_from_parquet(tmp_path):
    FRAME.write_parquet(tmp_path / "m.parquet")
    content = bytearray((tmp_path / "m.parquet").read_bytes())
    # The values of the first column, but not where they stand, are damaged.
    content[4:20] = bytes(16)
    (tmp_path / "m.parquet").write_bytes(content)
    table = reldep.read(tmp_path / "m.parquet")
    assert table.read(["n"])["n"].to_list() == [1, 2, 3]


def test_a_damaged_member_of_an_archive_is_named(tmp_path):
    path = tmp_path / "bad.npz"
    np.savez(path, a=np.arange(1000))
    content = bytearray(path.read_bytes())
    content[2000] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"array 'a' of .*bad.npz is damaged: Bad CRC-32"):
        reldep.read(path)


def test_a_parquet_file_damaged_inside_is_an_error_on_reading(tmp_path):
    path = tmp_path / "inside.parquet"
    pl.DataFrame({"a": np.arange(5000) % 977, "b": np.arange(5000)}).write_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:400] = bytes(396)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot read .*inside.parquet: "):
        reldep.read(path).read(["a"])


def test_a_file_that_vanishes_is_named(tmp_path):
    path = tmp_path / "gone.parquet"
    FRAME.write_parquet(path)
    table = reldep.read(path)
    path.unlink()
    with pytest.raises(ValueError, match=r"cannot read .*gone.parquet: "):
        table.read(["n"])


def test_a_missing_file_suggests_its_neighbours(write, tmp_path):
    write("mice.csv", "a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"no file .*mcie.csv; nearest: 'mice.csv'"):
        reldep.read(tmp_path / "mcie.csv")
    with pytest.raises(FileNotFoundError, match=r"no file .*mice; nearest: 'mice.csv'"):
        reldep.read(tmp_path / "mice")
    with pytest.raises(FileNotFoundError, match=r"no file .*x.npz; files there: 'mice.csv'"):
        reldep.read(tmp_path / "x.npz")
    with pytest.raises(FileNotFoundError, match=r"no file .*x.npz; no files there"):
        reldep.read(tmp_path / "nowhere" / "x.npz")


def test_a_directory_of_parquet_files_is_one_table(tmp_path):
    folder = tmp_path / "pieces"
    folder.mkdir()
    with pytest.raises(ValueError, match="pieces has no Parquet files"):
        reldep.read(folder)
    for i in range(3):
        pl.DataFrame({"x": [float(i), 9.0], "w": ["a", "b"]}).write_parquet(folder / f"{i}.parquet")
    (folder / "again.parquet").symlink_to(folder / "2.parquet")
    for hidden in (folder / "_temporary", folder / "year=2020" / ".old"):
        hidden.mkdir(parents=True)
        FRAME.write_parquet(hidden / "half.parquet")
    for place in (folder, str(folder / "*.parquet")):
        assert reldep.read(place)["x"].to_list() == [0, 9, 1, 9, 2, 9]
    FRAME.write_parquet(tmp_path / "secret.parquet")
    (folder / "link.parquet").symlink_to(tmp_path / "secret.parquet")
    with pytest.raises(ValueError, match=r"link.parquet is a link that leads out of .*pieces"):
        reldep.read(folder)
    (tmp_path / "notes.txt").write_text("x\n1\n")
    with pytest.raises(ValueError, match=r"has other files than Parquet files: .*notes.txt"):
        reldep.read(str(tmp_path / "*.*"))


def test_a_file_that_may_not_be_read_says_so(write, monkeypatch):
    path = write("secret.csv", "a\n1\n")
    # The superuser may read every file, so the refusal is the test's own.
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"secret.csv may not be read: ask for permission"):
        reldep.read(path)


def test_keys_too_large_to_be_compared_are_refused(tmp_path):
    pl.DataFrame({"id": [2**63], "x": [1]}, schema_overrides={"id": pl.UInt64}).write_parquet(
        tmp_path / "a.parquet"
    )
    pl.DataFrame({"id": [1], "y": [1]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="cannot join on 'id': conversion from `u64`"):
        reldep.read([tmp_path / "a.parquet", tmp_path / "b.parquet"], join="id")
