"""Pictures from plain arrays. Every function returns the matplotlib Axes it drew on.

``answer.plot()`` draws the natural picture of an answer. The functions here draw the same pictures
from numbers, on Axes of your own. None of them shows a window, closes a figure or changes
matplotlib's settings.
"""

from reldep.plotting.curves import bandwidths, influence, volcano
from reldep.plotting.intervals import forest, ranking, region, strength
from reldep.plotting.matrices import heatmap, pairwise, tree

__all__ = [
    "bandwidths",
    "forest",
    "heatmap",
    "influence",
    "pairwise",
    "ranking",
    "region",
    "strength",
    "tree",
    "volcano",
]
