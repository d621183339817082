"""Questions about tables that stay in pieces: the same answers, from sums over the pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks import cautions_about
from reldep.data.dataset import AlignedData, read_dataset
from reldep.data.rows import Rows
from reldep.data.variables import Labels, Mixed, Numeric
from reldep.engine.influence import Influence
from reldep.engine.near_linear.lowrank import (
    ESTIMATE_ERROR,
    LEAST_TOLERANCE,
    STANDARD_ERROR_ERROR,
    TIGHTENED,
    LowRank,
)
from reldep.engine.pieces.streaming import MOST_FEATURES, POSSIBLE, Streaming
from reldep.engine.pieces.workers import ScanPass, pieces_of
from reldep.engine.sweeps.dask import DaskEngine
from reldep.engine.terms import canonical
from reldep.exceptions import InputError
from reldep.files.first_look import KEY, with_categories
from reldep.files.partitions import PieceLayout, PiecesOf
from reldep.kernels.categorical import Delta
from reldep.kernels.choosing import as_kernel, assign
from reldep.kernels.composite import Gaussians
from reldep.kernels.radial import Laplace
from reldep.questions.study import Computed, Study, descriptions
from reldep.results.provenance import Provenance
from reldep.stats.covariance import INDEPENDENT_ROWS
from reldep.stats.jackknife import number_rows
from reldep.stats.measures import FOLLOWS_BANDWIDTHS, pairs_needed
from reldep.stats.streamed import MOST_DEPENDENCES, deviations_of, streamed_dependences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.engine.near_linear.certificate import SummedCertificate
    from reldep.engine.pieces.streaming import FeatureTotals
    from reldep.engine.terms import Pair
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel
    from reldep.questions.settings import Settings
    from reldep.stats.streamed import StreamedDependences, StreamedPlugIn

# The kernel for numbers in pieces: over the laws of the power study as good as Laplace, which
# needs the rows in order.
FOR_NUMBERS = Gaussians(bandwidth="mean")

VARIANCES = ("jackknife", "fixed-kernel", "bandwidth-aware")

# How many times more may be left out than on one machine, where tiles would take over: 1e-3 of a
# standard error for an estimate, and 1e-4 for the standard error itself.
MOST_OFF = 100.0

WAY_OUT = "Or read the rows you need into a data frame, and pass that."


@dataclass(frozen=True, eq=False)
class UnlistedRows(Rows):
    """So many rows that they are only counted."""

    n: int = 0

    def __len__(self) -> int:
        return self.n

    def name(self, index: int) -> str:
        return f"{self.noun} {index}"


@dataclass(frozen=True, eq=False)
class SampledData(AlignedData):
    """A data set of which a sample is held."""

    n: int = 0

    def __len__(self) -> int:
        return self.n


@dataclass(frozen=True, eq=False)
class PartitionedStudy(Study):
    """Data in pieces with the kernels chosen for them; `dataset` holds a sample."""

    streaming: Streaming | None = None

    @property
    def _stream(self) -> Streaming:
        if self.streaming is None:
            raise NotImplementedError
        return self.streaming

    @cached_property
    def fitted(self) -> Mapping[str, FittedKernel]:
        """The kernels on the rows of the sample."""
        return {name: one.sample for name, one in self._stream.fitted.items()}

    def compute(self, pairs: Sequence[Pair], *, needed: Sequence[Pair] | None = None) -> Computed:
        """Estimate the dependences of these pairs by passes over all pieces."""
        if len(pairs) > MOST_DEPENDENCES:
            raise InputError(
                f"{len(pairs)} dependences; up to {MOST_DEPENDENCES} are followed in partitions. "
                f"Ask about fewer at a time. {WAY_OUT}"
            )
        wanted = pairs_needed(pairs, self.settings.measure) if needed is None else needed
        rows = tuple(dict.fromkeys(map(canonical, wanted)))
        stream = self._stream
        found = self._passes(stream, pairs, rows)
        tighter = stream.engine.tolerance / TIGHTENED
        if found.off > 1.0 and tighter >= LEAST_TOLERANCE:
            stream = stream.with_tolerance(tighter)
            found = self._passes(stream, pairs, rows)
        if found.off > MOST_OFF:
            raise InputError(
                "the features that stand for the kernels leave out too much for so many rows. "
                f"Pass a larger bandwidth, such as Gaussian(factor=2). {WAY_OUT}"
            )
        influence = Influence(
            np.empty((0, 0)),
            (),
            tuple(self.kernels),
            stream.n,
            "lowrank, in pieces",
            means={pair: one.hsic for pair, one in found.totals.pairs.items()},
            certificate=found.certificate if found.certificate.ranks else None,
            kernels=descriptions(self.fitted),
        )
        return Computed(
            influence,
            found.dependences,
            self._provenance(influence),
            self._said(),
            self.subject(()),
        )

    def _passes(self, stream: Streaming, pairs: Sequence[Pair], rows: tuple[Pair, ...]) -> Found:
        """Add up features, then deviations, and see what the features left out."""
        measure, variance = self.settings.measure, self.settings.variance
        totals = stream.sums()
        hsics = np.array([totals.hsic(pair) for pair in rows])
        every = {pair: one.hsic for pair, one in totals.pairs.items()}
        numbered = number_rows(hsics[:, None], rows, pairs, every)
        observer = deviations_of(
            numbered, hsics, measure, stream.n, leaves_out=variance == "jackknife"
        )
        slopes = stream.slopes(rows) if variance in FOLLOWS_BANDWIDTHS else {}
        found = stream.rows(rows, totals, observer, slopes)
        dependences = streamed_dependences(
            pairs, measure, variance, observer, found.observed, numbered, stream.scan.n_rows
        )
        if not np.isfinite(dependences.values).all() or not np.isfinite(dependences.psi).all():
            raise InputError(
                "the kernel values are too large or too small to be added up. Rescale the data, "
                "for instance by their standard deviation."
            )
        certificate = stream.certificate(found, totals)
        off = _off(certificate, dependences, totals, stream.n)
        if found.roots.worst > 1.0:
            off = float("inf")
        return Found(totals, dependences, certificate, off)

    def _provenance(self, influence: Influence) -> Provenance:
        return Provenance(
            measure=self.settings.measure,
            variance=self.settings.variance,
            kernels=influence.kernels,
            engine=influence.engine,
            rows=UnlistedRows(np.empty(0, dtype=np.int64), n=influence.n_observations),
            dependence=INDEPENDENT_ROWS,
            n_dropped=self.dataset.n_dropped,
            library=self.dataset.library,
            unit_kernels=all(kernel.in_unit_interval for kernel in self.fitted.values()),
            notes=self.dataset.notes,
        )

    def _said(self) -> tuple[ReldepWarning, ...]:
        return cautions_about(self.subject(()))

    def part(self, rows: Any, names: Any) -> Study:  # noqa: ARG002
        raise InputError(
            "`method='split'` takes the rows apart, which is not possible in partitions; use "
            f"`method='joint'`. {WAY_OUT}"
        )

    def influence(self, pairs: Any, *, means: Any = None) -> Influence:  # noqa: ARG002
        raise InputError(
            "a value for every row is not held in partitions. Read the rows you need into a data "
            "frame, and pass that."
        )

    def shuffled_hsics(self, pair: Any, n_permutations: int) -> Any:  # noqa: ARG002
        raise InputError(
            "`test='permutation'` shuffles rows, which is not possible in partitions; use "
            f"`test='chi-square'`. {WAY_OUT}"
        )


@dataclass(frozen=True, eq=False)
class Found:
    """What the passes gave; `off` is how far off it can be, 1 being as good as need be."""

    totals: FeatureTotals
    dependences: StreamedDependences | StreamedPlugIn
    certificate: SummedCertificate
    off: float


def _off(
    certificate: SummedCertificate,
    dependences: StreamedDependences | StreamedPlugIn,
    totals: FeatureTotals,
    n: int,
) -> float:
    """Compare the bounds of every dependence with its standard error."""
    worst = 0.0
    errors = dependences.standard_errors
    for (x, y), value, error in zip(dependences.pairs, dependences.values, errors, strict=True):
        weights = {(x, y): 1.0}
        if dependences.measure != "hsic":
            scale = sqrt(totals.hsic((x, x)) * totals.hsic((y, y)))
            weights = {(x, y): 1.0 / scale}
            for name in (x, y):
                own = abs(value) / (2.0 * totals.hsic((name, name)))
                weights[name, name] = weights.get((name, name), 0.0) + own
        estimate = sum(w * certificate.hsic(pair) for pair, w in weights.items())
        deviation = sum(w * certificate.standard_error(pair, n) for pair, w in weights.items())
        # A copy of a variable has no standard error, and its dependence is 1 whatever is left out.
        if error > 1e-9 * abs(value):
            worst = max(worst, estimate / (ESTIMATE_ERROR * error))
            worst = max(worst, deviation / (STANDARD_ERROR_ERROR * error))
    return worst


def read_partitioned(
    blocks: Mapping[str, PiecesOf],
    settings: Settings,
    *,
    roles: Sequence[str] | None = None,
    among: Sequence[str] | None = None,
) -> PartitionedStudy:
    """Take a first look at all pieces and give every variable its kernel.

    Parameters
    ----------
    blocks : mapping of str to PiecesOf
        By the name they have in the results.
    settings : Settings
    roles, among
        As for :func:`~reldep.questions.study.read_study`.
    """
    first = next(iter(blocks.values()))
    if not all(isinstance(block, PiecesOf) for block in blocks.values()):
        raise InputError(
            "some variables are in partitions and others are not. Name columns of the same data "
            "for all of them."
        )
    _check_settings(settings)
    engine = _low_rank_engine(settings.engine)
    specs = assign(
        settings.kernel, list(blocks), roles=roles, among=among, measure=settings.measure
    )
    table = first.partitions
    kinds = {name: _kind(block, specs[name], name) for name, block in blocks.items()}
    layout = PieceLayout(
        table.name,
        {name: tuple(block.columns) for name, block in blocks.items()},
        kinds,
        first.where,
        settings.na,
    )
    pieces = pieces_of(table, settings.engine)
    seed = int(settings.generator().integers(2**62))
    scan = pieces.total(ScanPass(layout, seed))
    scan.check(layout, settings.missing)
    layout = with_categories(layout, scan)
    dataset = _sampled_dataset(scan, layout)
    kernels, notes = _kernels(specs, dataset, kinds)
    dataset = replace(dataset, notes=(*dataset.notes, *notes))
    streaming = Streaming(pieces, layout, scan, dataset.variables, kernels, seed, engine)
    return PartitionedStudy(dataset, kernels, settings, streaming=streaming)


def _check_settings(settings: Settings) -> None:
    """Refuse what needs all rows in one place."""
    if settings.measure == "dcor":
        raise InputError(
            "`measure='dcor'` needs the distances between all rows, which is not possible in "
            f"partitions; use `measure='cka'`. {WAY_OUT}"
        )
    if settings.variance not in VARIANCES:
        raise InputError(
            f"`variance={settings.variance!r}` is not possible in partitions; use "
            f"`variance='jackknife'`. {WAY_OUT}"
        )
    for name in ("clusters", "max_lag", "given"):
        if getattr(settings, name) is not None:
            raise InputError(
                f"`{name}` needs all rows in one place, which partitions are not. Leave it out, or "
                "read the rows you need into a data frame, and pass that."
            )
    if settings.standardize:
        raise InputError(
            "`standardize` needs all rows in one place, which partitions are not. Scale the "
            "columns when you write them."
        )


def _low_rank_engine(engine: Any) -> LowRank:
    """Read the tolerance and the number of features from an engine that can work in pieces."""
    if isinstance(engine, LowRank):
        return replace(engine, most_features=min(engine.most_features, 4 * MOST_FEATURES))
    if isinstance(engine, DaskEngine) or engine in ("auto", "lowrank", "dask"):
        return LowRank(most_features=MOST_FEATURES)
    raise InputError(
        f"`engine={engine if isinstance(engine, str) else type(engine).__name__!r}` cannot work on "
        "data in partitions; use `engine='auto'`, `engine='lowrank'` or, with a cluster, "
        "`engine='dask'`."
    )


def _kind(block: PiecesOf, spec: Any, name: str) -> Any:
    """Decide whether a variable is read as numbers or as labels."""
    kinds = {block.partitions.kind_of(column) for column in block.columns}
    as_labels = isinstance(spec, Delta) or (isinstance(spec, str) and spec.lower() == "delta")
    if len(block.columns) > 1 and (as_labels or kinds != {"number"}):
        raise InputError(
            f"{name} has {len(block.columns)} columns, and not all of them are numbers; in "
            "partitions a block can have several columns of numbers, or one of labels. Join the "
            "labels into one column, or ask about the columns one at a time."
        )
    return "label" if as_labels else next(iter(kinds))


def _sampled_dataset(scan: Any, layout: PieceLayout) -> SampledData:
    """Read the sample as any other data are read, and check it in the same way."""
    sample = scan.sample.sort(KEY)
    blocks = {}
    for name, columns in layout.blocks.items():
        inside = [f"{name}\0{i}" for i in range(len(columns))]
        frame = sample.select(inside).rename(dict(zip(inside, columns, strict=True)))
        blocks[name] = frame if len(columns) > 1 else frame[columns[0]]
        if layout.kinds[name] == "label":
            import polars as pl

            blocks[name] = blocks[name].cast(pl.Categorical)
    for name, counts in scan.counts.items():
        if len(counts) < 2:
            raise InputError(
                f"{name} has the same value in every row, so nothing depends on it. Leave it out."
            )
    _check_varies(scan, sample, layout)
    found = read_dataset(blocks)
    n_dropped = scan.n_chosen - scan.n_complete
    return SampledData(
        found.variables,
        found.rows,
        n_dropped,
        library=found.library,
        notes=found.notes,
        n=scan.n_complete,
    )


def _check_varies(scan: Any, sample: Any, layout: PieceLayout) -> None:
    """Refuse numbers that do not vary, or so rarely that a sample does not show it."""
    for name, columns in layout.blocks.items():
        if layout.kinds[name] == "label":
            continue
        inside = [f"{name}\0{i}" for i in range(len(columns))]
        if sample.select(inside).n_unique() > 1:
            continue
        everywhere = scan.ends.select(inside).n_unique() == 1
        often = "every row" if everywhere else f"all of {len(sample):,} rows drawn at random"
        raise InputError(
            f"{name} has the same value in {often}, so no dependence on it can be seen. Leave it "
            "out, or choose the rows in which it varies."
        )


def _kernels(
    specs: Mapping[str, Any], dataset: AlignedData, kinds: Mapping[str, str]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Give every variable its kernel, and say where it is not the one it would get in memory."""
    found: dict[str, Any] = {}
    changed: list[str] = []
    notes: list[str] = []
    for name, variable in dataset.variables.items():
        spec = specs[name]
        kernel = as_kernel(spec, variable)
        kernel.check_accepts(variable)
        is_auto = isinstance(spec, str) and spec.lower() == "auto"
        if is_auto and isinstance(kernel, Laplace):
            kernel = FOR_NUMBERS
            changed.append(name)
        if isinstance(variable, Mixed) or (kinds[name] == "label") != isinstance(variable, Labels):
            raise InputError(f"{name} is of a kind that partitions do not have. {POSSIBLE}")
        if isinstance(variable, (Numeric, Labels)):
            found[name] = kernel
    if changed:
        which = ", ".join(changed)
        notes.append(
            f"the rows stay in partitions, so that {which} got Gaussian kernels at several "
            "scales instead of the Laplace kernel, and copies of rows were not looked for. "
            "Numbers differ a little from those of the same rows in one data frame."
        )
    return found, tuple(notes)
