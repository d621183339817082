"""Every result knows the call that repeats it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

import numpy as np

from reldep.kernels.base import Kernel
from reldep.results.base import Answer

P = ParamSpec("P")
A = TypeVar("A", bound=Answer)

# Longer values are data, which the reader has under the argument's own name.
LONGEST = 160
MOST_PARTS = 20


def repeatable(question: Callable[P, A]) -> Callable[P, A]:
    """Let a question note in its answer how it was called and from what seed."""
    signature = inspect.signature(question)

    @functools.wraps(question)
    def ask(*args: P.args, **kwargs: P.kwargs) -> A:
        answer = question(*args, **kwargs)
        given = signature.bind(*args, **kwargs).arguments
        noted = replace(
            answer.provenance,
            call=call_text(question.__name__, given, signature),
            seed=seed_text(given.get("rng")),
        )
        return replace(answer, provenance=noted)

    return ask


def call_text(name: str, given: Mapping[str, Any], signature: inspect.Signature) -> str:
    """Write a call; data stand under the names of their arguments, defaults are left out."""
    written = []
    for argument, value in given.items():
        default = signature.parameters[argument].default
        text = spelled(value)
        short = argument if text is None or len(text) > LONGEST else text
        if default is inspect.Parameter.empty:
            written.append(short)
        elif text is None or text != spelled(default):
            written.append(f"{argument}={short}")
    return f"reldep.{name}({', '.join(written)})"


def spelled(value: Any) -> str | None:
    """Write a value as in a program, or give None where that cannot be done."""
    if isinstance(value, np.generic):
        return spelled(value.item())
    if value is None or isinstance(value, (str, int, float, Kernel)):
        return repr(value)
    if isinstance(value, (tuple, list, Mapping)) and len(value) > MOST_PARTS:
        return None
    if isinstance(value, (tuple, list)):
        parts = [spelled(part) for part in value]
        if None in parts:
            return None
        inside = ", ".join(str(part) for part in parts)
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(parts) == 1 else f"({inside})"
    if isinstance(value, Mapping):
        pairs = [(spelled(key), spelled(part)) for key, part in value.items()]
        if any(None in pair for pair in pairs):
            return None
        return "{" + ", ".join(f"{key}: {part}" for key, part in pairs) + "}"
    return None


def seed_text(rng: Any) -> str:
    """Say what random steps start from."""
    if rng is None:
        return "0 (the default)"
    return spelled(rng) or "a generator passed as rng"
