"""Pipes, devices, archives and names that would do harm are refused or contained."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import textwrap
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import reldep
from reldep.data.checks import cell, printable
from reldep.files import byte_sources

SOURCE = str(Path(reldep.__file__).parents[1])


def test_a_pipe_is_read_to_its_end(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)

    def write():
        with pipe.open("wb") as end:
            end.write(gzip.compress(b"a,b\n1,2\n3,4\n"))

    writer = threading.Thread(target=write)
    writer.start()
    handle = os.open(pipe, os.O_RDONLY)  # waits until the writer is there
    try:
        assert reldep.read(pipe).read(["b"])["b"].to_list() == [2, 4]
    finally:
        os.close(handle)
        writer.join()


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match=r"pipe.csv is an empty pipe"):
        reldep.read(tmp_path / "pipe.csv")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_devices_and_links_to_them_are_refused(tmp_path, device):
    (tmp_path / "link.csv").symlink_to(device)
    for path in (device, tmp_path / "link.csv"):
        with pytest.raises(ValueError, match=r"is a device or socket, which has no end"):
            reldep.read(path)


def test_a_link_to_a_file_is_the_file(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    assert len(reldep.read(tmp_path / "link.csv")) == 2


@pytest.mark.parametrize("kind", ["gz", "zip", "npz"])
def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(byte_sources, "MOST_UNPACKED", 100_000)
    path = tmp_path / f"bomb.{kind}"
    content = b"a,b\n" + b"1,2\n" * 100_000
    if kind == "gz":
        path = tmp_path / "bomb.csv.gz"
        path.write_bytes(gzip.compress(content))
    elif kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.csv", content)
    else:
        np.savez_compressed(path, a=np.zeros(100_000))
    assert path.stat().st_size < 10_000
    with pytest.raises(ValueError, match=r"0.0001 GB"):
        reldep.read(path)


def test_a_zip_with_the_rubbish_of_a_mac_has_one_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("data.csv", "a\n1\n2\n")
        archive.writestr("__MACOSX/._data.csv", "x")
    assert reldep.read(tmp_path / "a.zip").read(["a"])["a"].to_list() == [1, 2]


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
