"""Linear contrasts of dependences, and the paper's Algorithm 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.exceptions import InputError

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray


def rotation(weights: Any) -> FloatArray:
    """Build the rotation Q that turns a vector of weights onto the first axis.

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


def check_weights(weights: Any) -> FloatArray:
    """Refuse weights that are not a vector of finite numbers or are all 0."""
    try:
        vector = np.asarray(weights, dtype=np.float64)
    except OverflowError:
        raise InputError("weights has a number beyond 1.8e308; pass smaller ones.") from None
    if vector.ndim != 1 or not len(vector):
        raise InputError(f"weights has shape {vector.shape}; pass one number per pair.")
    if not np.isfinite(vector).all():
        raise InputError("weights has NaN or infinite values; pass finite numbers.")
    if not vector.any():
        raise InputError("weights are all 0, which asks nothing; give at least one pair a weight.")
    return vector
