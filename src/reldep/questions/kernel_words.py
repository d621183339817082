"""Kernels as words: ``gaussian:0.5*median``, ``diet=delta``."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.kernels import Kernel

_MEDIAN = re.compile(r"(?:(?P<factor>[^*]+)\*)?median")


def parse_kernels(words: Sequence[str]) -> Any:
    """Read ``KERNEL`` or several ``NAME=KERNEL`` into what the questions take.

    Examples
    --------
    >>> parse_kernels(["diet=delta", "lipids=gaussian:2"])
    {'diet': 'delta', 'lipids': Gaussian(bandwidth=2, factor=1.0)}
    """
    if not words:
        return "auto"
    named = ["=" in word for word in words]
    if not any(named):
        if len(words) > 1:
            raise InputError(
                f"`kernel` is given {len(words)} times without names; write NAME=KERNEL for each."
            )
        return parse_kernel(words[0])
    if not all(named):
        raise InputError("`kernel` mixes KERNEL and NAME=KERNEL; name the variable each time.")
    kernels: dict[str, str | Kernel] = {}
    for word in words:
        name, _, kernel = word.rpartition("=")
        if name in kernels:
            raise InputError(f"`kernel` gives {name!r} two kernels; give it one.")
        kernels[name] = parse_kernel(kernel)
    return kernels


def parse_kernel(word: str) -> str | Kernel:
    """Read one kernel: a name, or a name and its first parameter after a colon.

    Examples
    --------
    >>> parse_kernel("laplace:0.5*median")
    Laplace(bandwidth='median', factor=0.5)
    """
    from reldep.data.checks import check_choice
    from reldep.kernels.choosing import NAMED, kernel_class

    name, colon, parameter = word.partition(":")
    if not colon:
        return word
    check_choice("kernel", name.lower(), NAMED)
    make = kernel_class(name.lower())
    takes = inspect.signature(make).parameters
    if not takes:
        raise InputError(
            f"`kernel={word!r}` has a parameter that {name} does not take; leave out what follows "
            "the colon."
        )
    try:
        median = _MEDIAN.fullmatch(parameter) if "factor" in takes else None
        if median is not None:
            return make(factor=_number(median["factor"] or "1"))
        return make(_number(parameter))
    except (ValueError, TypeError) as error:
        raise InputError(f"`kernel={word!r}` cannot be used: {error}") from error


def _number(text: str) -> float:
    """Read a number; a whole one stays whole, as degrees and lengths are."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{text!r} is not a number.") from None
