"""Where simulations keep their counts: CSV files that a later run resumes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

RESULTS = Path(__file__).resolve().parent / "results"
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

    def add(
        self, law: str, m: int, counts: Mapping[tuple[str, str, str], tuple[float, int]]
    ) -> None:
        """Append the counts of a law and size: (measure, method, quantity) to (count, draws)."""
        new = not self.path.exists()
        RESULTS.mkdir(exist_ok=True)
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(FIELDS)
            writer.writerows(
                [law, m, *key, f"{count:g}", draws] for key, (count, draws) in counts.items()
            )
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
