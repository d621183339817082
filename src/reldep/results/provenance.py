"""How a result came about: what is needed to understand and to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import IntArray


@dataclass(frozen=True, eq=False)
class Provenance:
    """How a result was computed.

    Attributes
    ----------
    kernels : mapping of str to dict
        The fitted kernel of every variable, with its parameters.
    engine : str
        The engine that computed the conditional means.
    rows : ndarray of int
        The position in the input of every observation used.
    n_dropped : int
        Incomplete observations left out.
    library : str or None
        The data frame library in which `to_frame` answers.
    unit_kernels : bool
        Whether all kernels have values in [0, 1].
    clusters : ndarray of int or None
        The number of each observation's cluster, where clusters were given.
    seed : str
        What random steps, where there are any, started from.
    call : str
        The Python call that repeats the result.
    """

    kernels: Mapping[str, Mapping[str, Any]]
    engine: str
    rows: IntArray
    n_dropped: int = 0
    library: str | None = None
    unit_kernels: bool = False
    clusters: IntArray | None = None
    seed: str = ""
    call: str = ""
