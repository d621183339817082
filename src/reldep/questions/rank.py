"""To which of many targets is the source most closely related?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack

import numpy as np

from reldep.arguments import Argument
from reldep.checks import cautions_about
from reldep.engine import Influence
from reldep.questions.ask import question
from reldep.questions.options import (
    Named,
    Options,
    Settings,
    Simultaneous,
    check_simulations,
    variable,
    variables,
)
from reldep.questions.study import (
    Computed,
    read_study,
    reuse_influence,
    source_apart,
)
from reldep.questions.targets import (
    name_all,
    names_in_influence,
    read_targets,
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
    from collections.abc import Sequence


Adjustment = Literal["single-step", "step-down", "holm", "bh"]


class RankOptions(Options, Simultaneous, Named, total=False):
    """The options of :func:`rank`."""

    adjust: Annotated[
        Adjustment,
        Argument(
            'How p-values are adjusted for the number of pairs. "single-step" agrees with the '
            'intervals; "step-down" is a little more powerful; "holm" needs no simulation; "bh" '
            "controls the false discovery rate.",
            "single-step",
        ),
    ]


@question
def rank(
    source: Annotated[
        Any,
        variable(
            "What is compared; a name if `targets` is an Influence.", in_words="What is compared."
        ),
    ],
    targets: Annotated[Any, variables("At least two; or an Influence.")],
    **options: Unpack[RankOptions],
) -> Ranking:
    """Rank targets by how closely they are related to `source`, with confidence.

    All dependences are estimated on the same observations, so that their joint covariance is
    known. From it come intervals that hold for all targets at once, adjusted p-values of all
    pairwise differences, the set of targets that may be the strongest and a confidence set for
    every rank. Picking the best by eye and then testing it is not covered by two separate
    tests; it is covered by this.

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
    check_simulations(options)
    settings = Settings.of(options)
    source_name, target_names, computed = _compute(source, targets, options["names"], settings)
    found = computed.dependences
    # Each dependence less the mean of all: what a ranking compares.
    differences = np.eye(len(found.pairs)) - 1.0 / len(found.pairs)
    cautions = (*computed.cautions, *cautions_about(computed.tested(differences)))
    comparisons = all_differences(found)
    draws = JointDraws.of(found.deviations, options["n_simulations"], settings.generator())
    standing = rank_dependences(comparisons, draws, len(target_names))
    return Ranking(
        provenance=computed.provenance,
        warnings=cautions,
        source=source_name,
        targets=tuple(target_names),
        dependences=found,
        comparisons=comparisons,
        adjusted_pvalues=adjusted_pvalues(comparisons, options["adjust"], draws, standing.maxima),
        standing=standing,
        target_maxima=draws.value_maxima(),
        adjust=options["adjust"],
        confidence_level=options["confidence_level"],
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
    pairs = [(source_name, name) for name in target_names]
    return source_name, target_names, study.compute(pairs)
