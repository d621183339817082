"""Kernels as words: ``gaussian:0.5*median``, ``diet=delta``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.kernels import Kernel

_MEDIAN = re.compile(r"(?:(?P<factor>[^*]+)\*)?median")


def parse_kernels(words: Sequence[str]) -> Any:
    """Read ``KERNEL`` or several ``NAME=KERNEL`` into what the questions take."""
    if not words:
        return "auto"
    named = ["=" in word for word in words]
    if not any(named):
        if len(words) > 1:
            raise ValueError(
                f"--kernel is given {len(words)} times without names; write NAME=KERNEL for each."
            )
        return parse_kernel(words[0])
    if not all(named):
        raise ValueError("--kernel mixes KERNEL and NAME=KERNEL; name the variable each time.")
    pairs = [word.rpartition("=") for word in words]
    return {name: parse_kernel(kernel) for name, _, kernel in pairs}


def parse_kernel(word: str) -> str | Kernel:
    """Read one kernel: a name, or a name and its parameter after a colon."""
    from reldep import kernels

    name, colon, parameter = word.partition(":")
    if not colon:
        return word
    parametric = {"gaussian", "laplace", "polynomial", "distance"}
    if name.lower() not in parametric:
        raise ValueError(
            f"--kernel {word}: only {', '.join(sorted(parametric))} take a parameter after a colon."
        )
    if name.lower() in {"gaussian", "laplace"}:
        kernel = {"gaussian": kernels.Gaussian, "laplace": kernels.Laplace}[name.lower()]
        median = _MEDIAN.fullmatch(parameter)
        if median:
            return kernel(factor=_number(median["factor"] or "1", word))
        return kernel(_number(parameter, word))
    if name.lower() == "polynomial":
        return kernels.Polynomial(int(_number(parameter, word)))
    return kernels.Distance(_number(parameter, word))


def _number(text: str, word: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--kernel {word}: {text!r} is not a number.") from None
