"""How slowly series move, and their seasons: how many independent rows they are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reldep.data.variables import FloatArray
from reldep.engine.centred import Pair

# Rows in a year, a quarter's months or weeks, a week or a day, as series are usually sampled.
CALENDAR = (4, 5, 7, 12, 13, 24, 52, 365)


@dataclass(frozen=True)
class Memory:
    """How slowly the two variables of a pair move, and whether they have a season in common.

    Attributes
    ----------
    pair : Pair
        The slowest pair of those asked about.
    worth : float
        How many independent rows its rows are worth.
    seasonal : Pair or None
        A pair whose variables have the same season.
    season : int
        Its length in rows; 0 where there is none.
    """

    pair: Pair
    worth: float
    seasonal: Pair | None = None
    season: int = 0

    @property
    def most_df(self) -> float:
        """The degrees of freedom: as of blocks of two independent rows, at least 1.

        Half of `worth` was chosen on autoregressions of 80 and 200 rows, among a half, a third
        and a quarter (docs/calibration.md).
        """
        return max(self.worth / 2.0 - 1.0, 1.0)

    @classmethod
    def of(cls, columns: Mapping[str, FloatArray], pairs: Sequence[Pair], n: int) -> Memory | None:
        """Return the memory of the slowest of these pairs; None if no pair has columns.

        Parameters
        ----------
        columns : mapping of str to ndarray, shape (d, n)
            Centred ranks or indicators in the order of time, of the variables that have them.
        pairs : sequence of Pair
        n : int
            The number of rows, of which the columns may be the first.
        """
        known = [pair for pair in pairs if pair[0] in columns and pair[1] in columns]
        if not known:
            return None
        used = {name: columns[name] for pair in known for name in pair}
        seasons = {name: season_of(values) for name, values in used.items()}
        decays = {name: _decay(_without(values, seasons[name])) for name, values in used.items()}
        worth = []
        for x, y in known:
            # The variance of a sum of products of two independent series is 1 + 2 Σ r_k s_k times
            # that of independent rows (Bartlett, 1935); here r_k = c ρ^k.
            (c, rho), (d, sigma) = decays[x], decays[y]
            worth.append(n / (1.0 + 2.0 * c * d * rho * sigma / (1.0 - rho * sigma)))
        slowest = int(np.argmin(worth))
        both = [pair for pair in known if 0 < seasons[pair[0]] == seasons[pair[1]]]
        found = cls(known[slowest], worth[slowest])
        return replace(found, seasonal=both[0], season=seasons[both[0][0]]) if both else found


def season_of(columns: FloatArray, level: float = 1e-4) -> int:
    """Return the calendar period at which columns have a wave; 0 if none is beyond chance.

    A test of the first harmonic by F, after the correlation of adjacent rows is taken off.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
        Centred.
    level : float, default 1e-4
        Of each of the eight periods: about 1 in 1,000 series without a season has one.
    """
    n = columns.shape[1]
    noise = columns[:, 1:] - _autocorrelations(columns)[1] * columns[:, :-1]
    noise = noise - noise.mean(axis=1, keepdims=True)
    total, found = float(np.sum(noise**2)), (level, 0)
    for period in CALENDAR:
        if n < 4 * period or not total > 0:
            continue
        angle = 2.0 * np.pi * np.arange(1, n) / period
        wave = np.linalg.qr(np.column_stack([np.ones(n - 1), np.cos(angle), np.sin(angle)]))[0]
        share = min(float(np.sum((noise @ wave[:, 1:]) ** 2)) / total, 1.0)
        found = min(found, ((1.0 - share) ** ((n - 4) / 2), period))
    return found[1]


def _without(columns: FloatArray, season: int) -> FloatArray:
    """Return columns less their means at each place of the season."""
    if not season:
        return columns
    place = np.arange(columns.shape[1]) % season
    means = np.array([np.bincount(place, weights=row) for row in columns]) / np.bincount(place)
    return np.asarray(columns - means[:, place])


def _decay(columns: FloatArray) -> tuple[float, float]:
    """Return c and ρ of autocorrelations ``c ρ^k``: a slow part with noise of its own.

    The mean of a slow series is uncertain, which makes its autocorrelations too small; what the
    mean takes away is added again until nothing changes.
    """
    n = columns.shape[1]
    observed, lags, lost = _autocorrelations(columns)[1:4], np.arange(1, n), 0.0
    c = rho = 0.0
    for _ in range(12):
        one, two, three = observed * (1.0 - lost) + lost
        if one <= 1.0 / np.sqrt(n):
            return 0.0, 0.0
        # A random walk of n rows cannot be told from ρ = 1 - 1/n.
        rho = float(np.clip((two + three) / (one + two), 0.05, max(0.99, 1.0 - 1.0 / n)))
        c = min(one / rho, 1.0)
        lost = min((1.0 + 2.0 * float(np.sum((1.0 - lags / n) * c * rho**lags))) / n, 0.9)
    return c, rho


def _autocorrelations(columns: FloatArray) -> FloatArray:
    """Return the autocorrelations of centred columns, shape (d, n), from lag 0 on."""
    n = columns.shape[1]
    spectrum = np.abs(np.fft.rfft(columns, 2 * n, axis=1)) ** 2
    products = np.fft.irfft(spectrum.sum(axis=0))[:n] * n / (n - np.arange(n))
    return np.asarray(products / products[0] if products[0] > 0 else 0.0 * products)
