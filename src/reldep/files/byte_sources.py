"""Where bytes come from: files and archives. The first bytes decide what a file is.

The ending of a name chooses among text formats only. Regular files are opened, standard input, and
directories and patterns of Parquet files; pipes, devices and sockets are not. What is unpacked or
made of packed values has a budget, which is asked before anything is read.
"""

from __future__ import annotations

import bz2
import codecs
import glob
import gzip
import io
import lzma
import os
import stat
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeVar

from reldep.exceptions import InputError, InputTypeError, translated
from reldep.system import available_memory, in_words
from reldep.words import hint, listing, printable

STANDARD_INPUT = "-"
# Bytes of a file that are unpacked at a time, and that show what it is.
_BLOCK, _START = 1 << 20, 512
# A table that takes a gigabyte is read whatever the size of its file. A larger one may take 100
# times the size of its file: text of numbers packs to a tenth, of a few labels to a fiftieth.
_SMALL, _RATIO = 1_000_000_000, 100
# An archive in an archive is a slip; some unpack to themselves.
_DEEPEST = 2
Opener = Callable[[io.BytesIO], Any]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes
    ----------
    name : str
    what : str
        What messages call such a file.
    endings : tuple of str
        Of names.
    marks : tuple of bytes
        With which such files begin.
    """

    name: str
    what: str
    endings: tuple[str, ...] = ()
    marks: tuple[bytes, ...] = ()

    @property
    def is_foreign(self) -> bool:
        """Whether its reader is tried in a child process, because files can end theirs."""
        return self.name not in ("text", "jsonl", "parquet", "arrow", "npz", "workbook")


_BOOK = "an Excel or OpenDocument workbook"
_SPSS, _STATA, _SAS, _R = (f"a file of {program}" for program in ("SPSS", "Stata", "SAS", "R"))
_SAS_MARK = b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60"
_R_MARKS = (b"X\n\0\0\0", b"A\n2\n", b"A\n3\n")
_KNOWN = (
    ("text", "a delimited text file", (), ()),
    ("jsonl", "lines of JSON objects", (), ()),
    ("parquet", "a Parquet file", ("parquet", "pq"), (b"PAR1",)),
    ("arrow", "an Arrow (IPC) or Feather 2 file", ("arrow", "feather", "ipc"), (b"ARROW1",)),
    ("npz", "an NPZ archive (numpy.savez)", ("npz",), ()),
    ("workbook", _BOOK, ("xlsx", "xlsm", "ods", "xls"), ()),
    ("old workbook", _BOOK, (), (b"\xd0\xcf\x11\xe0",)),
    ("h5ad", "an AnnData file (HDF5)", ("h5ad",), (b"\x89HDF\r\n\x1a\n",)),
    ("sav", _SPSS, ("sav", "zsav"), (b"$FL2", b"$FL3")),
    ("por", _SPSS, ("por",), ()),
    ("dta", _STATA, ("dta",), (b"<stata_dta>",)),
    ("sas7bdat", _SAS, ("sas7bdat",), (_SAS_MARK,)),
    ("xport", _SAS, ("xpt",), (b"HEADER RECORD*******LIB",)),
    ("rds", _R, ("rds",), _R_MARKS),
    ("rda", _R, ("rda", "rdata"), (b"RDX2\n", b"RDX3\n")),
)
FORMATS = {name: Format(name, *facts) for name, *facts in _KNOWN}
_BY_ENDING = {ending: one for one in FORMATS.values() for ending in one.endings}
# Their first bytes say little: old Stata files start with their version.
_BY_ENDING_ALONE = ("por", "dta", "rds", "rda")
_BY_MARK = {mark: one for one in FORMATS.values() for mark in one.marks}
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
    **dict.fromkeys((b"<!DOCTYPE", b"<!doctype", b"<html", b"<table"), "a web page"),
    b"<?xml": "an XML document",
    b"[{": "an array of JSON, not lines of it",
    b"{\\rtf": "a document of a word processor (RTF)",
}


@dataclass(frozen=True)
class Source:
    """Bytes that are known to be of some format.

    Attributes
    ----------
    name : str
        What to call them in messages; every sign can be printed.
    content : path or bytes
    format : Format
    ending : str
        The ending of the name, without compression.
    notes : tuple of str
    stamp : tuple of int
        Device, inode, size and time of change of the file when it was opened.
    """

    name: str
    content: Path | bytes
    format: Format = FORMATS["text"]
    ending: str = ""
    notes: tuple[str, ...] = ()
    stamp: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    def start(self, n_bytes: int = _START) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(n_bytes)

    def open(self) -> BinaryIO:
        """Open the bytes as a file."""
        if isinstance(self.content, bytes):
            return io.BytesIO(self.content)
        return self.content.open("rb")

    def bytes(self) -> bytes:
        """Return all bytes."""
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()

    def file(self) -> Any:
        """Return what readers of binary formats take: a path, or a file in memory."""
        return self.content if isinstance(self.content, Path) else io.BytesIO(self.content)

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Yield a path, for readers that take nothing else."""
        if isinstance(self.content, Path):
            yield self.content
            return
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"data.{self.ending or self.format.name}"
            path.write_bytes(self.content)
            yield path

    def reading(self) -> AbstractContextManager[None]:
        """Raise InputError for whatever a reader of this format raises."""
        what = self.format.what
        return translated(f"{self.name} is damaged, or only a part of {what}")

    def check_budget(self, n_bytes: float, what: str) -> None:
        """Raise InputError if `what`, to be made of this source, takes too much memory."""
        check_budget(n_bytes, self.size, f"{what} of {self.name}")

    def check_unchanged(self) -> None:
        """Raise InputError if the file has changed since it was opened."""
        path = self.content
        if isinstance(path, Path) and self.stamp and _stamp(path) != self.stamp:
            raise InputError(
                f"{self.name} has changed while it was read. Read it again, or a copy."
            )


