"""Engines: from fitted kernels to A, the only heavy step."""

from reldep.engine.certificate import Bounds, Certificate
from reldep.engine.dask import DaskEngine
from reldep.engine.dense import Dense
from reldep.engine.features import Features
from reldep.engine.influence import Influence, compute_influence
from reldep.engine.lowrank import LowRank
from reldep.engine.planner import Plan, plan, select_engine
from reldep.engine.terms import Cost, Engine, Pair, Terms, Wanted
from reldep.engine.tiled import Tiled

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
