"""The planner: which engine a job gets, why, and what it will take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reldep.data.checks import check_choice
from reldep.engine.dense import TEMPORARY_MATRICES, Dense
from reldep.engine.sweeps.tiled import COMPILED_START, Tiled
from reldep.exceptions import InputError, InputTypeError
from reldep.system import available_memory, in_words, seconds_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.engine.terms import Engine, Wanted
    from reldep.kernels.base import FittedKernel

# The class of each, by its name in reldep.engine.
ENGINES = {
    "dense": "Dense",
    "tiled": "Tiled",
    "lowrank": "LowRank",
    "features": "Features",
    "dask": "DaskEngine",
}

# The share of the available memory that ``engine="auto"`` may plan with.
MEMORY_SHARE = 0.5

# Below this many observations whole matrices are quicker than anything that must be prepared.
SMALL = 2_000

# Bytes that every machine has to spare.
SURELY_THERE = 50_000_000

# Jobs of tiles that take fewer seconds than this, beside loading compiled code, are not worth
# looking for anything better.
WORTH_PROBING = 0.05

# A job longer than this many seconds is told of faster ways.
LONG = 600.0

WAYS_OUT = {
    "dense": "pass `engine='tiled'`, which gives the same numbers tile by tile, or "
    "`engine='auto'`.",
    "features": "pass `engine='tiled'`, or Features with a smaller n_components.",
    "lowrank": "ask for fewer pairs at a time.",
    "tiled": "ask for fewer pairs at a time or pass Tiled with fewer threads.",
    "dask": "ask for fewer pairs at a time.",
}


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
        How long it is expected to take, within a factor of about two.
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
    return _planned(as_engine(spec), "requested explicitly.", kernels, wanted, available)


def select_engine(spec: Any, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Engine:
    """Turn a name or an engine object into an engine; refuse a job that cannot fit.

    Parameters
    ----------
    spec : str or engine
        ``"auto"``, the name of an engine, or an engine object.
    kernels : mapping of str to FittedKernel
    wanted : Wanted
    """
    if isinstance(spec, str) and spec == "auto" and _is_small(kernels, wanted):
        return Dense()
    chosen = plan(kernels, wanted, spec)
    if chosen.memory is not None and not chosen.fits:
        name = chosen.engine.name
        n = len(kernels[wanted.names()[0]])
        raise InputError(
            f"`engine={name!r}` would need about {in_words(chosen.memory)} for {n:,} observations "
            f"and {len(wanted.names())} kernels, and only {in_words(chosen.allowed)} may be used; "
            f"{WAYS_OUT[name]}"
        )
    return chosen.engine


def _is_small(kernels: Mapping[str, FittedKernel], wanted: Wanted) -> bool:
    """Whether a job is so small that nobody need be asked how much memory there is."""
    n, n_kernels = len(kernels[wanted.names()[0]]), len(wanted.names())
    return n < SMALL and 8 * n**2 * (n_kernels + TEMPORARY_MATRICES) < SURELY_THERE


def as_engine(spec: Any) -> Engine:
    """Turn a name or an engine object into an engine."""
    if isinstance(spec, str):
        check_choice("engine", spec, ["auto", *ENGINES])
        import reldep.engine

        named: Engine = getattr(reldep.engine, ENGINES[spec])()
        return named
    if hasattr(spec, "terms") and not isinstance(spec, type):
        engine: Engine = spec
        return engine
    raise InputTypeError(
        f"engine is of type {type(spec).__name__}; pass a name such as 'auto' or 'dense', or an "
        "engine object."
    )


def _planned(
    engine: Engine,
    reason: str,
    kernels: Mapping[str, FittedKernel],
    wanted: Wanted,
    allowed: int,
) -> Plan:
    """Ask an engine what the job costs it; one that is not ours may not know."""
    cost = engine.cost(kernels, wanted) if hasattr(engine, "cost") else None
    if cost is None:
        return Plan(engine, reason, None, None, allowed)
    return Plan(engine, reason, cost.memory, cost.seconds, allowed)


def _chosen(kernels: Mapping[str, FittedKernel], wanted: Wanted, allowed: int) -> Plan:
    """Choose for ``engine="auto"``."""
    names = wanted.names()
    n = len(kernels[names[0]])
    reason = f"{n:,} observations: whole kernel matrices are the quickest way."
    dense = _planned(Dense(), reason, kernels, wanted, allowed)
    if n < SMALL and dense.fits:
        return dense
    reason = (
        f"{n:,} observations: whole kernel matrices would need {in_words(dense.memory or 0)}; "
        "tiles of them give the same numbers."
    )
    tiled = _planned(Tiled(memory=max(1, allowed)), reason, kernels, wanted, allowed)
    if all(kernels[name].n_features is not None for name in names):
        from reldep.engine.near_linear.features import Features

        reason = "every kernel has explicit features: exact without any kernel matrix."
        explicit = _planned(Features(), reason, kernels, wanted, allowed)
        if explicit.fits and (explicit.seconds or 0.0) < (tiled.seconds or 0.0):
            return explicit
    near_linear = _near_linear(kernels, wanted, tiled)
    if near_linear is not None:
        return near_linear
    if (tiled.seconds or 0.0) > LONG:
        reason = (
            f'{tiled.reason} Faster: Features(approximate="nystroem") for Gaussian kernels, or '
            'a cluster with engine="dask".'
        )
        return replace(tiled, reason=reason)
    return tiled


def _near_linear(kernels: Mapping[str, FittedKernel], wanted: Wanted, tiled: Plan) -> Plan | None:
    """Plan the low-rank engine where it takes less time than tiles would."""
    names = wanted.names()
    if (tiled.seconds or 0.0) < COMPILED_START + WORTH_PROBING:
        return None
    if all(kernels[name].n_features is not None for name in names):
        return None
    from reldep.engine.near_linear.lines import kind_of
    from reldep.engine.near_linear.lowrank import LowRank, known_widths, unknown_of

    engine = LowRank()
    n = len(kernels[names[0]])
    chosen_kernels = {name: kernels[name] for name in names}
    widths = known_widths(chosen_kernels)
    unknown = unknown_of(chosen_kernels, widths)
    # Where the probe misleads, as it may for heavy tails, tiles take over at the break-even.
    most = max(50, engine.break_even(n, wanted, widths, tiled.seconds or 0.0))
    widths |= engine.probed_widths(unknown, most, all_or_none=True)
    if len(widths) < len(names):
        return None
    cost = engine.cost_of(n, wanted, widths)
    if cost.seconds >= (tiled.seconds or 0.0) or cost.memory > tiled.allowed:
        return None
    if not any(widths.values()):
        reason = "Laplace and distance kernels of one column are summed along the sorted values"
    else:
        largest = max(widths.values())
        reason = f"about {largest:.0f} features stand for each kernel to rounding error"
        if any(kind_of(kernels[name]) is not None for name in names):
            reason += ", or it is summed along the sorted values"
    reason += ": near-linear time, exact."
    chosen = LowRank(most_features=most)
    return Plan(chosen, reason, cost.memory, cost.seconds, tiled.allowed)
