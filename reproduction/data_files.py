"""Write a data file of the package, whole or not at all, and renew the check sums."""

from __future__ import annotations

import hashlib
from pathlib import Path

CHECKSUMS = "SHA256SUMS"


def write_data_file(path: Path, contents: bytes) -> None:
    """Write ``contents`` to ``path`` and bring SHA256SUMS in its folder up to date."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _replace(path, contents)
    files = sorted(file for file in path.parent.iterdir() if file.suffix in {".gz", ".npz"})
    sums = (f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    _replace(path.parent / CHECKSUMS, "".join(sums).encode("ascii"))
    print(f"{path}: {len(contents):,} bytes")


def _replace(path: Path, contents: bytes) -> None:
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(contents)
    unfinished.replace(path)