def check_budget(n_bytes: float, n_packed: float, what: str, *, at_once: bool = True) -> None:
    """Raise InputError if a small file makes so many bytes, or they do not fit `at_once`."""
    free = available_memory()
    most = max(_SMALL, _RATIO * n_packed)
    if n_bytes > (min(free / 3, most) if at_once else most):
        raise InputError(
            f"{what} would unpack from {in_words(n_packed)} to {in_words(n_bytes)} of memory "
            f"({in_words(free)} are free). Save the part you need as a Parquet file."
        )


def open_source(place: Any) -> Source:
    """Open a path, ``"-"`` or a file object, unpacked, with its format.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
        If there is no such file, or it cannot be opened.
    ValueError
        If it is empty, too large once unpacked, not a regular file, or not a table.
    """
    if isinstance(place, Source):
        return place
    if hasattr(place, "read"):
        return _from_file_object(place)
    if place == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file.")
        return _from_file_object(sys.stdin.buffer, "standard input")
    path = Path(place)
    name = printable(path)
    try:
        str(path).encode()
    except UnicodeEncodeError:  # bytes that are not text
        raise InputError(f"the name {name} is not valid UTF-8; rename the file.") from None
    return _recognised(Source(name, path, ending=_ending(path.name), stamp=_check_regular(path)))


def parquet_files(place: Any) -> list[Source] | None:
    """Return the Parquet files of a directory or a pattern, each once; None for anything else.

    Raises
    ------
    ValueError
        If a symbolic link leads out of the directory, or a pattern names other files.
    """
    if not isinstance(place, (str, os.PathLike)) or place == "-":
        return None
    text, path = os.fspath(place), Path(place)
    if path.is_dir():
        entries = [one for one in path.rglob("*") if not _is_hidden(one.relative_to(path))]
        root = path.resolve()
        away = [one for one in entries if not one.resolve().is_relative_to(root)]
        if away:
            raise InputError(
                f"{printable(away[0])} is a link that leads out of {printable(text)}. Copy it."
            )
        found, others = [one for one in entries if _is_parquet(one)], []
    elif glob.has_magic(text) and not path.exists():
        found = [Path(one) for one in glob.glob(text)]  # noqa: PTH207
        others = [str(one) for one in found if not _is_parquet(one)]
    else:
        return None
    if not found or others:
        raise InputError(
            f"{printable(text)} has {'other files than' if others else 'no'} Parquet files"
            f"{': ' + listing(others) if others else ''}. Name one file, or a directory of them."
        )
    # A link counts its rows once; the order of a file system may change, and the rows with it.
    once = {(file.stat().st_dev, file.stat().st_ino): file for file in sorted(found)[::-1]}
    return [open_source(file) for file in sorted(once.values())]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts)


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq") and not path.is_dir()


def stem(place: Any) -> str:
    """Return a file's name without directory and endings, for naming its columns.

    Examples
    --------
    >>> stem("data/lipids.csv.gz"), stem("-")
    ('lipids', 'stdin')
    """
    if hasattr(place, "read"):
        place = getattr(place, "name", "file")
    if place == STANDARD_INPUT or isinstance(place, Source):
        return "stdin"
    return _unpacked(place).stem


def _from_file_object(file: Any, name: str = "") -> Source:
    name = name or printable(getattr(file, "name", "the file"))
    return _recognised(Source(name, _at_most(file, name), ending=_ending(name)))


def _ending(name: str) -> str:
    return _unpacked(name).suffix.lower()[1:]


def _unpacked(name: Any) -> Path:
    """Return the name of a file without the endings of compression."""
    path = Path(name)
    while path.suffix.lower() in (".gz", ".bz2", ".xz"):
        path = path.with_suffix("")
    return path


