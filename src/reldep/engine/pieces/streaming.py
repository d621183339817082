"""Near-linear sums over a table in pieces, from kernels to what every row gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.engine.bandwidths import (
    FOLLOWED_EXACTLY_UP_TO,
    named_probes,
    paired_hsics,
    sampled_row_means,
    slope_partners,
)
from reldep.engine.near_linear.certificate import SummedCertificate
from reldep.engine.near_linear.line_scales import BinPass, LineScale, MovesOfSample, MovesOnLine
from reldep.engine.near_linear.pivots import RankTooHighError, is_positive, pilot_pivots
from reldep.engine.pieces.passes import (
    LabelFeatures,
    LinearFeatures,
    PivotFeatures,
    PivotPass,
    RowPass,
    SumPass,
    all_factors,
    canonical_pairs,
)
from reldep.engine.pieces.workers import BlockPass
from reldep.engine.sweeps.recipe import Between
from reldep.engine.sweeps.tiled import Tiled
from reldep.engine.terms import Wanted, hsic, row_means
from reldep.exceptions import InputError, InputTypeError
from reldep.files.first_look import KEY
from reldep.kernels.categorical import Delta
from reldep.kernels.composite import FittedGaussians, Gaussians
from reldep.kernels.dot import Linear
from reldep.kernels.points import Points
from reldep.kernels.radial import FittedRadial, Gaussian, Laplace
from reldep.kernels.scales.bandwidth import BandwidthKernel, density_at
from reldep.kernels.scales.median import MeanDistance, MedianDistance, distance_scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray, Variable
    from reldep.engine.bandwidths import NamedProbe
    from reldep.engine.near_linear.feature_passes import Factors
    from reldep.engine.near_linear.lowrank import LowRank
    from reldep.engine.pieces.passes import Mover, Observer, PairTotals, RowFeatures, RowSums
    from reldep.engine.pieces.workers import Pieces
    from reldep.engine.terms import Pair
    from reldep.files.first_look import FirstLook
    from reldep.files.partitions import PieceLayout
    from reldep.kernels.base import FittedKernel, Kernel

WITH_BANDWIDTH = (Gaussian, Gaussians, Laplace)

# A kernel that needs more features than this would take days for the rows that come in pieces.
MOST_FEATURES = 1_000

POSSIBLE = (
    "In partitions there are the kernels Gaussian and Gaussians for one to three columns, Laplace "
    "for a column of few different values, Linear, and Delta for labels."
)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A kernel whose parameters all rows decided, and what is needed to use it.

    Attributes
    ----------
    sample : FittedKernel
        The kernel on the rows of the sample.
    features : RowFeatures or None
        None until pivots are found.
    mover : Mover or None
        How rows move its bandwidth, if the data chose that.
    """

    sample: FittedKernel
    features: RowFeatures
    mover: Mover | None = None


