"""A progress bar for jobs of more than a few seconds, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

OnProgress: TypeAlias = Callable[[int, int], None]

# A job that ends before this many seconds never shows a bar.
DELAY_SECONDS = 2.0


@contextmanager
def progress_bar(title: str, on_progress: OnProgress | None = None) -> Iterator[OnProgress]:
    """Give a function ``on_progress(done, total)`` that draws a bar on stderr.

    The bar appears after `DELAY_SECONDS`, only if stderr is a terminal, and is wiped away at
    the end, also when the job fails or is interrupted.

    Parameters
    ----------
    title : str
        What stands before the bar.
    on_progress : callable, optional
        A function of the user's, which then takes the place of the bar.

    Examples
    --------
    >>> from reldep.engine.progress import progress_bar
    >>> with progress_bar("tiles") as on_progress:
    ...     for done in range(3):
    ...         on_progress(done + 1, 3)
    """
    if on_progress is not None:
        yield on_progress
        return
    if sys.stderr is None or not sys.stderr.isatty():
        yield _say_nothing
        return
    bar = _Bar(title)
    try:
        yield bar.show
    finally:
        bar.close()


class Steps:
    """Count the steps that are done, and tell."""

    def __init__(self, on_progress: OnProgress, total: int) -> None:
        self._on_progress = on_progress
        self._done, self._total = 0, total

    def one_more(self) -> None:
        """Tell that a step is done."""
        self._done += 1
        self._on_progress(self._done, self._total)


def _say_nothing(done: int, total: int) -> None:
    """Take the place of a bar where there is no terminal."""


class _Bar:
    """A rich progress bar that is made when the job proves to be long."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._started = time.monotonic()
        self._drawn: tuple[Progress, TaskID] | None = None

    def show(self, done: int, total: int) -> None:
        """Move the bar."""
        if self._drawn is None:
            if time.monotonic() - self._started < DELAY_SECONDS or done >= total:
                return
            progress = _rich_progress()
            self._drawn = progress, progress.add_task(self._title, total=total)
            progress.start()
        progress, task = self._drawn
        progress.update(task, completed=done, total=total)

    def close(self) -> None:
        """Wipe the bar away and give the terminal its cursor back."""
        if self._drawn is not None:
            self._drawn[0].stop()


def _rich_progress() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
