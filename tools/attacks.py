"""The attacks: each notes what came of its attempts in a tally, until the clock stops it."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import fuzzing
import reldep
from reldep.cli.app import run
from reldep.datasets._examples import write_examples
from reldep.exceptions import ReldepWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    from attack import Tally


@dataclass(frozen=True)
class Site:
    """Where an attack takes place: an empty folder, a seed, and a clock."""

    folder: Path
    seed: int
    goes_on: Callable[[], bool]


SOURCE = str(Path(__file__).resolve().parent.parent / "src")
QUESTION = ("--source", "diet", "--first", "C*", "--second", "gene_*")
# Statuses that the command line documents.
ENDS = (0, 1, 2, 130)


def drawn_calls(tally: Tally, site: Site) -> None:
    """Draw calls of every public function."""
    for number in itertools.count(site.seed):
        for name in fuzzing.functions():
            if not site.goes_on():
                return
            _draw(tally, name, number)


def _draw(tally: Tally, name: str, number: int) -> None:
    @seed(number)
    @settings(
        max_examples=40,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def calls(data: Any) -> None:
        call = data.draw(fuzzing.calls(name))
        outcome = fuzzing.judge(call, data.draw)
        tally.note(outcome.word, outcome.problem, repr(call))

    calls()


def mutated_files(tally: Tally, site: Site) -> None:
    """Read files with bytes changed, cut, doubled or mixed."""
    rng = random.Random(site.seed)
    files = [path for path in write_examples(site.folder) if path.name != "plants.csv"]
    files += _more_formats(site.folder)
    while site.goes_on():
        path = rng.choice(files)
        broken = site.folder / f"broken{''.join(path.suffixes)}"
        broken.write_bytes(_mutated(path.read_bytes(), rng))
        words = ["describe", str(broken)]
        if rng.random() < 0.4:
            words = ["compare", str(broken), *QUESTION]
        _ask(tally, words, example=f"{path.name} mutated, {words[0]}")


def _more_formats(folder: Path) -> list[Path]:
    import gzip

    table = (folder / "mice.csv").read_bytes()
    (folder / "mice.csv.gz").write_bytes(gzip.compress(table))
    (folder / "mice.tsv").write_bytes(table.replace(b",", b"\t"))
    np.savez(folder / "mice.npz", diet=np.arange(40) % 5, C=np.eye(40), gene_=np.ones((40, 2)))
    return [folder / name for name in ("mice.csv.gz", "mice.tsv", "mice.npz")]


def _mutated(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8, 60])):
        at, end = sorted(rng.randrange(len(changed) + 1) for _ in range(2))
        kind = rng.randrange(6)
        if kind == 0 and changed:
            changed[at % len(changed)] = rng.randrange(256)
        elif kind == 1:
            del changed[at : min(end, at + 200)]
        elif kind == 2:
            changed[at:at] = changed[at : min(end, at + 200)]
        elif kind == 3:
            odd = [b"\x00", b'"', b",", b"\n", b"\xff\xfe", b"1e999", b"nan", b"\x1b[2J", b"=1+1"]
            changed[at:at] = rng.choice(odd)
        elif kind == 4:
            del changed[at:]
        changed = changed or bytearray(b"\n")
    return bytes(changed)


def hostile_commands(tally: Tally, site: Site) -> None:
    """Run command lines of wrong, odd and hostile words."""
    rng = random.Random(site.seed)
    paths = [str(path) for path in write_examples(site.folder)]
    commands = ["compare", "rank", "contrast", "dependence", "describe", "version", "nonsense"]
    options = ["--source", "--first", "--second", "--targets", "--x", "--y", "--weight", "--kernel"]
    options += ["--measure", "--variance", "--where", "--missing", "--join", "--json", "--csv"]
    options += ["--max-lag", "--clusters", "--method", "--alternative", "--id", "--seed"]
    words = [*paths, "diet", "C*", "gene_*", "C14.0:C18.0", "lipids=C*", "hsic", "cka", "dcor"]
    words += ["", "-1", "0", "1e999", "nan", "*", "[", "^(a+)+$", "../../etc/passwd", "/dev/zero"]
    words += ["'; drop table self; --", "1=1", "diet = 'lin'", "\x1b[31m", "\ud800", "ä" * 500]
    words += ["gaussian:0", "polynomial:99", "gaussian:1e-300", "diet~C18.0=1", "a~b", "=", ":"]
    devices = {"/dev/zero"}
    while site.goes_on():
        line = [rng.choice(commands)]
        if rng.random() < 0.7:
            line += [rng.choice(paths), *QUESTION]
        for _ in range(rng.randrange(4)):
            line += [rng.choice(options), rng.choice(words)]
        line = [word for word in line if word not in devices]
        _ask(tally, line, example=repr(line).replace(str(site.folder), "DIR"))


def _ask(tally: Tally, words: list[str], example: str) -> None:
    """Run a command in this process, and judge what it printed and how it ended."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace"), io.StringIO()
    caught: list[warnings.WarningMessage]
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            warnings.simplefilter("always")
            status = run(words)
    except Exception as error:
        tally.note("broke", f"{type(error).__name__} left the command line", f"{example}: {error}")
        return
    leaked = [w for w in caught if not issubclass(w.category, ReldepWarning)]
    said = err.getvalue()
    if leaked:
        tally.note("broke", f"{leaked[0].category.__name__}: {leaked[0].message}", example)
    elif status not in ENDS or "Traceback" in said:
        tally.note("broke", f"status {status}", f"{example}: {said[-300:]}")
    elif status == 0:
        tally.note("answered")
    elif said.strip():
        tally.note("refused")
    else:
        tally.note("broke", f"status {status} without a word", example)


