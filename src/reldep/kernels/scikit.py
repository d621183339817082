"""Kernels of scikit-learn, taken as they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from reldep.data.variables import Numeric, Sparse, Variable
from reldep.kernels._extras import import_extra
from reldep.kernels.base import Kernel
from reldep.kernels.given import FittedFunction, observations_of

if TYPE_CHECKING:
    import numpy as np

# The names in ``sklearn.metrics.pairwise.PAIRWISE_KERNEL_FUNCTIONS`` that are not ours
# ("linear" and "polynomial" are).
PAIRWISE_NAMES = ("additive_chi2", "chi2", "cosine", "laplacian", "poly", "rbf", "sigmoid")

NEEDS_POSITIVE = ("additive_chi2", "chi2")

# Parts of a Gaussian process kernel that tell apart all distributions.
CHARACTERISTIC = ("RBF", "Matern", "RationalQuadratic", "rbf", "laplacian")


def is_scikit_kernel(spec: Any) -> bool:
    """Recognise an object of ``sklearn.gaussian_process.kernels`` without importing it."""
    return any(
        base.__module__ == "sklearn.gaussian_process.kernels" and base.__name__ == "Kernel"
        for base in type(spec).__mro__
    )


@dataclass(frozen=True)
class ScikitKernel(Kernel):
    """A kernel of scikit-learn, by object or by name.

    Users pass the object or the name itself, as in ``kernel=RBF(2.0)`` or ``kernel="chi2"``.
    Parameters are as scikit-learn sets them; nothing is fitted to the data. Names stand for the
    functions of ``sklearn.metrics.pairwise`` with their defaults (``gamma`` is 1 over the number
    of columns). "sigmoid" is not positive semi-definite.

    Parameters
    ----------
    source : str or sklearn.gaussian_process.kernels.Kernel
    """

    source: Any

    accepts: ClassVar[tuple[type[Variable], ...]] = (Numeric, Sparse)

    @property
    def is_characteristic(self) -> bool:
        """Whether it is one of scikit-learn's that are known to be."""
        return _is_characteristic(self.source)

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedFunction:  # noqa: ARG002
        self.check_accepts(variable)
        rows = observations_of(variable)
        if isinstance(variable, Numeric):
            # Some of scikit-learn's compiled kernels refuse arrays that are read-only.
            rows = rows.copy()
        if not isinstance(self.source, str):
            return FittedFunction(self.source, rows, variable.name, str(self.source))
        if self.source in NEEDS_POSITIVE and rows.min() < 0:
            raise ValueError(
                f"{variable.name} has negative values (smallest {float(rows.min()):.4g}); kernel "
                f"{self.source!r} takes counts or amounts of at least 0."
            )
        pairwise = import_extra(
            "sklearn.metrics.pairwise", extra="features", purpose=f"kernel {self.source!r}"
        )
        function = partial(pairwise.pairwise_kernels, metric=self.source)
        return FittedFunction(function, rows, variable.name, self.source)


def _is_characteristic(source: Any) -> bool:
    if isinstance(source, str):
        return source in CHARACTERISTIC
    kind = type(source).__name__
    if kind == "Product":
        factors = [k for k in (source.k1, source.k2) if type(k).__name__ != "ConstantKernel"]
        return bool(factors) and all(map(_is_characteristic, factors))
    if kind == "Sum":
        return _is_characteristic(source.k1) or _is_characteristic(source.k2)
    return kind in CHARACTERISTIC
