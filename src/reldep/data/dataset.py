"""Blocks of data into one aligned data set: the same complete observations in every variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from reldep.data.frames import (
    counts_only,
    frame_library,
    index_rows,
    native_name,
    own_index,
    time_of_blocks,
)
from reldep.data.objects import read_labels, read_variable
from reldep.data.variables import (
    MINIMUM_OBSERVATIONS,
    IntArray,
    Labels,
    Rows,
    Variable,
    constant_in_words,
)
from reldep.exceptions import InputError
from reldep.words import cell, composed, counted, listed, listing, quoted

# Data without an index, and those whose index counts the rows in another order.
Unmatched: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class AlignedData:
    """Variables with the same observations, checked and aligned.

    Attributes
    ----------
    variables : dict of str to Variable
        By the name they have in the results.
    rows : Rows
        The observations that are kept, by place and name.
    kept : ndarray of int or None
        Their places among the observations that were given, if not all are kept.
    n_dropped : int
        How many incomplete observations were left out.
    clusterings : tuple of Labels
        The cluster of each observation; in two clusterings if these cross each other.
    groups : Labels or None
        The group of each observation.
    library : str or None
        The data frame library the data came from; results answer in kind.
    unmatched : Unmatched or None
        Data without an index, and those whose index is in another order.
    notes : tuple of str
        How the data were read.
    """

    variables: Mapping[str, Variable]
    rows: Rows
    kept: IntArray | None = None
    n_dropped: int = 0
    clusterings: tuple[Labels, ...] = ()
    groups: Labels | None = None
    library: str | None = None
    unmatched: Unmatched | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def clusters(self) -> IntArray | None:
        """The number of each observation's cluster."""
        return self.clusterings[0].codes if self.clusterings else None

    @property
    def second_clusters(self) -> IntArray | None:
        """The number of each observation's cluster in a second clustering."""
        return self.clusterings[1].codes if len(self.clusterings) > 1 else None

    @property
    def labels(self) -> dict[str, Labels]:
        """The labels of clusters and groups, by name."""
        both = (*self.clusterings, *([] if self.groups is None else [self.groups]))
        return {labels.name: labels for labels in both}

    def take(self, rows: IntArray) -> AlignedData:
        """Return some observations, in the order given."""
        return replace(
            self,
            variables={name: one.take(rows) for name, one in self.variables.items()},
            rows=self.rows.take(rows),
            kept=rows if self.kept is None else self.kept[rows],
            clusterings=tuple(labels.take(rows) for labels in self.clusterings),
            groups=None if self.groups is None else self.groups.take(rows),
        )


def read_dataset(
    blocks: Mapping[str, Any],
    *,
    missing: str = "raise",
    clusters: Any = None,
    by: Any = None,
    ids: Rows | None = None,
) -> AlignedData:
    """Read named blocks into one data set with complete, aligned observations.

    Parameters
    ----------
    blocks : mapping of str to data
        By the name they have in the results.
    missing : {"raise", "drop"}
        What to do with observations that are incomplete in some block.
    clusters : sequence, optional
        One label for each observation.
    by : sequence, optional
        The group of each observation; those without a group are incomplete.
    ids : Rows, optional
        What to call the observations; without it by the index of a frame, or by position.
    """
    beside = {"\0clusters": clusters, "\0by": by}
    given = {**blocks, **{name: data for name, data in beside.items() if data is not None}}
    library = unmatched = index = None
    are_arrays = set(map(type, given.values())) == {np.ndarray}  # without index and library
    if not are_arrays:
        given, unmatched = aligned(given)
    clusters, by = [given.pop(name, None) for name in beside]
    if not are_arrays:
        library = next(filter(None, map(frame_library, given.values())), None)
        index = next(filter(None, map(index_rows, given.values())), None)
    variables = {name: read_variable(data, name) for name, data in given.items()}
    n = _common_length(variables)
    rows = ids or index or Rows.of(n)
    if ids is None and rows.time is None:
        rows = replace(rows, time=time_of_blocks(given))
    clusterings = read_clusterings(clusters, n, rows)
    groups = {} if by is None else {"by": _row_labels("by", by, n)}
    complete = _complete_rows({**variables, **groups}, missing, rows)
    data = AlignedData(
        variables,
        rows,
        n_dropped=n - len(complete),
        clusterings=clusterings,
        groups=replace(groups["by"], name=native_name(by) or "by") if groups else None,
        library=library,
        unmatched=unmatched,
        notes=tuple([note for variable in variables.values() for note in variable.notes]),
    )
    if data.n_dropped:
        data = data.take(complete)
    if len(data) < MINIMUM_OBSERVATIONS:
        left = f" are left after dropping {data.n_dropped} incomplete ones" * bool(data.n_dropped)
        raise InputError(
            f"only {counted(len(data), 'observation')}{left}; the unbiased HSIC needs at least "
            f"{MINIMUM_OBSERVATIONS}, and a test is rough below 20."
        )
    _check_vary(data)
    return data


