"""What a check looks at: the data of a question, and what is tested about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reldep.checks.copies import Marks
from reldep.data.variables import Mixed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from reldep.data.rows import Rows
    from reldep.data.variables import FloatArray, IntArray, Labels, Variable
    from reldep.engine.influence import Conditioning, Influence
    from reldep.kernels.base import FittedKernel, Kernel
    from reldep.stats.estimates import Estimates

    Pair = tuple[str, str]


@dataclass(frozen=True, eq=False, kw_only=True)
class Data:
    """The variables of a question on the same complete rows.

    Attributes
    ----------
    variables : mapping of str to Variable
        Those whose values are known: not kernel matrices that were passed in.
    rows : Rows
    pairs : sequence of pairs of str
        The pairs whose dependences are asked about.
    source : str or None
        The variable that all pairs share, if the question has one.
    kernels : mapping of str to Kernel
    fitted : mapping of str to FittedKernel
    automatic : collection of str
        The variables whose kernels were not chosen by the user.
    clusters : tuple of ndarray of int
        The number of each row's cluster, for no, one or two clusterings.
    max_lag : int, "auto" or None
    labels : mapping of str to Labels
        Labels that are not variables: those of clusters and of groups.
    unmatched : tuple of two tuples of str, or None
        Data without an index, next to data whose index is in another order.
    conditioning : Conditioning or None
        The covariates that are held fixed.
    """

    variables: Mapping[str, Variable]
    rows: Rows
    pairs: Sequence[Pair] = ()
    source: str | None = None
    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    fitted: Mapping[str, FittedKernel] = field(default_factory=dict)
    automatic: Collection[str] = ()
    clusters: tuple[IntArray, ...] = ()
    max_lag: int | str | None = None
    labels: Mapping[str, Labels] = field(default_factory=dict)
    unmatched: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    conditioning: Conditioning | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def parts(self) -> Iterator[Variable]:
        """Yield every variable, and the numbers and labels of mixed ones by themselves."""
        for variable in self.variables.values():
            yield from variable.parts if isinstance(variable, Mixed) else (variable,)

    @cached_property
    def marks(self) -> dict[str, Marks]:
        """What identifies the columns of every variable."""
        return {name: Marks.of(variable) for name, variable in self.variables.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Tested:
    """Dependences and what is tested about them.

    Attributes
    ----------
    data : Data
    found : Estimates
        The dependences of ``data.pairs``.
    weights : ndarray, shape (k, p)
        The weights of the dependences in everything that is tested.
    influence : Influence or None
    is_difference : bool
        Whether one difference of two dependences is tested.
    where : str
        Which part of the rows this is about, such as " in 'treated'".
    """

    data: Data
    found: Estimates
    weights: FloatArray
    influence: Influence | None = None
    is_difference: bool = False
    where: str = ""

    @cached_property
    def psi(self) -> FloatArray:
        """The influence of every row on everything that is tested, shape (k, rows)."""
        return np.asarray(self.weights @ self.found.psi)
