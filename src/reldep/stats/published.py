"""The rest of the paper: the finite-sample bound and the efficiency of joint over split."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from reldep.exceptions import InputError

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray

# The constant of Hoeffding's inequality for U-statistics in the paper's Theorem 3, there
# called α; it has nothing to do with the level of a test.
ALPHA_SQUARED = 0.24


def finite_sample_bound(n: int, delta: float = 0.05, *, constant: float = 0.0) -> float:
    """Bound the error of a difference of two HSICs, without any approximation.

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
        raise InputError(f"`n={n!r}`; pass the number of observations, at least 1.")
    if not 0 < delta < 1:
        way_out = "pass a number strictly between 0 and 1."
        raise InputError(f"`delta={delta!r}`; {way_out}")
    if not 0 <= constant <= sys.float_info.max:
        raise InputError(f"`constant={constant!r}`; pass a number of at least 0.")
    return 2.0 * (math.sqrt((math.log(6.0) - math.log(delta)) / (ALPHA_SQUARED * n)) + constant / n)


def relative_efficiency(covariance: FloatArray) -> float:
    """Give how many times more observations the split test needs than the joint one.

    ``2 (σ²_xy + σ²_xz) / (σ²_xy + σ²_xz - 2 σ_xyxz)``: the split test gives each half of the
    observations to one pair and loses their covariance.
    """
    separate = float(covariance[0, 0] + covariance[1, 1])
    return 2.0 * separate / (separate - 2.0 * float(covariance[0, 1]))
