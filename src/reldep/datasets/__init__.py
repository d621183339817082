"""Small real data, data made to order, and readers for data that users bring.

Every function gives a :class:`Dataset`: named blocks with a description and what to cite.
polars, SciPy, scikit-learn and rdata are imported only by the functions that need them.
"""

from __future__ import annotations

from reldep.datasets._dataset import Dataset
from reldep.datasets._europarl import read_europarl
from reldep.datasets._generated import make_spirals, make_two_stimuli
from reldep.datasets._glioma import read_glioma
from reldep.datasets._parallel import read_parallel
from reldep.datasets._shipped import load_acc, load_languages, load_nutrimouse

__all__ = [
    "Dataset",
    "load_acc",
    "load_languages",
    "load_nutrimouse",
    "make_spirals",
    "make_two_stimuli",
    "read_europarl",
    "read_glioma",
    "read_parallel",
]
