"""The options that all questions share, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import MEASURES, MISSING, VARIANCES, check_choice
from reldep.exceptions import InputError
from reldep.files.options import codes_for_missing

if TYPE_CHECKING:
    from reldep.data.rows import TimeOrder

# The engines that residuals given covariates have.
ENGINES_GIVEN = ("auto", "dense")


@dataclass(frozen=True, eq=False, kw_only=True)
class Settings:
    """What a question says besides its data.

    Attributes
    ----------
    measure, kernel, standardize, variance, clusters, max_lag, missing, na, engine, rng, ids, given
        As for :func:`reldep.compare`.
    """

    measure: str = "cka"
    kernel: Any = "auto"
    standardize: bool = False
    variance: str = "jackknife"
    clusters: Any = None
    max_lag: int | str | None = None
    missing: str = "raise"
    na: Any = ()
    engine: Any = "auto"
    rng: Any = None
    ids: Any = None
    given: Any = None

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, MEASURES)
        check_choice("variance", self.variance, VARIANCES)
        check_choice("missing", self.missing, MISSING)
        object.__setattr__(self, "na", codes_for_missing(self.na))
        if self.clusters is not None and self.max_lag is not None:
            raise InputError(
                "`clusters` and `max_lag` are both given; rows depend on each other within "
                "clusters or over time: leave one of them out."
            )
        given = "clusters" if self.clusters is not None else "max_lag"
        if self.variance != "jackknife" and getattr(self, given) is not None:
            raise InputError(
                f"`variance={self.variance!r}` takes the rows to be independent and cannot be "
                f"combined with `{given}`; use `variance='jackknife'`, which follows such rows."
            )

        if self.given is not None:
            self._check_given()

    def _check_given(self) -> None:
        """Refuse what cannot be had given covariates."""
        for name in ("clusters", "max_lag"):
            if getattr(self, name) is not None:
                raise InputError(
                    "`given` takes the rows to be independent and cannot be combined with "
                    f"`{name}`; leave one of them out, or keep one row of each cluster."
                )
        if not (isinstance(self.engine, str) and self.engine in ENGINES_GIVEN):
            raise InputError(
                f"`engine={self.engine!r}` cannot be combined with `given`, which has two ways of "
                "its own; use `engine='auto'`, or `engine='dense'` to hold whole matrices."
            )

    def generator(self) -> np.random.Generator:
        """Make the generator of all random steps; None is a fixed seed, so that answers repeat."""
        return np.random.default_rng(0 if self.rng is None else self.rng)

    def check_lag(self, n: int, time: TimeOrder | None = None) -> None:
        """Raise if a lag is not a whole number below n, or rows are not in the order of time."""
        lag = self.max_lag
        if lag is None:
            return
        if time is not None and not time.is_sorted:
            raise InputError(
                f"`max_lag={lag!r}` needs rows in the order of time, but {time.column!r} is not in "
                "order; sort the rows by it; if they are several series, ask about one of them."
            )
        if isinstance(lag, str) and lag == "auto":
            return
        if isinstance(lag, bool) or not isinstance(lag, (int, np.integer)) or not 0 <= lag < n:
            raise InputError(
                f"`max_lag={lag!r}` does not fit {n} observations; pass a whole number from 0 to "
                f'{n - 1}, or "auto".'
            )
