"""What is done of a long run, kept beside the file that its table will be written to.

The table itself is written once, at the end and in one step, so that a file that is there is
whole. Until then what is done lies in a folder beside it, chunk by chunk. A chunk is written in
one step too, and its parts carry checksums: one that cannot be read counts as not done.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.exceptions import InputError
from reldep.io import check_writable, lock, write_atomically
from reldep.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Arrays = Mapping[str, npt.NDArray[Any]]

FORMAT = 1
ENDINGS = (".csv", ".parquet")
MANIFEST = "run.json"

# What is only known to be other than it was.
MARKS = {"data": "other data or kernels", "seed": "another random seed"}

# What reading a chunk that is damaged, or that is no chunk, may raise.
DAMAGES = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


@dataclass(eq=False)
class ScanCheckpoint:
    """The folder of an unfinished run.

    Attributes
    ----------
    output : Path
        Where the table will be.
    resume : bool
        Whether a run that is there may be continued.
    """

    output: Path
    resume: bool
    _handle: int = -1

    @classmethod
    def of(cls, output: Any, resume: bool) -> ScanCheckpoint | None:
        """Refuse, before any work, what could not be written after it; None without output."""
        if output is None:
            if resume:
                raise InputError(
                    "`resume` continues a run from its file; name the file with `output`."
                )
            return None
        path = Path(output)
        if path.suffix.lower() not in ENDINGS:
            raise InputError(
                f"`output={str(path)!r}` is of no kind that tables are written in; name a file "
                f"that ends in {' or '.join(ENDINGS)}."
            )
        check_writable(path)
        found = cls(path, resume)
        if not resume and found._begun():
            raise found._in_the_way()
        return found

    @property
    def is_finished(self) -> bool:
        """Whether the table is there, and nothing of it is left to do."""
        return self.output.exists() and not self._begun()

    @property
    def folder(self) -> Path:
        """Where chunks are kept until the run is finished."""
        return self.output.with_name(f"{self.output.name}.unfinished")

    def __enter__(self) -> ScanCheckpoint:
        return self

    def __exit__(self, *exception: object) -> None:
        """Let other runs have the folder."""
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def begin(self, fingerprint: Mapping[str, Any]) -> None:
        """Make the folder, or check that it belongs to this very run.

        Parameters
        ----------
        fingerprint : mapping of str to object
            What decides the answer, by the names of the arguments; the data as a digest.
        """
        wanted = {"format": FORMAT, "version": __version__, **fingerprint}
        if self._begun():
            self._check_same(wanted)
        else:
            self.folder.mkdir(exist_ok=True)
            with write_atomically(self.folder / MANIFEST) as temporary:
                temporary.write_text(json.dumps(wanted, indent=1), encoding="utf-8")
        self._handle = os.open(self.folder / MANIFEST, os.O_RDWR)
        try:
            lock(self._handle)
        except BlockingIOError:
            self.__exit__()
            raise InputError(
                f"another run is writing {self.folder}; wait for it, or write to another file."
            ) from None
        except OSError:  # some network drives know no locks
            return

    def load(self, number: int) -> Arrays | None:
        """Give a chunk of an earlier run; None where it is not there or cannot be read."""
        path = self._chunk(number)
        if not path.exists():
            return None
        try:
            with np.load(path, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        except DAMAGES:
            return None

    def save(self, number: int, arrays: Arrays) -> None:
        """Write a chunk, in one step."""
        with write_atomically(self._chunk(number)) as temporary, temporary.open("wb") as file:
            # A dictionary of arrays under names that are not parameters of NumPy's function.
            np.savez(file, **dict(arrays))  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())

    def finish(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Write the table, in one step, and remove the folder."""
        import polars as pl

        frame = pl.DataFrame(dict(columns))
        with write_atomically(self.output) as temporary:
            if self.output.suffix.lower() == ".csv":
                frame.write_csv(temporary)
            else:
                frame.write_parquet(temporary)
        self.__exit__()
        shutil.rmtree(self.folder)

    def refuse(self, reason: str) -> InputError:
        """Say why the run that is there cannot be continued."""
        return InputError(
            f"{self.folder} cannot be continued: {reason}. Repeat the call that began it, or "
            "remove the folder and leave `resume` out."
        )

    def _chunk(self, number: int) -> Path:
        return self.folder / f"{number:06d}.npz"

    def _begun(self) -> bool:
        return (self.folder / MANIFEST).exists()

    def _in_the_way(self) -> InputError:
        chunks = len(list(self.folder.glob("*.npz")))
        return InputError(
            f"{self.folder} holds {chunks} chunks of a run that was not finished. Continue it with "
            "`resume=True`, or remove the folder."
        )

    def _check_same(self, wanted: Mapping[str, Any]) -> None:
        found: Any = None
        with suppress(OSError, ValueError):
            found = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise self.refuse(f"its {MANIFEST} is damaged or of another version")
        for name, value in wanted.items():
            # As it comes back from the file: a tuple is a list there.
            plain = json.loads(json.dumps(value))
            if found.get(name) == plain:
                continue
            if name in MARKS:
                raise self.refuse(f"it was begun with {MARKS[name]}")
            if name == "version":
                raise self.refuse(f"it was begun by reldep {found.get(name)}, this is {plain}")
            raise self.refuse(
                f"it was begun with `{name}={found.get(name)!r}` and not `{name}={plain!r}`"
            )
