"""Cells of simulations, where their counts are kept, and the tables of pages that show them."""

from __future__ import annotations

import csv
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reldep.exceptions import InputError

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
RESULTS = HERE / "results"
STORE = RESULTS / "calibration.csv"
Generator = np.random.Generator
Draw = Callable[[Generator], Any]


@dataclass(frozen=True)
class Cell:
    """One cell: `draw` takes one sample and counts what happens in it."""

    table: str
    law: str
    size: str
    samples: int
    draw: Draw

    @property
    def name(self) -> str:
        return f"{self.table}/{self.law}/{self.size}"

    def rng(self, *at: int) -> Generator:
        """Return the generator of a sample; seeds are fixed by the name of the cell."""
        return np.random.default_rng([zlib.crc32(self.name.encode()), *at])

    def sample(self, at: int) -> Counter[str]:
        """Return what happens in one sample."""
        return Counter(self.draw(self.rng(at)))

    def run(self, samples: int | None = None) -> Counter[str]:
        """Count over all samples; those without an answer are counted as "refused"."""
        events: Counter[str] = Counter()
        for at in range(samples or self.samples):
            try:
                events.update(self.sample(at))
            except InputError:
                events["refused"] += 1
        events["samples"] = samples or self.samples
        return events


def stored() -> dict[str, Counter[str]]:
    """Read the counts of every cell."""
    found: dict[str, Counter[str]] = {}
    if STORE.exists():
        with STORE.open(encoding="utf-8", newline="") as file:
            for cell, what, count in csv.reader(file):
                found.setdefault(cell, Counter())[what] = float(count)
    return found


def store(cells: dict[str, Counter[str]]) -> None:
    """Write the counts of every cell, in the order of their names."""
    part = STORE.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for name in sorted(cells):
            writer.writerows([name, what, f"{n:g}"] for what, n in sorted(cells[name].items()))
    part.replace(STORE)


def shown(value: float | None, digits: int = 3) -> str:
    """Write a rate as .051."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}".removeprefix("0") if value < 1 - 0.5 * 10**-digits else "1"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table: columns of words to the left, columns of figures to the right."""
    body = [list(row) for row in rows]
    figures = [
        all(re.match(r"[^\w`]*\d|–", cell) for cell in column) for column in zip(*body, strict=True)
    ]
    rule = ["---", *("--:" if is_figure else "---" for is_figure in figures[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *body))


def with_parts(page: Path, parts: Mapping[str, str]) -> str:
    """Return a page with other texts between ``<!-- mark: begin -->`` and its end."""
    found = page.read_text(encoding="utf-8")
    for mark, text in parts.items():
        begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
        before, rest = found.split(begin)
        found = f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}"
    return found


def publish(page: Path, mark: str, text: str) -> None:
    """Write text into its place in a page."""
    page.write_text(with_parts(page, {mark: text}), encoding="utf-8")
