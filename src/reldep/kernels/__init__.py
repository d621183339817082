"""Kernels: how alike two observations of one variable are.

Kernels of texts, graphs, series and the like are imported when they are first named, and packages
that only some kernels need (scikit-learn, rapidfuzz, tslearn, ...) when such a kernel is fitted.
"""

from typing import TYPE_CHECKING

from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.categorical import Agreement, Delta
from reldep.kernels.columnwise import Composition, Genotypes, Ordered, Standardized
from reldep.kernels.composite import Columns, Gaussians, Product, Sum
from reldep.kernels.custom import FunctionKernel, Precomputed
from reldep.kernels.dot import Linear, Polynomial
from reldep.kernels.evaluation import KernelReport, check_kernel
from reldep.kernels.mapped import Embedding, Images
from reldep.kernels.radial import Distance, Gaussian, Laplace
from reldep.naming import imported_when_named

if TYPE_CHECKING:
    from reldep.kernels.structured.documents import Text
    from reldep.kernels.structured.graphs import WeisfeilerLehman
    from reldep.kernels.structured.series import TimeSeries
    from reldep.kernels.structured.sets import Bags, Jaccard, MinMax
    from reldep.kernels.structured.sphere import Angles, Haversine, Periodic
    from reldep.kernels.structured.strings import EditDistance, Spectrum
    from reldep.kernels.structured.survival import LogRank

_STRUCTURED = {
    "documents": ["Text"],
    "graphs": ["WeisfeilerLehman"],
    "series": ["TimeSeries"],
    "sets": ["Bags", "Jaccard", "MinMax"],
    "sphere": ["Angles", "Haversine", "Periodic"],
    "strings": ["EditDistance", "Spectrum"],
    "survival": ["LogRank"],
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


__getattr__ = imported_when_named(
    __name__,
    {
        name: f"{__name__}.structured.{home}"
        for home, names in _STRUCTURED.items()
        for name in names
    },
)


def __dir__() -> list[str]:
    return __all__
