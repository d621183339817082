"""The kernel for lifetimes that may be censored.

A patient who left the study after two years lived longer than two years. Treated as lifetimes of
two years, such times give confident wrong answers as soon as leaving depends on anything that is
measured. The *hazard* can be compared: who of those still under observation has the event next.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from reldep.arguments import check_positive
from reldep.data.lifetimes import Lifetime
from reldep.data.variables import BoolArray, FloatArray, Items, Numeric, Variable
from reldep.exceptions import InputError
from reldep.kernels.base import check_items
from reldep.kernels.mapped import MappedKernel
from reldep.words import counted

# Places on [0, 1] from which the Gaussian kernel in time is interpolated: to rounding for the
# default width, a quarter (tests/kernels/test_values.py).
GRID = np.linspace(0.0, 1.0, 80)


@dataclass(frozen=True)
class LogRank(MappedKernel):
    """The kernel for right-censored lifetimes, with which HSIC is a kernel log-rank statistic.

    Observation i becomes its *martingale*, events
    less expected events: ``φ_i = Σ_t l(t, ·) (dN_i(t) - Y_i(t) dΛ(t))``, with dN_i the event, Y_i
    whether i was at risk, dΛ the Nelson-Aalen hazard of all, and l a Gaussian kernel in time. The
    kernel is the dot product of martingales. Their mean given any other variable is 0 if the
    hazard does not depend on it, **also where censoring does**, as long as censoring and lifetime
    are independent given that variable. With a constant l this is the log-rank (Cox score)
    statistic; the Gaussian l sees hazards that cross as well.

    It is the default for :class:`~reldep.Survival`. It is not characteristic for the pair (time,
    event), on purpose: effects on censoring alone are not seen.

    Parameters
    ----------
    width : float, default 0.25
        The width of l on the scale of the share of events that have happened (1 minus the
        Kaplan-Meier curve), from 0 to 1. Large values come near the log-rank statistic.

    References
    ----------
    Fernández, Gretton, Rindt & Sejdinovic (2021), A kernel log-rank test of independence for
    right-censored data, Journal of the American Statistical Association.

    Examples
    --------
    >>> from reldep import Survival
    >>> from reldep.kernels import LogRank
    >>> LogRank(width=1e6)(Survival([1, 2, 3, 4], [1, 0, 1, 1])).round(2)
    array([[ 0.56, -0.19,  0.19, -0.56],
           [-0.19,  0.06, -0.06,  0.19],
           [ 0.19, -0.06,  0.06, -0.19],
           [-0.56,  0.19, -0.19,  0.56]])
    """

    width: float = 0.25

    accepts = (Items,)

    def __post_init__(self) -> None:
        check_positive("width", self.width)

    def title_for(self, variable: Variable) -> str:
        _, events = _lifetimes(variable)
        return f"{self.title}, {counted(int(events.sum()), 'event')} in {len(events)}"

    def rows(self, variable: Variable) -> Numeric:
        return self.rows_between(variable, variable)[0]

    def rows_between(self, first: Variable, second: Variable) -> tuple[Numeric, Numeric]:
        hazard = Hazard.of(*_lifetimes(first))
        features = _gaussian(hazard.share, self.width) @ _basis(self.width)
        # Expected events of an observation that stayed until just after each time of an event.
        expected = np.vstack([np.zeros(features.shape[1]), features * hazard.jumps[:, None]])
        expected = np.cumsum(expected, axis=0)

        def martingales(variable: Variable) -> Numeric:
            times, events = _lifetimes(variable)
            last = np.searchsorted(hazard.times, times, side="right")
            rows = -expected[last]
            rows[events] += features[np.maximum(last[events] - 1, 0)]
            return Numeric(variable.name, rows)

        return martingales(first), martingales(second)


@dataclass(frozen=True, eq=False)
class Hazard:
    """The Nelson-Aalen hazard: at each time of an event, the share of those at risk that had it.

    Attributes
    ----------
    times : ndarray
        The different times of events, in ascending order.
    jumps : ndarray
        Events divided by the number at risk.
    share : ndarray
        1 minus the Kaplan-Meier curve, halfway through each jump.
    """

    times: FloatArray
    jumps: FloatArray
    share: FloatArray

    @classmethod
    def of(cls, times: FloatArray, events: BoolArray) -> Hazard:
        """Return the estimate from lifetimes; a time censored at an event is still at risk."""
        at, n_events = np.unique(times[events], return_counts=True)
        n_at_risk = len(times) - np.searchsorted(np.sort(times), at, side="left")
        jumps = n_events / n_at_risk
        alive = np.concatenate([[1.0], np.cumprod(1.0 - jumps)])
        return cls(at, jumps, 1.0 - 0.5 * (alive[:-1] + alive[1:]))


@cache
def _basis(width: float) -> FloatArray:
    """Return B with ``Φ = K B`` and ``ΦΦ' = exp(-(u - v)² / (2 width²))`` for u, v from 0 to 1.

    K is the kernel between places and `GRID`.
    """
    eigenvalues, vectors = np.linalg.eigh(_gaussian(GRID, width))
    # Without those that are rounding, the values are exact to about 1e-12.
    kept = eigenvalues > 1e-13 * eigenvalues[-1]
    basis: FloatArray = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    return basis


def _gaussian(places: FloatArray, width: float) -> FloatArray:
    return np.exp(-0.5 * np.square((places[:, None] - GRID) / width))


def _lifetimes(variable: Variable) -> tuple[FloatArray, BoolArray]:
    items = variable.items  # type: ignore[attr-defined]
    check_items(variable, (Lifetime,), "LogRank", "lifetimes as in Survival(time, event)")
    times = np.array([item.time for item in items])
    events = np.array([item.event for item in items])
    if not events.any():
        raise InputError(
            f"{variable.name} has no events: all {len(times)} times are censored. Check the coding "
            "of event; 1 or True marks an event."
        )
    return times, events
