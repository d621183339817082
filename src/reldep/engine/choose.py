"""Which engine computes which pairs, why, and what it takes.

The sizes at which another engine takes over are the fields of :class:`Sizes`, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import check_choice
from reldep.engine.blocks import Blocks
from reldep.engine.dense import Dense
from reldep.engine.features import Features
from reldep.engine.lines import Line, Lines
from reldep.engine.tiled import Tiled
from reldep.exceptions import InputError, InputTypeError
from reldep.system import available_memory, in_words, seconds_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.engine.centred import Pair
    from reldep.kernels.base import FittedKernel

ENGINES: dict[str, type[Any]] = {
    "dense": Dense,
    "tiled": Tiled,
    "lines": Lines,
    "features": Features,
    "blocks": Blocks,
}

# The share of the free memory that an engine may use.
MEMORY_SHARE = 0.5

# Bytes that every machine has to spare: smaller jobs do not ask how much is free.
SURELY_FREE = 300_000_000


@dataclass(frozen=True)
class Sizes:
    """Where another algorithm takes over.

    Attributes
    ----------
    dense_rows : int
        Whole matrices are used up to this number of rows; compiled code takes longer to load.
    followed_rows : int
        Bandwidths are followed on all pairs of rows up to this number of rows.
    line_features : int
        A kernel with at most this many features is multiplied with a line feature by feature.
    feature_products : float
        Explicit features are used up to this number of multiplications: seconds.
    tiled_values : float
        All pairs of rows are used up to this number of kernel values: about ten seconds.
    again_rows : int
        Pairs of which features lost digits are computed again from all pairs of rows up to this
        number of rows.
    """

    dense_rows: int = 3_000
    followed_rows: int = 3_000
    line_features: int = 50
    feature_products: float = 2e11
    tiled_values: float = 1e10
    again_rows: int = 20_000


SIZES = Sizes()

# A kernel value without a program takes about this many times as long as one in compiled code.
BY_NUMPY = 20.0


@dataclass(frozen=True, eq=False)
class Part:
    """Some pairs and the engine that computes them."""

    engine: Any
    pairs: list[Pair]
    totals: list[Pair]


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
    cost : float
        Of a kernel value, where 1 is two columns in compiled code.
    """

    is_line: bool
    n_features: int | None
    entries: int
    cost: float

    @classmethod
    def of(cls, kernel: FittedKernel) -> Trait:
        """Look at a kernel."""
        some: Any = kernel.features(slice(0, 10))
        n_features = None if some is None else int(some.shape[1])
        entries = n_features or 0
        if some is not None and hasattr(some, "nnz"):
            entries = -(-some.nnz // some.shape[0])
        program = kernel.program()
        if program is None:
            return cls(False, n_features, entries, BY_NUMPY)
        columns = sum(factor.points.shape[1] for factor in program)
        # Ten columns take twice as long as two (measured).
        cost = 0.75 + 0.12 * columns
        return cls(Line.of(kernel) is not None, n_features, entries, cost)


def choose(
    kernels: Mapping[str, FittedKernel],
    pairs: Sequence[Pair],
    totals: Sequence[Pair],
    engine: Any = "auto",
    *,
    allow_blocks: bool = True,
    sizes: Sizes = SIZES,
) -> list[Part]:
    """Return which engine computes which pairs; pairs are canonical and distinct.

    Parameters
    ----------
    kernels : mapping of str to FittedKernel
    pairs, totals : sequence of Pair
    engine : str or engine, default "auto"
    allow_blocks : bool, default True
        Whether `auto` may use blocks of rows, which take the rows to be independent.
    sizes : Sizes
    """
    names = dict.fromkeys(name for pair in (*pairs, *totals) for name in pair)
    n = len(kernels[next(iter(names))])
    if not (isinstance(engine, str) and engine == "auto"):
        chosen = as_engine(engine)
        used = {name: kernels[name] for name in names}
        check_possible(chosen, used)
        if chosen.name == "lines":
            return _lines_and_features(chosen, used, pairs, totals)
        return [Part(chosen, list(pairs), list(totals))]
    if n <= sizes.dense_rows and _fits(Dense().memory(n, len(names), len(pairs))):
        return [Part(Dense(), list(pairs), list(totals))]
    traits = {name: Trait.of(kernels[name]) for name in names}
    parts: dict[str, Part] = {}
    for wanted, is_total in ((pairs, False), (totals, True)):
        for pair in wanted:
            found = _engine_of(traits[pair[0]], traits[pair[1]], n, sizes)
            part = parts.setdefault(found.name, Part(found, [], []))
            (part.totals if is_total else part.pairs).append(pair)
    rest = parts.get("tiled")
    if rest is not None and allow_blocks:
        tiled = dict.fromkeys(name for pair in (*rest.pairs, *rest.totals) for name in pair)
        if sum(traits[name].cost for name in tiled) * n**2 > sizes.tiled_values:
            return [Part(Blocks(), list(pairs), list(totals))]
    return list(parts.values())


def _lines_and_features(
    lines: Lines,
    kernels: Mapping[str, FittedKernel],
    pairs: Sequence[Pair],
    totals: Sequence[Pair],
) -> list[Part]:
    """Leave pairs without a line, as that of labels with themselves, to their features."""
    without = {name for name, kernel in kernels.items() if Line.of(kernel) is None}
    parts = [Part(lines, [], []), Part(Features(), [], [])]
    for pair in pairs:
        parts[without.issuperset(pair)].pairs.append(pair)
    for pair in totals:
        parts[without.issuperset(pair)].totals.append(pair)
    return [part for part in parts if part.pairs or part.totals]


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
    work = n * float(x.entries) * (x.entries + y.n_features if not is_sparse else y.entries)
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


def check_possible(engine: Any, kernels: Mapping[str, FittedKernel]) -> None:
    """Raise if an engine that was asked for cannot compute some kernel, or does not fit."""
    for name, kernel in kernels.items():
        trait = Trait.of(kernel) if engine.name in ("lines", "features") else None
        if trait is None:
            break
        if trait.n_features is None and not (engine.name == "lines" and trait.is_line):
            what = (
                "a Laplace or distance kernel on one column"
                if engine.name == "lines"
                else "explicit features"
            )
            raise InputError(
                f"`engine={engine.name!r}` needs {what}; {name} has {kernel.label}; use "
                "`engine='auto'`."
            )
    has_line = any(Line.of(kernel) is not None for kernel in kernels.values())
    if engine.name == "lines" and not has_line:
        raise InputError(
            "`engine='lines'` needs a Laplace or distance kernel on one column; use "
            "`engine='auto'`."
        )
    n = len(next(iter(kernels.values())))
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
    return needed <= SURELY_FREE or needed <= share * available_memory()


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
        About how long it takes, from one timed tile; None for engines that take moments.
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
    totals: Sequence[Pair],
    engine: Any = "auto",
    *,
    allow_blocks: bool = True,
) -> Plan:
    """Return how a job would be run, without running it."""
    asked = not (isinstance(engine, str) and engine == "auto")
    if asked:
        chosen = as_engine(engine)
        parts = [Part(chosen, list(pairs), list(totals))]
    else:
        parts = choose(kernels, pairs, totals, engine, allow_blocks=allow_blocks)
    names = list(dict.fromkeys(name for pair in (*pairs, *totals) for name in pair))
    n = len(kernels[names[0]])
    n_pairs = len(pairs) + len(totals)
    memory = max(memory_of(part.engine, n, len(names), n_pairs) for part in parts)
    reason = "requested explicitly." if asked else " ".join(REASONS[p.engine.name] for p in parts)
    seconds = [
        timed(part.engine, {name: kernels[name] for name in names})
        for part in parts
        if part.engine.name in ("dense", "tiled", "blocks")
    ]
    main = max(parts, key=lambda part: list(REASONS).index(part.engine.name))
    allowed = available_memory() if asked else int(MEMORY_SHARE * available_memory())
    return Plan(main.engine, reason, memory, sum(seconds) if seconds else None, allowed)


def timed(engine: Any, kernels: Mapping[str, FittedKernel]) -> float:
    """Return about how long an engine takes, from one block of rows."""
    n = len(next(iter(kernels.values())))
    rows = np.arange(min(n, 500))
    some = {name: kernel.take(rows) for name, kernel in kernels.items()}
    trial = Dense() if engine.name == "dense" else Tiled(threads=1)
    pairs = [(name, name) for name in some]
    trial.products(some, pairs)
    started = perf_counter()
    trial.products(some, pairs)
    per_value = (perf_counter() - started) / len(rows) ** 2
    if engine.name == "blocks":
        rows_of_block = n / engine.number_of_blocks(n)
        return float(per_value * n * rows_of_block / (engine.threads or Tiled().n_threads))
    return float(per_value * n**2 / (engine.n_threads if engine.name == "tiled" else 1))
