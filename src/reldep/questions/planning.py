"""Which engine would be used, and what would it take?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.data.checks import VARIANCES, check_choice
from reldep.questions.study import display_names, prepare
from reldep.stats.measures import pairs_needed

if TYPE_CHECKING:
    from reldep.engine import Plan


def explain_plan(
    source: Any,
    *targets: Any,
    measure: str = "hsic",
    kernel: Any = "auto",
    variance: str = "fixed-kernel",
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
    check_choice("variance", variance, VARIANCES)
    if not targets:
        raise ValueError("targets is empty; pass the source and at least one target.")
    blocks = (source, *targets)
    roles = ["source", *(f"target {i}" for i in range(1, len(blocks)))]
    names = display_names(roles, blocks, None)
    study = prepare(
        dict(zip(names, blocks, strict=True)),
        kernel=kernel,
        measure=measure,
        missing=missing,
        engine=engine,
        rng=rng,
        roles=roles,
    )
    pairs = [(names[0], target) for target in names[1:]]
    return study.plan(pairs_needed(pairs, measure), variance)
