"""Dependences on the scale of correlations: what two normal variables would have.

A CKA of 0.12 looks like nothing, and is what two normal variables with a correlation of 0.5 have.
The functions here convert between the two scales. No sign is implied: the measures do not see it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.variables import FloatArray

if TYPE_CHECKING:
    import numpy.typing as npt

# Correlations at which the curves are known: 1 - (1 - k/25)² for k = 0, ..., 25, denser near 1,
# where CKA is steepest. Between them the root of CKA is nearly straight: a correlation read off
# a curve is within 0.0005 of the exact one.
KNOTS = 1.0 - (1.0 - np.arange(26) / 25.0) ** 2

# The CKA of two normal variables with these correlations, each under a Laplace kernel with the
# mean distance as its bandwidth, which is the default. By quadrature, to all digits given;
# tests/stats/test_correlation.py computes them again.
# fmt: off
LAPLACE = np.array([
    0.0, 0.0024127215724, 0.00936115179732, 0.0205402568908, 0.0357774218132,
    0.0549941722251, 0.0781776622469, 0.105358126348, 0.136589776196, 0.171933373866,
    0.211439152628, 0.255129006275, 0.302976994703, 0.354887255243, 0.410668386555,
    0.470003295079, 0.532413366178, 0.597215641415, 0.663471443989, 0.729924586968,
    0.794926910993, 0.856348414357, 0.911468640487, 0.956845255506, 0.988154858978, 1.0,
])
# fmt: on

REFERENCES = ("laplace", "gaussian", "linear", "distance")


def as_correlation(values: npt.ArrayLike, kernel: str = "laplace") -> FloatArray:
    """Return the correlations at which two normal variables have these dependences.

    Parameters
    ----------
    values : array_like
        CKAs, or squared distance correlations for ``kernel="distance"``. Estimates below 0,
        which chance produces where there is no dependence, give 0.
    kernel : {"laplace", "gaussian", "linear", "distance"}, default "laplace"
        The kernel of both variables: Laplace at the mean distance (the default of every
        question), Gaussian at the median distance, linear, or the distance itself.

    Returns
    -------
    ndarray
        Between 0 and 1, of the shape of `values`.
    """
    found = np.sqrt(np.clip(np.asarray(values, dtype=np.float64), 0.0, 1.0))
    return np.asarray(np.interp(found, _root_curve(kernel), KNOTS))


@cache
def _root_curve(kernel: str) -> FloatArray:
    """Return the root of the dependence at every knot, which is nearly straight in between."""
    if kernel == "laplace":
        return np.asarray(np.sqrt(LAPLACE))
    return np.asarray(np.sqrt(np.maximum(_CLOSED_FORMS[kernel](KNOTS), 0.0)))


def _distance(r: FloatArray) -> FloatArray:
    """Return the squared distance correlation (Székely, Rizzo and Bakirov 2007, theorem 7)."""
    half = r * np.arcsin(r / 2.0) + np.sqrt(4.0 - r**2)
    whole = r * np.arcsin(r) + np.sqrt(np.maximum(1.0 - r**2, 0.0))
    return np.asarray((whole - half + 1.0) / (1.0 + math.pi / 3.0 - math.sqrt(3.0)))


def _gaussian(r: FloatArray) -> FloatArray:
    """Return the CKA under Gaussian kernels at the median distance; all three means are Gaussian.

    HSIC is ``E k l + E k E l - 2 E[E' k E' l]``.
    """
    # The median of |X - X'| for standard normal X and X', squared: 2 Φ⁻¹(3/4)².
    s = 0.9538725524**2

    def hsic(r: FloatArray) -> FloatArray:
        both = ((1.0 + 2.0 / s) ** 2 - (2.0 * r / s) ** 2) ** -0.5
        apart = 1.0 / (1.0 + 2.0 / s)
        near = ((1.0 + 1.0 / (1.0 + s)) ** 2 - (r / (1.0 + s)) ** 2) ** -0.5
        return np.asarray(both + apart - 2.0 * near / (1.0 + 1.0 / s))

    return np.asarray(hsic(r) / hsic(np.ones(1)))


_CLOSED_FORMS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "linear": np.square,
    "distance": _distance,
    "gaussian": _gaussian,
}
