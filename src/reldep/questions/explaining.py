"""Which engine would be used, and what would it take?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from reldep.data.checks import check_choice
from reldep.exceptions import InputError
from reldep.questions.ask import quiet_numbers
from reldep.questions.options import Measure, Missing, Settings, Variance
from reldep.questions.study import display_names, read_study

if TYPE_CHECKING:
    from reldep.engine import Plan


def explain_plan(
    source: Any,
    *targets: Any,
    measure: str = "cka",
    kernel: Any = "auto",
    variance: str = "jackknife",
    missing: str = "raise",
    engine: Any = "auto",
    rng: Any = None,
) -> Plan:
    """Say which engine a question would get, why, and what memory and time it would take.

    Parameters
    ----------
    source : data
    *targets : data
        One as for :func:`dependence`, two as for :func:`compare`, more as for :func:`rank`.
    measure, kernel, variance, missing, engine, rng
        As for :func:`compare`; a tuple of kernels is in the order source, targets.

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
    for name, value, choices in (
        ("measure", measure, Measure),
        ("variance", variance, Variance),
        ("missing", missing, Missing),
    ):
        check_choice(name, value, get_args(choices))
    settings = Settings(
        measure=measure,
        kernel=kernel,
        variance=variance,
        missing=missing,
        engine=engine,
        rng=rng,
    )
    if not targets:
        raise InputError("targets is empty; pass the source and at least one target.")
    blocks = (source, *targets)
    roles = ["source", *(f"target {i}" for i in range(1, len(blocks)))]
    names = display_names(roles, blocks, None)
    with quiet_numbers():
        study = read_study(dict(zip(names, blocks, strict=True)), settings, roles=roles)
        return study.plan([(names[0], target) for target in names[1:]])
