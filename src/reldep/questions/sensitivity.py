"""Does the answer depend on the bandwidth?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Unpack

import numpy as np

from reldep.arguments import Argument
from reldep.data.variables import FloatArray
from reldep.exceptions import InputError
from reldep.kernels import FittedKernel
from reldep.questions import options as shared
from reldep.questions.ask import question
from reldep.questions.compare import WEIGHTS, compared
from reldep.questions.study import Computed, read_study
from reldep.results.comparison import Sensitivity
from reldep.stats.estimates import Estimates
from reldep.stats.pairwise import crossed_deviations
from reldep.stats.scan import AcrossScales

# From an eighth to eight times the bandwidth, two steps for each doubling.
GRID = tuple(2.0 ** (step / 2) for step in range(-6, 7))

FACTORS = Argument(
    "By what the bandwidths of all variables are multiplied together; variables without "
    "one stay as they are.",
    GRID,
    "sequence of float",
)


class SensitivityOptions(shared.Options, shared.Directed, shared.Named, total=False):
    """The options of :func:`sensitivity`."""

    factors: Annotated[Sequence[float], FACTORS]


@question
def sensitivity(
    source: shared.Source,
    first: shared.First,
    second: shared.Second,
    **options: Unpack[SensitivityOptions],
) -> Sensitivity:
    """Compare two dependences over a grid of bandwidths.

    The kernel is part of the question: a narrow one sees fine structure, a wide one trends.
    Which dependence is stronger may therefore change with the bandwidth, and an answer that
    holds over a wide grid is worth more than one at a single bandwidth. Two p-values sum up the
    grid: is there a difference at some scale (adjusted for the number of bandwidths, which are
    strongly correlated), and is there one at every scale?

    Returns
    -------
    Sensitivity
        With `some_pvalue`, `every_pvalue`, `to_frame()`, `bands()` that hold at once,
        `confidence_interval()` of each by itself and `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> y, z = x + 0.5 * rng.normal(size=100), x + 2 * rng.normal(size=100)
    >>> curve = reldep.sensitivity(x, y, z, factors=[0.5, 1, 2])
    >>> curve.every_pvalue < 0.001
    True
    """
    grid = _read_factors(options["factors"])
    study = read_study({"source": source, "first": first, "second": second}, options)
    _check_any_bandwidth(study.fitted)
    # The bandwidths as they were chosen, or nearest to them.
    middle = int(np.argmin(np.abs(np.log(grid))))
    scaled = [study.scaled(factor) for factor in grid.tolist()]
    needed = study.needed
    found = [one.influence(needed) for one in scaled]
    if len({one.values.shape for one in found}) > 1:
        raise InputError(
            "the bandwidths have different blocks of rows; pass `engine='tiled'` or Blocks(size)."
        )
    dependences = [one.estimates(at) for one, at in zip(scaled, found, strict=True)]
    # The data are looked at once.
    computed = Computed(scaled[middle], found[middle], dependences[middle])
    central = compared(computed)
    tests = [one.test(WEIGHTS) for one in dependences]
    described = {name: kernel.describe() for name, kernel in study.fitted.items()}
    return Sensitivity(
        provenance=replace(central.provenance, kernels=described),
        warnings=central.warnings,
        factors=grid,
        central=central,
        across=AcrossScales.of(tests, _deviations(dependences), 10_000, shared.generator(options)),
    )


def _deviations(dependences: Sequence[Estimates]) -> FloatArray:
    """Return the deviations of the difference at every scale, shape (S, n)."""
    if dependences[0].sides:
        by_side = zip(*(one.sides for one in dependences), strict=True)
        return crossed_deviations(*(_deviations(side) for side in by_side))
    return np.array([WEIGHTS @ one.deviations for one in dependences])


def _read_factors(factors: Any) -> FloatArray:
    try:
        grid = np.asarray(factors, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        grid = np.empty(0)
    is_positive = bool((np.isfinite(grid) & (grid > 0)).all())
    if grid.ndim != 1 or len(grid) < 2 or len(np.unique(grid)) < len(grid) or not is_positive:
        raise InputError(f"`factors={factors!r}`; pass at least two different positive numbers.")
    return np.sort(grid)


def _check_any_bandwidth(fitted: Mapping[str, FittedKernel]) -> None:
    """Raise InputError if no kernel has a bandwidth."""
    if all(kernel.scaled(2.0) is kernel for kernel in fitted.values()):
        listed = "; ".join(f"{name}: {kernel.label}" for name, kernel in fitted.items())
        raise InputError(
            f"none of the kernels has a bandwidth ({listed}); use Gaussian or Laplace kernels."
        )
