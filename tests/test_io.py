"""Files are written whole or not at all, where and as the user had them, and never over theirs."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reldep.io import MADE_BY_US, check_writable, write

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and signals of POSIX")
not_root = pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write everywhere"
)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def mode_of(path):
    return path.stat().st_mode & 0o777


@pytest.fixture
def mask():
    before = os.umask(0o027)
    yield
    os.umask(before)


@posix
def test_a_new_file_is_whole_and_has_the_usual_permissions(tmp_path, mask):
    write(tmp_path / "a.txt", "näw")
    assert (tmp_path / "a.txt").read_bytes() == "näw".encode()
    assert mode_of(tmp_path / "a.txt") == 0o640
    longest = "ä" * 127
    write(tmp_path / longest, "new")
    assert names_in(tmp_path) == ["a.txt", longest]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_an_existing_file_keeps_its_mode(tmp_path, mask, mode, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    begun, write_bytes = [], Path.write_bytes

    def watched(temporary, data):
        begun.append(mode_of(temporary))
        return write_bytes(temporary, data)

    monkeypatch.setattr(Path, "write_bytes", watched)
    write(path, "new", overwrite=True)
    assert (path.read_text(), mode_of(path)) == ("new", mode)
    assert begun == [0o600], "nobody else reads what is not written yet"


OURS = f"<html>{MADE_BY_US} 0.2</html>"


@pytest.mark.parametrize(
    ("old", "is_kept"),
    [("mine", True), (OURS, False), ("", False), ("new", False), ("x" * 10**5 + OURS, False)],
    ids=["somebody's", "ours", "empty", "the same", "long"],
)
def test_only_what_reldep_made_is_replaced(tmp_path, old, is_kept):
    path = tmp_path / "a.html"
    path.write_text(old)
    if is_kept:
        for refused in (check_writable, lambda path: write(path, "new")):
            with pytest.raises(FileExistsError, match=r"was not made by reldep.*`overwrite=True`"):
                refused(path)
    else:
        write(path, "new")
    assert path.read_text() == (old if is_kept else "new")
    write(path, "newer", overwrite=True)
    assert path.read_text() == "newer"


@posix
@pytest.mark.parametrize("name", ["data.csv", "./data.csv", "link.csv", "hard.csv"])
def test_the_data_are_never_replaced(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(OURS)
    Path("link.csv").symlink_to("data.csv")
    Path("hard.csv").hardlink_to("data.csv")
    with pytest.raises(FileExistsError, match="the data are in it; choose another name"):
        write(name, "new", inputs=["-", "other.csv", "data.csv"], overwrite=True)
    assert Path("data.csv").read_text() == OURS


@posix
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("folder", [".", "far"])
def test_a_symbolic_link_stays_one_and_leads_elsewhere_only_if_asked(tmp_path, there, folder):
    (tmp_path / "far").mkdir()
    link, target = tmp_path / "a.txt", tmp_path / folder / "b.txt"
    if there:
        target.write_text(OURS)
    link.symlink_to(f"{folder}/b.txt")
    if folder == "far":
        with pytest.raises(FileExistsError, match=r"a symbolic link to .*far/b\.txt"):
            write(link, "new")
        assert target.exists() is there
    write(link, "new", overwrite=folder == "far")
    assert link.is_symlink()
    assert target.read_text() == "new"


@posix
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("loop", "the symbolic link leads to itself"),
        ("nowhere", r"the directory .*gone does not exist"),
        ("pipe", "it is a device or a pipe; name a file"),
        (os.devnull, "it is a device or a pipe; name a file"),
        (".", "it is a directory; name a file in it"),
        pytest.param("locked", "the file is read-only", marks=not_root),
    ],
)
def test_what_is_not_a_file_of_ours_to_write_is_refused(tmp_path, name, said):
    for link, target in (("loop", "back"), ("back", "loop"), ("nowhere", "gone/c")):
        (tmp_path / link).symlink_to(target)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "locked").touch(0o444)
    with pytest.raises(OSError, match=said):
        write(tmp_path / name, "new", overwrite=True)
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("pathlib.Path.write_bytes", OSError(errno.ENOSPC, "No space left on device")),
        ("os.open", PermissionError(errno.EACCES, "Permission denied")),
        ("pathlib.Path.replace", OSError("unknown")),
    ],
)
def test_an_error_in_the_writing_leaves_the_old_file_and_nothing_else(
    tmp_path, monkeypatch, place, error
):
    (tmp_path / "a").write_text(OURS)

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(place, fail)
    with pytest.raises(OSError, match=f"cannot write .*: {error.strerror or error}"):
        write(tmp_path / "a", "new")
    monkeypatch.undo()
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == OURS


def test_what_a_killed_run_left_is_removed_after_an_hour_and_nothing_else_is(tmp_path):
    left = tmp_path / ".a.txt.0123456789abcdef.reldep-unfinished"
    others = {".a.txt.notes.reldep-unfinished", "a.txt.unfinished"}
    for name in (left.name, *others):
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (0, 0))
    write(tmp_path / "b.txt", "another file")
    assert left.exists()
    write(tmp_path / "a.txt", "new")
    assert set(names_in(tmp_path)) == {"a.txt", "b.txt", *others}
    left.write_text("of a living run")
    write(tmp_path / "a.txt", "newer", overwrite=True)
    assert left.exists()


def test_threads_that_write_the_same_file_leave_one_whole_file(tmp_path):
    texts = [letter * 100_000 for letter in "abcdefgh"]
    with ThreadPoolExecutor(8) as pool:
        for done in [
            pool.submit(write, tmp_path / "a.txt", text, overwrite=True) for text in texts * 4
        ]:
            done.result()
    assert names_in(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() in texts
