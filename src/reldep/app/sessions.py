"""A session: what one browser has uploaded, chosen and been answered, apart from all others."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reldep.app.choices import Choices, check_shape, position_of, split_name
from reldep.app.jobs import COMPUTING_SECONDS, READING_SECONDS, RUNNING, Task, Worker
from reldep.data.selectors import ColumnType, select_columns
from reldep.exceptions import InputError

SCHEMA = "reldep.session/1"
# Rows up to which an answer comes by itself: with all bandwidths it takes about two seconds.
AT_ONCE = 2_000
# Bytes of the name of a file: file systems take 255 with its ending.
LONGEST_NAME = 200
# What the readers of files know; also what the page lets people choose.
ACCEPTED = (
    ".csv,.tsv,.txt,.tab,.gz,.zip,.parquet,.pq,.arrow,.feather,.ipc,.xlsx,.xls,.ods,.npz,.sav,"
    ".zsav,.por,.dta,.sas7bdat,.xpt,.rds,.rda,.rdata"
)

# What the mice are asked first.
MICE = {"source": ["diet"], "first": ["lipids=C*"], "second": ["genes=gene_*"]}


@dataclass
class Asked:
    """A question that was answered, with the numbers that the page lists.

    Attributes
    ----------
    number : int
        The name of the folder with the answer's files.
    choices : dict
        What was chosen, to ask it again.
    hashes : dict of str to str
        The files that it is about.
    question, sentence, command, python : str
    remedies : list of (str, str)
        Options with values that its cautions propose.
    """

    number: int
    choices: dict[str, Any]
    hashes: dict[str, str]
    question: str
    sentence: str
    command: str
    python: str
    remedies: list[list[str]]


@dataclass
class Session:
    """What one browser has uploaded, chosen and been answered.

    Attributes
    ----------
    key : str
        The value of the cookie.
    folder : Path
        Private; removed at the end.
    worker : Worker
        The process that reads and computes.
    hashes : dict of str to str
        The uploaded files, by name, with their hashes.
    table : dict or None
        What is in the files, as `reldep.app.data.described` returns it.
    choices : Choices
    job : Task or None
        The latest piece of work.
    answers : list of Asked
    shown : int or None
        The number of the answer that the page shows.
    plan : str
        What an answer will take, for many rows.
    message : str
        What went wrong with the latest action.
    expected : dict of str to str
        The files of a session that was opened, with their hashes.
    again : list of Choices
        The answers of that session, to be asked again.
    """

    key: str
    folder: Path
    worker: Worker
    hashes: dict[str, str] = field(default_factory=dict)
    table: dict[str, Any] | None = None
    choices: Choices = field(default_factory=Choices)
    job: Task | None = None
    answers: list[Asked] = field(default_factory=list)
    shown: int | None = None
    plan: str = ""
    message: str = ""
    expected: dict[str, str] = field(default_factory=dict)
    again: list[Choices] = field(default_factory=list)
    used: float = field(default_factory=time.monotonic)
    turn: threading.RLock = field(default_factory=threading.RLock)
    n_asked: int = 0
    _types: dict[str, ColumnType] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        """Where the uploaded files lie."""
        return self.folder / "data"

    @property
    def names(self) -> list[str]:
        """The names of the uploaded files."""
        return list(self.hashes)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [column["name"] for column in self.table["columns"]] if self.table else []

    @property
    def is_small(self) -> bool:
        """Whether the table has so few rows that an answer comes by itself."""
        return self.table is not None and self.table["n_rows"] <= AT_ONCE

    @property
    def is_busy(self) -> bool:
        """Whether work is under way."""
        return self.job is not None and self.job.is_running

    @property
    def is_reading(self) -> bool:
        """Whether the files are being read; what is chosen meanwhile is asked afterwards."""
        return self.job is not None and self.job.kind == "read" and self.job.state == RUNNING

    @property
    def awaited(self) -> list[str]:
        """The files of a session that was opened that are still to be chosen."""
        if any(name not in self.expected for name in self.names):
            return []
        return [name for name in self.expected if name not in self.names]

    @property
    def answered(self) -> Asked | None:
        """The answer that the page shows."""
        return next((one for one in self.answers if one.number == self.shown), None)

    def column(self, position: str) -> str:
        """Return a column by its position, by which the page names it."""
        return self.columns[position_of(position, len(self.columns), "column")]

    def columns_of(self, definition: str) -> list[str]:
        """Return the columns that ``COLS`` or ``NAME=COLS`` names."""
        if definition in self._types:
            return [definition]
        return select_columns(split_name(definition)[1], self._types, source="the file")

    async def store(self, name: str, body: AsyncIterator[bytes], most: int, *, add: bool) -> None:
        """Write an uploaded file, piece by piece, under a name of its own; then put it in place."""
        safe = safe_name(name)
        path, size, digest = self.folder / secrets.token_hex(8), 0, hashlib.sha256()
        try:
            with path.open("wb") as file:
                async for piece in body:
                    size += len(piece)
                    if size > most:
                        raise too_large(most)
                    digest.update(piece)
                    file.write(piece)
            if size == 0:
                raise InputError("The file is empty.")
            with self.turn:
                self.cancel()
                if not add and not self.awaited:
                    self.forget_files()
                path.replace(self.data / safe)
                kept = {one: found for one, found in self.hashes.items() if one != safe}
                self.hashes = {**kept, safe: digest.hexdigest()}
        finally:
            # Also where the browser went away in the middle.
            path.unlink(missing_ok=True)

    def store_mice(self) -> None:
        """Take the mice of the documentation, with a question about them."""
        from reldep.datasets._examples import write_examples

        self.cancel()
        self.forget_files()
        made, *_ = write_examples(self.folder / "examples")
        self.hashes = {made.name: hashlib.sha256(made.read_bytes()).hexdigest()}
        made.replace(self.data / made.name)
        self.choices = Choices(slots={name: list(value) for name, value in MICE.items()})

    def forget_files(self) -> None:
        """Remove the uploaded files and what is known of them; the choices stay if they fit."""
        for name in self.hashes:
            (self.data / name).unlink(missing_ok=True)
        self.hashes, self.table, self.shown, self.plan = {}, None, None, ""
        if not self.expected:
            self.choices = Choices()

    def read(self) -> None:
        """Read what is in the files, once all of them are there."""
        self.cancel()
        self.plan = ""
        if self.awaited:
            return
        work = {"kind": "read", "files": self.names, "reading": self.choices.how_to_read()}
        self.job = Task(
            self.worker, "read", work, self._have_read, READING_SECONDS, self._have_not_read
        )

    def _have_not_read(self) -> None:
        # What was read before is not what these files and options say.
        self.table = None

    def _have_read(self, table: dict[str, Any]) -> Callable[[], None]:
        self.table = table
        self._types = {one["name"]: ColumnType(one["type"]) for one in table["columns"]}
        if table["join"]:
            self.choices.reading["join"] = table["join"]
        if self.expected:
            if self.hashes != self.expected:
                self.message = "These are not the files of the session that was opened."
            self.expected = {}
        return self._ask_again

    def _ask_again(self) -> None:
        """Repeat the answers of a session that was opened, then go on with its question."""
        with self.turn:
            if not self.again:
                self.consider()
            else:
                choices = self.again.pop(0)
                self.answer(bandwidths=self.is_small, choices=choices, then=self._ask_again)

    def consider(self) -> None:
        """Answer at once if there are few rows; otherwise say what it would take."""
        # The work that reads comes here at its end, and a person at any time: one by one.
        with self.turn:
            if self.is_reading:
                return
            self.cancel()
            if self.table is not None and not self.is_busy:
                self.job = None  # what went wrong was about another question
            self.shown, self.plan = None, ""
            if self.table is None or not self.choices.is_full:
                return
            if self.is_small:
                self.answer(bandwidths=True)
            elif self.choices.has_plan:
                request = self.choices.request(self.names, self.columns_of)
                work = {"kind": "plan", "request": request.to_dict()}
                self.job = Task(self.worker, "plan", work, self._have_planned, READING_SECONDS)

    def _have_planned(self, result: dict[str, Any]) -> None:
        self.plan = result["plan"]

    def answer(
        self,
        *,
        bandwidths: bool,
        choices: Choices | None = None,
        then: Callable[[], None] | None = None,
    ) -> None:
        """Ask the question, or one that was chosen before; then go on."""
        self.cancel()
        self.shown = None
        self.n_asked += 1
        asked = choices or self.choices
        number, chosen, hashes = self.n_asked, asked.to_dict(), dict(self.hashes)
        work = {
            "kind": "answer",
            "request": asked.request(self.names, self.columns_of).to_dict(),
            "folder": str(self.folder_of(number)),
            "bandwidths": bandwidths,
        }

        def have_answered(found: dict[str, Any]) -> Callable[[], None] | None:
            self.answers = [
                *(one for one in self.answers if one.command != found["command"]),
                Asked(number, chosen, hashes, **found),
            ]
            self.shown = number
            return then

        self.job = Task(self.worker, "answer", work, have_answered, COMPUTING_SECONDS)

    def folder_of(self, number: int) -> Path:
        """Return where the files of an answer are."""
        return self.folder / "answers" / str(number)

    def cancel(self) -> None:
        """Stop the work that is under way."""
        if self.job is not None:
            self.job.cancel()

    def stop(self) -> None:
        """Stop the work, and what was to follow it."""
        self.again = []
        if self.is_reading:
            self._have_not_read()
        self.cancel()

    def saved(self) -> dict[str, Any]:
        """Return the session as plain values: choices and the hashes of the files, no data."""
        return {
            "schema": SCHEMA,
            "files": [{"name": name, "sha256": found} for name, found in self.hashes.items()],
            "choices": self.choices.to_dict(),
            "answers": [one.choices for one in self.answers if one.hashes == self.hashes],
        }

    def open_saved(self, text: bytes) -> None:
        """Take up a saved session; the files must be there or be given next.

        Raises InputError, and leaves everything as it was, if the file is not a session.
        """
        try:
            values = json.loads(text)
            if not isinstance(values, dict) or values.get("schema") != SCHEMA:
                raise InputError("This file is not a session that was saved here.")
            check_shape(values["files"], list[dict[str, str]])
            check_shape(values["answers"], list[dict[str, Any]])
            expected = {safe_name(one["name"]): one["sha256"] for one in values["files"]}
            choices = Choices.from_dict(values["choices"])
            again = [Choices.from_dict(one) for one in values["answers"]]
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            own = isinstance(error, InputError)
            raise (error if own else InputError("This file is not a saved session.")) from None
        self.choices, self.expected, self.answers = choices, expected, []
        self.again = [one for one in again if one != choices]
        self.shown, self.plan = None, ""
        if self.expected == self.hashes:
            self.read()
        else:
            self.forget_files()

    def close(self) -> None:
        """End the work and remove all files."""
        self.worker.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def too_large(most: int) -> InputError:
    """Return the error of a file that is larger than it may be."""
    return InputError(
        f"The file is larger than {most:,} bytes, the most that may be uploaded; start the server "
        "with a larger --max-upload."
    )


def safe_name(name: str) -> str:
    """Return a name that is safe in a folder and on a command line, from what a browser sent.

    Examples
    --------
    >>> safe_name("../../my data (2).csv"), safe_name("-rf *.csv")
    ('my data (2).csv', 'rf _.csv')
    """
    last = re.split(r"[/\\]", name)[-1]
    plain = re.sub(r"[^\w.,()+ -]", "_", last).strip(" ").lstrip(".-")
    stem, dot, ending = plain.rpartition(".")
    if not dot or f".{ending.lower()}" not in ACCEPTED.split(","):
        shown = plain[:LONGEST_NAME] or "the file"
        raise InputError(
            f"{shown} is not of a kind that can be read; give a CSV, Excel, Parquet, Arrow, NPZ, "
            "SPSS, Stata, SAS or R file."
        )
    short = stem.encode()[-LONGEST_NAME:].decode(errors="ignore")
    return f"{short or 'data'}.{ending}"
