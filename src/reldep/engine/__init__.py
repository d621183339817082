"""Engines: from fitted kernels to A, the only heavy step.

Those that small samples never need are imported when they are first named.
"""

import importlib
from typing import TYPE_CHECKING, Any

from reldep.engine.dense import Dense
from reldep.engine.influence import Influence, compute_influence
from reldep.engine.planner import Plan, plan, select_engine
from reldep.engine.sweeps.tiled import Tiled
from reldep.engine.terms import Cost, Engine, Pair, Terms, Wanted

if TYPE_CHECKING:
    from reldep.engine.near_linear.certificate import Bounds, Certificate
    from reldep.engine.near_linear.features import Features
    from reldep.engine.near_linear.lowrank import LowRank
    from reldep.engine.sweeps.dask import DaskEngine

_HOMES = {
    "Bounds": "reldep.engine.near_linear.certificate",
    "Certificate": "reldep.engine.near_linear.certificate",
    "DaskEngine": "reldep.engine.sweeps.dask",
    "Features": "reldep.engine.near_linear.features",
    "LowRank": "reldep.engine.near_linear.lowrank",
}

__all__ = [
    "Bounds",
    "Certificate",
    "Cost",
    "DaskEngine",
    "Dense",
    "Engine",
    "Features",
    "Influence",
    "LowRank",
    "Pair",
    "Plan",
    "Terms",
    "Tiled",
    "Wanted",
    "compute_influence",
    "plan",
    "select_engine",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'reldep.engine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
