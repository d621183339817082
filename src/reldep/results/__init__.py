"""Results: one frozen answer per question."""

from reldep.results.contrast import Comparison, Contrast
from reldep.results.dependence import Dependence
from reldep.results.provenance import Provenance

__all__ = ["Comparison", "Contrast", "Dependence", "Provenance"]
