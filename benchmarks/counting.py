"""Where simulations keep their counts: CSV files that a later run resumes."""

from __future__ import annotations

import csv
import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
# (measure, method, quantity) to (count, draws).
Counts = Mapping[tuple[str, str, str], tuple[float, int]]
FIELDS = ["law", "m", "measure", "method", "quantity", "count", "draws"]


class Tally:
    """Counts of events by law, size, measure and method, in one file.

    Parameters
    ----------
    name : str
        Of the file in ``benchmarks/results``, without its ending.
    """

    def __init__(self, name: str) -> None:
        self.path = RESULTS / f"{name}.csv"

    def rows(self) -> list[dict[str, Any]]:
        """Read all counts."""
        if not self.path.exists():
            return []
        with self.path.open(newline="", encoding="utf-8") as file:
            return [
                {
                    **row,
                    "m": int(row["m"]),
                    "count": float(row["count"]),
                    "draws": int(row["draws"]),
                }
                for row in csv.DictReader(file)
            ]

    def done(self) -> set[tuple[str, int]]:
        """Return the laws and sizes that are there."""
        return {(row["law"], row["m"]) for row in self.rows()}

    def draws(self) -> dict[tuple[str, int], int]:
        """Return how many samples of each law and size were tested."""
        found: dict[tuple[str, int], int] = {}
        for row in self.rows():
            key = (row["law"], row["m"])
            found[key] = max(found.get(key, 0), row["draws"])
        return found

    def counts(self, law: str, m: int) -> Counts:
        """Return the counts of one law and size."""
        return {
            (row["measure"], row["method"], row["quantity"]): (row["count"], row["draws"])
            for row in self.rows()
            if (row["law"], row["m"]) == (law, m)
        }

    def add(self, law: str, m: int, counts: Counts) -> None:
        """Write the counts of a law and size, in place of older ones if there are any.

        The folder is locked meanwhile, so that two runs can fill a file together.
        """
        RESULTS.mkdir(exist_ok=True)
        folder = os.open(RESULTS, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            rows = self.rows()
            own = [i for i, row in enumerate(rows) if (row["law"], row["m"]) == (law, m)]
            place = own[0] if own else len(rows)
            lines = [
                [*(row[name] for name in FIELDS[:5]), row["count"], row["draws"]]
                for i, row in enumerate(rows)
                if i not in own
            ]
            lines[place:place] = [[law, m, *key, *found] for key, found in counts.items()]
            beside = self.path.with_suffix(".part")
            with beside.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(FIELDS)
                writer.writerows([*line[:5], f"{line[5]:g}", line[6]] for line in lines)
            beside.replace(self.path)
        finally:
            os.close(folder)
        print(self.path.stem, law, m, flush=True)