REPORT = [sys.executable, "-m", "reldep", "compare", "mice.csv", *QUESTION]
REPORT += ["--report", "answer.html"]


def kills(tally: Tally, site: Site) -> None:
    """Kill runs at a random moment while they write over an old report."""
    rng = random.Random(site.seed)
    write_examples(site.folder)
    before = {path.name for path in site.folder.iterdir()} | {"answer.html"}
    report = site.folder / "answer.html"
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    while site.goes_on():
        report.write_text("old")
        process = subprocess.Popen(
            REPORT,
            cwd=site.folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=rng.uniform(0.2, 3.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        text = report.read_text(encoding="utf-8")
        whole = text == "old" or text.rstrip().endswith("</html>")
        tally.note(*(("answered",) if whole else ("broke", "half a report", text[-80:])))
    subprocess.run(REPORT, cwd=site.folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    left = {path.name for path in site.folder.iterdir()} - before
    if left:
        tally.note("broke", "leftovers of killed runs", repr(left))


def full_disks(tally: Tally, site: Site) -> None:
    """Write reports and pictures onto a disk that fills after some bytes."""
    rng = random.Random(site.seed)
    write_examples(site.folder)
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    while site.goes_on():
        limit = rng.choice([0, 1, 100, 5_000, 20_000, 60_000])
        option = rng.choice([("--report", "answer.html"), ("--plot", "answer.png")])
        (site.folder / option[1]).write_text("old")
        names = sorted(path.name for path in site.folder.iterdir())
        done = subprocess.run(
            [*REPORT[:-2], *option],
            cwd=site.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda limit=limit: resource.setrlimit(
                resource.RLIMIT_FSIZE, (limit, limit)
            ),
        )
        kept = (site.folder / option[1]).read_bytes() == b"old"
        left = sorted(path.name for path in site.folder.iterdir())
        if names != left or "Traceback" in done.stderr:
            tally.note("broke", "not one sentence, or files left", done.stderr[-300:])
        elif done.returncode == 0:
            tally.note("answered")
        else:
            tally.note(*(("refused",) if kept else ("broke", "the old file is lost", str(limit))))


def threads(tally: Tally, site: Site) -> None:
    """Ask the same question from eight threads at once."""
    rng = np.random.default_rng(site.seed)
    while site.goes_on():
        x = rng.normal(size=60)
        y, z = x + rng.normal(size=60), x + 2 * rng.normal(size=60)

        def ask(x: Any = x, y: Any = y, z: Any = z) -> str:
            # In the main thread: catching warnings is not safe in threads before Python 3.14.
            result = reldep.compare(x, y, z, rng=0)
            return f"{result!r}\n{result.to_html()}"

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReldepWarning)
            expected = ask()
            with ThreadPoolExecutor(8) as workers:
                found = list(workers.map(lambda ask: ask(), [ask] * 8))
        for answer in found:
            same = answer == expected
            tally.note(*(("answered",) if same else ("broke", "threads differ", "to_html()")))


def read_only_homes(tally: Tally, site: Site) -> None:
    """Run the command with a home and caches that cannot be written."""
    write_examples(site.folder)
    nowhere = "/proc/nowhere"
    environment = {**os.environ, "PYTHONPATH": SOURCE, "HOME": nowhere, "XDG_CACHE_HOME": nowhere}
    environment |= {"NUMBA_CACHE_DIR": nowhere, "MPLCONFIGDIR": nowhere}
    large = site.folder / "large.csv"
    x = np.random.default_rng(site.seed).normal(size=(2500, 3))
    np.savetxt(large, x, delimiter=",", header="x,y,z", comments="")
    lines = [REPORT[3:-2], ["dependence", "large.csv", "--x", "x", "--y", "y", "--plot", "a.png"]]
    for line in lines:
        done = subprocess.run(
            [*REPORT[:3], *line],
            cwd=site.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        good = done.returncode == 0 and "Traceback" not in done.stderr
        tally.note(*(("answered",) if good else ("broke", "fails", done.stderr[-300:])))
        if not site.goes_on():
            break


# What is tried, what must hold, and who tries it.
ALL: tuple[tuple[str, str, Callable[[Tally, Site], None]], ...] = (
    (
        "drawn calls of every public function",
        "only errors in words leave, no warning but our own; no input changes; no answer is NaN",
        drawn_calls,
    ),
    (
        "files with bytes changed, cut, doubled or mixed",
        "read, or refused in one sentence",
        mutated_files,
    ),
    (
        "command lines of wrong, odd and hostile words",
        "an answer, or a sentence and a documented status",
        hostile_commands,
    ),
    (
        "runs killed (kill −9) at a random moment, over an old report",
        "the old report or the new one is there, whole; the next run leaves nothing else behind",
        kills,
    ),
    (
        "reports and pictures onto a disk that fills",
        "one sentence; the old file stays; nothing half-written",
        full_disks,
    ),
    ("the same question from eight threads", "every answer and report is that of one", threads),
    ("a home and caches that cannot be written", "the same answer", read_only_homes),
)
