"""The command line."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

# As a shell reports a command that Ctrl-C ended: 128 and the signal's number.
INTERRUPTED = 130


class Interrupts:
    """Remembers Ctrl-C.

    A library that is interrupted while it loads may raise an error of its own in place of
    :class:`KeyboardInterrupt`, which would read as a mistake of the user's.
    """

    seen = False

    def __call__(self, *_: Any) -> None:
        """Raise KeyboardInterrupt, as Python does."""
        self.seen = True
        raise KeyboardInterrupt


interrupts = Interrupts()


def _stop_if_interrupted(unraisable: sys.UnraisableHookArgs) -> None:
    """End the process where Python would print Ctrl-C as an error and go on.

    That is so while it cleans up an object, when nothing can be raised.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _stop()
    sys.__unraisablehook__(unraisable)


def _stop(*, is_said: bool = False) -> NoReturn:
    if not is_said:
        sys.stderr.write("Stopped.\n")
    # Threads and libraries that are cut short would print their own tracebacks.
    sys.stderr.flush()
    os._exit(INTERRUPTED)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupts)
        sys.unraisablehook = _stop_if_interrupted
    # A stream that is closed leaves its number to the next file that is opened.
    for name, mode in (("stdin", "r"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    if sys.stdout is None:
        sys.stderr.write("Error: standard output is closed; send it somewhere.\n")
        return 1
    try:
        # Imported here, so that Ctrl-C while it loads ends as quietly as later on.
        from reldep.cli.app import run

        # A column's name may contain what the terminal cannot show.
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")
        status = run(given)
    except KeyboardInterrupt:
        _stop()
    if status == INTERRUPTED:
        _stop(is_said=True)
    return status


__all__ = ["main"]
