"""The rest of the paper: Algorithm 1 and the finite-sample bound."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from reldep.data.variables import FloatArray
from reldep.exceptions import InputError

# The square of a weight, and of its product with a dependence, is far from the limits of a double.
LARGEST_WEIGHT = 1e100


def rotation(weights: Any) -> FloatArray:
    """Compute the rotation Q that turns a vector of weights onto the first axis.

    This is Algorithm 1 of the paper, with ``atan2`` for its ``atan``: the angle is then right
    for negative and zero entries too. ``Q v = |v| e₁``, so that testing whether ``v·H > 0`` is
    testing whether the first coordinate of ``Q H`` is positive.

    Parameters
    ----------
    weights : array_like, shape (n,)
        At least one of them not 0.

    Returns
    -------
    ndarray, shape (n, n)
        An orthogonal matrix of determinant 1 (for a single weight: its sign).

    Examples
    --------
    >>> import numpy as np
    >>> from reldep import rotation
    >>> Q = rotation([1, -1])
    >>> np.round(Q @ [1, -1], 12) + 0.0
    array([1.41421356, 0.        ])
    """
    vector = check_weights(weights)
    n = len(vector)
    if n == 1:
        return np.array([[math.copysign(1.0, vector[0])]])
    q = np.eye(n)
    for i in range(1, n):
        turned = q @ vector
        angle = -math.atan2(vector[i], turned[0])
        cosine, sine = math.cos(angle), math.sin(angle)
        first, other = q[0].copy(), q[i].copy()
        q[0] = cosine * first - sine * other
        q[i] = sine * first + cosine * other
    return q


def finite_sample_bound(n: int, delta: float = 0.05, *, constant: float = 0.0) -> float:
    """Compute a bound on the error of a difference of two HSICs, without any approximation.

    For kernels with values in [0, 1], with probability at least ``1 - delta`` the difference of
    the two estimates is within this bound of the truth::

        2 (sqrt(log(6/δ) / (0.24 n)) + C/n)

    Parameters
    ----------
    n : int
        Number of observations.
    delta : float, default 0.05
        Probability with which the bound may fail.
    constant : float, default 0
        C, the bias of the estimator times n; the unbiased estimator has none.

    Returns
    -------
    float
    """
    if not 1 <= n <= sys.float_info.max:
        raise InputError(f"`n={n}`; pass the number of observations, at least 1.")
    if not 0 < delta < 1:
        raise InputError(f"`delta={delta}`; pass a number strictly between 0 and 1.")
    if not 0 <= constant <= sys.float_info.max:
        raise InputError(f"`constant={constant}`; pass a number of at least 0.")
    # 0.24 is α² in the paper's Theorem 3, the constant of Hoeffding's inequality for U-statistics.
    return 2.0 * (math.sqrt((math.log(6.0) - math.log(delta)) / (0.24 * n)) + constant / n)


def check_weights(weights: Any) -> FloatArray:
    """Raise unless weights are a vector of finite numbers that are not all 0."""
    try:
        vector = np.asarray(weights, dtype=np.float64)
    except OverflowError:
        raise InputError("weights has a number beyond 1.8e308; pass smaller ones.") from None
    if vector.ndim != 1 or not len(vector):
        raise InputError(f"weights has shape {vector.shape}; pass one number per pair.")
    if not np.isfinite(vector).all():
        raise InputError("weights has NaN or infinite values; pass finite numbers.")
    sizes = np.abs(vector[vector != 0])
    if sizes.size and (sizes.max() > LARGEST_WEIGHT or sizes.min() < 1 / LARGEST_WEIGHT):
        raise InputError(
            f"weights has numbers beyond {LARGEST_WEIGHT:g} or below {1 / LARGEST_WEIGHT:g}; "
            "divide all by one of them: the test stays the same."
        )
    if not vector.any():
        raise InputError("weights are all 0, which asks nothing; give at least one pair a weight.")
    return vector
