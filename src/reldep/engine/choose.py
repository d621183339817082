"""Which engine computes which pairs, why, and what it takes.

The sizes at which another engine takes over are the fields of :class:`Sizes`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reldep.arguments import check_choice
from reldep.engine.blocks import SPLIT_BLOCKS, Blocks, check_units, seconds_of_pair
from reldep.engine.centred import Pair, Places, numbered
from reldep.engine.dense import Dense
from reldep.engine.features import Features
from reldep.engine.lines import Line, Lines
from reldep.engine.tiled import Tiled
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import FittedKernel
from reldep.system import available_memory, in_words, seconds_in_words

ENGINES: dict[str, type[Any]] = {
    "dense": Dense,
    "tiled": Tiled,
    "lines": Lines,
    "features": Features,
    "blocks": Blocks,
}

# The share of the free memory that an engine may use: the answer takes some too.
MEMORY_SHARE = 0.5


@dataclass(frozen=True)
class Sizes:
    """Where another algorithm takes over.

    Attributes
    ----------
    dense_rows : int
        Whole matrices are used up to this number of rows; compiled code takes longer to load.
    slow_rows : int
        From this number of rows on, kernels that take long are computed in blocks: 50 of 50 rows.
    followed_rows : int
        Bandwidths are followed on all pairs of rows up to this number of rows.
    line_features : int
        A kernel with at most this many features is multiplied with a line feature by feature.
    feature_products : float
        Explicit features are used up to this number of multiplications: about a minute.
    sparse_product : float
        How many of these take the time of one of sparse features: 5 ns.
    tiled_seconds : float
        All pairs of rows are used up to about this time, by one timed block; then blocks of rows.
    again_rows : int
        Pairs of which features lost digits are computed again from all pairs of rows up to this
        number of rows.
    scan_columns : int
        A scan of at least this many columns uses compiled code; fewer are done before it is loaded.
    """

    dense_rows: int = 3_000
    slow_rows: int = 2_500
    followed_rows: int = 3_000
    line_features: int = 50
    feature_products: float = 2e11
    sparse_product: float = 100.0
    tiled_seconds: float = 10.0
    again_rows: int = 20_000
    scan_columns: int = 20


SIZES = Sizes()


@dataclass(frozen=True, eq=False)
class Part:
    """Some pairs, by their numbers, and the engine that computes them."""

    engine: Any
    pairs: list[int]
    totals: list[int]


@dataclass(frozen=True, eq=False)
class Trait:
    """What the choice depends on.

    Attributes
    ----------
    is_line : bool
        Whether the kernel can be summed along sorted values.
    n_features : int or None
        The number of explicit features.
    entries : int
        How many of them a row has; fewer for sparse ones.
    reach : float
        How often a row shares a sparse feature with any row; 0 for dense features.
    """

    is_line: bool
    n_features: int | None
    entries: int
    reach: float = 0.0

    @classmethod
    def of(cls, kernel: FittedKernel) -> Trait:
        """Return the traits of a kernel."""
        some: Any = kernel.features(slice(0, 10))
        n_features = None if some is None else int(some.shape[1])
        entries, reach = n_features or 0, 0.0
        if some is not None and hasattr(some, "nnz"):
            whole: Any = kernel.features()
            counts = np.bincount(whole.tocsr().indices).astype(np.float64)
            entries, reach = -(-whole.nnz // len(kernel)), float(counts @ counts) / len(kernel)
        return cls(Line.of(kernel) is not None, n_features, entries, reach)


def choose(
    kernels: Sequence[FittedKernel],
    pairs: Places,
    totals: Places,
    engine: Any = "auto",
    *,
    dependence: Mapping[str, Any] | None = None,
    sizes: Sizes = SIZES,
) -> list[Part]:
    """Return which engine computes which pairs.

    Parameters
    ----------
    kernels : sequence of FittedKernel
    pairs, totals : sequence of (int, int)
        Numbers of kernels.
    engine : str or engine, default "auto"
    dependence : mapping of str to Any, optional
        Which rows depend on each other, as for :meth:`Blocks.deal`; without it `auto` does not use
        blocks of rows.
    sizes : Sizes
    """
    n = len(kernels[0])
    everything = list(range(len(pairs))), list(range(len(totals)))
    if not (isinstance(engine, str) and engine == "auto"):
        chosen = as_engine(engine)
        check_possible(chosen, kernels)
        return [Part(chosen, *everything)]
    if n <= sizes.dense_rows and _fits(Dense().memory(n, len(kernels), len(pairs))):
        slow = dependence is not None and n >= sizes.slow_rows and _can_deal(n, dependence)
        slow = slow and _are_slow(kernels, [*pairs, *totals], sizes.tiled_seconds)
        return [Part(Blocks() if slow else Dense(), *everything)]
    if dependence and _can_deal(n, dependence):
        # All pairs of rows have those within clusters or near in time, which look like dependence.
        return [Part(Blocks(), *everything)]
    traits = [Trait.of(kernel) for kernel in kernels]
    parts: dict[str, Part] = {}
    for k, wanted in enumerate((pairs, totals)):
        for p, (x, y) in enumerate(wanted):
            found = _engine_of(traits[x], traits[y], n, sizes)
            part = parts.setdefault(found.name, Part(found, [], []))
            (part.totals if k else part.pairs).append(p)
    rest = parts.get("tiled")
    if rest is not None and dependence is not None and _can_deal(n, dependence):
        places = [*(pairs[p] for p in rest.pairs), *(totals[p] for p in rest.totals)]
        if seconds_of_all_pairs(kernels, places) > sizes.tiled_seconds:
            return [Part(Blocks(), *everything)]
    return list(parts.values())


def _are_slow(kernels: Sequence[FittedKernel], places: Places, seconds: float) -> bool:
    """Return True if whole matrices take longer, as of objects that are compared one by one."""
    others = [k for k in kernels if k.program() is None and k.features(slice(0, 1)) is None]
    return bool(others) and seconds_of(Dense(), kernels, places) > seconds


def _can_deal(n: int, dependence: Mapping[str, Any]) -> bool:
    try:
        check_units(n, dependence.get("clusters"), dependence.get("max_lag"))
    except InputError:
        return False
    return True


def _engine_of(x: Trait, y: Trait, n: int, sizes: Sizes) -> Any:
    few = sizes.line_features
    if x.is_line and (y.is_line or 0 < (y.n_features or 0) <= few):
        return Lines()
    if y.is_line and 0 < (x.n_features or 0) <= few:
        return Lines()
    if x.n_features is None or y.n_features is None:
        return Tiled()
    # A table of all features by all features is dense unless both are sparse.
    is_sparse = x.entries < x.n_features and y.entries < y.n_features
    table = 0.0 if is_sparse else float(x.n_features) * y.n_features
    work = n * float(x.entries) * (x.entries + y.n_features)
    if is_sparse:
        # A feature that many rows have makes the products of each of them long.
        reached = min(x.reach * y.entries, float(x.entries) * y.n_features)
        work = sizes.sparse_product * n * reached
    is_quick = max(work, 1e3 * table) <= sizes.feature_products
    return Features() if is_quick else Tiled()


def as_engine(spec: Any) -> Any:
    """Return an engine from its name, or the engine itself."""
    if isinstance(spec, str):
        check_choice("engine", spec, ["auto", *ENGINES])
        return ENGINES[spec]()
    if isinstance(spec, tuple(ENGINES.values())):
        return spec
    raise InputTypeError(
        f"`engine` is of type {type(spec).__name__}; pass one of {', '.join(map(repr, ENGINES))}, "
        "'auto', or an engine object."
    )


def check_possible(engine: Any, kernels: Sequence[FittedKernel]) -> None:
    """Raise if an engine that was asked for cannot compute some kernel, or does not fit."""
    if engine.name in ("lines", "features"):
        lines = [engine.name == "lines" and Line.of(kernel) is not None for kernel in kernels]
        what = "explicit features"
        if engine.name == "lines":
            what = "a Laplace or distance kernel on one column"
        is_pointless = engine.name == "lines" and not any(lines)
        for is_line, kernel in zip(lines, kernels, strict=True):
            if not is_line and (is_pointless or kernel.features(slice(0, 1)) is None):
                raise InputError(
                    f"`engine={engine.name!r}` needs {what}, and there is {kernel.label}; use "
                    "`engine='auto'`."
                )
    n = len(kernels[0])
    needed = memory_of(engine, n, len(kernels), len(kernels))
    if not _fits(needed, share=1.0):
        raise InputError(
            f"`engine={engine.name!r}` would need about {in_words(needed)} for {n:,} observations "
            f"and {len(kernels)} kernels, and only {in_words(available_memory())} are free; use "
            "`engine='auto'`, or ask for fewer pairs at a time."
        )


def memory_of(engine: Any, n: int, n_kernels: int, n_pairs: int) -> int:
    """Return about the bytes that an engine needs besides the data."""
    if engine.name == "dense":
        return int(engine.memory(n, n_kernels, n_pairs))
    if engine.name == "tiled":
        return int(engine.needed(n, n_kernels, n_pairs))
    if engine.name == "blocks":
        return 8 * n * 2 + 20_000_000
    return 8 * n * (10 * n_kernels + n_pairs)


def _fits(needed: int, share: float = MEMORY_SHARE) -> bool:
    # Every machine has 300 MB to spare: smaller jobs do not ask how much is free.
    return needed <= 300_000_000 or needed <= share * available_memory()


@dataclass(frozen=True)
class Plan:
    """How a job will be run.

    Attributes
    ----------
    engine : engine
        The engine itself, or the first of several.
    reason : str
        Why this one, in plain words.
    memory : int
        Bytes that it is expected to need besides the data.
    seconds : float or None
        About how long it takes, from one timed tile, and in an answer of `explain_plan` with
        reading and fitting; None for engines that take moments.
    allowed : int
        Bytes that it may use.
    """

    engine: Any
    reason: str
    memory: int
    seconds: float | None
    allowed: int

    @property
    def fits(self) -> bool:
        """Whether the expected memory is within what may be used."""
        return self.memory <= self.allowed

    def __str__(self) -> str:
        time = "moments" if self.seconds is None else seconds_in_words(self.seconds)
        lines = [
            f"engine  {self.engine.name}",
            f"why     {self.reason}",
            f"memory  about {in_words(self.memory)}, of {in_words(self.allowed)} that may be used",
            f"time    {time}",
        ]
        if not self.fits:
            lines.append("        It does not fit and would be refused.")
        return "\n".join(lines)


REASONS = {
    "dense": "few enough observations for whole kernel matrices.",
    "lines": "kernels of one column are summed along the sorted values, exactly.",
    "features": "explicit features are multiplied, exactly.",
    "tiled": "all pairs of rows, tile by tile, exactly.",
    "blocks": "all pairs of rows would take long: random blocks of rows are averaged.",
}


def make_plan(
    kernels: Mapping[str, FittedKernel],
    pairs: Sequence[Pair],
    means: Sequence[Pair] = (),
    engine: Any = "auto",
    *,
    dependence: Mapping[str, Any] | None = None,
    sizes: Sizes = SIZES,
) -> Plan:
    """Return how a job would be run, without running it; parameters as for `compute_influence`."""
    _, used, places, totals, _ = numbered(kernels, pairs, means)
    asked = not (isinstance(engine, str) and engine == "auto")
    if asked:
        parts = [Part(as_engine(engine), list(range(len(places))), list(range(len(totals))))]
    else:
        parts = choose(used, places, totals, engine, dependence=dependence, sizes=sizes)
    n, both = len(used[0]), [*places, *totals]
    memory = max(memory_of(part.engine, n, len(used), len(both)) for part in parts)
    reason = "requested explicitly." if asked else " ".join(REASONS[p.engine.name] for p in parts)
    seconds = [
        seconds_of(part.engine, used, both)
        for part in parts
        if part.engine.name in ("dense", "tiled", "blocks")
    ]
    main = max(parts, key=lambda part: list(REASONS).index(part.engine.name))
    allowed = available_memory() if asked else int(MEMORY_SHARE * available_memory())
    return Plan(main.engine, reason, memory, sum(seconds) if seconds else None, allowed)


def seconds_of(engine: Any, kernels: Sequence[FittedKernel], places: Places) -> float:
    """Return about how long an engine takes, from one small block of rows."""
    n = len(kernels[0])
    if engine.name == "dense":
        return seconds_of_pair(kernels, places) * n**2
    if engine.name != "blocks":
        return seconds_of_all_pairs(kernels, places, getattr(engine, "n_threads", 1))
    one = seconds_of_pair(kernels, places) / engine.n_threads
    n_blocks = engine.number_of_blocks(n, one)
    # Of the blocks that are halved, half of the pairs of rows is computed again.
    return float(one * n**2 / n_blocks * (1.0 + 0.5 * min(1.0, SPLIT_BLOCKS / n_blocks)))


def seconds_of_all_pairs(
    kernels: Sequence[FittedKernel], places: Places, n_threads: int | None = None
) -> float:
    """Return about how long all pairs of rows take; by NumPy, every kernel is evaluated twice."""
    n, is_compiled = len(kernels[0]), all(kernel.program() is not None for kernel in kernels)
    threads = n_threads or Tiled().n_threads
    return seconds_of_pair(kernels, places) * n**2 * (1 / threads if is_compiled else 2)