def complete_variables(
    blocks: Mapping[str, Any], missing: str = "raise"
) -> tuple[dict[str, Variable], IntArray]:
    """Read blocks of equally many rows, and return their complete observations and which.

    Unlike in :func:`read_dataset` a variable may be constant: these rows may be few of many.
    """
    variables = {name: read_variable(data, name) for name, data in blocks.items()}
    complete = _complete_rows(variables, missing)
    if any(len(variable) > len(complete) for variable in variables.values()):
        variables = {name: variable.take(complete) for name, variable in variables.items()}
    return variables, complete


def _check_vary(data: AlignedData) -> None:
    """Raise InputError for constants, and then for variables of which a single row varies."""
    odd = {name: variable.odd_rows() for name, variable in data.variables.items()}
    few = {name: places for name, places in odd.items() if places is not None}
    constant = [name for name, places in few.items() if not len(places)]
    if constant:
        raise constant_in_words(constant, len(data))
    if few:
        shown = [f"{name} ({data.rows.name(int(places[0]))})" for name, places in few.items()]
        raise InputError(
            f"all observations but one are the same in {listed(shown, 5)}: a single observation "
            f"cannot show a dependence. Leave {'it' if len(few) == 1 else 'them'} out, or use "
            "more data."
        )


def read_clusterings(clusters: Any, n: int, rows: Rows | None = None) -> tuple[Labels, ...]:
    """Read no clustering, one, or a tuple of two that cross each other."""
    if clusters is None:
        return ()
    is_crossed = isinstance(clusters, tuple) and len(clusters) == 2 and n != 2
    found = tuple(
        _row_labels("clusters", one, n) for one in (clusters if is_crossed else [clusters])
    )
    for labels in found:
        if labels.missing().any():
            gaps = labels.describe_missing(rows or Rows.of(n))
            raise InputError(f"clusters has {gaps}; give every row a cluster.")
        if len(labels.categories) < 2:
            raise InputError(
                "clusters has a single cluster; a variance between clusters needs at least 2, and "
                "is rough below 20. Leave `clusters` out if the rows are independent."
            )
    return found


def _row_labels(argument: str, data: Any, n: int) -> Labels:
    """Read one label per row; raise InputError for another number of them."""
    labels = read_labels(data, argument)
    if len(labels) != n:
        raise InputError(
            f"`{argument}` has {counted(len(labels), 'entry', 'entries')} for "
            f"{counted(n, 'observation')}; pass one label per row."
        )
    return labels


def _common_length(variables: Mapping[str, Variable]) -> int:
    lengths = {name: len(variable) for name, variable in variables.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name.lstrip(chr(0))} has {n}" for name, n in lengths.items())
        raise InputError(
            f"the variables have different numbers of observations: {each}. Row i of each must be "
            "the same observation. Join or cut them first."
        )
    return next(iter(lengths.values()))


