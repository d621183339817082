"""Cautions about equal values: numbers that may be codes, medians that another sample lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.data.inspection import starts_of_levels
from reldep.exceptions import BandwidthWarning, Option, TiesWarning
from reldep.kernels.radial import FittedRadial
from reldep.kernels.scales.median import MedianDistance
from reldep.words import number, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reldep.data.variables import FloatArray
    from reldep.kernels import FittedKernel

# The share of pairs of observations with equal values that is reached by four equally frequent
# values, or by one value for half of the observations.
TIED_PAIRS = 0.25

# A median distance jumps if the share of distances on one side of it is so few standard errors
# from 1/2; looked for where there are at most so many different values.
JUMP_DEVIATIONS, MOST_LEVELS = 1.5, 500


def ties(name: str, values: FloatArray) -> Iterable[TiesWarning]:
    """Caution about numbers with many equal values, which may be codes of categories."""
    share, n_distinct = tied_pairs(values)
    # Two values are two categories whichever kernel reads them.
    if share > TIED_PAIRS and n_distinct > 2:
        yield TiesWarning(
            f"{name}: {percent(round(share, 2))} of all pairs of observations have equal values "
            f"({n_distinct} different ones).",
            ["If the numbers are codes of categories pass ", Option("kernel", "delta"), " for it."],
        )


def jumping_median(
    name: str, values: FloatArray, kernel: FittedKernel
) -> Iterable[BandwidthWarning]:
    """Notice a median distance that another sample of the same law would not have.

    Distances of whole numbers are whole numbers. Where the share of distances below the median,
    or up to it, is near 1/2, the median jumps to its neighbour from sample to sample, and that
    noise is in no standard error.
    """
    scale = kernel.scale if isinstance(kernel, FittedRadial) else None
    if not isinstance(scale, MedianDistance) or scale.has_ties or values.shape[1] != 1:
        return
    levels, counts = np.unique(values, return_counts=True)
    if len(levels) > min(len(values) / 2, MOST_LEVELS):
        return
    n = len(values)
    distances = np.abs(levels[:, None] - levels[None, :])
    # Of the other rows, how many are nearer than the median, or as near.
    nearer = (distances < scale.value * (1 - 1e-9)) @ counts - 1.0
    as_near = (distances < scale.value * (1 + 1e-9)) @ counts - 1.0
    for shares in (nearer / (n - 1), as_near / (n - 1)):
        mean = float(shares @ counts) / n
        error = 2.0 * np.sqrt(float((shares - mean) ** 2 @ counts)) / n
        if abs(mean - 0.5) < JUMP_DEVIATIONS * error:
            yield BandwidthWarning(
                f"{name}: the median distance is {number(scale.value)} by a narrow margin, with "
                f"{percent(round(mean, 2))} of the distances on one side. Another sample may well "
                "have another median, and no standard error allows for that.",
                ["Leave out ", Option("kernel"), ", or give it the mean or the mid-median."],
            )
            return


def tied_pairs(values: FloatArray) -> tuple[float, int]:
    """Give the share of pairs of rows that are equal, and how many different rows there are.

    Columns are added one at a time until ties are too few to matter, so that wide tables cost
    no more than narrow ones.
    """
    n = len(values)
    sizes = np.diff(starts_of_levels(values[:, 0]), append=n)
    share = float((sizes * (sizes - 1.0)).sum() / (n * (n - 1.0)))
    if share <= TIED_PAIRS or values.shape[1] == 1:
        return share, len(sizes)
    codes = np.zeros(n, dtype=np.int64)
    for column in values.T:
        _, inverse = np.unique(column, return_inverse=True)
        _, codes, sizes = np.unique(
            codes * n + inverse.reshape(-1), return_inverse=True, return_counts=True
        )
        share = float((sizes * (sizes - 1.0)).sum() / (n * (n - 1.0)))
        if share <= TIED_PAIRS:
            break
    return share, len(sizes)
