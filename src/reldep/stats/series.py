"""Which rows depend on each other, and which of them drive an estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reldep.data.variables import FloatArray, IntArray
from reldep.engine.blocks import LAGS_IN_A_RUN
from reldep.engine.centred import Pair
from reldep.exceptions import InputError
from reldep.stats.units import FEWEST_ROWS

# Stretches of a series: more of them mean more power, fewer a better level under long memory
# (measured for 8 to 16 of them).
SHORT_SERIES, BLOCKS_OF_SHORT_SERIES, MOST_BLOCKS = 200, 8, 16
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


@dataclass(frozen=True, eq=False)
class RowDependence:
    """Which rows may depend on each other.

    Attributes
    ----------
    clusters : ndarray of int or None
        The number of each row's cluster.
    max_lag : int, "auto" or None
        How many steps apart rows in time order may depend on each other.
    second_clusters : ndarray of int or None
        A second clustering, crossed with the first.
    n_blocks : int or None
        The number of stretches that a series was cut into.
    memory : Memory or None
        What the variables of a series show of its memory, where they are known.
    """

    clusters: IntArray | None = None
    max_lag: int | str | None = None
    second_clusters: IntArray | None = None
    n_blocks: int | None = None
    memory: Memory | None = None

    @classmethod
    def of(
        cls, clusters: IntArray | None, second: IntArray | None, max_lag: int | str | None, n: int
    ) -> RowDependence:
        """Leave out clusterings with one row in every cluster, or nested in the other one."""
        shared = [
            codes
            for codes in (clusters, second)
            if codes is not None and len(np.unique(codes)) < len(codes)
        ]
        counts = [len(np.unique(codes)) for codes in shared]
        if len(shared) == 2 and len(np.unique(np.column_stack(shared), axis=0)) == max(counts):
            shared = [shared[int(np.argmin(counts))]]
        first, other = (*shared, None, None)[:2]
        found = cls(first, max_lag or None, other)
        if found.max_lag is None:
            return found
        return replace(found, n_blocks=int(found.codes(n)[0].max()) + 1)

    @property
    def any(self) -> bool:
        """Whether rows may depend on each other at all."""
        return self.clusters is not None or self.max_lag is not None

    @property
    def n_clusters(self) -> int | None:
        """The number of clusters."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    def codes(self, n: int) -> tuple[IntArray, ...]:
        """Return the unit of each of n rows: one array, or two for crossed clusterings."""
        if self.clusters is None:
            lag = self.max_lag
            return (stretches(n, None if lag is None or isinstance(lag, str) else int(lag)),)
        if self.second_clusters is None:
            return (self.clusters,)
        return self.clusters, self.second_clusters

    def in_words(self) -> str:
        """Return which rows may depend on each other; empty if none do."""
        if self.n_blocks is not None:
            return f"rows in time order, in {self.n_blocks} blocks"
        if self.second_clusters is not None:
            second = len(np.unique(self.second_clusters))
            return f"{self.n_clusters} clusters crossed with {second}"
        return "" if self.n_clusters is None else f"{self.n_clusters} clusters"


INDEPENDENT_ROWS = RowDependence()


def stretches(n: int, max_lag: int | None = None) -> IntArray:
    """Cut a series into contiguous stretches that stand for clusters.

    Parameters
    ----------
    n : int
        Number of rows, in time order.
    max_lag : int, optional
        How far the dependence reaches, L; stretches are then at least 3 (L + 1) rows long, and
        fewer than 6 such stretches are an error. By default there are 8 below 200 rows and 10 to
        16 beyond.

    Returns
    -------
    ndarray of int, shape (n,)
        The stretch of every row.
    """
    count = min(10 + (n - SHORT_SERIES) // 200, MOST_BLOCKS)
    if n < SHORT_SERIES:
        count = BLOCKS_OF_SHORT_SERIES
    if max_lag is not None:
        longest = n // (LAGS_IN_A_RUN * (max_lag + 1))
        if longest < FEWEST_ROWS:
            needed = FEWEST_ROWS * LAGS_IN_A_RUN * (max_lag + 1)
            most = n // (LAGS_IN_A_RUN * FEWEST_ROWS) - 1
            at_most = f"Pass at most `max_lag={most}`, or " if most > 0 else "Use "
            raise InputError(
                f"`max_lag={max_lag}` needs at least {needed} rows, and there are {n}. "
                f"{at_most}`max_lag='auto'`."
            )
        count = min(longest, MOST_BLOCKS)
    edges = np.linspace(0, n, count + 1).round().astype(np.int64)
    return np.repeat(np.arange(count), np.diff(edges))


def variance_shares(psi: FloatArray) -> FloatArray:
    """Return each observation's share of the variance of independent rows, ``psi_i² / Σ psi²``."""
    squares = psi**2
    total = squares.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(squares, total, out=np.zeros_like(squares), where=total > 0))


def largest_shares(psi: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the largest share of an observation in each row's variance, and which it is."""
    shares = variance_shares(psi)
    return shares.max(axis=1), np.argmax(shares, axis=1)


def most_influential(psi: FloatArray, k: int) -> IntArray:
    """Return the k observations with the largest influence in either direction, largest first."""
    return np.asarray(np.argsort(-np.abs(psi), kind="stable")[:k])


def leave_out(
    psi: FloatArray, left_out: IntArray, rows: RowDependence, order: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Follow an estimate, to first order, when observations are taken away one after another.

    With influence values ``psi`` the estimate without the first k observations of `left_out`, the
    set S, changes by ``-Σ_S psi_i / (m - k - r + 1)``, which for one row is exact for a U-statistic
    of order r (4 for an HSIC, 1 for a mean). Its variance is that of the influence values that
    stay, centred anew and summed over units.

    Returns
    -------
    change : ndarray, shape of `left_out`
        To be added to the estimate.
    ratio : ndarray
        The variance afterwards divided by the variance before.
    """
    m, k = len(psi), np.arange(1, len(left_out) + 1)
    taken = np.cumsum(psi[left_out])
    change = -taken / np.maximum(m - k - order + 1, 1)
    units = rows.codes(m) if rows.any else (np.arange(m),)
    before = max(_squares(psi, codes, left_out[:0], taken)[0] for codes in units)
    after = np.max([_squares(psi, codes, left_out, taken)[1:] for codes in units], axis=0)
    ratio = after / before if before > 0 else np.ones(len(k))
    return change, ratio * (m / (m - k)) ** 2


def _squares(psi: FloatArray, codes: IntArray, left_out: IntArray, taken: FloatArray) -> FloatArray:
    """Return the sum of squared sums over units, with all rows and after each that is left out.

    The others keep their units and are centred anew: each gets ``taken / (m - k)`` more.
    """
    sums, sizes = np.bincount(codes, weights=psi), np.bincount(codes).astype(np.float64)
    found = [float(sums @ sums)]
    squares, crossed, counts = found[0], float(sums @ sizes), float(sizes @ sizes)
    for k, row in enumerate(left_out.tolist()):
        unit, own = codes[row], float(psi[row])
        old, n = sums[unit], sizes[unit]
        squares += own * (own - 2.0 * old)
        crossed += own - old - own * n
        counts += 1.0 - 2.0 * n
        sums[unit], sizes[unit] = old - own, n - 1.0
        shift = taken[k] / (len(psi) - k - 1)
        found.append(squares + 2.0 * shift * crossed + shift**2 * counts)
    return np.array(found)
