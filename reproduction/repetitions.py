"""Repetitions with seeds of their own, kept on disk as they finish.

A repetition's random numbers depend on the seed and on its place in the experiment alone, so
it does not matter which process runs it, in which order, or whether the run was stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import reldep
from reproduction.output import unprinted_cautions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from reproduction.request import RunRequest

Record: TypeAlias = "dict[str, float]"
Place: TypeAlias = "tuple[int, int]"

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


Measure: TypeAlias = "Callable[[Cell, np.random.Generator], Record]"


class Checkpoint:
    """The repetitions finished so far, one line of JSON each, safe on disk.

    A file of other settings or of another version is started afresh. What a killed run left
    half-written at the end is cut off.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self.records: dict[Place, Record] = {}
        kept = self._read(fingerprint) if path.exists() else 0
        self._file = path.open("r+b" if kept else "wb")
        self._file.truncate(kept)
        self._file.seek(kept)
        if not kept:
            self._append({"fingerprint": fingerprint})

    def _read(self, fingerprint: str) -> int:
        """Take in the lines that are whole; give how many bytes they are."""
        kept = 0
        for line in self.path.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            try:
                entry = json.loads(line)
                if kept:
                    self.records[entry["cell"], entry["repetition"]] = dict(entry["record"])
                elif entry != {"fingerprint": fingerprint}:
                    return 0
            except (ValueError, KeyError, TypeError):
                break
            kept += len(line)
        return kept

    def add(self, place: Place, record: Record) -> None:
        """Keep a finished repetition."""
        self.records[place] = record
        self._append({"cell": place[0], "repetition": place[1], "record": record})

    def _append(self, entry: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file and leave it for the next run."""
        self._file.close()

    def remove(self) -> None:
        """Remove the file: the results are written and nothing is left to be continued."""
        self.path.unlink(missing_ok=True)


def run_cells(name: str, cells: list[Cell], measure: Measure, request: RunRequest) -> Checkpoint:
    """Run what is left of an experiment's repetitions.

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
    Checkpoint
        With all the records; to be removed once the results are written.
    """
    path = request.out / f".{name}-{request.size}-seed{request.seed}.partial.jsonl"
    checkpoint = Checkpoint(path, _fingerprint(cells))
    places = [(i, j) for i, cell in enumerate(cells) for j in range(cell.repetitions)]
    left = [place for place in places if place not in checkpoint.records]
    try:
        with _progress_bar(name, len(places), len(places) - len(left), request) as advance:
            for place, record in _results(cells, left, measure, request):
                checkpoint.add(place, record)
                advance()
    finally:
        checkpoint.close()
    return checkpoint


def records_of(checkpoint: Checkpoint, cells: list[Cell], part: str) -> list[tuple[Cell, Records]]:
    """Return the cells of one part with the columns of their records, repetitions in order."""
    chosen = [(i, cell) for i, cell in enumerate(cells) if cell.part == part]
    return [(cell, _columns(checkpoint, i, cell)) for i, cell in chosen]


Records: TypeAlias = "dict[str, np.ndarray[Any, np.dtype[np.float64]]]"


def _columns(checkpoint: Checkpoint, i: int, cell: Cell) -> Records:
    records = [checkpoint.records[i, j] for j in range(cell.repetitions)]
    return {key: np.array([record[key] for record in records]) for key in records[0]}


def _fingerprint(cells: list[Cell]) -> str:
    settings = {"version": reldep.__version__, "cells": [asdict(cell) for cell in cells]}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


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
def _progress_bar(
    name: str, total: int, done: int, request: RunRequest
) -> Iterator[Callable[[], object]]:
    from rich.console import Console
    from rich.progress import Progress

    shown = request.progress and sys.stderr.isatty()
    with Progress(console=Console(stderr=True), disable=not shown) as progress:
        task = progress.add_task(name, total=total, completed=done)
        yield lambda: progress.advance(task)
