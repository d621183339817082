"""Engines: from fitted kernels to A, the only heavy step."""

from reldep.engine.dense import Dense
from reldep.engine.influence import Influence, compute_influence
from reldep.engine.select import select_engine
from reldep.engine.terms import Engine, Pair, Terms, Wanted
from reldep.engine.tiled import Tiled

__all__ = [
    "Dense",
    "Engine",
    "Influence",
    "Pair",
    "Terms",
    "Tiled",
    "Wanted",
    "compute_influence",
    "select_engine",
]
