"""Results: one frozen answer per question."""

from reldep.results.answer import Provenance
from reldep.results.comparison import Comparison, Contrast, Sensitivity
from reldep.results.groups import GroupComparison
from reldep.results.matrix import Matrix, Tree
from reldep.results.ranking import Ranking
from reldep.results.tested import Dependence

__all__ = [
    "Comparison",
    "Contrast",
    "Dependence",
    "GroupComparison",
    "Matrix",
    "Provenance",
    "Ranking",
    "Sensitivity",
    "Tree",
]
