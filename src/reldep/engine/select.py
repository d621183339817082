"""From what a user writes for ``engine=`` to an engine that can do the job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.engine.memory import in_words
from reldep.engine.planner import plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.engine.terms import Engine, Wanted
    from reldep.kernels.base import FittedKernel

WAYS_OUT = {
    "dense": 'pass engine="tiled", which gives the same numbers tile by tile, or "auto"',
    "features": 'pass engine="tiled", or Features with a smaller n_components',
    "tiled": "ask for fewer pairs at a time or pass Tiled with fewer threads",
    "dask": "ask for fewer pairs at a time",
}


def select_engine(spec: Any, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Engine:
    """Turn a name or an engine object into an engine; refuse a job that cannot fit.

    Parameters
    ----------
    spec : str or engine
        ``"auto"``, the name of an engine, or an engine object.
    kernels : mapping of str to FittedKernel
    wanted : Wanted
    """
    chosen = plan(kernels, wanted, spec)
    if chosen.memory is not None and not chosen.fits:
        name = chosen.engine.name
        n = len(kernels[wanted.names()[0]])
        raise ValueError(
            f"engine={name!r} would need about {in_words(chosen.memory)} for {n:,} observations "
            f"and {len(wanted.names())} kernels, and only {in_words(chosen.allowed)} may be used; "
            f"{WAYS_OUT[name]}."
        )
    return chosen.engine
