"""Kernels: how alike two observations of one variable are.

Packages that only some kernels need (scikit-learn, rapidfuzz, tslearn, ...) are imported
when such a kernel is fitted, never here.
"""

from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.categorical import Agreement, Delta
from reldep.kernels.columnwise import Composition, Genotypes, Ordered, Standardized
from reldep.kernels.composite import Columns, Product, Sum
from reldep.kernels.dot import Linear, Polynomial
from reldep.kernels.evaluation import KernelReport, check_kernel
from reldep.kernels.given import FunctionKernel, Precomputed
from reldep.kernels.mapped import Embedding, Images
from reldep.kernels.multiscale import Gaussians
from reldep.kernels.radial import Distance, Gaussian, Laplace
from reldep.kernels.structured.bags import Bags
from reldep.kernels.structured.documents import Text
from reldep.kernels.structured.graphs import WeisfeilerLehman
from reldep.kernels.structured.overlap import Jaccard, MinMax
from reldep.kernels.structured.series import TimeSeries
from reldep.kernels.structured.sphere import Angles, Haversine, Periodic
from reldep.kernels.structured.strings import EditDistance, Spectrum
from reldep.kernels.structured.survival import LogRank

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
