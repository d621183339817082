"""Does the source depend more on the first target than on the second?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import METHODS, MINIMUM_OBSERVATIONS, check_choice
from reldep.engine import Influence
from reldep.questions._inference import Inference
from reldep.questions.cautions import cautions_about_contrast, cautions_of
from reldep.questions.computed import Computed, from_study
from reldep.questions.repetition import repeatable
from reldep.questions.study import (
    Study,
    as_generator,
    display_names,
    half,
    prepare,
    provenance_of,
    raise_cautions,
)
from reldep.results.contrast import Comparison
from reldep.stats.measures import pairs_needed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.checks import Dataset
    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine import Pair
    from reldep.kernels import FittedKernel

ROLES = ("source", "first", "second")


@repeatable
def compare(
    source: Any,
    first: Any,
    second: Any,
    *,
    measure: str = "hsic",
    kernel: Any = "auto",
    alternative: str = "greater",
    method: str = "joint",
    variance: str = "fixed-kernel",
    clusters: Any = None,
    max_lag: int | str | None = None,
    missing: str = "raise",
    engine: Any = "auto",
    rng: Any = None,
    names: Sequence[str] | None = None,
) -> Comparison:
    """Test whether `source` depends more on `first` than on `second`.

    The relative dependence test of Bounliphone, Gretton, Tenenhaus and Blaschko (ICML 2015).
    Both dependences are estimated by the unbiased HSIC on the same observations; their
    covariance enters the variance of the difference, which makes the joint test far more
    powerful than one that splits the data.

    Parameters
    ----------
    source, first, second : array_like, series, frame, sparse matrix or Precomputed
        The same observations in the same order. Numbers, categories, or anything a kernel is
        made for; several columns are one block.
    measure : {"hsic", "cka", "dcor"}, default "hsic"
        HSIC as in the paper, or normalised: centred kernel alignment or squared distance
        correlation. Normalise when the two targets have different scales or marginals.
    kernel : str, Kernel, callable, tuple of three or mapping, default "auto"
        One for all, a tuple (source, first, second) or a mapping by name. "auto" takes the
        Gaussian kernel with the median bandwidth for numbers and Delta for categories.
    alternative : {"greater", "less", "two-sided"}, default "greater"
        "greater": `source` depends more on `first`.
    method : {"joint", "split"}, default "joint"
        "split" gives the first half of the rows to `first` and the rest to `second`: the
        baseline that the joint test beats. With `rng` the rows are shuffled before.
    variance : {"fixed-kernel", "bandwidth-aware", "second-order", "full"}
        How the variance is estimated. "fixed-kernel" is the paper's; "bandwidth-aware" lets
        median bandwidths vary with the sample; "second-order" corrects the paper's for weak
        dependence, where it is too large; "full" does both.
    clusters : array_like, optional
        A label per observation; those with the same label may depend on each other.
    max_lag : int or "auto", optional
        Rows in time order: those up to this many steps apart may depend on each other. "auto"
        chooses the number from the data. Neither this nor `clusters` goes with a second-order
        variance.
    missing : {"raise", "drop"}, default "raise"
        What to do with incomplete observations.
    engine : str or engine, default "auto"
        How the kernels are summed.
    rng : None, int or numpy.random.Generator, optional
        Seed for anything random; None is a fixed seed.
    names : sequence of three str, optional
        Names for the result; by default those of the series, or the argument names.

    Returns
    -------
    Comparison
        With `estimate`, `statistic`, `pvalue`, `confidence_interval()`, `summary()`, `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> y, z = x + 0.5 * rng.normal(size=200), x + 2 * rng.normal(size=200)
    >>> result = reldep.compare(x, y, z)
    >>> result.pvalue < 0.001
    True
    """
    check_choice("method", method, METHODS)
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
    if method == "joint":
        pairs: tuple[Pair, ...] = ((labels[0], labels[1]), (labels[0], labels[2]))
        computed = from_study(study, pairs, inference)
    else:
        pairs, computed = _split(study, labels, inference, rng)
    fields = inference.test(computed.influence, pairs, np.array([1.0, -1.0]), computed.clusters)
    cautions = (
        *computed.cautions,
        *cautions_about_contrast(fields, halves=method == "split"),
    )
    raise_cautions(cautions)
    return Comparison(
        **fields,
        provenance=computed.provenance,
        warnings=cautions,
        source=labels[0],
        first=labels[1],
        second=labels[2],
        method=method,
    )


def _split(
    study: Study, labels: Sequence[str], inference: Inference, rng: Any
) -> tuple[tuple[Pair, ...], Computed]:
    """Compute one dependence on each half of the rows, kernels fitted on each.

    The result is an A of all rows: an observation has influence on the dependence of its own
    half only, so the covariance of the two comes out as 0.
    """
    n = len(study.dataset)
    if n < 2 * MINIMUM_OBSERVATIONS:
        raise ValueError(
            f'method="split" needs at least {2 * MINIMUM_OBSERVATIONS} observations, {n} given; '
            'use method="joint".'
        )
    inference.check_lag(n)
    rows = np.arange(n) if rng is None else as_generator(rng).permutation(n)
    parts: list[Influence] = []
    fitted: dict[str, FittedKernel] = {}
    pairs: list[Pair] = []
    halves = (np.sort(rows[: n // 2]), np.sort(rows[n // 2 :]))
    for chosen, target, word in zip(halves, labels[1:], ("first", "second"), strict=True):
        own_source = f"{labels[0]} ({word} half)"
        pair = (own_source, target)
        part = half(study, chosen, {labels[0]: own_source, target: target})
        needed = pairs_needed([pair], inference.measure)
        parts.append(part.influence(needed, inference.variance))
        pairs.append(pair)
        fitted |= part.fitted
    influence = _spread_over_all_rows(parts, halves, study.dataset)
    return tuple(pairs), Computed(
        influence,
        study.dataset.clusters,
        provenance_of(study.dataset, fitted, influence),
        cautions_of(study.dataset, fitted, influence),
    )


def _spread_over_all_rows(
    parts: Sequence[Influence], rows: Sequence[IntArray], dataset: Dataset
) -> Influence:
    """Join the A of disjoint sets of rows into one, keeping every estimate and variance."""
    n = len(dataset)
    values = [
        part.estimates[:, None] + _spread(part.values - part.estimates[:, None], chosen, n)
        for part, chosen in zip(parts, rows, strict=True)
    ]
    moves = [
        _spread(part.bandwidth_psi, chosen, n)
        for part, chosen in zip(parts, rows, strict=True)
        if part.bandwidth_psi is not None
    ]
    components = [p.second_component for p in parts if p.second_component is not None]
    return Influence(
        np.concatenate(values),
        tuple(pair for part in parts for pair in part.pairs),
        tuple(dict.fromkeys(name for part in parts for name in part.names)),
        n,
        parts[0].engine,
        tuple(note for part in parts for note in part.notes),
        np.concatenate(moves) if moves else None,
        _block_diagonal(components) if components else None,
        means={pair: value for part in parts for pair, value in part.means.items()},
        kernels={name: kernel for part in parts for name, kernel in part.kernels.items()},
        rows=dataset.rows,
        library=dataset.library,
    )


def _spread(values: FloatArray, rows: IntArray, n: int) -> FloatArray:
    """Give centred values of some rows to all n, such that their variance stays the same."""
    whole = np.zeros((len(values), n))
    whole[:, rows] = values * (n / len(rows))
    return whole


def _block_diagonal(matrices: Sequence[FloatArray]) -> FloatArray:
    from scipy.linalg import block_diag

    return np.asarray(block_diag(*matrices))
