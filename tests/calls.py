"""Calls as a user writes them, for tables of calls and what comes of them."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reldep

ROOMS = (reldep.datasets, reldep.kernels, reldep)
PUBLIC = {name: getattr(room, name) for room in ROOMS for name in dir(room)}
LIBRARIES = {"np": np, "pd": pd, "pl": pl, "pa": pa}


def called(text, names):
    """Make a call with the public names of the package and the names of a test module."""
    return eval(text, {**PUBLIC, **LIBRARIES, **names})  # noqa: S307


def refused(line, names):
    """Return the error of a line "call -> words", which is a ValueError that says these words.

    "call -> TypeError: words" is a TypeError; three dots among the words stand for anything.
    """
    call, words = line.split(" -> ")
    kind = TypeError if words.startswith("TypeError: ") else ValueError
    parts = words.removeprefix("TypeError: ").split(" … ")
    with pytest.raises(kind, match=".*".join(map(re.escape, parts))) as caught:
        called(call, names)
    return caught.value
