"""Engines: from fitted kernels to A, the only heavy step."""

from reldep.engine.dense import Dense
from reldep.engine.influence import Influence, compute_influence
from reldep.engine.near_linear.certificate import Bounds, Certificate
from reldep.engine.near_linear.features import Features
from reldep.engine.near_linear.lowrank import LowRank
from reldep.engine.planner import Plan, plan, select_engine
from reldep.engine.sweeps.dask import DaskEngine
from reldep.engine.sweeps.tiled import Tiled
from reldep.engine.terms import Cost, Engine, Pair, Terms, Wanted

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