@dataclass(frozen=True, eq=False)
class Streaming:
    """A table in pieces with kernels for its variables.

    Attributes
    ----------
    pieces : Pieces
    layout : PieceLayout
    scan : FirstLook
    variables : mapping of str to Variable
        The rows of the sample, in the order of their keys.
    kernels : mapping of str to Kernel
    seed : int
        Of the sample.
    engine : LowRank
        Tolerance, most features and the random seed of the pilot.
    """

    pieces: Pieces
    layout: PieceLayout
    scan: FirstLook
    variables: Mapping[str, Variable]
    kernels: Mapping[str, Kernel]
    seed: int
    engine: LowRank

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.scan.n_complete

    @cached_property
    def fitted(self) -> dict[str, Fitted]:
        """The kernels with their bandwidths; one pass over the columns that decide one."""
        lines = self._line_scales()
        return {name: self._fit(name, lines.get(name)) for name in self.kernels}

    def _line_scales(self) -> dict[str, LineScale]:
        """Fill the bins of the columns whose bandwidth all rows decide."""
        edges = {}
        for name, kernel in self.kernels.items():
            chosen = isinstance(kernel, WITH_BANDWIDTH) and kernel.needs_median
            if chosen and len(self.layout.blocks[name]) == 1:
                edges[name] = np.unique(self._points(name)[:, 0])
        if not edges:
            return {}
        found = self.pieces.total(BlockPass(self.layout, BinPass(edges)))
        return {name: LineScale(edges[name], sums) for name, sums in found.values.items()}

    def _points(self, name: str) -> FloatArray:
        """Give the numbers of the sample, and those at the ends of every column."""
        columns = [f"{name}\0{i}" for i in range(len(self.layout.blocks[name]))]
        parts = (self.scan.sample.sort(KEY), self.scan.ends)
        return np.concatenate([part.select(columns).to_numpy() for part in parts])

    def _fit(self, name: str, line: LineScale | None) -> Fitted:
        kernel, variable = self.kernels[name], self.variables[name]
        if isinstance(kernel, Delta) or (
            isinstance(kernel, Linear) and self.layout.kinds[name] == "label"
        ):
            counts = self.scan.counts[name]
            shares = np.array([counts[label] for label in sorted(counts)], dtype=np.float64)
            return Fitted(Delta().fit(variable), LabelFeatures(shares / self.n))
        if isinstance(kernel, Linear):
            return Fitted(kernel.fit(variable), LinearFeatures(self.scan.totals[name] / self.n))
        if isinstance(kernel, WITH_BANDWIDTH):
            return self._with_bandwidth(name, kernel, line)
        raise InputError(
            f"the kernel {type(kernel).__name__} of {name} needs all rows in one place. {POSSIBLE}"
        )

    def _with_bandwidth(self, name: str, kernel: BandwidthKernel, line: LineScale | None) -> Fitted:
        """Choose the bandwidth by all rows of one column, or by the sample of several."""
        variable = self.variables[name]
        points = Points.of(variable)  # type: ignore[arg-type]
        if not kernel.needs_median:
            sample = kernel.fit(variable)
            return Fitted(sample, self._pilot(name, sample))
        if kernel.bandwidth == "mid-median":
            raise InputError(
                f"{name}: the mid-distribution median needs all rows in one place. Pass the "
                "bandwidth 'mean', 'median' or a number."
            )
        if line is None:
            scale = distance_scale(points, kernel.bandwidth)  # type: ignore[arg-type]
        elif kernel.bandwidth == "mean":
            scale = MeanDistance(line.mean_distance())
        else:
            scale = MedianDistance(line.median_distance())
        if not scale.value > 0:
            raise InputError(f"all values of {name} are the same, so it depends on nothing.")
        fixed = replace(kernel, bandwidth=scale.value)
        sample = _followed(fixed.fit(variable), scale)
        return Fitted(sample, self._pilot(name, sample), self._mover(sample, scale, points, line))

    def _mover(
        self, sample: FittedKernel, scale: Any, points: Points, line: LineScale | None
    ) -> Mover | None:
        probes = sample.bandwidth_probes()
        if not probes:
            return None
        factor = probes[0].factor
        if line is not None and isinstance(scale, MeanDistance):
            return MovesOnLine.of_mean(line, scale.value, factor)
        if line is not None:
            density = density_at(points, scale.value / points.unit) / points.unit
            if not np.isfinite(density):
                return None
            return MovesOnLine.of_median(line, scale.value, factor, density)
        references = np.arange(min(len(points), 4_000))
        moves = probes[0].influence(sampled_row_means(probes[0].side, references))
        keys = np.sort(self.scan.sample[KEY].to_numpy())
        return MovesOfSample(keys, moves * (self.n / len(keys)), self.seed)

    def _pilot(self, name: str, sample: FittedKernel) -> PivotFeatures:
        """Choose the first pivots on the sample and the ends of every column."""
        from reldep.data.variables import Numeric

        values = self._points(name)
        base = sample.base if isinstance(sample, FittedGaussians) else sample
        if not isinstance(base, FittedRadial):
            raise InputTypeError(f"{name}: {sample.label} is no kernel of distances. {POSSIBLE}")
        points = Points.of(Numeric(name, values))
        # No row anywhere is farther from the origin than its columns allow.
        origin = values[0] - points.rows[0] * points.unit
        farthest = (self.scan.sizes[name] + np.abs(origin)) / points.unit
        bound = np.full(len(points), float(farthest @ farthest))
        whole: FittedKernel = replace(base, points=replace(points, squared_norms=bound))
        if isinstance(sample, FittedGaussians):
            whole = FittedGaussians.of(
                replace(base, points=replace(points, squared_norms=bound)), sample.ratios
            )
        between = Between.of(whole)
        if between is None or not is_positive(whole):
            raise InputError(
                f"the kernel {sample.label} of {name} has no features of low rank here. {POSSIBLE}"
            )
        try:
            pivots = pilot_pivots(
                whole, between, self.engine.tolerance, self.engine.most_features, self.engine.rng
            )
        except RankTooHighError:
            raise _too_many(name, sample, self.engine.most_features) from None
        light = replace(
            between, recipe=replace(between.recipe, columns=between.recipe.columns[:, :1])
        )
        one = PivotFeatures(replace(pivots, between=light), origin, points.unit, np.empty(0))
        return one.with_pivots(one.pivots, values)

    def features(self) -> dict[str, RowFeatures]:
        """Find the features of all variables; one pass for those of low rank."""
        found = {name: one.features for name, one in self.fitted.items()}
        pilots = {name: one for name, one in found.items() if isinstance(one, PivotFeatures)}
        if not pilots:
            return found
        one_pass = PivotPass(pilots, self.engine.most_features)
        try:
            needed = self.pieces.total(BlockPass(self.layout, one_pass))
            samples = {name: self._points(name) for name in pilots}
            return found | one_pass.extended(needed, samples)
        except RankTooHighError:
            name = next(iter(pilots))
            raise _too_many(name, self.fitted[name].sample, self.engine.most_features) from None

    def sums(self) -> FeatureTotals:
        """Add up the features of all rows: every HSIC is known then."""
        features = self.features()
        one_pass = SumPass(features, canonical_pairs(list(self.kernels)))
        sums = self.pieces.total(BlockPass(self.layout, one_pass))
        factors, totals = all_factors(sums, self.n, features)
        return FeatureTotals(features, factors, totals)

    def slopes(self, pairs: Sequence[Pair]) -> dict[str, FloatArray]:
        """Give what a unit of each bandwidth adds to the HSIC of every pair."""
        samples = {name: one.sample for name, one in self.fitted.items()}
        probes = tuple(
            probe
            for probe in named_probes(samples, pairs)
            if self.fitted[probe.variable].mover is not None
        )
        if not probes:
            return {}
        found = slopes_on_sample(samples, probes, pairs)
        return {
            probe.variable: np.array(
                [sum(found[slope] for slope in probe.slope_pairs([pair])) for pair in pairs]
            )
            for probe in probes
        }

    def rows(
        self,
        pairs: Sequence[Pair],
        totals: FeatureTotals,
        observer: Observer,
        slopes: Mapping[str, FloatArray],
    ) -> RowSums:
        """Hand the conditional means of every row to an observer; give the sums it makes."""
        movers = {name: self.fitted[name].mover for name in slopes}
        one_pass = RowPass(
            totals.features,
            totals.factors,
            totals.pairs,
            tuple(pairs),
            self.n,
            {name: mover for name, mover in movers.items() if mover is not None},
            slopes,
            observer,
        )
        found: RowSums = self.pieces.total(BlockPass(self.layout, one_pass))
        if found.observed is None or found.observed.n != self.n:
            raise InputError(
                "the data changed while they were read: not every pass saw the same rows. Ask "
                "again when nobody writes to them."
            )
        return found

    def certificate(self, found: RowSums, totals: FeatureTotals) -> SummedCertificate:
        """Bound what the features leave out."""
        ranks, spreads = {}, {}
        for name, one in totals.features.items():
            if isinstance(one, PivotFeatures):
                ranks[name], spreads[name] = one.pivots.rank, one.pivots.diagonal
            elif isinstance(one, LabelFeatures):
                spreads[name] = 1.0
            else:
                spreads[name] = 2.0 * found.roots.norms[name]
        return SummedCertificate({}, ranks, spreads, sums=found.roots)

    def with_tolerance(self, tolerance: float) -> Streaming:
        """Leave less out of every kernel."""
        return replace(self, engine=replace(self.engine, tolerance=tolerance))


