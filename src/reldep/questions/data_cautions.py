"""Cautions about data: rows that are copies or alike, few clusters, ties, jumping medians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.data.dataset import SMALL_SAMPLE
from reldep.data.inspection import n_distinct
from reldep.data.variables import Labels, Mixed, Numeric
from reldep.exceptions import (
    BandwidthWarning,
    DependentRowsWarning,
    SmallSampleWarning,
)
from reldep.kernels.radial import FittedRadial
from reldep.kernels.scales.median import MedianDistance
from reldep.words import number, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reldep.data.dataset import AlignedData
    from reldep.data.variables import FloatArray, IntArray, Variable
    from reldep.kernels import FittedKernel
    from reldep.stats.dependences import Dependences

# Rows next to each other are alike if both variables of a pair have a correlation of neighbours
# beyond this, so many deviations from 0.
ALIKE, ALIKE_DEVIATIONS = 0.2, 2.5
# It harms where what is tested has such neighbours too; one deviation leaves out most files that
# are only sorted.
HARM_DEVIATIONS = 1.0
# Where the data are no columns, what is tested decides alone.
ALIKE_INFLUENCE, INFLUENCE_DEVIATIONS = 0.2, 3.5
# In a file sorted by a variable of the question neighbours are alike anyway. There the logarithm
# of the ratio of roughness at two steps and at one must be so many of its deviations from 0.
ROUGHNESS_DEVIATION, ROUGHNESS_DEVIATIONS = 2.2, 2.0
# Neighbours are looked at among so many rows, and so many columns of each variable.
MOST_ROWS, MOST_COLUMNS = 20_000, 20

# Rows are called copies if at most this share of them is different, and there are more different
# ones than a scale of answers has.
MOST_DISTINCT, FEWEST_COPIED = 0.9, 10

# A series that is worth fewer independent rows than this, as estimated, has blocks that are alike.
# Chosen on autoregressions of 50 to 200 rows, by where the level at 5% goes beyond .075.
FEW_ROWS_IN_TIME = 25

# Below this many clusters a t law with G - 1 degrees of freedom is only approximately right.
FEW_CLUSTERS = 40

# A median distance jumps if the share of distances on one side of it is so few standard errors
# from 1/2; looked for where there are at most so many different values.
JUMP_DEVIATIONS, MOST_LEVELS = 1.5, 500


def cautions_about_rows(
    dataset: AlignedData,
) -> tuple[DependentRowsWarning | SmallSampleWarning, ...]:
    """Look for rows that are copies of each other, and for few clusters."""
    return (*_copies(dataset), *_few_clusters(dataset))


@dataclass(frozen=True)
class Neighbours:
    """How alike rows next to each other are.

    Attributes
    ----------
    correlation : float or None
        Of neighbours, in both variables of some pair; None where the data are no columns.
    suspicious : bool
        Whether that is more than chance and more than a sorted file explains.
    in_time : bool
        Whether a date or a year says that the rows are a series.
    """

    correlation: float | None
    suspicious: bool
    in_time: bool = False

    @classmethod
    def of(cls, dataset: AlignedData, found: Dependences) -> Neighbours | None:
        """Compare rows next to each other, unless the question says that they may be alike."""
        n = len(dataset)
        in_time = dataset.rows.time is not None and dataset.rows.time.is_series
        if found.rows.any or (n < SMALL_SAMPLE and not in_time):
            return None
        named = dict.fromkeys(name for pair in found.pairs for name in pair)
        known = {name: dataset.variables.get(name) for name in named}
        columns = {
            name: values
            for name, variable in known.items()
            if variable is not None and (values := ranked_columns(variable)) is not None
        }
        if len(columns) < len(named):
            return cls(None, True)
        of = {name: neighbour_correlation(values) for name, values in columns.items()}
        # A dependence is affected where both of its variables are.
        largest = max(min(of[x], of[y]) for x, y in found.pairs)
        beyond = largest > max(ALIKE, ALIKE_DEVIATIONS / np.sqrt(min(n, MOST_ROWS)))
        if in_time:
            # The rows are not merely sorted, and a short series shows little in its influence.
            return cls(largest, beyond, in_time=True)
        return cls(largest, beyond and not only_sorted(columns))

    def cautions(self, psi: FloatArray) -> Iterable[DependentRowsWarning]:
        """Caution if neighbours have a like influence on what is tested too.

        Parameters
        ----------
        psi : ndarray, shape (p, n)
            The influence of the rows, on the average of whose rows the caution rests.
        """
        if not self.suspicious:
            return
        harm, n = _mean_correlation(psi), psi.shape[1]
        bar = HARM_DEVIATIONS / np.sqrt(n)
        if self.in_time and self.correlation is not None:
            bar = -np.inf
        elif self.correlation is None:
            bar = max(ALIKE_INFLUENCE, INFLUENCE_DEVIATIONS / np.sqrt(n))
        if harm > bar:
            yield alike_in_words(harm if self.correlation is None else self.correlation)


def alike_in_words(correlation: float) -> DependentRowsWarning:
    """Caution that rows next to each other have this correlation."""
    return DependentRowsWarning(
        f"rows next to each other are alike (correlation {correlation:.2f}). If the rows are a "
        "series in time, or several belong to one subject, the p-value is too small. Say so by "
        "`max_lag='auto'` or `clusters`; if the file is only sorted, ignore this."
    )


def ranked_columns(variable: Variable) -> FloatArray | None:
    """Give the ranks of numbers and indicators of labels, centred; None for objects."""
    parts = variable.parts if isinstance(variable, Mixed) else (variable,)
    columns: list[FloatArray] = []
    for part in parts:
        if isinstance(part, Labels):
            codes = part.codes[:MOST_ROWS]
            columns += [(codes == code).astype(np.float64) for code in _frequent(codes)]
        elif isinstance(part, Numeric):
            columns += list(_ranks(part.values[:MOST_ROWS, :MOST_COLUMNS].T))
        else:
            return None
    table = np.array(columns[:MOST_COLUMNS])
    return np.asarray(table - table.mean(axis=1, keepdims=True))


def _frequent(codes: IntArray) -> IntArray:
    values, counts = np.unique(codes, return_counts=True)
    return values[np.argsort(-counts, kind="stable")[:MOST_COLUMNS]]


def _ranks(columns: FloatArray) -> FloatArray:
    """Give mid-ranks from 0 to 1 along each row, so that no outlier decides."""
    d, n = columns.shape
    order = np.argsort(columns, axis=1)
    at = np.arange(d)[:, None], order
    ordered = columns[at]
    tied = ordered[:, 1:] == ordered[:, :-1]
    found = np.empty((d, n))
    found[at] = (np.arange(n) + 0.5) / n
    for i in np.flatnonzero(tied.any(axis=1)).tolist():
        level = np.append(0, np.cumsum(~tied[i]))
        counts = np.bincount(level)
        found[i, order[i]] = ((np.cumsum(counts) - 0.5 * counts) / n)[level]
    return found


def neighbour_correlation(columns: FloatArray) -> float:
    """Give the correlation of neighbours over centred columns, shape (d, n); columns add up."""
    energy = float((columns * columns).sum())
    return float((columns[:, 1:] * columns[:, :-1]).sum()) / energy if energy > 0 else 0.0


def _mean_correlation(psi: FloatArray) -> float:
    found = lag_correlations(psi)
    return float(np.mean(found)) if len(found) else 0.0


def lag_correlations(psi: FloatArray) -> FloatArray:
    """Give the correlation of neighbours in every row that is not 0."""
    energy = np.einsum("ij,ij->i", psi, psi)
    products = np.einsum("ij,ij->i", psi[:, 1:], psi[:, :-1])
    return np.asarray(products[energy > 0] / energy[energy > 0])


def only_sorted(columns: dict[str, FloatArray]) -> bool:
    """Tell whether a variable of the question orders the rows and the others have no memory.

    Given the variable by which independent rows were sorted, the others wander smoothly with it
    and have independent noise. The second differences of noise are as large at one step as at
    two; those of a series with a memory are larger at two.
    """
    rest = [values for values in columns.values() if not is_in_order(values)]
    if len(rest) == len(columns):
        return False
    n = next(iter(columns.values())).shape[1]
    bar = ROUGHNESS_DEVIATIONS * ROUGHNESS_DEVIATION / np.sqrt(n)
    return all(log_roughness(values) <= bar for values in rest)


def is_in_order(columns: FloatArray) -> bool:
    """Tell whether the rows rise or fall with the only column, or are in blocks of equal rows."""
    changes = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    n_different = len(np.unique(columns, axis=1).T) if changes.mean() < 0.5 else np.inf
    if changes.sum() <= n_different - 1 < np.inf:
        return True
    steps = np.diff(columns[0])
    return len(columns) == 1 and bool((steps >= 0).all() or (steps <= 0).all())


def log_roughness(columns: FloatArray) -> float:
    """Give the logarithm of the roughness at two steps over that at one; 0 for noise."""
    middle = columns[:, 2:-2]
    one = middle - 0.5 * (columns[:, 1:-3] + columns[:, 3:-1])
    two = middle - 0.5 * (columns[:, :-4] + columns[:, 4:])
    at_one, at_two = float((one * one).sum()), float((two * two).sum())
    return float(np.log(at_two / at_one)) if at_one > 0 and at_two > 0 else 0.0


def _copies(dataset: AlignedData) -> Iterable[DependentRowsWarning]:
    """Notice rows that are copies of each other in every variable.

    Values that repeat by themselves, as on a scale of five, combine to many different rows. In
    copied rows they do not: there are hardly more different rows than different values of the
    most detailed variable.
    """
    n = len(dataset)
    if n < SMALL_SAMPLE or any(_is_detailed(v) for v in dataset.variables.values()):
        return
    codes = [_codes(variable) for variable in dataset.variables.values()]
    known = [code for code in codes if code is not None]
    if len(known) < len(codes):
        return
    most = max(np.count_nonzero(np.bincount(code)) for code in known)
    if not FEWEST_COPIED < most <= MOST_DISTINCT * n:
        return
    joint = np.zeros(n, dtype=np.int64)
    for code in known:
        _, joint = np.unique(joint * n + code, return_inverse=True)
    distinct = len(np.unique(joint))
    if distinct <= MOST_DISTINCT * n and distinct <= 1.05 * most:
        yield DependentRowsWarning(
            f"{n - distinct} of {n} rows are copies of others in every variable. Copies are not "
            "independent observations, and the p-value is too small. Drop them, or say which rows "
            "belong together by `clusters`."
        )


def _is_detailed(variable: Variable) -> bool:
    """Tell whether the first column alone has too many different values for copies."""
    if not isinstance(variable, Numeric):
        return False
    return n_distinct(variable.values[:, 0]) > MOST_DISTINCT * len(variable)


def _codes(variable: Variable) -> IntArray | None:
    """Give numbers to the different values of a variable; None for objects."""
    if isinstance(variable, Labels):
        return variable.codes
    if isinstance(variable, Numeric):
        codes = np.zeros(len(variable), dtype=np.int64)
        for column in variable.values.T[:MOST_COLUMNS]:
            _, inverse = np.unique(column, return_inverse=True)
            _, codes = np.unique(codes * len(codes) + inverse.reshape(-1), return_inverse=True)
        return codes
    return None


def _few_clusters(dataset: AlignedData) -> Iterable[SmallSampleWarning]:
    if dataset.clusters is None:
        return
    n_clusters = len(np.unique(dataset.clusters))
    if n_clusters < FEW_CLUSTERS:
        yield SmallSampleWarning(
            f"only {n_clusters} clusters: p-values and intervals are approximate below "
            f"{FEW_CLUSTERS}."
        )


def slow_series(dataset: AlignedData, found: Dependences) -> Iterable[SmallSampleWarning]:
    """Notice a series that is so slow that its blocks are not independent of each other."""
    if not found.rows.max_lag:
        return
    columns = {
        name: ranked_columns(dataset.variables[name])
        for name in dict.fromkeys(name for pair in found.pairs for name in pair)
        if name in dataset.variables
    }
    memory = {name: autocorrelations(some) for name, some in columns.items() if some is not None}
    worth = {
        (x, y): len(dataset) * independent_share(memory[x], memory[y])
        for x, y in found.pairs
        if x in memory and y in memory
    }
    pair = min(worth, key=lambda one: worth[one], default=None)
    if pair is not None and worth[pair] < FEW_ROWS_IN_TIME:
        yield SmallSampleWarning(
            f"{pair[0]} and {pair[1]} move so slowly that {len(dataset)} rows are worth about "
            f"{max(round(worth[pair]), 2)} independent ones; below {FEW_ROWS_IN_TIME} p-values of "
            "differences are too small and intervals too short. Observe a longer time, or ask "
            "about changes from one time to the next."
        )


def autocorrelations(columns: FloatArray) -> FloatArray:
    """Give the autocorrelations of centred columns, shape (d, n), from lag 1 to n/2."""
    n = columns.shape[1]
    spectrum = np.abs(np.fft.rfft(columns, 2 * n, axis=1)) ** 2
    products = np.fft.irfft(spectrum.sum(axis=0))[: n // 2 + 1]
    return np.asarray(products[1:] / products[0] if products[0] > 0 else 0.0 * products[1:])


def independent_share(one: FloatArray, two: FloatArray) -> float:
    """Give how much a row is worth where two series have these autocorrelations.

    The variance of a sum of products of two independent series is ``1 + 2 Σ r_k s_k`` times that
    of independent rows (Bartlett, 1935). Lags count until one of them is not positive.
    """
    positive = (one > 0) & (two > 0)
    stop = len(positive) if positive.all() else int(np.argmin(positive))
    return 1.0 / (1.0 + 2.0 * float(one[:stop] @ two[:stop]))


def in_pieces_order(found: Dependences, weights: FloatArray) -> Iterable[DependentRowsWarning]:
    """Notice rows next to each other that act alike, where the rows are not held."""
    if found.keeps_rows:
        return
    correlation = found.lag_correlation(weights)
    if correlation > max(ALIKE_INFLUENCE, INFLUENCE_DEVIATIONS / np.sqrt(found.n_observations)):
        yield DependentRowsWarning(
            f"rows next to each other act alike (correlation {correlation:.2f}). If the rows are a "
            "series in time, or several belong to one subject, the p-value is too small. Keep one "
            "row of each subject; if the files are only sorted, ignore this."
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
                "have another median, and no standard error allows for that. Leave out `kernel`, "
                "or give it the mean or the mid-median."
            )
            return
