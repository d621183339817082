"""Attack the program for a bounded time, and write down what held.

Drawn calls of every public function, mutated files, hostile command lines, runs killed while they
write, full disks, threads. ``python tools/attack.py`` prints the table; ``--publish`` writes it to
docs/reliability.md; ``--seconds`` bounds each of the attacks. The exit status is 1 if anything
broke.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import functools
import platform
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "tools")]

import attacks  # noqa: E402

PAGE = ROOT / "docs" / "reliability.md"


@dataclass
class Tally:
    """What came of one kind of attack."""

    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    broken: dict[str, str] = field(default_factory=dict)

    def note(self, word: str, problem: str = "", example: str = "") -> None:
        """Count an outcome; keep the shortest example of every problem."""
        self.counts[word] += 1
        if problem and len(example) < len(self.broken.get(problem, example + " ")):
            self.broken[problem] = example

    @property
    def tried(self) -> int:
        """How often it was tried."""
        return sum(self.counts.values())


def run(seconds: float, seed: int) -> list[Tally]:
    """Make every attack for so many seconds."""
    tallies = []
    for what, _, attack in attacks.ALL:
        tally = Tally()
        until = time.monotonic() + seconds
        with tempfile.TemporaryDirectory() as folder:
            goes_on = functools.partial(_before, until)
            attack(tally, attacks.Site(Path(folder), seed, goes_on))
        print(f"{what}: {dict(tally.counts)}", flush=True)
        for problem, example in tally.broken.items():
            print(f"  BROKE {problem}\n    {example[:600]}", flush=True)
        tallies.append(tally)
    return tallies


def _before(moment: float) -> bool:
    return time.monotonic() < moment


def table(tallies: list[Tally]) -> str:
    """Write the tallies as rows of a table."""
    rows = [
        "| tried | must hold | times | answered | refused in words | broke |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for (what, holds, _), tally in zip(attacks.ALL, tallies, strict=True):
        counts = [tally.tried, *(tally.counts[word] for word in ("answered", "refused", "broke"))]
        rows.append(f"| {what} | {holds} | {' | '.join(f'{n:,}' for n in counts)} |")
    return "\n".join(rows)


def publish(tallies: list[Tally], seconds: float, seed: int) -> None:
    """Put the tables into the page, between its marks."""
    import reldep

    today = datetime.datetime.now(tz=datetime.UTC).date()
    made = (
        f"{sum(tally.tried for tally in tallies):,} attempts on reldep "
        f"{reldep.__version__}, Python {platform.python_version()} on {platform.system()}, "
        f"{today}; {seconds:g} seconds an attack, seed {seed}.\n\n{table(tallies)}\n"
    )
    broken = [(p, e) for tally in tallies for p, e in tally.broken.items()]
    if broken:
        made += "\nWhat broke:\n\n" + "\n".join(f"- {problem}" for problem, _ in broken) + "\n"
    start, end = "<!-- attack: begin -->\n", "<!-- attack: end -->"
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.partition(start)[0], page.partition(end)[2]
    PAGE.write_text(f"{before}{start}\n{made}\n{end}{after}", encoding="utf-8")


def main() -> int:
    """Attack, print, publish if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="for each kind of attack")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--publish", action="store_true", help=f"write {PAGE.name}")
    chosen = parser.parse_args()
    tallies = run(chosen.seconds, chosen.seed)
    print(table(tallies))
    if chosen.publish:
        publish(tallies, chosen.seconds, chosen.seed)
    return int(any(tally.broken for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
