"""Pictures of results. Every function returns the matplotlib Axes it drew on.

Nothing here shows a window, closes a figure or changes matplotlib's settings.
"""

from reldep.plotting.curves import power, sensitivity
from reldep.plotting.ellipse import ellipses
from reldep.plotting.intervals import forest, ranking
from reldep.plotting.matrices import heatmap, pairwise
from reldep.plotting.observations import influence

__all__ = [
    "ellipses",
    "forest",
    "heatmap",
    "influence",
    "pairwise",
    "power",
    "ranking",
    "sensitivity",
]
