"""The library speaks of Python arguments; here its words become options of a command."""

from __future__ import annotations

import re

# The arguments that have an option of another name, and those with one of the same.
RENAMED = {"rng": "seed"}
ARGUMENTS = (
    "adjust",
    "alpha",
    "alternative",
    "clusters",
    "engine",
    "join",
    "kernel",
    "max_lag",
    "measure",
    "method",
    "missing",
    "rng",
    "test",
    "variance",
)
# Quoted text that is no argument's value, such as a condition on rows, is left alone.
_WORDS = re.compile(
    r"""(?P<quoted>(?<![\w=])(?:'[^']*'|"[^"]*"))"""
    rf"""|\b(?P<argument>{"|".join(ARGUMENTS)})="""
    r"""(?:reldep\.kernels\.(?P<kernel>\w+)\(\)|'(?P<single>[^']*)'|"(?P<double>[^"]*)"|"""
    r"""(?P<bare>[\w.*-]*[\w*]))|\bmax_lag\b"""
)
_NEW_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


def as_options(text: str) -> str:
    """Write ``missing="drop"`` as it is typed in a shell.

    Examples
    --------
    >>> as_options('Fill them in, or pass missing="drop".')
    'Fill them in, or pass --missing drop.'
    """
    return _WORDS.sub(_option, text)


def _option(found: re.Match[str]) -> str:
    if found["quoted"] is not None:
        return found["quoted"]
    if found["argument"] is None:
        return "--max-lag"
    name = RENAMED.get(found["argument"], found["argument"]).replace("_", "-")
    if found["kernel"] is not None:
        return f"--{name} {_NEW_WORD.sub('-', found['kernel']).lower()}"
    values = (found["single"], found["double"], found["bare"])
    return f"--{name} {next(value for value in values if value is not None)}"
