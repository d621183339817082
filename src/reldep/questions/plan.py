"""Which engine would be used, and what would it take?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from reldep.arguments import Argument, public
from reldep.engine import Plan
from reldep.questions.ask import quiet_numbers
from reldep.questions.options import (
    VARIANCE,
    Basic,
    Kernels,
    Measured,
    Random,
    Variance,
    variable,
)
from reldep.questions.study import read_study

if TYPE_CHECKING:
    from reldep.engine import Plan


class PlanOptions(Measured, Kernels, Basic, Random, total=False):
    """The options of :func:`explain_plan`."""

    variance: Annotated[Variance, Argument(VARIANCE, "jackknife")]


@public
def explain_plan(
    source: Annotated[Any, variable("What is compared.")],
    first: Annotated[Any, variable("A target; or a mapping of several, as for rank.")],
    second: Annotated[Any, variable("A second target, as for compare.", None)] = None,
    **options: Unpack[PlanOptions],
) -> Plan:
    """Return which engine a question would get, why, and what memory and time it would take.

    Returns
    -------
    Plan
        Prints in plain words; `engine`, `reason`, `memory` (bytes), `seconds`, `fits`.

    Notes
    -----
    The kernels are fitted, bandwidths included; nothing is summed.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> x = np.random.default_rng(0).normal(size=300)
    >>> reldep.explain_plan(x, x**2, x**3).engine.name
    'dense'
    """
    single, many = {"source": source, "first": first, "second": second}, {}
    if isinstance(first, Mapping):
        many = {"targets": single.pop("first")}
    if second is None:
        del single["second"]
    with quiet_numbers():
        return read_study(single, options, many=many).plan()
