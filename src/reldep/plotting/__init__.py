"""Pictures of answers. Every function returns the matplotlib Axes it drew on.

Nothing here shows a window, closes a figure or changes matplotlib's settings. A function reads
what an answer offers and asks no answer for its class.
"""

from reldep.plotting.curves import power, sensitivity
from reldep.plotting.dendrogram import tree
from reldep.plotting.ellipse import ellipses
from reldep.plotting.intervals import forest, ranking
from reldep.plotting.matrices import heatmap, pairwise
from reldep.plotting.region import region
from reldep.plotting.scatter import influence, volcano
from reldep.plotting.strength import strength

__all__ = [
    "ellipses",
    "forest",
    "heatmap",
    "influence",
    "pairwise",
    "power",
    "ranking",
    "region",
    "sensitivity",
    "strength",
    "tree",
    "volcano",
]
