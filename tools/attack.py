"""Attack the program for a bounded time, and write down what held.

``python tools/attack.py`` prints the table; ``--publish`` writes it to docs/reliability.md;
``--seconds`` bounds each of the attacks. The exit status is 1 if anything broke.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import datetime
import gzip
import io
import itertools
import json
import os
import platform
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / name) for name in ("src", "tests", "benchmarks")]

from simulation import markdown, publish  # noqa: E402

import reldep  # noqa: E402
import test_fuzz as fuzzing  # noqa: E402
from reldep.app.choices import Choices  # noqa: E402
from reldep.app.jobs import Worker  # noqa: E402
from reldep.app.page import whole_page  # noqa: E402
from reldep.app.sessions import SCHEMA, Session  # noqa: E402
from reldep.cli.app import run  # noqa: E402
from reldep.datasets._examples import write_examples  # noqa: E402
from reldep.exceptions import InputError, ReldepWarning  # noqa: E402
from reldep.io import MADE_BY_US, write  # noqa: E402

PAGE = ROOT / "docs" / "reliability.md"
COMMAND = [sys.executable, "-P", "-m", "reldep"]
QUESTION = ("--source", "diet", "--first", "C*", "--second", "gene_*")
REPORT = ["compare", "mice.csv", *QUESTION, "--overwrite", "--report", "answer.html"]
# Statuses that the command line documents.
ENDS = (0, 1, 2, 130)


class Attempts:
    """What came of one kind of attack, in an empty folder, until the clock stops it."""

    def __init__(self, folder: Path, number: int, seconds: float) -> None:
        self.folder, self.seed, self.random = folder, number, random.Random(number)
        self._end = time.monotonic() + seconds
        self.counts: collections.Counter[str] = collections.Counter()
        self.broken: dict[str, str] = {}

    @property
    def go_on(self) -> bool:
        """Whether there is time left."""
        return time.monotonic() < self._end

    def note(self, word: str, problem: str = "", example: str = "") -> None:
        """Count an outcome; keep the shortest example of every problem."""
        self.counts[word] += 1
        if problem and len(example) < len(self.broken.get(problem, example + " ")):
            self.broken[problem] = example

    def check(self, holds: bool, problem: str, example: str = "", word: str = "answered") -> None:
        """Count an outcome that holds, or what broke."""
        self.note(*((word,) if holds else ("broke", problem, example)))

    def ask(self, words: list[str], example: str) -> None:
        """Run a command in this process, and judge what it printed and how it ended."""
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace"), io.StringIO()
        with warnings.catch_warnings(record=True) as caught, contextlib.ExitStack() as both:
            warnings.simplefilter("always")
            both.enter_context(contextlib.redirect_stdout(out))
            both.enter_context(contextlib.redirect_stderr(err))
            try:
                status = run(words)
            except Exception as error:
                self.note("broke", f"{type(error).__name__} left the command line", example)
                return
        leaked = [w for w in caught if not issubclass(w.category, ReldepWarning)]
        self.judge(status, err.getvalue(), example, f"{leaked[0].message}" if leaked else "")

    def judge(self, status: int, said: str, example: str, problem: str = "") -> None:
        """Count how a command ended."""
        if status not in ENDS or "Traceback" in said or "unexpected" in said:
            problem = f"status {status}"
        if status and not said.strip():
            problem = f"status {status} without a word"
        word = "answered" if status == 0 else "refused"
        self.check(not problem, problem, f"{example}: {said[-300:]}", word)

    def command(self, *words: str, memory: int = 4_000_000_000) -> Any:
        """Run a command in a process of its own, with a limit on its memory."""
        return subprocess.run(
            [*COMMAND, *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
        )


def drawn_calls(made: Attempts) -> None:
    """Draw calls of every public function."""
    drawn = settings(
        max_examples=40,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    names = fuzzing.functions()
    for i in itertools.count():
        number, name = made.seed + i // len(names), names[i % len(names)]
        if not made.go_on:
            return

        def call(data: Any, name: Any) -> None:
            call = data.draw(fuzzing.calls(name))
            try:
                word, problem = fuzzing.judge(call, data.draw), ""
            except AssertionError as error:
                word, problem = "broke", str(error)
            made.note(word, problem, repr(call))

        seed(number)(drawn(given(data=st.data(), name=st.just(name))(call)))()


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return bytes that are changed, cut, doubled or mixed."""
    changed = bytearray(data)
    odd = [b"\x00", b'"', b",", b"\n", b"\xff\xfe", b"1e999", b"nan", b"\x1b[2J", b"=1+1"]
    for _ in range(rng.choice([1, 1, 2, 8, 60])):
        at, end = sorted(rng.randrange(len(changed) + 1) for _ in range(2))
        kind = rng.randrange(5)
        if kind == 0 and changed:
            changed[at % len(changed)] = rng.randrange(256)
        elif kind == 1:
            del changed[at : min(end, at + 200)]
        elif kind == 2:
            changed[at:at] = changed[at : min(end, at + 200)]
        elif kind == 3:
            changed[at:at] = rng.choice(odd)
        else:
            del changed[at:]
        changed = changed or bytearray(b"\n")
    return bytes(changed)


