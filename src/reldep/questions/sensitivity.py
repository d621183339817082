"""Does the answer depend on the bandwidth?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import numpy as np

from reldep.arguments import Argument
from reldep.exceptions import InputError
from reldep.questions.ask import question
from reldep.questions.compare import WEIGHTS, compared, pairs_of, read_three
from reldep.questions.options import (
    Basic,
    Directed,
    Kernels,
    Located,
    Measured,
    Named,
    Random,
    Rows,
    Settings,
    variable,
)
from reldep.questions.study import Study, descriptions
from reldep.results.sensitivity import Sensitivity, nearest_to_one
from reldep.stats.bandwidths import AcrossScales
from reldep.stats.units import pairs_needed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import FloatArray
    from reldep.engine import Influence, Pair
    from reldep.kernels import FittedKernel
    from reldep.questions.study import Computed

# From an eighth to eight times the bandwidth, two steps for each doubling.
FACTORS = tuple(2.0 ** (step / 2) for step in range(-6, 7))
# Draws of the joint law of the differences at all bandwidths.
N_DRAWS = 10_000


class SensitivityOptions(
    Measured, Kernels, Directed, Rows, Basic, Random, Named, Located, total=False
):
    """The options of :func:`sensitivity`."""

    factors: Annotated[
        Sequence[float],
        Argument(
            "By what the bandwidths of all variables are multiplied together; variables without "
            "one stay as they are.",
            FACTORS,
            "sequence of float",
        ),
    ]


@question
def sensitivity(
    source: Annotated[Any, variable("What is compared.")],
    first: Annotated[Any, variable("The first target.")],
    second: Annotated[Any, variable("The second target.")],
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
        With `some_pvalue`, `every_pvalue`, `sign_flips`, `sign_changes`, `to_frame()`,
        `confidence_bands()` that hold at once, `confidence_interval()` of each by itself and
        `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> y, z = x + 0.5 * rng.normal(size=100), x + 2 * rng.normal(size=100)
    >>> curve = reldep.sensitivity(x, y, z, factors=[0.5, 1, 2])
    >>> curve.sign_flips
    False
    >>> curve.every_pvalue < 0.001
    True
    """
    grid = _read_factors(options["factors"])
    settings = Settings.of(options)
    study, labels = read_three((source, first, second), options["names"], settings)
    check_any_bandwidth(study.fitted)
    return over_bandwidths(study, labels, grid, options["alternative"])


def over_bandwidths(
    study: Study, labels: Sequence[str], grid: FloatArray, alternative: str
) -> Sensitivity:
    """Compare at every factor, in one job.

    The scaled kernels of a variable stand on the same points, so that an engine evaluates the
    distances once for all of them.
    """
    pairs = pairs_of(labels)
    needed = pairs_needed(pairs, study.settings.measure)
    fits = {
        _at(name, i): kernel.scaled(float(factor))
        for name, kernel in study.fitted.items()
        for i, factor in enumerate(grid)
    }
    steps = range(len(grid))
    wanted = [(_at(x, i), _at(y, i)) for i in steps for x, y in needed]
    means = [(_at(x, i), _at(y, i)) for i in steps for x, y in study.means_beside(needed)]
    everything = replace(study, fits=fits).influence(wanted, means=means)

    def at(step: int, like: Computed | None = None) -> Computed:
        factor = float(grid[step])
        scaled = {name: kernel.scaled(factor) for name, kernel in study.fitted.items()}
        influence = _those_at(everything, step, needed, scaled)
        return replace(study, fits=scaled).finish(influence, pairs, like=like)

    # The data are looked at once.
    middle = nearest_to_one(grid)
    central = at(middle)
    computed = [central if i == middle else at(i, central) for i in steps]
    comparisons = [compared(one, labels, alternative) for one in computed]
    deviations = np.array([WEIGHTS @ one.dependences.deviations for one in comparisons])
    tests = [one.tested for one in comparisons]
    return Sensitivity(
        provenance=replace(central.provenance, kernels=descriptions(study.fitted)),
        warnings=comparisons[middle].warnings,
        factors=grid,
        comparisons=tuple(comparisons),
        across=AcrossScales.of(tests, deviations, N_DRAWS, study.settings.generator()),
        bandwidths=_bandwidths(study.fitted),
    )


def _at(name: str, step: int) -> str:
    """Name a variable's kernel at a step of the grid; the NUL keeps it apart from all names."""
    return f"{name}\0at {step}"


def _those_at(
    everything: Influence, step: int, pairs: Sequence[Pair], fitted: Mapping[str, FittedKernel]
) -> Influence:
    """Take from the A of all factors what belongs to one of them, under the plain names."""
    ending = f"\0at {step}"
    rows = [everything.row((_at(x, step), _at(y, step))) for x, y in pairs]
    moves = everything.bandwidth_psi
    return replace(
        everything,
        values=everything.values[rows],
        pairs=tuple(pairs),
        names=tuple(fitted),
        bandwidth_psi=None if moves is None else moves[rows],
        means={
            (x.removesuffix(ending), y.removesuffix(ending)): value
            for (x, y), value in everything.means.items()
            if x.endswith(ending) and y.endswith(ending)
        },
        kernels=descriptions(fitted),
    )


def _read_factors(factors: Any) -> FloatArray:
    try:
        grid = np.asarray(factors, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        grid = np.empty(0)
    if grid.ndim != 1 or len(grid) < 2 or not (np.isfinite(grid) & (grid > 0)).all():
        raise InputError(
            f"`factors={factors!r}` is not a grid; pass at least two positive numbers, such as "
            "(0.5, 1, 2)."
        )
    if len(np.unique(grid)) != len(grid):
        raise InputError(f"`factors={factors!r}` has repeated values; pass each once.")
    return np.sort(grid)


def check_any_bandwidth(fitted: Mapping[str, FittedKernel]) -> None:
    """Refuse kernels none of which has a bandwidth."""
    if all(kernel.scaled(2.0) is kernel for kernel in fitted.values()):
        listed = "; ".join(f"{name}: {kernel.label}" for name, kernel in fitted.items())
        raise InputError(
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
