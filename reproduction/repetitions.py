"""Repetitions with seeds of their own.

A repetition's random numbers depend on the seed and on its place in the experiment alone, so
it does not matter which process runs it, or in which order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeAlias

import numpy as np
from rich.console import Console
from rich.progress import Progress

from reproduction import RunRequest
from reproduction.output import unprinted_cautions

Record: TypeAlias = dict[str, float]
Records: TypeAlias = dict[str, np.ndarray[Any, np.dtype[np.float64]]]
Place: TypeAlias = tuple[int, int]

PROCESSES_OF_A_FULL_RUN = 2


@dataclass(frozen=True)
class Cell:
    """One setting of an experiment and how often it is drawn.

    Attributes
    ----------
    part : str
        The part of the experiment it belongs to.
    settings : mapping of str to float
    repetitions : int
    """

    part: str
    settings: Mapping[str, float]
    repetitions: int


Measure: TypeAlias = Callable[[Cell, np.random.Generator], Record]


def run_cells(
    name: str, cells: list[Cell], measure: Measure, request: RunRequest
) -> dict[str, list[tuple[Cell, Records]]]:
    """Run the repetitions of an experiment.

    Parameters
    ----------
    name : str
        Of the experiment.
    cells : list of Cell
    measure : function of a cell and a random generator, giving a record
        A module-level function, so that other processes can run it.
    request : RunRequest

    Returns
    -------
    dict of str to list of (Cell, dict of str to ndarray)
        The cells of every part with the columns of their records, repetitions in order.
    """
    places = [(i, j) for i, cell in enumerate(cells) for j in range(cell.repetitions)]
    records: dict[Place, Record] = {}
    with _progress_bar(name, len(places)) as advance:
        for place, record in _results(cells, places, measure, request):
            records[place] = record
            advance()
    found: dict[str, list[tuple[Cell, Records]]] = {}
    for i, cell in enumerate(cells):
        own = [records[i, j] for j in range(cell.repetitions)]
        columns = {key: np.array([record[key] for record in own]) for key in own[0]}
        found.setdefault(cell.part, []).append((cell, columns))
    return found


def _repeat(measure: Measure, cell: Cell, place: Place, seed: int) -> Record:
    sequence = np.random.SeedSequence(seed, spawn_key=place)
    with unprinted_cautions():
        return measure(cell, np.random.default_rng(sequence))


def _results(
    cells: list[Cell], places: list[Place], measure: Measure, request: RunRequest
) -> Iterator[tuple[Place, Record]]:
    """Run repetitions, in this process or in two, and give each as it finishes."""
    if not request.is_full:
        for place in places:
            yield place, _repeat(measure, cells[place[0]], place, request.seed)
        return
    # A fresh interpreter each: a forked one would inherit the threads of the matrix library.
    context = get_context("spawn")
    with ProcessPoolExecutor(PROCESSES_OF_A_FULL_RUN, mp_context=context) as pool:
        running = {
            pool.submit(_repeat, measure, cells[place[0]], place, request.seed): place
            for place in places
        }
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _progress_bar(name: str, total: int) -> Iterator[Callable[[], object]]:
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(name, total=total)
        yield lambda: progress.advance(task)
