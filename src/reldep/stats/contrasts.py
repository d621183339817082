"""Linear contrasts of dependences: the paper's Algorithm 1, jackknife-t, and two halves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.exceptions import InputError
from reldep.stats.covariance import ROUNDING
from reldep.stats.differences import (
    TTest,
    degrees_of_freedom,
    difference_test,
    inside,
    scale_slopes,
)

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.stats.jackknife import Jackknife


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


def contrast_test(jackknife: Jackknife, weights: FloatArray) -> TTest:
    """Test whether a weighted sum of dependences is 0.

    Two weights that add up to 0 ask for a difference, which is tested as one
    (:func:`~reldep.stats.differences.difference_test`). For any other contrast w::

        V = max( w'S w - k w'C w,  w'C w )

    with S the jackknife covariance, C that of the second component and ``k = n/(n-4)``.
    """
    used = np.flatnonzero(weights)
    if len(used) == 2 and weights[used].sum() == 0:
        return _scaled(difference_test(jackknife, *used), float(weights[used[0]]))
    w = weights[used]
    deviations = w @ jackknife.deviations[used]
    n = jackknife.n
    whole = (n - 1) / n * float(deviations @ deviations)
    second = jackknife.second.between(used[:, None], used[None, :])
    part = float(w @ second @ w)
    variance = max(whole - jackknife.excess * part, part)
    if whole <= ROUNDING * float(w**2 @ jackknife.variances()[used]):
        variance = 0.0
    kurtosis = _kurtosis(deviations)
    if not jackknife.keeps_rows and whole > 0:
        fourth = float(jackknife.fourth_powers(weights[None])[0])
        kurtosis = np.array(n * fourth / float(deviations @ deviations) ** 2)
    df = degrees_of_freedom(kurtosis, n, jackknife.most_df)
    error = math.sqrt(variance)
    return TTest(float(w @ jackknife.values[used]), error, float(df), error)


def _scaled(test: TTest, factor: float) -> TTest:
    size = abs(factor)
    return TTest(
        factor * test.estimate, size * test.standard_error, test.df, size * test.error_here
    )


def _kurtosis(deviations: FloatArray) -> FloatArray:
    squares = deviations**2
    mean = float(squares.mean())
    return np.array(np.mean(squares**2) / mean**2 if mean > 0 else 3.0)


def split_test(first: Jackknife, second: Jackknife) -> TTest:
    """Test whether two dependences are equal that come from two independent sets of rows.

    Each is the only dependence of its jackknife. Variances add up; the degrees of freedom are
    Satterthwaite's for a sum of two variances.
    """
    sides = (first, second)
    bounded = first.bounded
    common = np.sqrt(first.scale * second.scale)
    t, s = (inside(side.values / common, side.n) for side in sides)
    slopes = scale_slopes(bounded, t, s)
    base = float(slopes.base_first[0]), float(slopes.base_second[0])
    root = float(slopes.root_first[0]), float(slopes.root_second[0])
    whole = [float(side.variances()[0]) for side in sides]
    part = [float(side.second_own()[0]) for side in sides]
    excess = [side.excess for side in sides]
    terms = list(zip(base, root, whole, part, excess, strict=True))
    second_plain = sum(part)
    by_base = sum(b * b * (v - k * c) for b, _, v, c, k in terms)
    by_root = sum(r * r * v - b * b * k * c / 2 for b, r, v, c, k in terms)
    here = sum(v - k * c for _, _, v, c, k in terms)
    own_df = [
        float(degrees_of_freedom(_kurtosis(side.deviations[0]), side.n, side.most_df))
        for side in sides
    ]
    parts = [b * b * v for b, _, v, _, _ in terms]
    spread = sum(v * v / df for v, df in zip(parts, own_df, strict=True))
    return TTest(
        float(first.values[0] - second.values[0]),
        math.sqrt(max(min(by_base, by_root), second_plain)),
        sum(parts) ** 2 / spread if spread > 0 else sum(own_df),
        math.sqrt(max(here, second_plain)),
    )
