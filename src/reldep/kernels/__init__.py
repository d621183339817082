"""Kernels: how alike two observations of one variable are."""

from reldep.kernels.base import FittedKernel, Kernel
from reldep.kernels.categorical import Delta
from reldep.kernels.composite import Product, Sum
from reldep.kernels.dot import Linear, Polynomial
from reldep.kernels.given import FunctionKernel, Precomputed
from reldep.kernels.radial import Distance, Gaussian, Laplace

__all__ = [
    "Delta",
    "Distance",
    "FittedKernel",
    "FunctionKernel",
    "Gaussian",
    "Kernel",
    "Laplace",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Sum",
]
