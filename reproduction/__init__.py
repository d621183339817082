"""The paper's figures and tables, and the program's own demonstration.

Each experiment writes figures, tables and a page that puts its numbers next to the paper's::

    >>> from reproduction import names
    >>> names()
    ('synthetic', 'languages', 'tumour', 'stimuli')
"""

from __future__ import annotations

import difflib
import importlib
from pathlib import Path

from reproduction.request import SIZES, RunRequest

# What each experiment shows; the module of the same name runs it.
EXPERIMENTS = {
    "synthetic": "a sine and two spirals: power, and both HSICs over many draws",
    "languages": "which languages are nearer to each other, and their tree",
    "tumour": "whether a tumour's class depends more on its genes or on its chromosomes",
    "stimuli": "two streams of stimuli and one response that change slowly over time",
}

__all__ = ["EXPERIMENTS", "SIZES", "RunRequest", "names", "reproduce"]


def names() -> tuple[str, ...]:
    """Return the names of the experiments."""
    return tuple(EXPERIMENTS)


def reproduce(
    name: str,
    *,
    size: str = "quick",
    seed: int = 0,
    out: str | Path,
    data: str | Path | None = None,
    progress: bool = True,
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
        The folder to write into; it is made if it is not there.
    data : path, optional
        For "languages" the folder of the Europarl corpus or of any parallel texts
        (``reproduction.corpora``), for "tumour" the file ``ge_cgh_locIGR.rda``;
        without it the data that ship with the package are used.
    progress : bool, default True
        Show a progress bar if the standard error is a terminal.

    Returns
    -------
    list of Path
        The files written, the page first.

    Examples
    --------
    >>> from reproduction import reproduce
    >>> reproduce("tumour", out="reproduction")  # doctest: +SKIP
    """
    _check_name(name)
    request = RunRequest(
        size=size,
        seed=seed,
        out=Path(out),
        data=None if data is None else Path(data),
        progress=progress,
    )
    request.check_data(name)
    request.make_folder()
    return list(importlib.import_module(f"reproduction.{name}").run(request))


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"name is of type {type(name).__name__}; pass one of {_listed()}.")
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name.lower(), EXPERIMENTS, n=1, cutoff=0.5)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"name={name!r} is not an experiment{hint}; pass one of {_listed()}.")


def _listed() -> str:
    return ", ".join(repr(name) for name in EXPERIMENTS)
