"""What a job will cost: memory and time, from sizes and kernels alone.

The constants are nanoseconds on one core of an ordinary machine. They are meant to choose an
engine and to tell seconds from hours, and are right within a factor of about three. Memory is
counted from the arrays that the engines make and is right within a factor of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reldep.engine.feature_maps import RUN_BYTES, ExactMap, gaussian_bandwidth
from reldep.engine.features import split_wanted
from reldep.engine.memory import bytes_of
from reldep.engine.tiled import Tiled
from reldep.engine.tiles import BLOCK_TILE
from reldep.kernels.categorical import FittedDelta
from reldep.kernels.composite import FittedProduct, FittedSum
from reldep.kernels.dot import FittedDot
from reldep.kernels.given import FittedPrecomputed
from reldep.kernels.machine import available_cores, worth_compiling
from reldep.kernels.points import FEW_COLUMNS
from reldep.kernels.radial import FittedRadial

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray
    from reldep.engine.features import Features
    from reldep.engine.terms import Wanted
    from reldep.kernels.base import FittedKernel

# Nanoseconds for a kernel value, without and with each column of the data.
COMPILED_VALUE, COMPILED_COLUMN = 0.9, 0.1
BLOCK_VALUE, BLOCK_COLUMN = 10.0, 0.1
SPARSE_ENTRY = 1.0
FUNCTION_VALUE = 20.0
STORED_VALUE = 2.0

# Nanoseconds for adding a value, or a product of two, to a sum.
SUM_VALUE = 0.5

# Nanoseconds for a multiplication and addition in a matrix product and in a factorisation, for
# making a feature, and for looking up one pair of entries of sparse rows.
PRODUCT_STEP = 0.03
TURNING_STEP = 0.2
FEATURE_VALUE = 10.0
SPARSE_PAIR = 60.0

# Seconds: loading compiled code, and what a cluster takes to begin and to end.
COMPILED_START = 1.0
CLUSTER_START = 3.0

# Temporary matrices beside those that the dense engine keeps, temporary blocks beside those
# that a thread fills, and copies of the runs of features that threads work on.
TEMPORARY_MATRICES = 3
TEMPORARY_BLOCKS = 4
RUNS_IN_WORK = 2

FLOAT = 8


@dataclass(frozen=True)
class Cost:
    """What a job is expected to need.

    Attributes
    ----------
    memory : int
        Bytes beside the data.
    seconds : float
    """

    memory: int
    seconds: float


@dataclass(frozen=True)
class Fill:
    """What one kernel value costs.

    Attributes
    ----------
    nanoseconds : float
        On one core.
    is_block : bool
        Whether NumPy fills whole blocks, which can be worth keeping for the second sweep.
    """

    nanoseconds: float
    is_block: bool


def fill_of(kernel: FittedKernel, *, compiled: bool) -> Fill:
    """Estimate what a value of a kernel costs in tiles."""
    if kernel.nanoseconds is not None:
        return Fill(kernel.nanoseconds, True)
    if isinstance(kernel, (FittedProduct, FittedSum)):
        parts = [fill_of(part, compiled=compiled) for part in kernel.factors]
        return Fill(sum(p.nanoseconds for p in parts), any(p.is_block for p in parts))
    if isinstance(kernel, FittedDelta):
        return Fill(COMPILED_VALUE, False) if compiled else Fill(BLOCK_VALUE, True)
    if isinstance(kernel, FittedRadial):
        points = kernel.points
        if compiled and not points.is_sparse and points.n_columns <= FEW_COLUMNS:
            return Fill(COMPILED_VALUE + COMPILED_COLUMN * points.n_columns, False)
        return Fill(BLOCK_VALUE + _dot_nanoseconds(points.rows), True)
    if isinstance(kernel, FittedDot):
        return Fill(BLOCK_VALUE + _dot_nanoseconds(kernel.rows), True)
    if isinstance(kernel, FittedPrecomputed):
        return Fill(STORED_VALUE, True)
    return Fill(FUNCTION_VALUE, True)


def _dot_nanoseconds(rows: FloatArray | csr_array) -> float:
    """Estimate the dot product of two rows."""
    if isinstance(rows, np.ndarray):
        return BLOCK_COLUMN * float(rows.shape[1])
    return SPARSE_ENTRY * float(rows.nnz / rows.shape[0])


def dense_cost(kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Cost:
    """Estimate the dense engine: every matrix is held, filled once, on one core."""
    n, names = _size(kernels, wanted), wanted.names()
    value = sum(fill_of(kernels[name], compiled=False).nanoseconds for name in names)
    value += SUM_VALUE * _n_sums(wanted)
    matrices = len(names) + TEMPORARY_MATRICES
    return Cost(FLOAT * matrices * n**2, value * n**2 * 1e-9)


def tiled_cost(kernels: Mapping[str, FittedKernel], wanted: Wanted, engine: Tiled) -> Cost:
    """Estimate the tiled engine: upper triangles, twice, on all threads."""
    n, threads = _size(kernels, wanted), engine.n_threads
    compiled = worth_compiling(n) if engine.compiled is None else engine.compiled
    fills = [fill_of(kernels[name], compiled=compiled) for name in wanted.names()]
    n_blocks = sum(fill.is_block for fill in fills)
    memory = FLOAT * n * _n_sums(wanted) * (2 * threads + 1)
    if n_blocks:
        tile = min(n, engine.tile or BLOCK_TILE)
        memory += FLOAT * threads * (n_blocks + TEMPORARY_BLOCKS) * tile**2
    kept = FLOAT * n_blocks * n**2 // 2 if wanted.crossed_pairs() else 0
    keeps = engine.memory is None or memory + kept <= bytes_of(engine.memory)
    seconds = _seconds_of_sweeps(fills, wanted, n, keeps=keeps) / threads
    return Cost(memory + kept * keeps, seconds + COMPILED_START * compiled)


def dask_cost(kernels: Mapping[str, FittedKernel], wanted: Wanted, threads: int) -> Cost:
    """Estimate the dask engine: the work of the tiled one on the threads of a cluster."""
    n = _size(kernels, wanted)
    fills = [fill_of(kernels[name], compiled=worth_compiling(n)) for name in wanted.names()]
    seconds = _seconds_of_sweeps(fills, wanted, n, keeps=False) / threads
    # This process holds the sums, and what comes in beside them.
    return Cost(2 * FLOAT * n * _n_sums(wanted), seconds + CLUSTER_START)


def _seconds_of_sweeps(fills: Sequence[Fill], wanted: Wanted, n: int, *, keeps: bool) -> float:
    """Estimate both sweeps over the upper triangle on one core."""
    n_sweeps = 2 if wanted.crossed_pairs() else 1
    value = SUM_VALUE * _n_sums(wanted)
    for fill in fills:
        value += fill.nanoseconds * (1 if fill.is_block and keeps else n_sweeps)
    return value * n**2 / 2 * 1e-9


def features_cost(kernels: Mapping[str, FittedKernel], wanted: Wanted, engine: Features) -> Cost:
    """Estimate the feature engine; what has no features is left to the tiled engine."""
    shapes = {name: row_shape(kernels[name], engine) for name in wanted.names()}
    rows = {name: shape for name, shape in shapes.items() if shape is not None}
    explicit, implicit = split_wanted(wanted, rows)
    costs = []
    if implicit.names():
        costs.append(tiled_cost(kernels, implicit, Tiled()))
    if explicit.names():
        costs.append(_explicit_cost(_size(kernels, explicit), rows, explicit))
    return Cost(sum(cost.memory for cost in costs), sum(cost.seconds for cost in costs))


@dataclass(frozen=True)
class RowShape:
    """A row of features.

    Attributes
    ----------
    width : int
    entries : float
        How many numbers are stored.
    is_sparse : bool
    turning : float
        Nanoseconds for bringing more columns than observations into their row space.
    """

    width: int
    entries: float
    is_sparse: bool = False
    turning: float = 0.0


def row_shape(kernel: FittedKernel, engine: Features) -> RowShape | None:
    """Tell what features a kernel would get, or None where it would get none."""
    if kernel.n_features is not None:
        features = ExactMap(kernel)
        if features.is_sparse:
            return RowShape(features.width, features.entries_per_row, is_sparse=True)
        if features.width <= len(kernel):
            return RowShape(features.width, features.width)
        turning = TURNING_STEP * len(kernel) * features.width
        return RowShape(len(kernel), len(kernel), turning=turning)
    if engine.approximate is not None and gaussian_bandwidth(kernel) is not None:
        return RowShape(engine.n_components, engine.n_components)
    return None


def _explicit_cost(n: int, rows: Mapping[str, RowShape], wanted: Wanted) -> Cost:
    names = wanted.names()
    entries = sum(rows[name].entries for name in names)
    # Three passes make the features: for the centres, the sums and the rows.
    steps = 3 * FEATURE_VALUE * entries + sum(rows[name].turning for name in names)
    memory = FLOAT * n * (_n_sums(wanted) + len(names))
    cores = available_cores()
    memory += int(RUNS_IN_WORK * min(cores * RUN_BYTES, FLOAT * n * entries))
    for x, y in wanted.product_pairs():
        first, second = rows[x], rows[y]
        if first.is_sparse and second.is_sparse:
            steps += 2 * SPARSE_PAIR * first.entries * second.entries
            memory += int(
                FLOAT * min(n * first.entries * second.entries, first.width * second.width)
            )
        else:
            steps += 2 * PRODUCT_STEP * first.entries * second.entries
            memory += 2 * FLOAT * first.width * second.width
    return Cost(memory, steps * n * 1e-9 / cores)


def _size(kernels: Mapping[str, FittedKernel], wanted: Wanted) -> int:
    return len(kernels[wanted.names()[0]])


def _n_sums(wanted: Wanted) -> int:
    """Count the values that every observation ends up with."""
    return len(wanted.names()) + len(wanted.product_pairs()) + 2 * len(wanted.crossed_pairs())
