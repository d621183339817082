"""Kernels: how alike two observations of one variable are.

Kernels of texts, graphs, series and the like are imported when they are first named, and packages
that only some kernels need (scikit-learn, rapidfuzz, tslearn, ...) when such a kernel is fitted.
"""

from typing import TYPE_CHECKING

from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.columnwise import Composition, Genotypes, Ordered, Standardized
from reldep.kernels.composite import Columns, Product, Sum
from reldep.kernels.custom import FunctionKernel, KernelReport, Precomputed, check_kernel
from reldep.kernels.explicit import Agreement, Delta, Linear, Polynomial
from reldep.kernels.mapped import Embedding, Images
from reldep.kernels.radial import Distance, Gaussian, Gaussians, Laplace
from reldep.naming import imported_when_named

if TYPE_CHECKING:
    from reldep.kernels.documents import Text
    from reldep.kernels.graphs import WeisfeilerLehman
    from reldep.kernels.series import TimeSeries
    from reldep.kernels.sets import Bags, Jaccard, MinMax
    from reldep.kernels.sphere import Angles, Haversine, Periodic
    from reldep.kernels.strings import EditDistance, Spectrum
    from reldep.kernels.survival import LogRank

_ON_DEMAND = {
    "documents": "Text",
    "graphs": "WeisfeilerLehman",
    "series": "TimeSeries",
    "sets": "Bags Jaccard MinMax",
    "sphere": "Angles Haversine Periodic",
    "strings": "EditDistance Spectrum",
    "survival": "LogRank",
}

__all__ = [
    "Agreement",
    "Angles",
    "Bags",
    "Columns",
    "Composition",
    "Delta",
    "Distance",
    "EditDistance",
    "Embedding",
    "FittedKernel",
    "FunctionKernel",
    "Gaussian",
    "Gaussians",
    "Genotypes",
    "Haversine",
    "Images",
    "Jaccard",
    "Kernel",
    "KernelReport",
    "Laplace",
    "Linear",
    "LogRank",
    "MinMax",
    "Ordered",
    "Periodic",
    "Polynomial",
    "Precomputed",
    "Product",
    "Spectrum",
    "Standardized",
    "Sum",
    "Text",
    "TimeSeries",
    "WeisfeilerLehman",
    "check_kernel",
]

__getattr__ = imported_when_named(__name__, _ON_DEMAND)


def __dir__() -> list[str]:
    return __all__