def _complete_rows(
    variables: Mapping[str, Variable], missing: str, rows: Rows | None = None
) -> IntArray:
    """Return the complete observations; raise InputError if there are others, and they may not be.

    Only those of a whole data set have names, and are needed in every variable.
    """
    gaps = {name: variable.missing() for name, variable in variables.items()}
    incomplete = np.logical_or.reduce(list(gaps.values()))
    lacking = [name for name, places in gaps.items() if places.any()]
    if lacking and missing == "raise":
        which = f": {variables[lacking[0]].describe_missing(rows)}" if rows is not None else ""
        others = f"; so have {listing(lacking[1:])}" if len(lacking) > 1 else ""
        raise InputError(
            f"{lacking[0]} has missing values{which}{others}. Fill them in, or pass "
            "`missing='drop'` to leave those observations out."
        )
    return np.flatnonzero(~incomplete).astype(np.int64)


def aligned(blocks: Mapping[str, Any]) -> tuple[dict[str, Any], Unmatched | None]:
    """Return pandas objects in one order by their index; raise InputError if they do not match.

    Objects whose index only counts the rows, arrays and frames of other libraries are matched
    by position, unless their numbers are in part those of another index: then either may be meant.
    The names of data without an index are returned with those whose index is in another order.
    """
    indexes = {
        name: index for name, data in blocks.items() if (index := _composed_index(data)) is not None
    }
    by_position = [name for name in blocks if name not in indexes]
    if len(indexes) < 2:
        return dict(blocks), _unmatched_blocks(indexes, by_position)
    first_name, first = next(iter(indexes.items()))
    made: dict[str, Any] = dict(blocks)
    moved: list[str] = []
    for name, index in indexes.items():
        if index.equals(first) or len(index) != len(first):
            continue  # a wrong length has a message of its own
        if index.is_unique and first.is_unique and set(index) == set(first):
            made[name] = _taken(blocks[name], index.get_indexer(first))
            moved.append(name)
        elif (counts_only(index) or counts_only(first)) and not index.isin(first).any():
            by_position.append(name)
        else:
            raise _unmatched(first_name, first, name, index)
    if moved and by_position:
        raise InputError(
            f"the rows of {_quoted(moved)} stand in another order than those of {first_name!r} by "
            f"their index, but {_quoted(by_position)} has no index to match them by. Bring all of "
            "them into one order first, as with .loc[index]."
        )
    return made, _unmatched_blocks(indexes, [name for name in blocks if name not in indexes])


def _composed_index(data: Any) -> Any | None:
    """Return the index by which rows are matched, with composed strings."""
    index = own_index(data)
    if index is None or index.nlevels > 1 or index.inferred_type != "string":
        return index
    return index if all(map(str.isascii, index)) else index.map(composed)


def _unmatched_blocks(indexes: Mapping[str, Any], without: Sequence[str]) -> Unmatched | None:
    """Return data without an index and those whose index counts rows in another order."""
    shuffled = [
        name
        for name, index in indexes.items()
        if not counts_only(index) and index.is_unique and not index.is_monotonic_increasing
        if set(index) == set(range(len(index)))
    ]
    if not without or not shuffled:
        return None
    plain = [tuple(name.removeprefix("\0") for name in names) for names in (without, shuffled)]
    return plain[0], plain[1]


def _taken(data: Any, rows: IntArray) -> Any:
    return data.iloc[rows] if hasattr(data, "iloc") else data.take(rows)


def _quoted(names: Sequence[str]) -> str:
    return quoted(name.removeprefix("\0") for name in names)


def _unmatched(first_name: str, first: Any, name: str, index: Any) -> InputError:
    if not (index.is_unique and first.is_unique):
        return InputError(
            f"{first_name!r} and {name!r} have different indexes in which labels come twice, so "
            "that rows cannot be matched. Bring them into one order, and drop the index."
        )
    stranger = next(label for label in index if label not in first)
    return InputError(
        f"{first_name!r} and {name!r} do not have the same rows: {cell(stranger)} is in the index "
        f"of {name!r} only. Join them, or drop the index if they are in one order."
    )
