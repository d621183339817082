"""Results: one frozen answer per question."""

from reldep.results.bandwidth_curve import Sensitivity
from reldep.results.comparison import Comparison, Contrast
from reldep.results.dependence_matrix import Matrix, PairComparison, Tree
from reldep.results.group_comparison import GroupComparison
from reldep.results.one_dependence import Dependence
from reldep.results.provenance import Provenance
from reldep.results.ranking import Ranking

__all__ = [
    "Comparison",
    "Contrast",
    "Dependence",
    "GroupComparison",
    "Matrix",
    "PairComparison",
    "Provenance",
    "Ranking",
    "Sensitivity",
    "Tree",
]
