"""The dask engine: the tiles of the tiled engine on the workers of a cluster.

The upper triangle is cut into square *regions* of many tiles; a task sums the tiles of one
region with the same functions as on one machine. What it returns covers only the observations
of its region, and the partial sums are added in a tree on the workers, so that little moves:

=====================  =======================================================
once per worker        the fitted kernels; the row sums, before the second sweep
from task to task      partial sums, two runs of observations each
to the client          the finished sums
=====================  =======================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, isqrt
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from reldep.engine.blocks import Tile, upper_tiles
from reldep.engine.sweeps.tiles import Outline, Sweeps
from reldep.engine.terms import Cost
from reldep.engine.threads import progress_bar
from reldep.exceptions import InputError
from reldep.system import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reldep.data.variables import FloatArray
    from reldep.engine.terms import Terms, Wanted
    from reldep.engine.threads import OnProgress
    from reldep.kernels.base import FittedKernel

# Partial sums by the first observation of the run that they cover.
Partial: TypeAlias = "dict[int, FloatArray]"

# With this many tasks for each thread the last ones to finish keep few threads waiting.
TASKS_PER_THREAD = 16

# Larger regions would make tasks of more than about a minute.
MOST_TILES_PER_TASK = 64**2

# How many partial sums are added at a time.
FAN_IN = 16

# Seconds that a cluster takes to begin and to end.
CLUSTER_START = 3.0

# How often a sweep is begun because every worker that held the data died.
MOST_ATTEMPTS = 3

NO_CLIENT = (
    'engine="dask" needs a cluster and there is no client in this process; start one, for '
    "instance with distributed.Client(), and call again, or pass DaskEngine(client)."
)

LOST_WORKERS = "the cluster has no workers, or all of them were lost"
LOST_WAY_OUT = (
    "start some and call again; workers that run out of memory need a smaller tiles_per_task."
)


@dataclass(frozen=True)
class DaskEngine:
    """Run the tiles on dask.distributed.

    A worker that dies costs only the time of its unfinished tasks: they are run again elsewhere.

    Parameters
    ----------
    client : distributed.Client, optional
        The connection to a cluster; by default the one that this process opened last.
    tile : int, optional
        Rows and columns of a tile; by default the size that suits the kernels.
    tiles_per_task : int, optional
        Rounded to a square; by default such that every thread of the cluster gets about
        sixteen tasks.
    on_progress : callable, optional
        Called with the number of tasks done and their total, in place of the progress bar.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> import reldep  # doctest: +SKIP
    >>> client = Client("tcp://scheduler:8786")  # doctest: +SKIP
    >>> reldep.compare(x, y, z, engine=DaskEngine(client))  # doctest: +SKIP
    """

    client: Any = None
    tile: int | None = None
    tiles_per_task: int | None = None
    on_progress: OnProgress | None = field(default=None, compare=False)

    name: ClassVar[str] = "dask"

    def __post_init__(self) -> None:
        for argument in ("tile", "tiles_per_task"):
            value = getattr(self, argument)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise InputError(f"`{argument}={value!r}`; pass a whole number, at least 1.")

    def terms(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Terms:
        """Produce what is wanted from the fitted kernels."""
        client = self.connected_client()
        check_workers(client)
        sweeps = Sweeps.prepare(kernels, wanted, precision="mixed")
        regions = self._regions(sweeps, n_threads(client))
        data = OnWorkers(client, sweeps)
        n_sweeps = 1 + bool(sweeps.crossed)
        with progress_bar("tasks", self.on_progress) as on_progress:

            def counted(sweep: int) -> OnProgress:
                return lambda done, total: on_progress(sweep * total + done, n_sweeps * total)

            first = summed(client, first_of_region, regions, counted(0), {"sweeps": data})
            if not sweeps.crossed:
                return sweeps.terms(first)
            shared = {"sweeps": data, "vectors": OnWorkers(client, sweeps.vectors(first))}
            second = summed(client, second_of_region, regions, counted(1), shared)
        return sweeps.terms(first, second)

    def cost(self, kernels: Mapping[str, FittedKernel], wanted: Wanted) -> Cost:
        """Estimate the job: the work of the tiled engine on the threads of the cluster."""
        outline = Outline.of(kernels, wanted)
        seconds = outline.seconds(keeps=False) / n_threads(self.connected_client())
        # This process holds the sums, and what comes in beside them.
        return Cost(16 * outline.n * wanted.n_sums(), seconds + CLUSTER_START)

    def connected_client(self) -> Any:
        """Find the client to work with."""
        distributed = import_extra("distributed", extra="dask", purpose='engine="dask"')
        if self.client is not None:
            if self.client.status != "running":
                raise InputError(
                    f"the client of this engine is {self.client.status}; open another one, as with "
                    "distributed.Client(), and call again."
                )
            return self.client
        try:
            return distributed.default_client()
        except ValueError:
            raise InputError(NO_CLIENT) from None

    def _regions(self, sweeps: Sweeps, threads: int) -> list[Region]:
        tile = self.tile or sweeps.tile_size
        if self.tiles_per_task is not None:
            side = max(1, round(self.tiles_per_task**0.5))
        else:
            side = default_side(ceil(sweeps.n / tile), threads)
        return [Region(outline, tile) for outline in upper_tiles(sweeps.n, tile * side)]


def default_side(n_runs: int, threads: int) -> int:
    """Choose how many tiles a region is high and wide, for an upper triangle of n_runs tiles."""
    n_tasks = TASKS_PER_THREAD * threads
    side = n_runs // isqrt(2 * n_tasks)
    return min(max(1, side), isqrt(MOST_TILES_PER_TASK))


def versions() -> dict[str, str]:
    """Tell what decides the numbers of this process, and their machine code."""
    import numba

    from reldep.version import __version__

    return {"reldep": __version__, "numba": numba.__version__}


def check_workers(client: Any) -> None:
    """Refuse a cluster without workers, or with workers that run other versions than this process.

    Sums of different versions would be added up without a word.
    """
    here = versions()
    # A worker that lacks a package answers with the error instead of the versions.
    found: dict[str, Any] = client.run(versions, on_error="return")
    if not found:
        raise InputError(f"{LOST_WORKERS}; {LOST_WAY_OUT}")
    for worker, there in found.items():
        if isinstance(there, Exception):
            raise InputError(
                f"the worker {worker} cannot run reldep: {there}. Install what this process has on "
                "every worker."
            )
        for package, version in here.items():
            if there[package] != version:
                raise InputError(
                    f"the worker {worker} has {package} {there[package]} and this process "
                    f"{version}. Install one version everywhere, and restart the workers."
                )


def n_threads(client: Any) -> int:
    """Count the threads of a cluster."""
    return max(1, int(sum(client.nthreads().values())))


@dataclass(frozen=True, eq=False)
class Region:
    """A square block of tiles on or above the diagonal: the work of one task."""

    outline: Tile
    tile: int

    def tiles(self) -> list[Tile]:
        """List the tiles of the upper triangle that lie in the region."""
        rows, cols = (_cut(side, self.tile) for side in (self.outline.rows, self.outline.cols))
        return [Tile(row, col) for row in rows for col in cols if row.start <= col.start]

    def covered(self, sums: FloatArray) -> Partial:
        """Keep of sums over all observations the part that the region can have changed."""
        sides = (self.outline.rows, self.outline.cols)
        return {side.start: sums[:, side].copy() for side in sides}


def _cut(run: slice, size: int) -> list[slice]:
    return [slice(start, min(start + size, run.stop)) for start in range(run.start, run.stop, size)]


def first_of_region(region: Region, sweeps: Sweeps) -> Partial:
    """Make the first sweep over a region."""
    return region.covered(sweeps.first(region.tiles()))


def second_of_region(region: Region, sweeps: Sweeps, vectors: FloatArray) -> Partial:
    """Make the second sweep over a region."""
    return region.covered(sweeps.second(vectors, region.tiles()))


def added(partials: Sequence[Partial]) -> Partial:
    """Add partial sums, run by run; what comes in stays as it is, for dask may use it again."""
    total: Partial = {}
    for partial in partials:
        for start, sums in partial.items():
            if start in total:
                total[start] += sums
            else:
                total[start] = sums.copy()
    return total


class OnWorkers:
    """A value that every worker holds; sent once, and again only if the cluster lost it."""

    def __init__(self, client: Any, value: Any) -> None:
        self._client = client
        self._value = value
        self._future: Any = None

    def future(self) -> Any:
        """Give the handle that tasks take as an argument."""
        if self._future is None or self._future.status != "finished":
            self._future = self._client.scatter(self._value, broadcast=True, hash=False)
        return self._future


def summed(
    client: Any,
    task: Callable[..., Partial],
    regions: Sequence[Region],
    on_progress: OnProgress,
    shared: Mapping[str, OnWorkers],
) -> FloatArray:
    """Run a task on every region and add up what they return.

    A task of a worker that died is run again by dask itself; if the last worker that held the
    data died, they are sent once more.
    """
    from distributed import CancelledError

    for _ in range(MOST_ATTEMPTS):
        try:
            futures = {name: value.future() for name, value in shared.items()}
            leaves = client.map(task, regions, pure=False, **futures)
            total = _gather(leaves, _tree(client, leaves), on_progress)
        except CancelledError:
            continue
        except TimeoutError:
            # Nobody came to take the data.
            raise InputError(f"{LOST_WORKERS}; {LOST_WAY_OUT}") from None
        return np.concatenate([total[start] for start in sorted(total)], axis=1)
    raise RuntimeError(
        f"the cluster lost the data {MOST_ATTEMPTS} times: all workers that held them died. Look "
        "into their logs; workers that run out of memory need a smaller tiles_per_task."
    )


def _tree(client: Any, leaves: Sequence[Any]) -> Any:
    """Add the results of tasks, a few at a time, on the workers; give the handle of the total."""
    level = list(leaves)
    while len(level) > 1:
        groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
        level = [client.submit(added, group, pure=False) for group in groups]
    return level[0]


def _gather(leaves: Sequence[Any], root: Any, on_progress: OnProgress) -> Partial:
    """Wait for the total, counting the tasks that are done."""
    from distributed import as_completed

    waiting = as_completed(leaves)  # type: ignore[no-untyped-call]
    pending = set(leaves)
    try:
        for leaf in waiting:
            if leaf.status != "finished":
                break
            pending.discard(leaf)
            if leaf is not root:
                # From here on only the tree holds the partial sums, and frees them when added.
                leaf.release()
            on_progress(len(leaves) - len(pending), len(leaves))
        total: Partial = root.result()
    finally:
        # After Ctrl-C or an error the cluster drops what nobody waits for.
        for future in (*pending, root):
            future.release()
    return total