def mutated_files(made: Attempts) -> None:
    """Read files with bytes changed, AnnData files among them."""
    files = [path for path in write_examples(made.folder) if path.name != "plants.csv"]
    table = files[0].read_bytes()
    (made.folder / "mice.csv.gz").write_bytes(gzip.compress(table))
    (made.folder / "mice.tsv").write_bytes(table.replace(b",", b"\t"))
    np.savez(made.folder / "mice.npz", diet=np.arange(40) % 5, C=np.eye(40), gene_=np.ones((40, 2)))
    files += [made.folder / name for name in ("mice.csv.gz", "mice.tsv", "mice.npz")]
    files += hostile_cells(made.folder)[:1]
    while made.go_on:
        path = made.random.choice(files)
        broken = made.folder / f"broken{''.join(path.suffixes[-2:])}"
        broken.write_bytes(mutated(path.read_bytes(), made.random))
        words = ["compare", str(broken), *QUESTION]
        words = words if made.random.random() < 0.4 else ["describe", str(broken)]
        made.ask(words, f"{path.name} mutated, {words[0]}")


def hostile_cells(folder: Path) -> list[Path]:
    """Write a good AnnData file, and others that lead elsewhere or lie about a matrix."""
    import h5py

    (folder / "private").write_bytes(b"7" * 800)
    odd: dict[str, Callable[[Any], Any]] = {
        "good": lambda file: file.create_dataset("X", data=np.arange(60.0).reshape(20, 3)),
        "link": lambda file: file.__setitem__("X", h5py.ExternalLink("private", "/X")),
        "soft": lambda file: file.__setitem__("X", h5py.SoftLink("/X")),
        "storage": lambda file: file.create_dataset(
            "X", (20, 3), "f8", external=[(str(folder / "private"), 0, 480)]
        ),
        "large": lambda file: file.create_dataset("X", (10**7, 10**6), "f8", chunks=(100, 100)),
    }
    paths = []
    for name, add in [*odd.items(), *((f"sparse{i}", None) for i in (-1, 3, 2**31, 2**62))]:
        path = folder / f"{name}.h5ad"
        with h5py.File(path, "w") as file:
            if add is None:
                matrix = file.create_group("X")
                matrix.attrs.update({"encoding-type": "csr_matrix", "shape": [20, 3]})
                matrix["data"], matrix["indptr"] = np.ones(20), np.arange(21)
                matrix["indices"] = np.array([0] * 19 + [int(name[6:])])
            else:
                add(file)
            for table, n in (("obs", 20), ("var", 3)):
                group = file.create_group(table)
                group.attrs.update({"_index": "i", "column-order": []})
                group["i"] = np.array([f"{table}{i}" for i in range(n)], dtype="S")
        paths.append(path)
    return paths


def hostile_anndata(made: Attempts) -> None:
    """Read AnnData files that lead to other files or lie about their matrix."""
    while made.go_on:
        for path in hostile_cells(made.folder):
            made.ask(["describe", str(path)], path.name)


def hostile_conditions(made: Attempts) -> None:
    """Filter rows by drawn conditions; nothing but the table may be opened."""
    table = {"a": [1.0, 2.0, 3.0], "s": ["x", "y", "a"]}
    for condition in ("a > 1", "a >"):  # loads what is needed
        with contextlib.suppress(InputError):
            reldep.read(table, where=condition)
    opened: list[str] = []
    watching = [True]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watching[0] and (event in ("socket.connect", "subprocess.Popen", "exec")):
            opened.append(event)
        if watching[0] and event == "open" and "private" in str(arguments[0]):
            opened.append(str(arguments[0]))

    sys.addaudithook(watch)
    parts = ["a", "s", "1", "'x'", "1e999", "==", "<", "in", "(", ")", "and", "or", "not"]
    parts += ["$q$'$q$"]
    parts += ["read_csv('private.csv')", "select x from t", "a.__class__", "__import__('os')", "()"]
    parts += ["lambda: a", "[a for a in s]", "open('private.csv')", "a := 1", "{", "'", "\\", "--"]
    parts += ["is null", "between 1 and 2", "max(a)", "a" * 5_000, "(" * 5_000, "9" * 5_000, "\x00"]
    while made.go_on:
        words = made.random.choices(parts, k=made.random.choice([1, 2, 3, 3, 4, 6, 12, 2_000]))
        try:
            reldep.read(table, where=" ".join(words))
        except InputError:
            word, problem = "refused", ""
        except Exception as error:
            word, problem = "broke", f"{type(error).__name__}: {error}"[:200]
        else:
            word, problem = "answered", ""
        problem = f"opened {opened[0]}" if opened else problem
        made.check(not problem, problem, " ".join(words)[:200], word)
        opened.clear()
    watching[0] = False


