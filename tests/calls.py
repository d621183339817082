"""Calls as a user writes them, for tables of calls and what comes of them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import reldep

ROOMS = (reldep.datasets, reldep.kernels, reldep)
PUBLIC = {name: getattr(room, name) for room in ROOMS for name in dir(room)}
LIBRARIES = {"np": np, "pd": pd, "pl": pl, "pa": pa}


def called(text, names):
    """Make a call with the public names of the package and the names of a test module."""
    return eval(text, {**PUBLIC, **LIBRARIES, **names})  # noqa: S307
