"""Files are written whole or not at all, where and as the user had them."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reldep.io import check_writable, write_atomically

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and signals of POSIX")
not_root = pytest.mark.skipif(
    getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write everywhere"
)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, text):
    with write_atomically(path) as temporary:
        temporary.write_text(text)


def mode_of(path):
    return path.stat().st_mode & 0o777


@pytest.fixture
def mask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "a.txt"
    with write_atomically(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert names_in(tmp_path) == ["a.txt"]


@posix
def test_a_new_file_has_the_usual_permissions(tmp_path, mask):
    write(tmp_path / "a.txt", "new")
    assert mode_of(tmp_path / "a.txt") == 0o640


@posix
def test_the_mask_of_the_process_is_never_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the mask was set"))
    write(tmp_path / "a.txt", "new")


@posix
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_an_existing_file_keeps_its_mode(tmp_path, mask, mode):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(mode)
    with write_atomically(path) as temporary:
        assert mode_of(temporary) == 0o600, "nobody else reads what is not written yet"
        temporary.write_text("new")
    assert (path.read_text(), mode_of(path)) == ("new", mode)


@posix
@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_stays_one(tmp_path, there):
    (tmp_path / "far").mkdir()
    link, target = tmp_path / "a.txt", tmp_path / "far" / "b.txt"
    if there:
        target.write_text("old")
    link.symlink_to("far/b.txt")
    write(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert names_in(tmp_path) == ["a.txt", "far"]
    assert names_in(tmp_path / "far") == ["b.txt"]


@posix
def test_a_link_that_leads_nowhere_is_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="the symbolic link leads to itself"):
        write(tmp_path / "a", "new")
    (tmp_path / "c").symlink_to("gone/c")
    with pytest.raises(FileNotFoundError, match=r"the directory .*gone does not exist"):
        write(tmp_path / "c", "new")


@posix
def test_devices_and_pipes_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(OSError, match="it is a device or a pipe; name a file"):
            write(path, "new")
    assert Path(os.devnull).is_char_device()


@posix
@not_root
def test_a_read_only_file_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="the file is read-only"):
        write(path, "new")


def test_the_longest_name_a_file_can_have_is_written(tmp_path):
    write(tmp_path / ("ä" * 127), "new")
    assert names_in(tmp_path) == ["ä" * 127]


def test_an_error_in_the_writing_removes_what_was_begun(tmp_path):
    def break_off(error):
        with write_atomically(tmp_path / "a") as path:
            path.write_text("half")
            raise error

    with pytest.raises(RuntimeError, match="broken"):
        break_off(RuntimeError("broken"))
    with pytest.raises(OSError, match=r"cannot write .*: unknown"):
        break_off(OSError("unknown"))
    assert names_in(tmp_path) == []
    check_writable(tmp_path / "a")


def test_a_directory_locked_in_the_meantime_is_told(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(PermissionError, match=r"cannot write .*a\.txt: Permission denied"):
        write(tmp_path / "a.txt", "new")


KILLED = """
import sys, time
from reldep.io import write_atomically
with write_atomically(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print("begun", flush=True)
    time.sleep(60)
"""


@posix
def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n"
    write(tmp_path / "b.txt", "another file")
    write(path, "while it lives")
    assert len(names_in(tmp_path)) == 3, "the file of a living run stays"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert path.read_text() == "while it lives"
    write(path, "new")
    assert names_in(tmp_path) == ["a.txt", "b.txt"]
    assert path.read_text() == "new"


def test_threads_that_write_the_same_file_leave_one_whole_file(tmp_path):
    texts = [letter * 100_000 for letter in "abcdefgh"]
    threads = [
        threading.Thread(target=write, args=(tmp_path / "a.txt", text)) for text in texts * 4
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names_in(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() in texts