def _recognised(source: Source, depth: int = 0) -> Source:
    """Return a source unpacked, with its format by the first bytes."""
    name, start = source.name, source.start()
    if not start:
        raise InputError(f"{name} is empty: it has no columns and no rows.")
    if depth > _DEEPEST:
        raise InputError(f"{name} is packed too often. Unpack it to a file.")
    packed = _started(start, _COMPRESSED)
    if packed is not None:
        what, opener = packed
        with (
            translated(f"{name} is a damaged {what}"),
            opener(io.BytesIO(source.bytes())) as file,
        ):
            content = _at_most(file, source.name, source.size)
        source.check_unchanged()
        return _recognised(replace(source, content=content, stamp=()), depth + 1)
    if start.startswith(_ZIP):
        return _of_archive(source, depth)
    known = _started(start, _BY_MARK)
    if known is not None:
        return replace(source, format=known)
    expected = _BY_ENDING.get(source.ending)
    other = _started(start, _OTHERS)
    if other is not None:
        named = (expected or source.format).what
        raise InputError(f"{name} is not {named}: it looks like {other}.")
    if expected is None:
        is_json = source.ending in ("jsonl", "ndjson") and start.lstrip().startswith(b"{")
        return replace(source, format=FORMATS["jsonl" if is_json else "text"])
    if expected.name in _BY_ENDING_ALONE:
        return replace(source, format=expected)
    if not _is_text(start):
        raise InputError(f"{name} is damaged, or not {expected.what}.")
    note = f"it is text, not {expected.what}, and was read as such"
    return replace(source, notes=(*source.notes, note))


def _started(start: bytes, known: Mapping[bytes, Found]) -> Found | None:
    """Return what is known of files that start like this."""
    return next((found for mark, found in known.items() if start.startswith(mark)), None)


def _is_text(start: bytes) -> bool:
    """Return True for bytes that may be the start of a text."""
    is_wide = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # the last letter may be cut off
    except UnicodeDecodeError:
        return is_wide
    return is_wide or b"\0" not in start


def _of_archive(source: Source, depth: int) -> Source:
    """Return a workbook or an NPZ archive as it is, and the one file of another archive."""
    name = source.name
    expected = _BY_ENDING.get(source.ending)
    what = f"only a part of {expected.what}" if expected else "not a ZIP archive"
    with translated(f"{name} is damaged, or {what}"), zipfile.ZipFile(source.file()) as archive:
        # macOS adds a folder of its own to every archive.
        files = [info for info in archive.infolist() if not info.is_dir() and info.filename]
        members = [info for info in files if not info.filename.startswith("__MACOSX/")]
        names = {info.filename for info in members}
        is_workbook = any(one.startswith("xl/") for one in names) or "content.xml" in names
        is_arrays = source.ending == "npz" or (names and all(o.endswith(".npy") for o in names))
        if not is_workbook and not is_arrays:
            if "[Content_Types].xml" in names:
                raise InputError(f"{name} is a document, not a table. Save its table as CSV.")
            if len(members) != 1:
                raise InputError(
                    f"{name} is a ZIP archive of {len(members)} files: "
                    f"{listing(sorted(names)) or 'none'}. Unpack it, and name the file you want."
                )
        source.check_budget(sum(info.file_size for info in members), "the content")
        if is_workbook:
            is_named = expected is FORMATS["workbook"] or not source.ending
            notes = () if is_named else ("it is a workbook, and read as such",)
            return replace(source, format=FORMATS["workbook"], notes=source.notes + notes)
        if is_arrays:
            return replace(source, format=FORMATS["npz"])
        with archive.open(members[0]) as file:
            content = _at_most(file, source.name, source.size)
    ending = _ending(members[0].filename)
    return _recognised(replace(source, content=content, ending=ending, stamp=()), depth + 1)


def _check_regular(path: Path) -> tuple[int, ...]:
    """Return the stamp of a regular file; raise for everything else."""
    name = printable(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise FileNotFoundError(f"no file {name}; {_near(path)}") from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise OSError(getattr(error, "errno", None), f"{name} cannot be read: {words}") from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{name} is a directory; name a file.")
    if not stat.S_ISREG(mode):
        raise InputError(
            f"{name} is a pipe, device or socket, not a file. Standard input is called -."
        )
    if not os.access(path, os.R_OK):
        raise PermissionError(f"{name} may not be read: ask for permission to read it")
    return _stamp(path)


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what changes if a file is changed or replaced; nothing if it is gone."""
    if not path.exists():
        return ()
    found = path.stat()
    # Whoever sets the time of change back cannot set back that of the entry.
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _near(path: Path) -> str:
    folder = path.parent
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return hint(path.name, sorted(names), kind="files there") if names else "no files there"


def _at_most(file: IO[Any], name: str, n_packed: int | None = None) -> bytes:
    """Read to the end, in budget; what is not unpacked may fill a third of the memory."""
    parts: list[bytes] = []
    size = 0
    while block := file.read(_BLOCK):
        part = block.encode() if isinstance(block, str) else block
        if not isinstance(part, (bytes, bytearray)):
            raise InputTypeError(f"`data` is a file of {type(part).__name__}; open it with 'rb'.")
        size += len(part)
        packed = size if n_packed is None else n_packed
        check_budget(size, packed, f"the content of {name}")
        parts.append(bytes(part))
    return b"".join(parts)
