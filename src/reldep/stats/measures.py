"""Measures of dependence as smooth functions of HSICs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from reldep.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine.influence import Influence
    from reldep.engine.terms import Pair

NORMALISED = ("cka", "dcor")
FOLLOWS_BANDWIDTHS = ("bandwidth-aware", "full", "jackknife")
SECOND_ORDER = ("second-order", "full")
# Entries up to which a matrix is not worth being sparse.
LARGEST_DENSE = 10_000

TAKES_SECOND_OFF = (*SECOND_ORDER, "jackknife")

# Where a variable seems not to vary.
ALL_BUT_ONE = " So it is where all observations but one are the same, or one is very far away."


def pairs_needed(pairs: Sequence[Pair], measure: str) -> tuple[Pair, ...]:
    """List the pairs an engine must compute: normalised measures need the self-pairs too."""
    if measure not in NORMALISED:
        return tuple(pairs)
    selves = [(name, name) for pair in pairs for name in pair]
    return tuple(dict.fromkeys([*pairs, *selves]))


def measure_gradient(
    influence: Influence, pairs: Sequence[Pair], measure: str
) -> tuple[FloatArray | scipy.sparse.csr_array, FloatArray]:
    """Give the derivative of every estimate in every HSIC of A, and the estimates.

    ``C = H_xy / sqrt(H_xx H_yy)`` has the derivatives ``1/sqrt(H_xx H_yy)`` in H_xy,
    ``-C/(2 H_xx)`` in H_xx and the same in H_yy.
    """
    hsics = influence.estimates
    rows = np.array([influence.row(pair) for pair in pairs])
    own = np.arange(len(pairs))
    shape = (len(pairs), len(hsics))
    if measure not in NORMALISED:
        return _matrix(np.ones(len(pairs)), (own, rows), shape), hsics[rows]
    first, second = (
        np.array([_energy_row(influence, hsics, pair[side]) for pair in pairs]) for side in (0, 1)
    )
    scale = np.sqrt(hsics[first] * hsics[second])
    values = hsics[rows] / scale
    slopes = (1.0 / scale, -0.5 * values / hsics[first], -0.5 * values / hsics[second])
    places = (np.tile(own, 3), np.concatenate([rows, first, second]))
    return _matrix(np.concatenate(slopes), places, shape), values


def _matrix(
    values: FloatArray, places: tuple[IntArray, IntArray], shape: tuple[int, int]
) -> FloatArray | scipy.sparse.csr_array:
    """Put values into a matrix, a sparse one for thousands of targets.

    Values of the same place are added up, as those of a self-pair must be.
    """
    if shape[0] * shape[1] > LARGEST_DENSE:
        return scipy.sparse.csr_array((values, places), shape=shape)
    matrix = np.zeros(shape)
    np.add.at(matrix, places, values)
    return matrix


def applied(gradient: FloatArray | scipy.sparse.csr_array, psi: FloatArray) -> FloatArray:
    """Multiply influence values by a gradient.

    One product after another: what a variable and its copy have in common cancels exactly, which
    a library for matrix products does not promise.
    """
    if isinstance(gradient, np.ndarray):
        return np.asarray(np.einsum("pq,qm->pm", gradient, psi))
    return np.asarray(gradient @ psi)


def _energy_row(influence: Influence, hsics: FloatArray, name: str) -> int:
    """Find the self-pair of a variable and check that one can divide by its HSIC."""
    row = influence.row((name, name))
    check_energy(name, float(hsics[row]))
    return row


def computed(part: FloatArray | None, variance: str) -> FloatArray:
    """Give a part of A that a variance needs, or say that it was not computed."""
    if part is None:
        raise not_computed(variance)
    return part


def not_computed(variance: str) -> InputError:
    """Say that A was computed without what a variance needs."""
    return InputError(
        f"the conditional means were computed without what `variance={variance!r}` needs; compute "
        f"them with `variance={variance!r}`."
    )


def check_energy(name: str, energy: float) -> None:
    """Refuse a variable whose HSIC with itself one cannot divide by."""
    if not energy > 0:
        raise InputError(
            f"the HSIC of {name} with itself is {energy:.3g}, so a normalised measure (cka, dcor) "
            f"is not defined: there are too few observations, or almost no variation in {name} "
            f"beyond rounding.{ALL_BUT_ONE} Use other data, or `measure='hsic'`."
        )
