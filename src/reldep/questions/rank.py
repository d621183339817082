"""To which of many targets is the source most closely related?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Unpack

import numpy as np

from reldep.arguments import Argument, check_names_known
from reldep.engine import Influence
from reldep.exceptions import InputError, InputTypeError
from reldep.questions import options as shared
from reldep.questions.ask import question, read_variables
from reldep.questions.study import read_study, reuse_influence
from reldep.results.ranking import Ranking
from reldep.stats.simultaneous import (
    JointDraws,
    adjusted_pvalues,
    all_differences,
    rank_dependences,
)
from reldep.words import counted

Adjustment = Literal["single-step", "step-down", "holm", "bh"]


ADJUST = Argument(
    'How p-values are adjusted for the number of pairs. "single-step" agrees with the '
    'intervals; "step-down" is a little more powerful; "holm" needs no simulation; "bh" '
    "controls the false discovery rate.",
    "single-step",
)


class RankOptions(shared.Options, shared.Simultaneous, shared.Named, total=False):
    """The options of :func:`rank`."""

    adjust: Annotated[Adjustment, ADJUST]


@question
def rank(
    source: Annotated[
        Any,
        shared.variable(
            "The variable that is related to the targets; its name, if they are an Influence.",
            in_words="The variable that is related to the targets.",
        ),
    ],
    targets: Annotated[Any, shared.variables("At least two; or an Influence.")],
    **options: Unpack[RankOptions],
) -> Ranking:
    """Rank targets by how closely they are related to `source`, with confidence.

    All dependences are estimated on the same observations, so that their joint covariance is
    known. From it come intervals that hold for all targets at once, adjusted p-values of all
    pairwise differences, the set of targets that may be the strongest and a confidence set for
    every rank. It also covers picking the best after seeing the data, which separate tests do not.

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
    if isinstance(targets, Influence):
        names = _names_in(targets, source, options)
        computed = reuse_influence(targets, [(source, name) for name in names[1:]], options)
    else:
        several = {"targets": read_variables("targets", targets, at_least=2)}
        study = read_study({"source": source}, options, many=several)
        names, computed = study.names, study.compute()
    found = computed.found
    # Each dependence less the mean of all: what a ranking compares.
    differences = np.eye(len(found.pairs)) - 1.0 / len(found.pairs)
    comparisons = all_differences(found)
    draws = JointDraws.of(found.deviations, options["n_simulations"], shared.generator(options))
    standing = rank_dependences(comparisons, draws, len(found.pairs))
    return computed.answer(
        Ranking,
        differences,
        source=names[0],
        targets=tuple(names[1:]),
        comparisons=comparisons,
        adjusted_pvalues=adjusted_pvalues(comparisons, options["adjust"], draws, standing.maxima),
        standing=standing,
        maxima=draws.value_maxima(),
        adjust=options["adjust"],
        confidence_level=options["confidence_level"],
    )


def _names_in(influence: Influence, source: Any, options: Mapping[str, Any]) -> list[str]:
    """Return the source and its targets, by the pairs that are computed already."""
    if not isinstance(source, str):
        kind = type(source).__name__
        raise InputTypeError(f"`source` is of type {kind}; next to an Influence pass its name.")
    if options["names"] is not None:
        raise InputError("`names` are those of the Influence; leave `names` out.")
    check_names_known("source", [source], influence.names)
    others = [y if x == source else x for x, y in influence.pairs if source in (x, y)]
    targets = [name for name in dict.fromkeys(others) if name != source]
    if len(targets) < 2:
        pairs = counted(len(targets), "pair")
        raise InputError(f"the Influence has {pairs} of {source!r} with others; add at least 2.")
    return [source, *targets]
