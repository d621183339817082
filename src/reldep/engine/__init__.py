"""Engines: from fitted kernels to A, the only heavy step."""

from reldep.engine.block_table import BlockTable
from reldep.engine.blocks import Blocks
from reldep.engine.centred import Pair
from reldep.engine.choose import Plan, Sizes, make_plan
from reldep.engine.dense import Dense
from reldep.engine.features import Features
from reldep.engine.influence import Influence, compute_influence
from reldep.engine.lines import Lines
from reldep.engine.tiled import Tiled

__all__ = [
    "BlockTable",
    "Blocks",
    "Dense",
    "Features",
    "Influence",
    "Lines",
    "Pair",
    "Plan",
    "Sizes",
    "Tiled",
    "compute_influence",
    "make_plan",
]
