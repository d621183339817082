"""On which of many targets does the source depend most?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import ADJUSTMENTS, check_choice, check_level
from reldep.engine import Influence
from reldep.questions._inference import Inference
from reldep.questions.cautions import cautions_about_targets
from reldep.questions.computed import from_influence, from_study
from reldep.questions.repetition import repeatable
from reldep.questions.study import as_generator, prepare, raise_cautions
from reldep.questions.targets import (
    assign_to_targets,
    check_source_apart,
    name_all,
    names_in_influence,
    read_targets,
)
from reldep.results.ranking import Ranking
from reldep.stats.ranking import adjusted_pvalues, differences, order_of
from reldep.stats.simultaneous import JointNormal, difference_variances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray


@repeatable
def rank(
    source: Any,
    targets: Any,
    *,
    measure: str = "hsic",
    kernel: Any = "auto",
    variance: str = "fixed-kernel",
    clusters: Any = None,
    max_lag: int | str | None = None,
    missing: str = "raise",
    engine: Any = "auto",
    rng: Any = None,
    confidence_level: float = 0.95,
    adjust: str = "single-step",
    n_simulations: int = 10_000,
    names: Sequence[str] | None = None,
) -> Ranking:
    """Rank targets by how strongly `source` depends on them, with confidence.

    All dependences are estimated on the same observations, so that their joint covariance is
    known. From it come intervals that hold for all targets at once, adjusted p-values of all
    pairwise differences, the set of targets that may be the strongest and a confidence set for
    every rank. Picking the best by eye and then testing it is not covered by two separate
    tests; it is covered by this.

    Parameters
    ----------
    source : array_like, series, frame, sparse matrix or Precomputed; or str
        A name only if `targets` is an `Influence`.
    targets : mapping of str to data, data frame, array of two dimensions, or Influence
        At least two. Every column of a frame or array is a target of its own; in a mapping a
        target may have several columns. Of an :class:`Influence` all pairs with `source` are
        ranked.
    measure, variance, clusters, max_lag, missing, engine
        As for :func:`compare`.
    kernel : str, Kernel, callable, tuple of two or mapping, default "auto"
        One for all, a tuple (source, every target), or a mapping by name, in which "source"
        and "targets" stand for the source and for all targets not named.
    rng : None, int or numpy.random.Generator, optional
        Seed of the simulation; None is a fixed seed.
    confidence_level : float, default 0.95
        Of the intervals, the set of the best and the ranks.
    adjust : {"single-step", "step-down", "holm", "bh"}, default "single-step"
        How the p-values of the differences are adjusted for their number. "single-step" agrees
        with the intervals; "step-down" is a little more powerful; "holm" needs no simulation;
        "bh" controls the false discovery rate instead of the chance of any false claim.
    n_simulations : int, default 10000
        Draws from the joint normal law.
    names : sequence of str, optional
        Names of the source and of every target, in this order.

    Returns
    -------
    Ranking
        With `best`, `to_frame()`, `pairwise()`, `confidence_interval()`, `summary()`, `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> noise = {"strong": 0.4, "middle": 1.0, "weak": 2.5}
    >>> targets = {name: x + s * rng.normal(size=200) for name, s in noise.items()}
    >>> result = reldep.rank(x, targets)
    >>> result.best
    ('strong',)
    >>> result.ranks
    array([1, 2, 3])
    """
    check_choice("adjust", adjust, ADJUSTMENTS)
    level = check_level("confidence_level", confidence_level)
    _check_simulations(n_simulations, level)
    inference = Inference(measure, "two-sided", variance, max_lag, clusters)
    if isinstance(targets, Influence):
        source_name, target_names = names_in_influence(source, targets, names)
        pairs = [(source_name, name) for name in target_names]
        options = {"kernel": kernel, "missing": missing, "engine": engine}
        computed = from_influence(targets, pairs, inference, **options)
    else:
        blocks = read_targets(targets)
        source_name, target_names = name_all(source, blocks, names)
        pairs = [(source_name, name) for name in target_names]
        study = prepare(
            {source_name: source, **dict(zip(target_names, blocks.values(), strict=True))},
            kernel=assign_to_targets(kernel, source_name, target_names),
            measure=measure,
            missing=missing,
            clusters=clusters,
            engine=engine,
            rng=rng,
        )
        check_source_apart(study.dataset, source_name, target_names)
        computed = from_study(study, pairs, inference)
    influence = computed.influence
    fields = inference.joint(influence, pairs, computed.clusters)
    cautions = (*computed.cautions, *cautions_about_targets(influence, pairs, measure, variance))
    raise_cautions(cautions)
    return Ranking(
        **fields,
        **_ordered(
            fields["estimates"],
            fields["covariance"],
            level,
            adjust,
            n_simulations,
            as_generator(rng),
        ),
        n_observations=influence.n_observations,
        measure=measure,
        variance=variance,
        provenance=computed.provenance,
        warnings=cautions,
        source=source_name,
        targets=tuple(target_names),
        confidence_level=level,
        adjust=adjust,
        pairs=tuple(pairs),
        influence=influence,
    )


def _ordered(
    estimates: FloatArray,
    spread: FloatArray,
    level: float,
    adjust: str,
    n_simulations: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Draw from the joint law and order the estimates; gives fields of a ranking by name."""
    law = JointNormal.simulate(spread, n_simulations, rng)
    variances = difference_variances(spread)
    found = differences(estimates, variances)
    order, maxima = order_of(estimates, variances, law, level)
    return {
        "standard_errors": np.sqrt(np.diag(spread)),
        "differences": found,
        "adjusted_pvalues": adjusted_pvalues(found, adjust, law, maxima),
        "order": order,
        "target_maxima": law.target_maxima(),
        "pair_maxima": maxima,
    }


def _check_simulations(n_simulations: Any, level: float) -> None:
    whole = isinstance(n_simulations, (int, np.integer)) and not isinstance(n_simulations, bool)
    # Twenty draws beyond the critical value are the least that pins it down.
    least = int(np.ceil(20 / (1.0 - level)))
    if not whole or n_simulations < least:
        raise ValueError(
            f"n_simulations={n_simulations!r}; pass a whole number, at least {least} for "
            f"confidence_level={level:g}."
        )
