"""The cautions that ``reldep`` attaches to a result and raises as Python warnings.

Wrong input raises :class:`ValueError` or :class:`TypeError`, as everywhere in
scientific Python; only statistical cautions have classes of their own, so that
each kind can be filtered with :func:`warnings.filterwarnings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class ReldepWarning(UserWarning):
    """A statistical caution: the answer stands, but read this with it."""


class SmallSampleWarning(ReldepWarning):
    """Few observations: the normal approximation may be rough."""


class BandwidthWarning(ReldepWarning):
    """The bandwidth could not be chosen by the plain rule."""


class DroppedRowsWarning(ReldepWarning):
    """Incomplete rows were left out, as ``missing="drop"`` asks."""


class ApproximationWarning(ReldepWarning):
    """The kernels were approximated, as the engine asked for does.

    Attributes
    ----------
    relative_errors : dict of (str, str) to float
        By pair: how far the approximate HSIC lies from the exact one, as a share of the exact
        one, on a subsample of the observations.
    """

    def __init__(
        self, message: str, relative_errors: Mapping[tuple[str, str], float] | None = None
    ) -> None:
        super().__init__(message)
        self.relative_errors = dict(relative_errors or {})


class IndependenceWarning(ReldepWarning):
    """There is no evidence that the two variables of a pair depend on each other at all."""


class DegenerateWarning(ReldepWarning):
    """The estimated variance is mostly of second order: the p-value is conservative."""


class InfluentialObservationWarning(ReldepWarning):
    """One observation carries a large share of the variance."""


class TiesWarning(ReldepWarning):
    """A numeric variable takes few values or one of them very often."""


class SignFlipWarning(ReldepWarning):
    """The answer changes sign with the bandwidth of the kernels."""
