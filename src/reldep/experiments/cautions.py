"""Cautions about single results, where a page reports on many."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reldep.exceptions import ReldepWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reldep.results import Contrast


@contextmanager
def unprinted_cautions() -> Iterator[None]:
    """Leave cautions in the results, without printing each of hundreds of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReldepWarning)
        yield


def cautions_of(result: Contrast) -> str:
    """Name the kinds of cautions of a result, for a cell of a table."""
    return " ".join(type(caution).__name__.removesuffix("Warning") for caution in result.warnings)