def small_files_that_unpack_to_much(made: Attempts) -> None:
    """Describe small files of many rows, with 4 GB of memory."""
    import polars as pl

    piece = gzip.compress(b"0,1\n" * 4_000_000, 9)
    (made.folder / "much.csv.gz").write_bytes(gzip.compress(b"a,b\n") + piece * 300)
    many = pl.LazyFrame({"a": [1]}).select(pl.repeat(1, 400_000_000, dtype=pl.Int8).alias("a"))
    many.sink_parquet(made.folder / "much.parquet", compression="zstd")
    np.savez_compressed(made.folder / "much.npz", a=np.zeros((60_000_000, 1), dtype="i1"))
    while True:
        for name in ("much.csv.gz", "much.parquet", "much.npz"):
            done = made.command("describe", name)
            made.judge(done.returncode, done.stderr, name)
        if not made.go_on:
            return


def hostile_commands(made: Attempts) -> None:
    """Run command lines of wrong, odd and hostile words."""
    paths = [str(path) for path in write_examples(made.folder)]
    commands = ["compare", "rank", "contrast", "dependence", "describe", "--version", "nonsense"]
    options = ["--source", "--first", "--second", "--targets", "--x", "--y", "--weight", "--kernel"]
    options += ["--measure", "--variance", "--where", "--missing", "--join", "--json", "--csv"]
    options += ["--max-lag", "--clusters", "--method", "--alternative", "--id", "--seed"]
    words = [*paths, "diet", "C*", "gene_*", "C14.0:C18.0", "lipids=C*", "hsic", "cka", "dcor"]
    words += ["", "-1", "0", "1e999", "nan", "*", "[", "^(a+)+$", "../../etc/passwd"]
    words += ["'; drop table self; --", "1=1", "diet = 'lin'", "\x1b[31m", "\ud800", "ä" * 500]
    words += ["gaussian:0", "polynomial:99", "gaussian:1e-300", "diet~C18.0=1", "a~b", "=", ":"]
    while made.go_on:
        line = [made.random.choice(commands)]
        if made.random.random() < 0.7:
            line += [made.random.choice(paths), *QUESTION]
        for _ in range(made.random.randrange(4)):
            line += [made.random.choice(options), made.random.choice(words)]
        made.ask(line, repr(line).replace(str(made.folder), "DIR"))


def session_files(made: Attempts) -> None:
    """Open session files with values changed; the page must be shown afterwards."""
    session = Session("key", made.folder, Worker(made.folder, 10**9))
    slots = {"source": ["a"], "first": ["b=c,d"], "second": ["e"]}
    choices = Choices(slots=slots, options={"missing": "drop"}, kinds={"a": "number"}).to_dict()
    good = json.dumps({"schema": SCHEMA, "files": [], "choices": choices, "answers": [choices]})
    odd = [None, 1, -1, "x", [], {}, "9" * 5_000, [[]], {"a": 1}, True, 1e308, "\ud800", "../x"]

    def changed(value: Any) -> Any:
        if made.random.random() < 0.05:
            return made.random.choice(odd)
        if isinstance(value, dict):
            return {key: changed(part) for key, part in value.items()}
        return [changed(part) for part in value] if isinstance(value, list) else value

    while made.go_on:
        text = json.dumps(changed(json.loads(good))).encode()
        text = text if made.random.random() < 0.8 else mutated(text, made.random)
        word, problem = "answered", ""
        try:
            session.open_saved(text)
        except InputError:
            word = "refused"
        except Exception as error:
            problem = f"{type(error).__name__} in opening"
        shown = whole_page(session).encode()
        made.check(not problem and b"</html>" in shown, problem or "no page", repr(text), word)


