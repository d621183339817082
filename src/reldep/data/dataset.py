"""Blocks of data into one aligned data set: the same complete observations in every variable."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import (
    MINIMUM_OBSERVATIONS,
    check_varies,
    listing,
)
from reldep.data.frames import (
    aligned,
    frame_library,
    index_rows,
    native_name,
    one_per_row,
    time_of_blocks,
)
from reldep.data.objects import read_labels, read_variable
from reldep.data.rows import Rows
from reldep.exceptions import InputError
from reldep.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.frames import Unmatched
    from reldep.data.variables import BoolArray, IntArray, Labels, Variable

SMALL_SAMPLE = 20


@dataclass(frozen=True, eq=False)
class AlignedData:
    """Variables with the same observations, checked and aligned.

    Attributes
    ----------
    variables : dict of str to Variable
        By the name they have in the results.
    rows : Rows
        The observations that are kept, by place and name.
    n_dropped : int
        How many incomplete observations were left out.
    clusters : ndarray of int or None
        The number of each observation's cluster.
    library : str or None
        The data frame library the data came from; results answer in kind.
    notes : tuple of str
        How the data were read.
    second_clusters : ndarray of int or None
        The number of each observation's cluster in a second clustering, crossed with the first.
    labels : mapping of str to Labels
        The labels of the clusters.
    unmatched : Unmatched or None
        Data without an index, and those whose index is in another order.
    groups : Labels or None
        The group of each observation.
    """

    variables: Mapping[str, Variable]
    rows: Rows
    n_dropped: int = 0
    clusters: IntArray | None = None
    library: str | None = None
    notes: tuple[str, ...] = ()
    second_clusters: IntArray | None = None
    labels: Mapping[str, Labels] = field(default_factory=dict)
    unmatched: Unmatched | None = None
    groups: Labels | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: IntArray) -> AlignedData:
        """Return some observations, in the order given."""
        clusters, second = (
            None if codes is None else codes[rows]
            for codes in (self.clusters, self.second_clusters)
        )
        return replace(
            self,
            variables={name: one.take(rows) for name, one in self.variables.items()},
            rows=self.rows.take(rows),
            clusters=clusters,
            second_clusters=second,
            groups=None if self.groups is None else self.groups.take(rows),
        )


def read_dataset(
    blocks: Mapping[str, Any],
    *,
    missing: str = "raise",
    clusters: Any = None,
    by: Any = None,
    ids: Any = None,
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
    ids : Rows or sequence, optional
        What to call the observations; without it by the index of a frame, or by position.
    """
    beside = {"\0clusters": clusters, "\0by": by, "\0ids": ids}
    # Rows of a table are in its order, whatever the index of its columns.
    given = {
        name: data
        for name, data in beside.items()
        if data is not None and not isinstance(data, Rows)
    }
    matched, unmatched = aligned({**blocks, **given})
    clusters, ids = matched.pop("\0clusters", clusters), matched.pop("\0ids", ids)
    by, blocks = matched.pop("\0by", by), matched
    variables = {name: read_variable(data, name) for name, data in blocks.items()}
    n = _common_length(variables)
    rows = read_rows(blocks, n, ids)
    clusterings = _cluster_labels(clusters, n, rows)
    first, second = _two_codes(clusterings)
    groups = {} if by is None else {"by": _row_labels("by", by, n)}
    complete = _complete_rows({**variables, **groups}, rows, missing)
    n_dropped = n - len(complete)
    if n_dropped:
        variables = {name: variable.take(complete) for name, variable in variables.items()}
        groups = {name: labels.take(complete) for name, labels in groups.items()}
        first = None if first is None else first[complete]
        second = None if second is None else second[complete]
        rows = rows.take(complete)
    _check_size(len(complete), n_dropped)
    _check_all_vary(variables, rows)
    library = next((lib for lib in map(frame_library, blocks.values()) if lib), None)
    known = {labels.name: labels for labels in clusterings}
    for labels in groups.values():
        name = native_name(by) or "by"
        known[name] = replace(labels, name=name)
    return AlignedData(
        variables,
        rows,
        n_dropped,
        first,
        library,
        tuple(note for variable in variables.values() for note in variable.notes),
        second,
        known,
        unmatched,
        groups.get("by"),
    )


def complete_variables(
    blocks: Mapping[str, Any], missing: str = "raise"
) -> tuple[dict[str, Variable], IntArray]:
    """Read blocks of equally many rows, and return their complete observations and which.

    Unlike in :func:`read_dataset` a variable may be constant: these rows may be few of many.
    """
    variables = {name: read_variable(data, name) for name, data in blocks.items()}
    gaps = {name: variable.missing() for name, variable in variables.items()}
    lacking = [name for name, places in gaps.items() if places.any()]
    if lacking and missing == "raise":
        raise InputError(
            f"{lacking[0]} has missing values. Fill them in, or pass `missing='drop'` to leave "
            "those observations out."
        )
    complete = np.flatnonzero(~np.logical_or.reduce(list(gaps.values()))).astype(np.int64)
    if lacking:
        variables = {name: variable.take(complete) for name, variable in variables.items()}
    return variables, complete


