"""How a result came about: what is needed to understand and to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.rows import Rows
    from reldep.engine.covariates import Conditioning
    from reldep.stats.series import RowDependence


@dataclass(frozen=True, eq=False)
class Provenance:
    """How a result was computed.

    Attributes
    ----------
    measure : {"hsic", "cka", "dcor"}
    variance : str
        How the variance was estimated.
    kernels : mapping of str to dict
        The fitted kernel of every variable, with its parameters.
    engine : str
        The engine that computed the conditional means.
    rows : Rows
        The observations used: their positions in the input and their names.
    dependence : RowDependence
        Which rows may depend on each other.
    n_dropped : int
        Incomplete observations left out.
    scope : str or None
        The rows that a condition chose, such as "the 260 of 700 rows with sex = 'f'"; None for
        all rows.
    notes : tuple of str
        How the data were read, where that is not plain.
    library : str or None
        The data frame library in which `to_frame` answers.
    unit_kernels : bool
        Whether all kernels have values in [0, 1].
    seed : str
        The random seed, where there are random steps.
    call : str
        The Python call that repeats the result.
    conditioning : Conditioning or None
        The covariates that were held fixed, and what share of every variable they explain.
    """

    measure: str
    variance: str
    kernels: Mapping[str, Mapping[str, Any]]
    engine: str
    rows: Rows
    dependence: RowDependence
    n_dropped: int = 0
    library: str | None = None
    unit_kernels: bool = False
    seed: str = ""
    call: str = ""
    conditioning: Conditioning | None = None
    scope: str | None = None
    notes: tuple[str, ...] = ()
