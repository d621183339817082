"""The paper's figures and tables, and the program's own demonstration.

Each experiment writes figures, tables and a page that puts its numbers next to the paper's::

    >>> from reproduction import EXPERIMENTS
    >>> list(EXPERIMENTS)
    ['synthetic', 'languages', 'tumour', 'stimuli']
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path

from reldep.io import check_writable

# What each experiment shows; the module of the same name runs it.
EXPERIMENTS = {
    "synthetic": "a sine and two spirals: power, and both HSICs over many draws",
    "languages": "which languages are nearer to each other, and their tree",
    "tumour": "whether a tumour's class depends more on its genes or on its chromosomes",
    "stimuli": "two streams of stimuli and one response that change slowly over time",
}

# Which experiments take the user's own data, and what they expect.
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
        The user's own data, for the experiments that take some.
    """

    size: str
    seed: int
    out: Path
    data: Path | None = None

    @property
    def is_full(self) -> bool:
        """Whether the paper's sizes are asked for."""
        return self.size == "full"


def reproduce(
    name: str,
    *,
    size: str = "quick",
    seed: int = 0,
    out: str | Path,
    data: str | Path | None = None,
) -> list[Path]:
    """Run an experiment and write its figures, tables and page.

    Parameters
    ----------
    name : {"synthetic", "languages", "tumour", "stimuli"}
    size : {"quick", "full"}, default "quick"
        Seconds, or the paper's sizes in two processes.
    seed : int, default 0
        The same seed gives the same files.
    out : path
        The folder to write into, made if it does not exist.
    data : path, optional
        For "languages" the folder of the Europarl corpus or of any parallel texts
        (``reproduction.corpora``), for "tumour" the file ``ge_cgh_locIGR.rda``;
        without it the data that ship with the package are used.

    Returns
    -------
    list of Path
        The files written, the page first.

    Examples
    --------
    >>> from reproduction import reproduce
    >>> reproduce("tumour", out="reproduction")  # doctest: +SKIP
    """
    request = RunRequest(size, seed, Path(out), None if data is None else Path(data))
    if request.data is not None:
        if name not in OWN_DATA:
            raise ValueError(f"data={data!r}: {name!r} makes its own data; leave `data` out.")
        if not request.data.exists():
            raise FileNotFoundError(f"data={data!r} does not exist; pass {OWN_DATA[name]}.")
    request.out.mkdir(parents=True, exist_ok=True)
    check_writable(request.out / f"{name}.md", overwrite=True)
    return list(importlib.import_module(f"reproduction.{name}").run(request))
