"""Small real data and generators.

Every function returns a :class:`Dataset`: named blocks with a description and what to cite.
polars and SciPy are imported only by the functions that need them.
"""

from __future__ import annotations

from reldep.datasets._dataset import Dataset
from reldep.datasets._generated import make_spirals, make_two_stimuli
from reldep.datasets._shipped import load_acc, load_languages, load_nutrimouse

__all__ = [
    "Dataset",
    "load_acc",
    "load_languages",
    "load_nutrimouse",
    "make_spirals",
    "make_two_stimuli",
]
