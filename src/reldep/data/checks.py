"""The only input checks: options by name, blocks of data into one aligned data set."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.objects import frame_library, labels_of, read_variable
from reldep.exceptions import DroppedRowsWarning, ReldepWarning, SmallSampleWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reldep.data.variables import IntArray, Variable

MINIMUM_OBSERVATIONS = 4
SMALL_SAMPLE = 20

ALTERNATIVES = ("greater", "less", "two-sided")
MEASURES = ("hsic", "cka", "dcor")
METHODS = ("joint", "split")
VARIANCES = ("fixed-kernel", "bandwidth-aware", "second-order", "full")
ADJUSTMENTS = ("single-step", "step-down", "holm", "bh")
MISSING = ("raise", "drop")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Variables with the same observations, checked and aligned.

    Attributes
    ----------
    variables : dict of str to Variable
        By the name they have in the results.
    rows : ndarray of int
        The position in the input of each observation that is kept.
    n_dropped : int
        How many incomplete observations were left out.
    clusters : ndarray of int or None
        The number of each observation's cluster.
    library : str or None
        The data frame library the data came from; results answer in kind.
    cautions : tuple of ReldepWarning
        What the reader of a result should know about the data.
    """

    variables: Mapping[str, Variable]
    rows: IntArray
    n_dropped: int = 0
    clusters: IntArray | None = None
    library: str | None = None
    cautions: tuple[ReldepWarning, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)


def read_dataset(
    blocks: Mapping[str, Any], *, missing: str = "raise", clusters: Any = None
) -> Dataset:
    """Read named blocks into one data set with complete, aligned observations."""
    check_choice("missing", missing, MISSING)
    variables = {name: read_variable(data, name) for name, data in blocks.items()}
    n = _common_length(variables)
    groups = None if clusters is None else read_clusters(clusters, n)
    complete = _complete_rows(variables, n, missing)
    n_dropped = n - len(complete)
    if n_dropped:
        variables = {name: variable.take(complete) for name, variable in variables.items()}
        groups = None if groups is None else groups[complete]
    _check_size(len(complete), n_dropped)
    for variable in variables.values():
        check_varies(variable)
    library = next((lib for lib in map(frame_library, blocks.values()) if lib), None)
    cautions = _dropped_in_words(n_dropped, len(complete))
    return Dataset(variables, complete, n_dropped, groups, library, cautions)


def check_varies(variable: Variable) -> None:
    """Refuse a constant: its HSIC with anything is 0 by construction."""
    if variable.is_constant():
        raise ValueError(
            f"{variable.name} is constant: all {len(variable)} observations are the same, so "
            "nothing can depend on it (its HSIC is 0 by construction). Leave it out."
        )


def check_choice(argument: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a word that is not among the choices, and name the nearest one."""
    known = list(choices)
    if not isinstance(value, str):
        raise TypeError(
            f"{argument} is of type {type(value).__name__}; pass one of {_quoted(known)}."
        )
    if value not in known:
        raise ValueError(
            f"{argument}={value!r} is not known{nearest(value, known)}; pass one of "
            f"{_quoted(known)}."
        )


def check_level(argument: str, value: object) -> float:
    """Refuse what is not strictly between 0 and 1."""
    if not isinstance(value, (int, float, np.number)) or not 0 < float(value) < 1:
        raise ValueError(f"{argument}={value!r}; pass a number strictly between 0 and 1.")
    return float(value)


def check_count(argument: str, value: object, *, at_least: int) -> None:
    """Refuse what is not a whole number of at least `at_least`."""
    way_out = f"pass a whole number, at least {at_least}."
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{argument}={value!r}; {way_out}")
    if value < at_least:
        raise ValueError(f"{argument}={value!r}; {way_out}")


def check_positive(argument: str, value: object) -> None:
    """Refuse what is not a positive, finite number."""
    if not isinstance(value, (int, float, np.number)) or not 0 < float(value) < np.inf:
        raise ValueError(f"{argument}={value!r}; pass a positive number.")


def check_names_known(
    argument: str, used: Iterable[str], known: Iterable[str], noun: str = "variable"
) -> None:
    """Refuse a name that no variable (or column) has."""
    names = list(known)
    for name in used:
        if name not in names:
            raise ValueError(
                f"{argument} names {name!r}, which is not a {noun}{nearest(name, names)}; the "
                f"{noun}s are {_quoted(names)}."
            )


def nearest(word: object, known: Iterable[str]) -> str:
    """Propose the nearest known word, as a clause to put into a message."""
    matches = difflib.get_close_matches(str(word).lower(), [k.lower() for k in known], n=1)
    if not matches:
        return ""
    original = next(k for k in known if k.lower() == matches[0])
    return f" (did you mean {original!r}?)"


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(repr(word) for word in words)


def _common_length(variables: Mapping[str, Variable]) -> int:
    lengths = {name: len(variable) for name, variable in variables.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(
            f"the variables have different numbers of observations: {listed}. Row i of each "
            "must be the same observation; join or cut them first."
        )
    return next(iter(lengths.values()))


def _complete_rows(variables: Mapping[str, Variable], n: int, missing: str) -> IntArray:
    incomplete = np.zeros(n, dtype=bool)
    for name, variable in variables.items():
        rows = variable.missing()
        if rows.any() and missing == "raise":
            raise ValueError(
                f"{name} has missing values: {variable.describe_missing()}. Fill them in, or "
                'pass missing="drop" to leave those observations out.'
            )
        incomplete |= rows
    return np.flatnonzero(~incomplete).astype(np.int64)


def _check_size(n: int, n_dropped: int) -> None:
    if n < MINIMUM_OBSERVATIONS:
        left = f" are left after dropping {n_dropped} incomplete ones" if n_dropped else ""
        raise ValueError(
            f"only {n} observations{left}; the unbiased HSIC needs at least "
            f"{MINIMUM_OBSERVATIONS}, and a test is rough below {SMALL_SAMPLE}."
        )


def small_sample_cautions(n: int) -> tuple[ReldepWarning, ...]:
    """Caution a reader of p-values and intervals when there are few observations."""
    if n >= SMALL_SAMPLE:
        return ()
    return (
        SmallSampleWarning(
            f"only {n} observations: p-values and intervals rest on a normal approximation "
            f"that is rough below {SMALL_SAMPLE}."
        ),
    )


def _dropped_in_words(n_dropped: int, n_left: int) -> tuple[ReldepWarning, ...]:
    if not n_dropped:
        return ()
    text = f"{n_dropped} incomplete observations were dropped; {n_left} are used."
    return (DroppedRowsWarning(text),)


def read_clusters(clusters: Any, n: int) -> IntArray:
    """Give the number of each observation's cluster."""
    values = clusters.to_list() if hasattr(clusters, "to_list") else list(clusters)
    if len(values) != n:
        raise ValueError(
            f"clusters has {len(values)} entries for {n} observations; pass one label per row."
        )
    labels = labels_of(values, "clusters")
    if labels.missing().any():
        raise ValueError(f"clusters has {labels.describe_missing()}; give every row a cluster.")
    if len(labels.categories) < 2:
        raise ValueError(
            "clusters has a single cluster; a variance between clusters needs at least 2, and "
            "is rough below 20. Leave clusters out if the rows are independent."
        )
    return labels.codes
