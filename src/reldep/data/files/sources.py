"""Where bytes come from: files, pipes and archives, with a limit on what is unpacked."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import stat
import sys
import zipfile
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from reldep.data.checks import hint, listing, printable
from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.files.options import ReadingOptions

STANDARD_INPUT = "-"
KINDS = (
    ".csv, .tsv, .txt or .tab (also .gz or .zip), .parquet or .pq, .arrow, .feather or .ipc, "
    ".xlsx, .xls, .ods, .npz, .h5ad, .sav, .dta, .rds, or - for standard input"
)
MOST_UNPACKED = 4_000_000_000
"""How many bytes a pipe or an archive may hold; a larger file is read from the disk."""

# Below this the whole file is looked at to find the types of its columns,
# above it the first rows; these then stand for the rest.
SMALL_FILE = 50_000_000
_PART_LOOKED_AT = 4_000_000
# The longer mark first: UTF-32's starts with UTF-16's.
_WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BLOCK = 1 << 20
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
# What a file is, when it is not the text its name promises.
_SIGNATURES: dict[bytes, str] = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF": "a PDF document",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"FEA1": "a Feather file of the first version",
    _ZIP: "a ZIP archive, such as .xlsx and .npz are",
    b"\xd0\xcf\x11\xe0": "an old Excel (.xls) or Word file",
    b"\x93NUMPY": "a NumPy .npy file",
    _GZIP: "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a Zstandard archive",
    b"SQLite format 3": "an SQLite database",
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"<!DOCTYPE": "a web page",
    b"<html": "a web page",
    b"{\\rtf": "a document of a word processor (RTF)",
}


def signature(start: bytes) -> str | None:
    """Return what a file is by its first bytes, if they are a known mark.

    Examples
    --------
    >>> signature(b"PAR1...")
    'a Parquet file'
    """
    return next((what for mark, what in _SIGNATURES.items() if start.startswith(mark)), None)


def stem(path: str) -> str:
    """Return a file's name without directory and endings, for naming its columns.

    Examples
    --------
    >>> stem("data/lipids.csv.gz"), stem("-")
    ('lipids', 'stdin')
    """
    if path == STANDARD_INPUT:
        return "stdin"
    name = Path(path).name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


def is_stream(path: Path) -> bool:
    """Tell a pipe from a file; refuse what is neither, in plain words."""
    name = printable(path)
    if path.is_dir():
        raise IsADirectoryError(f"{name} is a directory; expected a file: {KINDS}")
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise FileNotFoundError(f"no file {name}; {_near(path)}") from None
    except OSError as error:
        raise OSError(error.errno, f"{name} cannot be read: {error.strerror}") from None
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


def read_stream(path: Path) -> bytes:
    """Read a named pipe to its end; one that nobody writes to is empty, not waited for."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    os.set_blocking(handle, True)
    with os.fdopen(handle, "rb") as pipe:
        content = _at_most(pipe, str(path))
    if not content:
        raise InputError(f"{printable(path)} is an empty pipe; expected CSV or TSV text.")
    return unpacked(content, str(path))


def read_standard_input() -> bytes:
    """Read what comes through a pipe: delimited text, compressed or not."""
    content = _at_most(sys.stdin.buffer, "standard input")
    if not content:
        raise InputError("standard input is empty; expected CSV or TSV text.")
    return unpacked(content, "standard input")


def text_content(path: Path) -> Path | bytes:
    """Give a text file as it is, or unpacked if it is compressed, whatever its name."""
    with path.open("rb") as file:
        start = file.read(4)
    if start.startswith(_GZIP) or start == _ZIP:
        return unpacked(path.read_bytes(), str(path))
    return path


def unpacked(content: bytes, name: str) -> bytes:
    """Unpack gzip, or a ZIP archive of one file; leave anything else alone."""
    if content.startswith(_GZIP):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
                return _at_most(file, name)
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"{printable(name)} is a damaged gzip file: {error}") from error
    if content.startswith(_ZIP):
        return _from_zip(content, name)
    return content


