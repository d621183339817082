"""Where simulations keep their counts: CSV files that a later run resumes."""

from __future__ import annotations

import csv
import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        """Tell which laws and sizes are there."""
        return {(row["law"], row["m"]) for row in self.rows()}

    def draws(self) -> dict[tuple[str, int], int]:
        """Tell how many samples of each law and size were tested."""
        found: dict[tuple[str, int], int] = {}
        for row in self.rows():
            key = (row["law"], row["m"])
            found[key] = max(found.get(key, 0), row["draws"])
        return found

    def counts(self, law: str, m: int) -> Counts:
        """Give the counts of one law and size."""
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


class Rates:
    """Look up rates in counts."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._found = {
            (row["law"], row["m"], row["measure"], row["method"], row["quantity"]): (
                row["count"] / max(row["draws"], 1),
                row["draws"],
            )
            for row in rows
        }

    def __call__(self, law: str, m: int, measure: str, method: str, quantity: str) -> float | None:
        found = self._found.get((law, m, measure, method, quantity))
        return None if found is None or not found[1] else found[0]

    def draws(self, law: str, m: int, measure: str, method: str, quantity: str) -> int:
        """Give the number of samples behind a rate; 0 where there is none."""
        return self._found.get((law, m, measure, method, quantity), (0.0, 0))[1]

    def keys(self) -> list[tuple[str, int, str, str, str]]:
        return list(self._found)


def remembered(name: str) -> dict[str, Any]:
    """Read a JSON file of results; empty where there is none."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def remember(name: str, values: Mapping[str, Any]) -> None:
    """Write a JSON file of results."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(values, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
