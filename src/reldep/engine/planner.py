"""The planner: which engine a job gets, why, and what it will take."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reldep.data.checks import check_choice
from reldep.engine.costs import Cost, dask_cost, dense_cost, features_cost, tiled_cost
from reldep.engine.dask import DaskEngine, n_threads
from reldep.engine.dense import Dense
from reldep.engine.features import Features
from reldep.engine.memory import in_words
from reldep.engine.tiled import Tiled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reldep.engine.terms import Engine, Wanted
    from reldep.kernels.base import FittedKernel

ENGINES: dict[str, Callable[[], Engine]] = {
    "dense": Dense,
    "tiled": Tiled,
    "features": Features,
    "dask": DaskEngine,
}

# The share of the available memory that ``engine="auto"`` may plan with.
MEMORY_SHARE = 0.5

# Below this many observations whole matrices are quicker than anything that must be prepared.
SMALL = 2_000

# A job longer than this many seconds is told of faster ways.
LONG = 600.0

# Where the system does not tell how much memory there is.
MEMORY_UNKNOWN = 4_000_000_000

MEMINFO = Path("/proc/meminfo")
CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True)
class Plan:
    """How a job will be run.

    Attributes
    ----------
    engine : Engine
        The engine itself, with its options.
    reason : str
        Why this one, in plain words.
    memory : int or None
        Bytes that it is expected to need beside the data; None for an engine that is not ours.
    seconds : float or None
        How long it is expected to take, within a factor of about three.
    allowed : int
        Bytes that it may use.
    """

    engine: Engine
    reason: str
    memory: int | None
    seconds: float | None
    allowed: int

    @property
    def fits(self) -> bool:
        """Whether the expected memory is within what may be used."""
        return self.memory is None or self.memory <= self.allowed

    def __str__(self) -> str:
        memory = "unknown" if self.memory is None else f"about {in_words(self.memory)}"
        time = "unknown" if self.seconds is None else seconds_in_words(self.seconds)
        lines = [
            f"engine  {self.engine.name}",
            f"why     {self.reason}",
            f"memory  {memory}, of {in_words(self.allowed)} that may be used",
            f"time    {time}",
        ]
        if not self.fits:
            lines.append("        It does not fit and would be refused.")
        return "\n".join(lines)


def plan(kernels: Mapping[str, FittedKernel], wanted: Wanted, spec: Any = "auto") -> Plan:
    """Say how a job would be run, without running it.

    Parameters
    ----------
    kernels : mapping of str to FittedKernel
    wanted : Wanted
    spec : str or engine, default "auto"
        What the user wrote for ``engine=``.
    """
    available = available_memory()
    if isinstance(spec, str) and spec == "auto":
        return _chosen(kernels, wanted, int(MEMORY_SHARE * available))
    engine = as_engine(spec)
    cost = expected_cost(kernels, wanted, engine)
    memory, seconds = (None, None) if cost is None else (cost.memory, cost.seconds)
    return Plan(engine, "you asked for it.", memory, seconds, available)


def as_engine(spec: Any) -> Engine:
    """Turn a name or an engine object into an engine."""
    if isinstance(spec, str):
        check_choice("engine", spec, ["auto", *ENGINES])
        return ENGINES[spec]()
    if hasattr(spec, "terms") and not isinstance(spec, type):
        engine: Engine = spec
        return engine
    raise TypeError(
        f"engine is of type {type(spec).__name__}; pass a name such as 'auto' or 'dense', or an "
        "engine object."
    )


def expected_cost(
    kernels: Mapping[str, FittedKernel], wanted: Wanted, engine: Engine
) -> Cost | None:
    """Estimate what an engine needs for a job; None for an engine that is not ours."""
    if isinstance(engine, Dense):
        return dense_cost(kernels, wanted)
    if isinstance(engine, Tiled):
        return tiled_cost(kernels, wanted, engine)
    if isinstance(engine, Features):
        return features_cost(kernels, wanted, engine)
    if isinstance(engine, DaskEngine):
        return dask_cost(kernels, wanted, n_threads(engine.connected_client()))
    return None


def _chosen(kernels: Mapping[str, FittedKernel], wanted: Wanted, allowed: int) -> Plan:
    """Choose for ``engine="auto"``."""
    names = wanted.names()
    n = len(kernels[names[0]])
    dense = dense_cost(kernels, wanted)
    if n < SMALL and dense.memory <= allowed:
        reason = f"{n:,} observations: whole kernel matrices are the quickest way."
        return Plan(Dense(), reason, dense.memory, dense.seconds, allowed)
    tiled = Tiled(memory=max(1, allowed))
    in_tiles = tiled_cost(kernels, wanted, tiled)
    if all(kernels[name].n_features is not None for name in names):
        explicit = features_cost(kernels, wanted, Features())
        if explicit.memory <= allowed and explicit.seconds < in_tiles.seconds:
            reason = "every kernel has explicit features: exact without any kernel matrix."
            return Plan(Features(), reason, explicit.memory, explicit.seconds, allowed)
    reason = (
        f"{n:,} observations: whole kernel matrices would need {in_words(dense.memory)}; tiles "
        "of them give the same numbers."
    )
    if in_tiles.seconds > LONG:
        reason += (
            ' Faster: Features(approximate="nystroem") for Gaussian kernels, or a cluster with '
            'engine="dask".'
        )
    return Plan(tiled, reason, in_tiles.memory, in_tiles.seconds, allowed)


def available_memory() -> int:
    """Find how many bytes this process may still take: of the machine or of its container."""
    amounts = [_machine_memory()]
    if CONTAINER_LIMIT.is_file():
        limit = CONTAINER_LIMIT.read_text().strip()
        if limit.isdigit():
            amounts.append(int(limit))
    return min(amounts)


def _machine_memory() -> int:
    if MEMINFO.is_file():
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return MEMORY_UNKNOWN


def seconds_in_words(seconds: float) -> str:
    """Write an expected time as roughly as it is known.

    Examples
    --------
    >>> from reldep.engine.planner import seconds_in_words
    >>> seconds_in_words(0.2), seconds_in_words(47), seconds_in_words(4_000)
    ('less than a second', 'about 47 seconds', 'about 67 minutes')
    """
    if seconds < 1:
        return "less than a second"
    if seconds < 1.5:
        return "about a second"
    if seconds < 120:
        return f"about {seconds:.0f} seconds"
    if seconds < 7_200:
        return f"about {seconds / 60:.0f} minutes"
    return f"about {seconds / 3_600:.0f} hours"
