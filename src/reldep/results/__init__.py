"""Results: one frozen answer per question."""

from reldep.results.contrast import Comparison, Contrast
from reldep.results.dependence import Dependence
from reldep.results.matrix import Matrix, Tree
from reldep.results.provenance import Provenance
from reldep.results.ranking import Ranking
from reldep.results.sensitivity import Sensitivity

__all__ = [
    "Comparison",
    "Contrast",
    "Dependence",
    "Matrix",
    "Provenance",
    "Ranking",
    "Sensitivity",
    "Tree",
]
