"""Does the answer depend on the bandwidth?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.exceptions import SignFlipWarning
from reldep.questions._inference import Inference
from reldep.questions.cautions import cautions_of
from reldep.questions.repetition import repeatable
from reldep.questions.study import (
    display_names,
    prepare,
    provenance_of,
    raise_cautions,
)
from reldep.results.sensitivity import Sensitivity
from reldep.stats.measures import pairs_needed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray
    from reldep.kernels import FittedKernel

ROLES = ("source", "first", "second")

# From an eighth to eight times the bandwidth, two steps for each doubling.
FACTORS = tuple(2.0 ** (step / 2) for step in range(-6, 7))


@repeatable
def sensitivity(
    source: Any,
    first: Any,
    second: Any,
    *,
    factors: Sequence[float] = FACTORS,
    measure: str = "hsic",
    kernel: Any = "auto",
    alternative: str = "greater",
    variance: str = "fixed-kernel",
    clusters: Any = None,
    max_lag: int | str | None = None,
    missing: str = "raise",
    engine: Any = "auto",
    rng: Any = None,
    names: Sequence[str] | None = None,
) -> Sensitivity:
    """Compare two dependences over a grid of bandwidths.

    The kernel is part of the question: a narrow one sees fine structure, a wide one trends.
    Which dependence is stronger may therefore change with the bandwidth, and an answer that
    holds over a wide grid is worth more than one at the median alone.

    Parameters
    ----------
    source, first, second
        As for :func:`compare`.
    factors : sequence of float, optional
        By what the bandwidths of all variables are multiplied together. By default from 1/8 to
        8. Each bandwidth is chosen once; variables without one (categories, linear kernels)
        stay as they are.
    measure, kernel, alternative, variance, clusters, max_lag, missing, engine, rng, names
        As for :func:`compare`.

    Returns
    -------
    Sensitivity
        With `sign_flips`, `sign_changes`, `to_frame()`, `confidence_interval()`, `plot()`. A
        :class:`~reldep.exceptions.SignFlipWarning` says when both signs are shown.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> y, z = x + 0.5 * rng.normal(size=100), x + 2 * rng.normal(size=100)
    >>> reldep.sensitivity(x, y, z, factors=[0.5, 1, 2]).sign_flips
    False
    """
    grid = _read_factors(factors)
    inference = Inference(measure, alternative, variance, max_lag, clusters)
    blocks = (source, first, second)
    labels = display_names(ROLES, blocks, names)
    study = prepare(
        dict(zip(labels, blocks, strict=True)),
        kernel=kernel,
        measure=measure,
        missing=missing,
        clusters=clusters,
        engine=engine,
        rng=rng,
        roles=ROLES,
    )
    _check_any_bandwidth(study.fitted)
    pairs = ((labels[0], labels[1]), (labels[0], labels[2]))
    tests = []
    for factor in grid:
        scaled = study.scaled(float(factor))
        influence = inference.influence(scaled, pairs_needed(pairs, measure))
        weights = np.array([1.0, -1.0])
        tests.append(inference.test(influence, pairs, weights, study.dataset.clusters))
    answer = Sensitivity(
        n_observations=len(study.dataset),
        measure=measure,
        variance=variance,
        provenance=provenance_of(study.dataset, study.fitted, influence),
        warnings=cautions_of(study.dataset, study.fitted, influence),
        source=labels[0],
        first=labels[1],
        second=labels[2],
        factors=grid,
        estimates=np.array([test["estimate"] for test in tests]),
        standard_errors=np.array([test["standard_error"] for test in tests]),
        statistics=np.array([test["statistic"] for test in tests]),
        pvalues=np.array([test["pvalue"] for test in tests]),
        alternative=alternative,
        bandwidths=_bandwidths(study.fitted),
    )
    answer = _with_caution(answer)
    raise_cautions(answer.warnings)
    return answer


def _read_factors(factors: Any) -> FloatArray:
    grid = np.asarray(factors, dtype=np.float64)
    if grid.ndim != 1 or len(grid) < 2 or not (np.isfinite(grid) & (grid > 0)).all():
        raise ValueError(
            f"factors={factors!r}; pass at least two positive numbers, such as (0.5, 1, 2)."
        )
    if len(np.unique(grid)) != len(grid):
        raise ValueError(f"factors={factors!r} has repeated values; pass each once.")
    return np.sort(grid)


def _check_any_bandwidth(fitted: Mapping[str, FittedKernel]) -> None:
    if all(kernel.scaled(2.0) is kernel for kernel in fitted.values()):
        listed = "; ".join(f"{name}: {kernel.label}" for name, kernel in fitted.items())
        raise ValueError(
            f"none of the kernels has a bandwidth ({listed}), so there is nothing to vary; use "
            "Gaussian or Laplace kernels, or compare() with each kernel of interest."
        )


def _bandwidths(fitted: Mapping[str, FittedKernel]) -> dict[str, float]:
    described = {name: kernel.describe() for name, kernel in fitted.items()}
    return {
        name: float(parameters["bandwidth"])
        for name, parameters in described.items()
        if "bandwidth" in parameters
    }


def _with_caution(answer: Sensitivity) -> Sensitivity:
    if not answer.sign_flips:
        return answer
    places = " and ".join(f"{low:.3g} and {high:.3g}" for low, high in answer.sign_changes)
    caution = SignFlipWarning(
        f"the difference changes its sign between {places} times the bandwidths, with evidence on "
        "both sides; say at which scale the question is asked, or report the whole curve."
    )
    return replace(answer, warnings=(*answer.warnings, caution))
