"""A first look at every piece of a table: how much there is, what is missing, and a sample."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import MINIMUM_OBSERVATIONS, printable
from reldep.exceptions import InputError
from reldep.files.partitions import PLACE, Block, PieceLayout
from reldep.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from reldep.data.variables import FloatArray

# Rows drawn from all pieces, on which kernels are chosen and pivots begin, and rows at either end
# of every column of numbers, which no kernel may forget.
SAMPLED_ROWS = 20_000
END_ROWS = 60

# More labels than these are hardly categories.
MOST_CATEGORIES = 20_000

KEY = "\0key"


def read_block(layout: PieceLayout, piece: Any, number: int) -> Block:
    """Read the complete rows of a piece as arrays; the labels must be known."""
    frame, n_rows = layout.frame(piece, number)
    return _as_block(layout, frame.drop_nulls(), number, n_rows)


def _as_block(layout: PieceLayout, frame: pl.DataFrame, number: int, n_rows: int) -> Block:
    import polars as pl

    values: dict[str, Any] = {}
    for variable, kind in layout.kinds.items():
        if kind == "number":
            names = [f"{variable}\0{i}" for i in range(len(layout.blocks[variable]))]
            values[variable] = np.ascontiguousarray(frame.select(names).to_numpy())
            continue
        known = pl.Enum(list(layout.categories[variable]))
        codes = frame[f"{variable}\0{0}"].cast(known, strict=False).to_physical()
        if codes.null_count():
            raise InputError(
                f"{printable(layout.name)} has labels in {variable} now that were not there "
                "before: the data change while they are read. Ask again when nobody writes to "
                "them."
            )
        values[variable] = codes.to_numpy().astype(np.int64)
    return Block(number, values, frame[PLACE].to_numpy().astype(np.int64), n_rows)


@dataclass(frozen=True, eq=False)
class FirstLook:
    """What a first pass over all pieces finds.

    Attributes
    ----------
    n_rows : tuple of int
        Rows of every piece.
    n_chosen, n_complete : int
        Rows that the condition keeps, and those of them without a missing value.
    gaps : dict of str to int
        Rows in which each variable is incomplete.
    totals, sizes : dict of str to ndarray
        Of variables of numbers: the sum of every column, and its largest absolute value.
    counts : dict of str to dict of str to int
        Of variables of labels: how often each label occurs.
    sample : polars.DataFrame
        Some rows, with their random keys.
    ends : polars.DataFrame
        Rows with the smallest and largest numbers.
    """

    n_rows: tuple[int, ...]
    n_chosen: int
    n_complete: int
    gaps: dict[str, int]
    totals: dict[str, FloatArray]
    sizes: dict[str, FloatArray]
    counts: dict[str, dict[str, int]]
    sample: pl.DataFrame = field(repr=False)
    ends: pl.DataFrame = field(repr=False)

    def __add__(self, other: FirstLook) -> FirstLook:
        import polars as pl

        return FirstLook(
            (*self.n_rows, *other.n_rows),
            self.n_chosen + other.n_chosen,
            self.n_complete + other.n_complete,
            {name: n + other.gaps[name] for name, n in self.gaps.items()},
            {name: total + other.totals[name] for name, total in self.totals.items()},
            {name: np.maximum(size, other.sizes[name]) for name, size in self.sizes.items()},
            {name: _added(counts, other.counts[name]) for name, counts in self.counts.items()},
            _smallest(pl.concat([self.sample, other.sample])),
            _ends(pl.concat([self.ends, other.ends])),
        )

    def __getstate__(self) -> dict[str, Any]:
        # Polars' own way of writing a frame waits for threads that wait for the interpreter, for
        # ever, where dask sends it from its event loop.
        plain = {name: _written(getattr(self, name)) for name in ("sample", "ends")}
        return self.__dict__ | plain

    def __setstate__(self, state: dict[str, Any]) -> None:
        frames = {name: _read(state[name]) for name in ("sample", "ends")}
        self.__dict__.update(state | frames)

    def check(self, layout: PieceLayout, missing: str) -> None:
        """Refuse missing values unless they may be dropped, and tables without rows."""
        name = printable(layout.name)
        if not self.n_chosen:
            if layout.where is None:
                raise InputError(f"{name} has no rows.")
            raise InputError(f"no row of {name} satisfies the condition {layout.where!r}.")
        incomplete = {variable: n for variable, n in self.gaps.items() if n}
        if incomplete and missing == "raise":
            variable, n = next(iter(incomplete.items()))
            raise InputError(
                f"{variable} has missing values in {n:,} of {self.n_chosen:,} rows. Fill them in, "
                "or pass `missing='drop'` to leave them out."
            )
        if self.n_complete < MINIMUM_OBSERVATIONS:
            raise InputError(
                f"only {counted(self.n_complete, 'complete observation')}; at least "
                f"{MINIMUM_OBSERVATIONS} "
                "are needed."
            )
        for variable, counts in self.counts.items():
            if len(counts) > MOST_CATEGORIES:
                raise InputError(
                    f"{variable} has {len(counts):,} different labels; up to {MOST_CATEGORIES:,} "
                    "are followed in partitions. Leave out identifiers, and read numbers that are "
                    "stored as text as numbers."
                )


def scan_piece(layout: PieceLayout, piece: Any, number: int, seed: int) -> FirstLook:
    """Take a first look at a piece."""
    import polars as pl

    frame, n_rows = layout.frame(piece, number)
    gaps = {
        variable: frame.select(
            pl.any_horizontal([pl.col(name).is_null() for name in _names(layout, variable)]).sum()
        ).item()
        for variable in layout.kinds
    }
    complete = frame.drop_nulls()
    n = len(complete)
    numbers = [variable for variable, kind in layout.kinds.items() if kind == "number"]
    values = {
        variable: complete.select(_names(layout, variable)).to_numpy() for variable in numbers
    }
    keys = Block(number, {}, np.empty(n, dtype=np.int64), n).keys(seed)
    rows = complete.drop(PLACE)
    return FirstLook(
        (n_rows,),
        len(frame),
        n,
        {variable: int(count or 0) for variable, count in gaps.items()},
        {variable: part.sum(axis=0) for variable, part in values.items()},
        {variable: np.abs(part).max(axis=0, initial=0.0) for variable, part in values.items()},
        {
            variable: _counted(rows[f"{variable}\0{0}"])
            for variable, kind in layout.kinds.items()
            if kind == "label"
        },
        _smallest(rows.with_columns(pl.Series(KEY, keys, dtype=pl.Float64))),
        _ends(rows),
    )


def with_categories(layout: PieceLayout, scan: FirstLook) -> PieceLayout:
    """Write the labels that were found into a layout, in an order of their own."""
    found = {variable: tuple(sorted(counts)) for variable, counts in scan.counts.items()}
    return replace(layout, categories=found)


def _names(layout: PieceLayout, variable: str) -> list[str]:
    return [f"{variable}\0{i}" for i in range(len(layout.blocks[variable]))]


def _counted(labels: pl.Series) -> dict[str, int]:
    found = labels.value_counts(sort=True).head(MOST_CATEGORIES + 1)
    return dict(zip(found[labels.name].to_list(), found["count"].to_list(), strict=True))


def _added(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    total = dict(first)
    for label, n in second.items():
        # Identifiers would fill the memory before they are refused.
        if label not in total and len(total) > MOST_CATEGORIES:
            break
        total[label] = total.get(label, 0) + n
    return total


def _written(frame: pl.DataFrame) -> dict[str, Any]:
    """Give a frame as columns of NumPy, or as lists where they hold words."""
    return {
        one.name: one.to_numpy() if one.dtype.is_numeric() else one.cast(str).to_list()
        for one in frame.get_columns()
    }


def _read(columns: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    # A column without any row has no value to tell its type by.
    words = {name: pl.String() for name, values in columns.items() if isinstance(values, list)}
    return pl.DataFrame(columns, schema_overrides=words)


def _smallest(rows: pl.DataFrame) -> pl.DataFrame:
    """Keep the rows with the smallest keys: a sample in which all rows are equally likely."""
    if len(rows) <= SAMPLED_ROWS:
        return rows
    keys = rows[KEY].to_numpy()
    return rows[np.sort(np.argpartition(keys, SAMPLED_ROWS)[:SAMPLED_ROWS])]


def _ends(rows: pl.DataFrame) -> pl.DataFrame:
    """Keep the rows at either end of every column of numbers."""
    import polars as pl

    if len(rows) <= 2 * END_ROWS:
        return rows
    kept = [np.empty(0, dtype=np.int64)]
    for name, dtype in rows.schema.items():
        if dtype != pl.Float64 or name == KEY:
            continue
        order = np.argpartition(rows[name].to_numpy(), [END_ROWS, len(rows) - END_ROWS])
        kept += [order[:END_ROWS], order[len(rows) - END_ROWS :]]
    return rows[np.unique(np.concatenate(kept))]