@dataclass(frozen=True, eq=False)
class FeatureTotals:
    """Sums over all rows, and what they were made of."""

    features: Mapping[str, RowFeatures]
    factors: Factors
    pairs: Mapping[Pair, PairTotals]

    def hsic(self, pair: Pair) -> float:
        """Give the unbiased HSIC of a pair, in either order."""
        x, y = sorted(pair)
        return self.pairs[x, y].hsic


def slopes_on_sample(
    samples: Mapping[str, FittedKernel], probes: Sequence[NamedProbe], pairs: Sequence[Pair]
) -> dict[Pair, float]:
    """Estimate the slopes of HSICs in bandwidths on the rows of the sample."""
    slopes = tuple(pair for probe in probes for pair in probe.slope_pairs(pairs))
    kernels = {**samples, **{probe.slope: probe.probe.slope for probe in probes}}
    n = len(next(iter(samples.values())))
    if n <= FOLLOWED_EXACTLY_UP_TO:
        terms = Tiled().terms(kernels, Wanted((), slopes))
        return {pair: hsic(terms, pair) for pair in slopes}
    partners = tuple(dict.fromkeys(partner for _, partner in slopes))
    terms = Tiled().terms(kernels, Wanted((), row_sums=partners))
    return paired_hsics(
        kernels, slopes, lambda name: row_means(terms, name), slope_partners(n, quick=False)
    )


def _followed(sample: FittedKernel, scale: Any) -> FittedKernel:
    """Note by which scale a bandwidth was chosen."""
    if isinstance(sample, FittedGaussians):
        return FittedGaussians.of(replace(sample.base, scale=scale, rule=scale.rule), sample.ratios)
    if isinstance(sample, FittedRadial):
        return replace(sample, scale=scale, rule=scale.rule)
    return sample


def _too_many(name: str, kernel: FittedKernel, most: int) -> InputError:
    return InputError(
        f"{kernel.label} on {name} needs more than {most:,} features to stand for it exactly, and "
        "in partitions nothing else is possible. Pass `kernel='gaussian'` or a larger bandwidth, "
        "such as Gaussian(factor=2); leave columns out; or read a random sample of the rows into "
        "memory."
    )
