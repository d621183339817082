"""To which of many targets is the source most closely related?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks import cautions_about
from reldep.data.checks import ADJUSTMENTS, check_choice, check_count, check_level
from reldep.engine import Influence
from reldep.exceptions import InputError
from reldep.questions.calling import asked
from reldep.questions.declaring import Choice, Question, Selector, Slot, merged
from reldep.questions.settings import Settings
from reldep.questions.study import (
    Computed,
    read_study,
    reuse_influence,
    source_apart,
)
from reldep.questions.targets import (
    compute_many,
    name_all,
    names_in_influence,
    read_targets,
    takes_many,
)
from reldep.results.ranking import Ranking
from reldep.stats.independence import relation_pvalues
from reldep.stats.simultaneous import (
    JointDraws,
    adjusted_pvalues,
    all_differences,
    rank_dependences,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@asked
def rank(
    source: Any,
    targets: Any,
    *,
    measure: str = "cka",
    kernel: Any = "auto",
    standardize: bool = False,
    variance: str = "jackknife",
    clusters: Any = None,
    max_lag: int | str | None = None,
    missing: str = "raise",
    na: Any = (),
    engine: Any = "auto",
    rng: Any = None,
    confidence_level: float = 0.95,
    adjust: str = "single-step",
    n_simulations: int = 10_000,
    names: Sequence[str] | None = None,
    ids: Any = None,
    given: Any = None,
    data: Any = None,  # noqa: ARG001 (@asked takes its columns)
    where: str | None = None,  # noqa: ARG001
) -> Ranking:
    """Rank targets by how closely they are related to `source`, with confidence.

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
    measure, variance, clusters, max_lag, missing, na, engine, ids, given, data, where
        As for :func:`compare`.
    standardize
        As for :func:`compare`.
    kernel : str, Kernel, callable, tuple of two or mapping, default "auto"
        One for all, a tuple (source, every target), or a mapping by name, in which "source"
        and "targets" stand for the source and for all targets not named.
    rng : None, int or numpy.random.Generator, optional
        Random seed; None is a fixed one, so that answers repeat.
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
    # Twenty draws beyond the critical value are the least that pins it down.
    check_count("n_simulations", n_simulations, at_least=int(np.ceil(20 / (1.0 - level))))
    settings = Settings(
        measure=measure,
        kernel=kernel,
        standardize=standardize,
        variance=variance,
        clusters=clusters,
        max_lag=max_lag,
        missing=missing,
        na=na,
        engine=engine,
        rng=rng,
        ids=ids,
        given=given,
    )
    source_name, target_names, computed = _compute(source, targets, names, settings)
    found = computed.dependences
    # Each dependence less the mean of all: what a ranking compares.
    differences = np.eye(len(found.pairs)) - 1.0 / len(found.pairs)
    cautions = (*computed.cautions, *cautions_about(computed.tested(differences)))
    comparisons = all_differences(found)
    draws = JointDraws.of(found.deviations, n_simulations, settings.generator())
    standing = rank_dependences(comparisons, draws, len(target_names))
    return Ranking(
        provenance=computed.provenance,
        warnings=cautions,
        source=source_name,
        targets=tuple(target_names),
        dependences=found,
        comparisons=comparisons,
        adjusted_pvalues=adjusted_pvalues(comparisons, adjust, draws, standing.maxima),
        standing=standing,
        target_maxima=draws.value_maxima(),
        adjust=adjust,
        confidence_level=level,
        influence=computed.influence,
        relation_pvalues=relation_pvalues(computed.influence, found),
    )


def _compute(
    source: Any, targets: Any, names: Sequence[str] | None, settings: Settings
) -> tuple[str, list[str], Computed]:
    """Estimate the dependence of the source on every target."""
    if isinstance(targets, Influence):
        source_name, target_names = names_in_influence(source, targets, names)
        pairs = [(source_name, name) for name in target_names]
        return source_name, target_names, reuse_influence(targets, pairs, settings)
    blocks = read_targets(targets)
    source_name, target_names = name_all(source, blocks, names)
    study = read_study(
        {source_name: source, **dict(zip(target_names, blocks.values(), strict=True))},
        settings,
        roles=["source", *["targets"] * len(target_names)],
    )
    study = source_apart(study, source_name, target_names)
    if takes_many(study, len(target_names)):
        return source_name, target_names, compute_many(study, source_name, target_names)
    pairs = [(source_name, name) for name in target_names]
    return source_name, target_names, study.compute(pairs)


class _RankQuestion(Question):
    """A source, and targets of one column each or of blocks."""

    def arguments(
        self,
        filled: Mapping[str, Any],  # noqa: ARG002
        data: Mapping[str, Mapping[str, Any]],
    ) -> tuple[list[Any], dict[str, Any]]:
        named = merged(data)
        source, *others = named
        if len(others) < 2:
            raise InputError(
                f"{len(others)} of at least 2 targets; name them by `target` or `targets`."
            )
        targets = {name: named[name] for name in others}
        return [named[source], targets], {"names": [source, *others]}

    def written(self, filled: Mapping[str, Any], columns: Selector) -> dict[str, Any]:
        targets = columns.written(filled.get("target"), filled.get("targets"))
        return {"source": filled["source"], "targets": targets}


QUESTIONS = (
    _RankQuestion(
        "rank",
        rank,
        slots=(
            Slot("source", "The variable whose relations are ranked."),
            Slot(
                "target",
                "A target, one column or a block; repeat it.",
                "blocks",
                required=False,
                metavar="NAME=COLS",
            ),
            Slot(
                "targets",
                "Each of these columns is a target, except the source's own.",
                "each",
                required=False,
            ),
        ),
        choices=(
            Choice(
                "adjust",
                "How the p-values of many pairs are adjusted.",
                "single-step",
                ADJUSTMENTS,
            ),
        ),
        example="reldep rank mice.csv --source diet --targets 'C*'",
        has_plan=True,
    ),
)
