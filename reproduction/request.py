"""What a user asks an experiment for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SIZES = ("quick", "full")

# Which experiments take data of the user's own, and what these are.
OWN_DATA = {
    "languages": "the folder of the Europarl corpus (it contains txt/<language>/ep-*.txt) or of "
    "any parallel texts (<language>.txt with one document per line, or <language>/ with one file "
    "per document)",
    "tumour": "the file ge_cgh_locIGR.rda of the R package gliomaData",
}


@dataclass(frozen=True)
class RunRequest:
    """Size, seed, folder and data of one run.

    Attributes
    ----------
    size : {"quick", "full"}
    seed : int
    out : Path
        The folder to write into.
    data : Path or None
        Data of the user's own, for the experiments that take some.
    progress : bool
        Whether to show a progress bar on a terminal.
    """

    size: str
    seed: int
    out: Path
    data: Path | None = None
    progress: bool = True

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise ValueError(f"size={self.size!r} is not known; pass 'quick' or 'full'.")
        if type(self.seed) is not int or self.seed < 0:
            raise ValueError(f"seed={self.seed!r}; pass a whole number, at least 0.")

    @property
    def is_full(self) -> bool:
        """Whether the paper's sizes are asked for."""
        return self.size == "full"

    def check_data(self, name: str) -> None:
        """Raise an error for data that the experiment cannot use or that are not there."""
        if self.data is None:
            return
        if name not in OWN_DATA:
            raise ValueError(
                f"data={str(self.data)!r}: the experiment {name!r} makes its own data; leave "
                "data out."
            )
        if not self.data.exists():
            raise FileNotFoundError(
                f"data={str(self.data)!r} is not there; for {name!r} pass {OWN_DATA[name]}."
            )

    def make_folder(self) -> None:
        """Make the folder to write into, if need be, and see that it can be written to."""
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            probe = self.out / ".reldep-can-write"
            probe.touch()
            probe.unlink()
        except (FileExistsError, NotADirectoryError) as error:
            raise NotADirectoryError(
                f"out={str(self.out)!r} is, or lies below, a file; pass a folder."
            ) from error
        except PermissionError as error:
            raise PermissionError(
                f"out={str(self.out)!r}: no permission to write there; pass another folder."
            ) from error
