"""The low-rank engine: near-linear time, exact to rounding, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from math import log2, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.engine.near_linear.certificate import Certificate, root_residuals
from reldep.engine.near_linear.feature_rows import exact_map, row_shape
from reldep.engine.near_linear.features import joined, split_wanted
from reldep.engine.near_linear.lines import Line, LinePasses, kind_of
from reldep.engine.near_linear.pivots import LowRankMap, RankTooHighError, low_rank_map, probed_rank
from reldep.engine.sweeps.tiled import COMPILED_START, Tiled
from reldep.engine.terms import Cost, conditional_means
from reldep.engine.threads import RUN_BYTES, progress_bar
from reldep.exceptions import InputError
from reldep.system import available_cores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.engine.near_linear.feature_passes import FinishedRows
    from reldep.engine.near_linear.feature_rows import FeatureMap
    from reldep.engine.terms import Terms, Wanted
    from reldep.engine.threads import OnProgress
    from reldep.kernels.base import FittedKernel

# Features of all rows are kept for both passes as long as they fit into so much.
KEPT_BYTES = 160_000_000

# What the certificate must show for every HSIC, as shares of its standard error: how far off the
# estimate and the standard error may be.
ESTIMATE_ERROR = 1e-5
STANDARD_ERROR_ERROR = 1e-6

# If it does not, the tolerance is lowered once by this factor, but not below the least.
TIGHTENED = 100.0
LEAST_TOLERANCE = 1e-13

# Sparse features crossed with a line are made dense; more columns than this are left to tiles.
WIDEST_SPARSE = 2_000

# Kernels whose features are worked on together; more would leave too few rows to a run.
KERNELS_AT_A_TIME = 16

# Of many kernels so many are probed.
PROBED_KERNELS = 12

# Nanoseconds on one core for a row: for each kernel, for each of its features, and for each
# multiplication and addition; seconds for a pilot, times the squared rank; nanoseconds for a row
# of a line, and for a row and a halving in sums of products along lines.
ROW_VALUE, FEATURE_VALUE, STEP = 300.0, 8.0, 0.05
PILOT_STEP = 2e-6
LINE_VALUE, LINE_STEP = 100.0, 20.0

# Numbers that are held for a row of a line, and by each thread that multiplies two.
LINE_NUMBERS, PRODUCT_NUMBERS = 4, 11


@dataclass(frozen=True)
class LowRank:
    """Work with few features that stand for smooth kernels to rounding error.

    Gaussian kernels on few columns, and bounded kernels on few distinct rows, get as many
    features as they need; kernels with explicit features use these; Laplace and distance kernels
    of one column are summed along the sorted values. What the features leave out is bounded for
    every estimate and standard error. Where the bound is not met, or too many features would be
    needed, the tiled engine takes over.

    Parameters
    ----------
    tolerance : float, default 1e-10
        How much of the diagonal of a kernel the features may leave out.
    most_features : int, default 2_500
        A kernel that needs more is left to the tiled engine.
    rng : int, default 0
        Seed of the rows among which the first pivots are chosen. Another seed changes digits
        beyond those that are certified.
    on_progress : callable, optional
        Called with the number of steps done and their total, in place of the progress bar.

    Examples
    --------
    >>> import numpy as np, reldep
    >>> from reldep.engine import LowRank
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=3_000)
    >>> y, z = x + rng.normal(size=3_000), x + 2 * rng.normal(size=3_000)
    >>> bool(reldep.compare(x, y, z, engine=LowRank()).pvalue < 0.05)
    True
    """

    tolerance: float = 1e-10
    most_features: int = 2_500
    rng: int = 0
    on_progress: OnProgress | None = field(default=None, compare=False)

    name: ClassVar[str] = "lowrank"

    def __post_init__(self) -> None:
        if not LEAST_TOLERANCE <= self.tolerance <= 1e-4:
            raise InputError(
                f"`tolerance={self.tolerance!r}`; pass a number from {LEAST_TOLERANCE} to 1e-4."
            )
        for argument, least in (("most_features", 1), ("rng", 0)):
            value = getattr(self, argument)
            is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not is_whole or value < least:
                raise InputError(f"`{argument}={value!r}`; pass a whole number, at least {least}.")

    def terms(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Terms:
        """Produce what is wanted from the fitted kernels."""
        lines, maps = self.represented({name: kernels[name] for name in wanted.names()})
        near, far = split_wanted(wanted, {**lines, **maps})
        parts = []
        if near.names():
            names = near.names()
            lines = {name: line for name, line in lines.items() if name in names}
            maps = {name: found for name, found in maps.items() if name in names}
            parts.append(self._near_terms(kernels, near, lines, maps))
        if far.names():
            tiles = Tiled(on_progress=self.on_progress).terms(kernels, far)
            parts.append(replace(tiles, engine="tiled"))
        return parts[0] if len(parts) == 1 else joined(*parts)

    def represented(
        self, kernels: Mapping[str, FittedKernel]
    ) -> tuple[dict[str, Line], dict[str, FeatureMap]]:
        """Find lines and features for the kernels that have them."""
        lines: dict[str, Line] = {}
        maps: dict[str, FeatureMap] = {}
        room = KEPT_BYTES
        has_lines = any(kind_of(kernel) is not None for kernel in kernels.values())
        for name, kernel in kernels.items():
            line = Line.of(kernel)
            if line is not None:
                lines[name] = line
                continue
            found = exact_map(kernel)
            if found is not None and has_lines and found.width > WIDEST_SPARSE:
                continue
            if found is None:
                found = self._low_rank(kernel, room)
            if isinstance(found, LowRankMap) and found.kept is not None:
                room -= found.kept.nbytes
            if found is not None:
                maps[name] = found
        return lines, maps

    def _low_rank(self, kernel: FittedKernel, room: float) -> LowRankMap | None:
        try:
            return low_rank_map(kernel, self.tolerance, self.most_features, self.rng, room)
        except RankTooHighError:
            return None

    def _near_terms(
        self,
        kernels: Mapping[str, FittedKernel],
        wanted: Wanted,
        lines: Mapping[str, Line],
        maps: Mapping[str, FeatureMap],
    ) -> Terms:
        """Sum along lines and over features; take smaller remainders or tiles if it must be."""
        found = []
        with progress_bar("features", self.on_progress) as on_progress:
            for batch in wanted.batches(KERNELS_AT_A_TIME):
                some_lines = {name: lines[name] for name in batch.names() if name in lines}
                some_maps = {name: maps[name] for name in batch.names() if name in maps}
                passes = LinePasses(some_lines, some_maps, batch, on_progress)
                terms, rows = passes.finished()
                certificate = _certificate(some_lines, some_maps, rows)
                if certificate is None or not _is_good(certificate, terms, batch):
                    break
                found.append(replace(terms, certificate=certificate))
            else:
                terms = reduce(joined, found)
                engine = "lowrank" if maps else "sorted"
                is_exact = terms.certificate is None or not terms.certificate.roots
                return replace(
                    terms, engine=engine, certificate=None if is_exact else terms.certificate
                )
        tighter = self.tolerance / TIGHTENED
        if tighter >= LEAST_TOLERANCE:
            once_more = replace(self, tolerance=max(tighter, LEAST_TOLERANCE))
            return once_more.terms(kernels, wanted)
        return replace(Tiled(on_progress=self.on_progress).terms(kernels, wanted), engine="tiled")

    def cost(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Cost:
        """Estimate the job from ranks that are probed; what has none is left to tiles."""
        names = wanted.names()
        chosen = {name: kernels[name] for name in names}
        widths = known_widths(chosen)
        widths |= self.probed_widths(unknown_of(chosen, widths), self.most_features)
        near, far = split_wanted(wanted, widths)
        memory, seconds = 0, 0.0
        if far.names():
            tiles = Tiled().cost(kernels, far)
            memory, seconds = tiles.memory, tiles.seconds
        if near.names():
            found = self.cost_of(len(kernels[names[0]]), near, widths)
            memory, seconds = memory + found.memory, seconds + found.seconds
        return Cost(memory, seconds)

    def cost_of(self, n: int, wanted: Wanted, widths: Mapping[str, float]) -> Cost:
        """Estimate pilots, the pass that finds pivots, both passes over features, and lines."""
        names = wanted.names()
        ranks = {name: widths[name] for name in names}
        total = sum(ranks.values())
        n_lines = sum(rank == 0 for rank in ranks.values())
        row = LINE_VALUE * n_lines + ROW_VALUE * (len(names) - n_lines) + FEATURE_VALUE * total
        row += STEP * sum(3 * rank**2 for rank in ranks.values())
        for x, y in wanted.product_pairs():
            if not ranks[x] and not ranks[y]:
                row += LINE_STEP * log2(n) if x != y else LINE_VALUE
            elif not ranks[x] or not ranks[y]:
                row += 2 * FEATURE_VALUE * (ranks[x] + ranks[y])
            else:
                row += 2 * STEP * ranks[x] * ranks[y]
        pilots = PILOT_STEP * sum(rank**2 for rank in ranks.values())
        cores = available_cores()
        memory = 8 * n * (wanted.n_sums() + 2 * len(names))
        memory += 8 * n * (LINE_NUMBERS * n_lines + PRODUCT_NUMBERS * min(n_lines, cores))
        kept = 0.0
        for rank in ranks.values():
            kept += 8.0 * n * rank * (kept + 8.0 * n * rank <= KEPT_BYTES)
        memory += int(kept + 2 * min(cores * RUN_BYTES, 8 * n * total))
        memory += 16 * int(max(ranks.values()) ** 2)
        return Cost(memory, COMPILED_START + pilots + row * n * 1e-9 / cores)

    def break_even(self, n: int, wanted: Wanted, widths: Mapping[str, float], most: float) -> int:
        """Give the rank of all other kernels at which the job would take so many seconds.

        Parameters
        ----------
        n : int
            The number of observations.
        wanted : Wanted
        widths : mapping of str to float
            Of the kernels whose width is known.
        most : float
            Seconds.
        """
        rank, step = 0, self.most_features
        while step:
            tried = {name: widths.get(name, float(rank + step)) for name in wanted.names()}
            if self.cost_of(n, wanted, tried).seconds <= most:
                rank += step
            step //= 2
        return min(rank, self.most_features)

    def probed_widths(
        self, kernels: Mapping[str, FittedKernel], most: int, *, all_or_none: bool = False
    ) -> dict[str, float]:
        """Estimate how many features each kernel gets; none for one that would get more than most.

        Parameters
        ----------
        kernels : mapping of str to FittedKernel
        most : int
        all_or_none : bool, default False
            Whether to stop at the first kernel that gets none.
        """
        unknown = list(kernels)
        probed = unknown[:: max(1, -(-len(unknown) // PROBED_KERNELS))]
        ranks: dict[str, float | None] = {}
        for name in probed:
            ranks[name] = probed_rank(kernels[name], self.tolerance, self.rng, most)
            if all_or_none and ranks[name] is None:
                return {}
        largest = max((rank for rank in ranks.values() if rank is not None), default=None)
        expected = {name: ranks.get(name, largest) for name in unknown}
        return {name: rank for name, rank in expected.items() if rank is not None and rank <= most}


def known_widths(kernels: Mapping[str, FittedKernel]) -> dict[str, float]:
    """Give the number of features of kernels that need no probe; 0 for one along a line."""
    widths: dict[str, float] = {}
    for name, kernel in kernels.items():
        if kind_of(kernel) is not None:
            widths[name] = 0.0
        elif kernel.n_features is not None:
            shape = row_shape(kernel)
            widths[name] = 1.0 if shape is None else max(1.0, shape.entries)
    return widths


def unknown_of(
    kernels: Mapping[str, FittedKernel], widths: Mapping[str, float]
) -> dict[str, FittedKernel]:
    """Give the kernels of which no width is known."""
    return {name: kernel for name, kernel in kernels.items() if name not in widths}


def _certificate(
    lines: Mapping[str, Line], maps: Mapping[str, FeatureMap], rows: FinishedRows | None
) -> Certificate | None:
    """Bound what the features leave out; None where rounding has spoilt the remainder.

    Uses up the norms of the rows.
    """
    roots, ranks = {}, {}
    spreads = {name: line.spread for name, line in lines.items()}
    for name, found in maps.items():
        if rows is None:
            return None
        if not isinstance(found, LowRankMap):
            spreads[name] = 2.0 * float(rows.norms[name].max())
            continue
        pivots, centre = found.pivots, found.centre
        # In place, and what is used up is let go: at a million rows each vector takes 8 MB.
        residuals = rows.norms.pop(name)
        residuals += 2.0 * rows.along.pop(name)
        np.subtract(pivots.diagonal - centre @ centre, residuals, out=residuals)
        if residuals.min() < -pivots.tolerance:
            return None
        ranks[name] = pivots.rank
        roots[name] = root_residuals(residuals, pivots.rank, pivots.diagonal)
        spreads[name] = pivots.diagonal
    return Certificate(roots, ranks, spreads)


def _is_good(certificate: Certificate, terms: Terms, wanted: Wanted) -> bool:
    """Whether every HSIC and its standard error are known well enough."""
    if not certificate.roots:
        return True  # nothing was left out
    for pair in wanted.crossed_pairs():
        values = conditional_means(terms, pair)
        standard_error = 4.0 / sqrt(terms.n) * float(values.std())
        if certificate.hsic(pair) > ESTIMATE_ERROR * standard_error:
            return False
        if certificate.standard_error(pair, terms.n) > STANDARD_ERROR_ERROR * standard_error:
            return False
    return True
