"""Engines: from fitted kernels to A, the only heavy step.

Those that small samples never need are imported when they are first named.
"""

from typing import TYPE_CHECKING

from reldep.engine.dense import Dense
from reldep.engine.influence import Influence, compute_influence
from reldep.engine.planner import Plan, plan, select_engine
from reldep.engine.sweeps.tiled import Tiled
from reldep.engine.terms import Cost, Engine, Pair, Terms, Wanted
from reldep.naming import imported_when_named

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


__getattr__ = imported_when_named(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