def _from_zip(content: bytes, name: str) -> bytes:
    """Take the one file out of an archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [info for info in archive.infolist() if _is_data(info)]
            if any(info.filename == "[Content_Types].xml" for info in members):
                raise _not_text(name)
            if len(members) != 1:
                found = listing([info.filename for info in members]) or "none"
                raise InputError(
                    f"{printable(name)} is a ZIP archive of {len(members)} files: {found}. Unpack "
                    "it, and name the file you want."
                )
            if members[0].file_size > MOST_UNPACKED:
                raise _too_large(name)
            with archive.open(members[0]) as file:
                return _at_most(file, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{printable(name)} is a damaged ZIP archive: {error}") from error


def _is_data(info: zipfile.ZipInfo) -> bool:
    # macOS adds a folder of its own to every archive.
    name = info.filename
    return bool(name) and not name.endswith("/") and not name.startswith("__MACOSX/")


def _not_text(name: str) -> InputError:
    return InputError(
        f"{printable(name)} is not a delimited text file: it looks like an Excel or Word file. "
        "Give it the ending .xlsx if it is a workbook."
    )


def _at_most(file: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
    """Read to the end, but no more than is good for the machine."""
    parts: list[bytes] = []
    size = 0
    while block := file.read(_BLOCK):
        size += len(block)
        if size > MOST_UNPACKED:
            raise _too_large(name)
        parts.append(block)
    return b"".join(parts)


def _too_large(name: str) -> InputError:
    return InputError(
        f"{printable(name)} holds more than {MOST_UNPACKED / 1000000000.0:g} GB once unpacked. "
        "Unpack it to a file, which is read piece by piece."
    )


def check_archive(path: Path, *, but: Sequence[str] = ()) -> None:
    """Refuse an archive whose files say that they are larger than may be unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(info.file_size for info in archive.infolist() if info.filename not in but)
    except (zipfile.BadZipFile, OSError):
        return  # its reader will say what is wrong with it
    if size > MOST_UNPACKED:
        raise InputError(
            f"{printable(path)} holds {size / 1000000000.0:.1f} GB once unpacked, more than the "
            f"{MOST_UNPACKED / 1000000000.0:g} GB that are read. Save the part you need as a text "
            "or Parquet file."
        )


def padding(delimiter: str) -> re.Pattern[bytes]:
    """Make a pattern for blanks around quotes, as in ``"a", "b"``."""
    sign = re.escape(delimiter.encode())
    return re.compile(rb"(?<=%b) +(?=\")|(?<=\") +(?=%b)" % (sign, sign))


def without_padding(content: Path | bytes, delimiter: str) -> bytes:
    """Take off blanks between a delimiter and a quote, which hide the quote from the reader."""
    data = content if isinstance(content, bytes) else content.read_bytes()
    signs = np.frombuffer(data, dtype=np.uint8)
    inside = np.cumsum(signs == ord('"')) % 2 == 1
    kept = np.ones(len(signs), dtype=bool)
    for match in padding(delimiter).finditer(data):
        if not inside[match.start()]:
            kept[match.start() : match.end()] = False
    return signs[kept].tobytes()


def in_utf8(content: Path | bytes, name: str, options: ReadingOptions) -> Path | bytes:
    """Bring a text to UTF-8 with line ends that polars knows, if it is written otherwise."""
    start, small = start_of(content)
    encoding = options.encoding or own_encoding(start)
    if encoding is not None and encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        data = content if isinstance(content, bytes) else content.read_bytes()
        content = start = recoded(data, encoding, name)
    # A line end of one old computer, or of two computers in one file.
    if b"\r" in start.replace(b"\r\n", b""):
        data = start if small else content if isinstance(content, bytes) else content.read_bytes()
        return _with_line_ends(data)
    return content


def _with_line_ends(data: bytes) -> bytes:
    r"""Write ``\n`` for every ``\r`` that stands alone outside of quotes."""
    signs = np.frombuffer(data, dtype=np.uint8).copy()
    inside = np.cumsum(signs == ord('"')) % 2 == 1
    followed = np.append(signs[1:] == ord("\n"), False)
    signs[(signs == ord("\r")) & ~followed & ~inside] = ord("\n")
    return signs.tobytes()


def start_of(content: Path | bytes) -> tuple[bytes, bool]:
    """Return the start of a text in whole lines, or all of it if it is small."""
    if isinstance(content, bytes):
        if len(content) < SMALL_FILE:
            return content, True
        return content[: content.find(b"\n", _PART_LOOKED_AT) + 1 or None], False
    if content.stat().st_size < SMALL_FILE:
        return content.read_bytes(), True
    with content.open("rb") as file:
        return file.read(_PART_LOOKED_AT) + file.readline(), False


def own_encoding(start: bytes) -> str | None:
    """Return the encoding that a text names with its first bytes, unless it is UTF-8."""
    return next((name for mark, name in _WIDE_MARKS.items() if start.startswith(mark)), None)


def recoded(data: bytes, encoding: str, name: str) -> bytes:
    """Return a text in UTF-8."""
    try:
        return data.decode(encoding).removeprefix("\ufeff").encode()
    except (UnicodeError, ValueError) as error:
        raise InputError(
            f"{printable(name)} is not text in the encoding {encoding!r}: {error} Name another one "
            "with `encoding`."
        ) from None
