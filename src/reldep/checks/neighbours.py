"""Are adjacent rows correlated, beyond what a sorted file explains?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.data.variables import Labels, Mixed, Numeric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import FloatArray, IntArray, Variable

# Rows and columns of each variable that are looked at; more change nothing but the time it takes.
MOST_ROWS, MOST_COLUMNS = 20_000, 20

# Deviation of the logarithm of the ratio of roughness at two steps and at one, times √n, and how
# many of them are more than chance; the deviation was found on independent rows, by simulation.
ROUGHNESS_DEVIATION, ROUGHNESS_DEVIATIONS = 2.2, 2.0


def ranked_columns(variable: Variable) -> FloatArray | None:
    """Return the centred ranks of numbers and indicators of labels, by column; None for objects."""
    columns: list[FloatArray] = []
    for part in variable.parts if isinstance(variable, Mixed) else (variable,):
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
    """Return mid-ranks from 0 to 1 along each row, so that no outlier decides."""
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


def correlation(columns: FloatArray) -> float:
    """Return the correlation of adjacent rows over centred columns, shape (d, n)."""
    energy = float((columns * columns).sum())
    return float((columns[:, 1:] * columns[:, :-1]).sum()) / energy if energy > 0 else 0.0


def lag_correlations(psi: FloatArray) -> FloatArray:
    """Return the correlation of adjacent rows in every row of `psi` that is not 0."""
    energy = np.einsum("ij,ij->i", psi, psi)
    products = np.einsum("ij,ij->i", psi[:, 1:], psi[:, :-1])
    return np.asarray(products[energy > 0] / energy[energy > 0])


def only_sorted(columns: Mapping[str, FloatArray]) -> bool:
    """Return True if a variable of the question orders the rows and the others have no memory.

    Given the variable by which independent rows were sorted, the others wander smoothly with it
    and have independent noise. The second differences of noise are as large at one step as at
    two; those of a series with a memory are larger at two.
    """
    rest = [values for values in columns.values() if not _is_in_order(values)]
    if len(rest) == len(columns):
        return False
    n = next(iter(columns.values())).shape[1]
    bar = ROUGHNESS_DEVIATIONS * ROUGHNESS_DEVIATION / np.sqrt(n)
    return all(_log_roughness(values) <= bar for values in rest)


def _is_in_order(columns: FloatArray) -> bool:
    """Return True if the only column rises or falls, or equal rows stand together."""
    changes = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    n_different = len(np.unique(columns, axis=1).T) if changes.mean() < 0.5 else np.inf
    if changes.sum() <= n_different - 1 < np.inf:
        return True
    steps = np.diff(columns[0])
    return len(columns) == 1 and bool((steps >= 0).all() or (steps <= 0).all())


def _log_roughness(columns: FloatArray) -> float:
    """Return the logarithm of the roughness at two steps over that at one; 0 for noise."""
    middle = columns[:, 2:-2]
    one = middle - 0.5 * (columns[:, 1:-3] + columns[:, 3:-1])
    two = middle - 0.5 * (columns[:, :-4] + columns[:, 4:])
    at_one, at_two = float((one * one).sum()), float((two * two).sum())
    return float(np.log(at_two / at_one)) if at_one > 0 and at_two > 0 else 0.0


def independent_share(first: FloatArray, second: FloatArray) -> float:
    """Return how many independent rows a row of two series is worth.

    The variance of a sum of products of two independent series is ``1 + 2 Σ r_k s_k`` times that
    of independent rows (Bartlett, 1935). Lags count until one of them is not positive.
    """
    one, two = _autocorrelations(first), _autocorrelations(second)
    positive = (one > 0) & (two > 0)
    stop = len(positive) if positive.all() else int(np.argmin(positive))
    return 1.0 / (1.0 + 2.0 * float(one[:stop] @ two[:stop]))


def _autocorrelations(columns: FloatArray) -> FloatArray:
    """Return the autocorrelations of centred columns, shape (d, n), from lag 1 to n/2."""
    n = columns.shape[1]
    spectrum = np.abs(np.fft.rfft(columns, 2 * n, axis=1)) ** 2
    products = np.fft.irfft(spectrum.sum(axis=0))[: n // 2 + 1]
    return np.asarray(products[1:] / products[0] if products[0] > 0 else 0.0 * products[1:])