def read_rows(blocks: Mapping[str, Any], n: int, ids: Any = None) -> Rows:
    """Return the names of the observations: `ids`, the index of a frame, or positions."""
    if isinstance(ids, Rows):
        names = ids
    elif ids is not None:
        names = Rows.labelled(one_per_row(ids, "ids"), native_name(ids) or "id")
    else:
        indexes = (index_rows(block) for block in blocks.values())
        named = next((index for index in indexes if index is not None), Rows.of(n))
        return replace(named, time=named.time or time_of_blocks(blocks))
    if len(names) != n:
        raise InputError(
            f"ids has {counted(len(names), 'entry', 'entries')} for "
            f"{counted(n, 'observation')}; pass one for "
            "each row."
        )
    return names


def _check_all_vary(variables: Mapping[str, Variable], rows: Rows) -> None:
    """Raise InputError for constants, and then for variables of which a single row varies."""
    constant = [variable for variable in variables.values() if variable.is_constant()]
    if len(constant) == 1:
        check_varies(constant[0])
    if constant:
        raise InputError(
            f"{listing([variable.name for variable in constant])} are constant: all "
            f"{len(constant[0])} observations are the same, so nothing can depend on them. Leave "
            "them out."
        )
    found = {name: variable.lone() for name, variable in variables.items()}
    lone = {name: row for name, row in found.items() if row is not None}
    if lone:
        shown = [f"{name} ({rows.name(row)})" for name, row in lone.items()]
        raise InputError(
            f"all observations but one are the same in {listed(shown, 5)}: a single observation "
            f"cannot show a dependence. Leave {'it' if len(lone) == 1 else 'them'} out, or use "
            "more data."
        )


def read_clusterings(
    clusters: Any, n: int, rows: Rows | None = None
) -> tuple[IntArray | None, IntArray | None]:
    """Read one clustering, or a tuple of two that cross each other."""
    return _two_codes(_cluster_labels(clusters, n, rows))


def _two_codes(clusterings: Sequence[Labels]) -> tuple[IntArray | None, IntArray | None]:
    codes = [labels.codes for labels in clusterings]
    return codes[0] if codes else None, codes[1] if len(codes) > 1 else None


def _cluster_labels(clusters: Any, n: int, rows: Rows | None = None) -> tuple[Labels, ...]:
    """Read the labels of no, one or two clusterings."""
    if clusters is None:
        return ()
    crossed = isinstance(clusters, tuple) and len(clusters) == 2 and n != 2
    each = clusters if crossed else (clusters,)
    return tuple(_labels_of_clusters(one, n, rows) for one in each)


def _labels_of_clusters(clusters: Any, n: int, rows: Rows | None) -> Labels:
    labels = _row_labels("clusters", clusters, n)
    rows = Rows.of(n) if rows is None else rows
    if labels.missing().any():
        raise InputError(f"clusters has {labels.describe_missing(rows)}; give every row a cluster.")
    if len(labels.categories) < 2:
        raise InputError(
            "clusters has a single cluster; a variance between clusters needs at least 2, and is "
            "rough below 20. Leave `clusters` out if the rows are independent."
        )
    return labels


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


def _complete_rows(variables: Mapping[str, Variable], rows: Rows, missing: str) -> IntArray:
    gaps = {name: variable.missing() for name, variable in variables.items()}
    incomplete = np.logical_or.reduce(list(gaps.values()))
    if not incomplete.any():
        return np.arange(len(incomplete))
    _check_usable(variables, gaps)
    lacking = [name for name, places in gaps.items() if places.any()]
    if missing == "raise":
        first = lacking[0]
        others = f"; so have {listing(lacking[1:])}" if len(lacking) > 1 else ""
        raise InputError(
            f"{first} has missing values: {variables[first].describe_missing(rows)}{others}. Fill "
            "them in, or pass `missing='drop'` to leave those observations out."
        )
    return np.flatnonzero(~incomplete).astype(np.int64)


def _check_usable(variables: Mapping[str, Variable], gaps: Mapping[str, BoolArray]) -> None:
    """Raise InputError with all variables without values or variation, if some have no value."""
    empty = [name for name, places in gaps.items() if places.all()]
    constant = [
        name
        for name, variable in variables.items()
        if name not in empty and variable.take(np.flatnonzero(~gaps[name])).is_constant()
    ]
    if empty and len(empty) + len(constant) > 1:
        said = f"without any value: {listing(empty)}"
        said += f"; constant: {listing(constant)}" if constant else ""
        raise InputError(f"these variables cannot be used: {said}. Leave them out.")


def _check_size(n: int, n_dropped: int) -> None:
    if n < MINIMUM_OBSERVATIONS:
        left = f" are left after dropping {n_dropped} incomplete ones" if n_dropped else ""
        raise InputError(
            f"only {counted(n, 'observation')}{left}; the unbiased HSIC needs at least "
            f"{MINIMUM_OBSERVATIONS}, and a test is rough below {SMALL_SAMPLE}."
        )
