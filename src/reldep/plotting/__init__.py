"""Pictures of results. Every function returns the matplotlib Axes it drew on."""

from reldep.plotting.ellipses import ellipses
from reldep.plotting.forest import forest

__all__ = ["ellipses", "forest"]
