"""Where bytes come from: files, pipes and archives. The first bytes decide what a file is.

The ending of a name chooses among text formats only. Regular files and pipes are read; devices,
sockets and directories are not. What is unpacked has a limit.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from reldep.data.checks import hint, listing, printable
from reldep.exceptions import InputError, InputTypeError

STANDARD_INPUT = "-"
KINDS = (
    ".csv, .tsv, .txt or .tab (also compressed), .parquet, .arrow, .feather, .jsonl, .xlsx, .xls, "
    ".ods, .npz, .h5ad, .sav, .dta, .sas7bdat, .rds, or - for standard input"
)
MOST_UNPACKED = 4_000_000_000
"""Maximum number of bytes that a pipe or an archive may contain: they are held in memory."""

_BLOCK = 1 << 20
_START = 512
_DAMAGES = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
_DAMAGES_OF_ZIP = (*_DAMAGES, NotImplementedError, RuntimeError)
Opener = Callable[[io.BytesIO], Any]

# Format of a file by its first bytes.
_MARKS = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xd0\xcf\x11\xe0": "old workbook",
    b"\x89HDF\r\n\x1a\n": "h5ad",
    b"$FL2": "sav",
    b"$FL3": "sav",
    b"<stata_dta>": "dta",
    b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60": "sas7bdat",
    b"HEADER RECORD*******LIB": "xpt",
    b"RDX2\n": "rda",
    b"RDX3\n": "rda",
    b"X\n\0\0\0": "rds",
    b"A\n2\n": "rds",
    b"A\n3\n": "rds",
}
# Formats whose first bytes say little: old Stata files start with their version.
_BY_ENDING = {"dta": "dta", "por": "por", "rds": "rds", "rda": "rda", "rdata": "rda"}
_TEXT_ENDINGS = {"csv", "txt", "tsv", "tab", "dat", "jsonl", "ndjson", "gz", "zip", "bz2", "xz"}
_BINARY_ENDINGS = {
    "parquet": "a Parquet file",
    "pq": "a Parquet file",
    "npz": "an NPZ archive (numpy.savez)",
    **dict.fromkeys(("arrow", "feather", "ipc"), "an Arrow (IPC) or Feather 2 file"),
    **dict.fromkeys(("xlsx", "xlsm", "ods", "xls"), "an Excel or OpenDocument workbook"),
    "h5ad": "an AnnData file (HDF5)",
    "sav": "a file of SPSS",
    "zsav": "a file of SPSS",
    "sas7bdat": "a file of SAS",
    "xpt": "a file of SAS",
}
_COMPRESSED: dict[bytes, tuple[str, Opener]] = {
    b"\x1f\x8b": ("gzip file", lambda packed: gzip.GzipFile(fileobj=packed)),
    b"BZh": ("bzip2 file", bz2.BZ2File),
    b"\xfd7zXZ": ("xz file", lzma.LZMAFile),
}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # with files in it, and empty
# What a file is that is not read.
_OTHERS = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF": "a PDF document",
    b"FEA1": "a Feather file of the first version",
    b"\x93NUMPY": "a NumPy .npy file",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"SQLite format 3": "an SQLite database",
    b"<!DOCTYPE": "a web page",
    b"<html": "a web page",
    b"{\\rtf": "a document of a word processor (RTF)",
}


@dataclass(frozen=True)
class Source:
    """Bytes that are known to be of some format.

    Attributes
    ----------
    name : str
        What to call them in messages.
    content : path or bytes
    format : str
        "text", "jsonl", "parquet", "arrow", "workbook", "old workbook", "npz", "h5ad", "sav",
        "por", "dta", "sas7bdat", "xpt", "rds" or "rda".
    ending : str
        The ending of the name, without compression.
    notes : tuple of str
    """

    name: str
    content: Path | bytes
    format: str = "text"
    ending: str = ""
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    def start(self, n_bytes: int = _START) -> bytes:
        """Return the first bytes."""
        if isinstance(self.content, bytes):
            return self.content[:n_bytes]
        with self.content.open("rb") as file:
            return file.read(n_bytes)

    def bytes(self) -> bytes:
        """Return all bytes."""
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()

    def file(self) -> Any:
        """Return what readers of binary formats take: a path, or a file in memory."""
        return self.content if isinstance(self.content, Path) else io.BytesIO(self.content)


def open_source(place: Any) -> Source:
    """Open a path, ``"-"`` or a file object, unpacked, with its format.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
        If there is no such file, or it cannot be opened.
    ValueError
        If it is empty, too large once unpacked, or not a table.
    """
    if hasattr(place, "read"):
        return _from_file_object(place)
    if place == STANDARD_INPUT:
        content = _at_most(sys.stdin.buffer, "standard input")
        if not content:
            raise InputError("standard input is empty; expected CSV or TSV text.")
        return _recognised(Source("standard input", content))
    path = Path(place)
    name = str(path)
    if any("\ud800" <= sign <= "\udfff" for sign in name):  # bytes that are not text
        raise InputError(f"the name {printable(name)} is not valid UTF-8; rename the file.")
    if _is_pipe(path):
        return _recognised(Source(name, _read_pipe(path), ending=_ending(path.name)))
    return _recognised(Source(name, path, ending=_ending(path.name)))


def stem(place: Any) -> str:
    """Return a file's name without directory and endings, for naming its columns.

    Examples
    --------
    >>> stem("data/lipids.csv.gz"), stem("-")
    ('lipids', 'stdin')
    """
    if hasattr(place, "read"):
        place = getattr(place, "name", "file")
    if place == STANDARD_INPUT:
        return "stdin"
    name = Path(place).name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


def _from_file_object(file: Any) -> Source:
    content = file.read()
    name = str(getattr(file, "name", "the file"))
    if isinstance(content, str):
        content = content.encode()
    if not isinstance(content, (bytes, bytearray)):
        raise InputTypeError(f"`data` is a file of {type(content).__name__}; open it with 'rb'.")
    if not content:
        raise InputError(f"{printable(name)} is empty: it has no columns and no rows.")
    return _recognised(Source(name, bytes(content), ending=_ending(name)))


def _ending(name: str) -> str:
    parts = name.lower().split(".")
    while parts and parts[-1] in ("gz", "bz2", "xz"):
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""


def _recognised(source: Source) -> Source:
    """Return a source unpacked, with its format by the first bytes."""
    start = source.start()
    for mark, (what, opener) in _COMPRESSED.items():
        if start.startswith(mark):
            return _recognised(replace(source, content=_unpacked(source, what, opener)))
    if start.startswith(_ZIP):
        return _of_archive(source)
    known = next((form for mark, form in _MARKS.items() if start.startswith(mark)), None)
    if known is not None:
        return replace(source, format=known)
    other = next((what for mark, what in _OTHERS.items() if start.startswith(mark)), None)
    if other is not None:
        expected = _BINARY_ENDINGS.get(source.ending, "a delimited text file")
        raise InputError(f"{printable(source.name)} is not {expected}: it looks like {other}.")
    if source.ending in _BY_ENDING:
        return replace(source, format=_BY_ENDING[source.ending])
    return _of_text(source, start)


def _of_text(source: Source, start: bytes) -> Source:
    """Return a source as text, with a note if its name promises something else."""
    expected = _BINARY_ENDINGS.get(source.ending)
    if expected is not None:
        if not _is_text(start):
            raise InputError(f"{printable(source.name)} is damaged, or not {expected}.")
        note = f"it is text, not {expected}, and was read as such"
        source = replace(source, notes=(*source.notes, note))
    is_json = source.ending in ("jsonl", "ndjson") and start.lstrip().startswith(b"{")
    return replace(source, format="jsonl" if is_json else "text")


def _is_text(start: bytes) -> bool:
    """Return True for bytes that may be the start of a text."""
    try:
        start.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end < len(start) - 3:  # a letter that is cut off at the end is no matter
            return start.startswith((b"\xff\xfe", b"\xfe\xff"))
    return b"\0" not in start or start.startswith((b"\xff\xfe", b"\xfe\xff"))


def _unpacked(source: Source, what: str, opener: Opener) -> bytes:
    try:
        with opener(io.BytesIO(source.bytes())) as file:
            return _at_most(file, source.name)
    except _DAMAGES as error:
        raise InputError(f"{printable(source.name)} is a damaged {what}: {error}") from error


def _of_archive(source: Source) -> Source:
    """Return a workbook or an NPZ archive as it is, and the one file of another archive."""
    name = printable(source.name)
    try:
        with zipfile.ZipFile(source.file()) as archive:
            members = [info for info in archive.infolist() if _is_data(info)]
            names = {info.filename for info in members}
            size = sum(info.file_size for info in members)
            if any(one.startswith("xl/") for one in names) or "content.xml" in names:
                _check_size(source, size)
                return _with_note(source, "workbook", ("xlsx", "xlsm", "xls", "ods"))
            if source.ending == "npz" or (names and all(one.endswith(".npy") for one in names)):
                _check_size(source, size)
                return replace(source, format="npz")
            if "[Content_Types].xml" in names:
                raise InputError(f"{name} is a document, not a table. Save its table as CSV.")
            if len(members) != 1:
                found = listing(sorted(names)) or "none"
                raise InputError(
                    f"{name} is a ZIP archive of {len(members)} files: {found}. Unpack it, and "
                    "name the file you want."
                )
            _check_size(source, size)
            with archive.open(members[0]) as file:
                content = _at_most(file, source.name)
            ending = _ending(members[0].filename)
            return _recognised(replace(source, content=content, ending=ending))
    except _DAMAGES_OF_ZIP as error:
        expected = _BINARY_ENDINGS.get(source.ending)
        if expected is not None:
            raise InputError(f"{name} is damaged, or only a part of {expected}: {error}") from error
        raise InputError(f"{name} is a damaged ZIP archive: {error}") from error


def _with_note(source: Source, form: str, endings: tuple[str, ...]) -> Source:
    """Return a source of a format, with a note if its name promises another one."""
    if source.ending in endings or not source.ending:
        return replace(source, format=form)
    return replace(source, format=form, notes=(*source.notes, f"it is a {form}, and read as such"))


def _is_data(info: zipfile.ZipInfo) -> bool:
    # macOS adds a folder of its own to every archive.
    name = info.filename
    return bool(name) and not name.endswith("/") and not name.startswith("__MACOSX/")


def _is_pipe(path: Path) -> bool:
    """Return True for a pipe and False for a regular file; refuse everything else."""
    name = printable(path)
    if path.is_dir():
        raise IsADirectoryError(f"{name} is a directory; expected a file: {KINDS}")
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise FileNotFoundError(f"no file {name}; {_near(path)}") from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise OSError(getattr(error, "errno", None), f"{name} cannot be read: {words}") from None
    if stat.S_ISREG(mode):
        _check_readable(path)
        return False
    if stat.S_ISFIFO(mode):
        return True
    raise InputError(
        f"{name} is a device or socket, which has no end and no rows. Name a file, or send text "
        "through a pipe: - stands for standard input."
    )


def _near(path: Path) -> str:
    folder = path.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return hint(path.name, sorted(names), kind="files there") if names else "no files there"


def _check_readable(path: Path) -> None:
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise InputError(f"{printable(path)} is empty: it has no columns and no rows.")
    except PermissionError:
        raise PermissionError(
            f"{printable(path)} may not be read: ask for permission to read it"
        ) from None


def _read_pipe(path: Path) -> bytes:
    """Read a named pipe to its end; one that nobody writes to is empty, not waited for."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    os.set_blocking(handle, True)
    with os.fdopen(handle, "rb") as pipe:
        content = _at_most(pipe, str(path))
    if not content:
        raise InputError(f"{printable(path)} is an empty pipe; expected CSV or TSV text.")
    return content


def _at_most(file: IO[bytes], name: str) -> bytes:
    """Read to the end, but no more than `MOST_UNPACKED` bytes."""
    parts: list[bytes] = []
    size = 0
    while block := file.read(_BLOCK):
        size += len(block)
        if size > MOST_UNPACKED:
            raise _too_large(name)
        parts.append(block)
    return b"".join(parts)


def _check_size(source: Source, size: int) -> None:
    if size > MOST_UNPACKED:
        raise _too_large(source.name)


def _too_large(name: str) -> InputError:
    return InputError(
        f"{printable(name)} has more than {MOST_UNPACKED / 1e9:g} GB once unpacked. Unpack it to a "
        "file, or save the part you need as a Parquet file."
    )