def existing_files(made: Attempts) -> None:
    """Write over files of others, over ours, over the data, and through links."""
    elsewhere = made.folder / "elsewhere"
    elsewhere.mkdir()
    for i in itertools.count():
        if not made.go_on:
            return
        path, far = made.folder / f"{i}.html", elsewhere / f"{i}.html"
        kind = made.random.choice(["none", "theirs", "ours", "data", "far", "folder"])
        ours, overwrite = f"<p>{MADE_BY_US}</p>", made.random.random() < 0.5
        old = {"theirs": "mine", "data": ours, "ours": ours}.get(kind)
        if old is not None:
            path.write_text(old)
        if kind == "far":
            far.write_text(ours)
            path.symlink_to(far)
        if kind == "folder":
            path.mkdir()
        word = "answered"
        try:
            write(path, "new", inputs=[path] if kind == "data" else [], overwrite=overwrite)
        except OSError:
            word = "refused"
        may = kind in ("none", "ours") or (overwrite and kind in ("theirs", "far"))
        now = far.read_text() if kind == "far" else path.read_text() if path.is_file() else None
        kept = now == ("new" if may else {"far": ours}.get(kind, old))
        made.check(kept and may == (word == "answered"), f"{kind}, {overwrite}", str(now), word)


def kills(made: Attempts) -> None:
    """Kill runs at a random moment while they write over an old report."""
    write_examples(made.folder)
    before = {path.name for path in made.folder.iterdir()} | {"answer.html"}
    report, quiet = made.folder / "answer.html", subprocess.DEVNULL
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    while made.go_on:
        report.write_text("old")
        words = [*COMMAND, *REPORT]
        process = subprocess.Popen(
            words, cwd=made.folder, env=environment, stdout=quiet, stderr=quiet
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=made.random.uniform(0.2, 3.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        text = report.read_text(encoding="utf-8")
        made.check(text == "old" or text.rstrip().endswith("</html>"), "half a report", text[-80:])
    for path in made.folder.iterdir():
        os.utime(path, (0, 0))
    made.command(*REPORT)
    left = {path.name for path in made.folder.iterdir()} - before
    made.check(not left, "leftovers of killed runs", repr(left))


# What is tried, what must hold, and who tries it.
WORDS = "an answer, or a sentence and a documented status"
ALL: tuple[tuple[str, str, Callable[[Attempts], None]], ...] = (
    (
        "drawn calls of every public function",
        "only errors in words leave, no warning but our own; no input changes; no answer is NaN",
        drawn_calls,
    ),
    ("files with bytes changed, cut, doubled or mixed", WORDS, mutated_files),
    ("AnnData files that lead elsewhere or lie about a matrix", WORDS, hostile_anndata),
    (
        "conditions for rows that are wrong, odd or hostile",
        "no file, no network",
        hostile_conditions,
    ),
    ("small files that unpack to a lot, with 4 GB", WORDS, small_files_that_unpack_to_much),
    ("command lines of wrong, odd and hostile words", WORDS, hostile_commands),
    ("session files with values and bytes changed", "the page is shown afterwards", session_files),
    ("writing over files, data, links and folders", "only ours, or as asked", existing_files),
    (
        "runs killed (kill −9) at a random moment, over an old report",
        "the old report or the new one is there, whole; an hour later nothing else is left",
        kills,
    ),
)


def main() -> int:
    """Attack, print, publish if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="for each kind of attack")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--publish", action="store_true", help=f"write {PAGE.name}")
    chosen = parser.parse_args()
    rows = []
    tried = broken = 0
    for what, holds, attack in ALL:
        with tempfile.TemporaryDirectory() as folder:
            made = Attempts(Path(folder), chosen.seed, chosen.seconds)
            attack(made)
        print(f"{what}: {dict(made.counts)}", flush=True)
        for problem, example in made.broken.items():
            print(f"  BROKE {problem}\n    {example[:600]}", flush=True)
        counts = [made.counts.total(), *(made.counts[w] for w in ("answered", "refused", "broke"))]
        rows.append([what, holds, *(f"{n:,}" for n in counts)])
        tried, broken = tried + counts[0], broken + counts[3]
    if chosen.publish:
        today = datetime.datetime.now(tz=datetime.UTC).date()
        head = ["tried", "must hold", "times", "answered", "refused in words", "broke"]
        text = (
            f"{tried:,} attempts on reldep {reldep.__version__}, Python "
            f"{platform.python_version()} on {platform.system()}, {today}; {chosen.seconds:g} "
            f"seconds per attack, seed {chosen.seed}.\n\n{markdown(head, rows)}"
        )
        publish(PAGE, "attack", text)
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
