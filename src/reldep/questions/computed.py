"""A with what goes with it: computed from data, or brought along from an earlier question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reldep.data.checks import MEASURES, check_choice, read_clusters, small_sample_cautions
from reldep.questions.cautions import cautions_of
from reldep.questions.study import provenance_of
from reldep.results.provenance import Provenance
from reldep.stats.measures import pairs_needed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import IntArray
    from reldep.engine import Influence, Pair
    from reldep.exceptions import ReldepWarning
    from reldep.questions._inference import Inference
    from reldep.questions.study import Study

# What has no effect any more once A is computed, with the default that says "not given".
DECIDED = {"kernel": "auto", "missing": "raise", "engine": "auto"}


@dataclass(frozen=True, eq=False)
class Computed:
    """A, the clusters of its observations, where it comes from and what to beware of."""

    influence: Influence
    clusters: IntArray | None
    provenance: Provenance
    cautions: tuple[ReldepWarning, ...]


def from_study(study: Study, pairs: Sequence[Pair], inference: Inference) -> Computed:
    """Compute A for these pairs, with what the measure, the variance and the screens need."""
    influence = inference.influence(study, pairs_needed(pairs, inference.measure))
    return Computed(
        influence,
        study.dataset.clusters,
        provenance_of(study.dataset, study.fitted, influence),
        cautions_of(study.dataset, study.fitted, influence),
    )


def from_influence(
    influence: Influence, pairs: Sequence[Pair], inference: Inference, **options: Any
) -> Computed:
    """Take an A that is there already, after checking that it has what is asked for.

    Parameters
    ----------
    options
        The arguments of the question that were decided when A was computed; given again, they
        are refused.
    """
    check_choice("measure", inference.measure, MEASURES)
    for name, value in options.items():
        if value is not DECIDED[name] and value != DECIDED[name]:
            raise ValueError(
                f"{name}={value!r} was decided when the Influence was computed; pass it to "
                "reldep.influence(), or pass data in place of the Influence."
            )
    _check_pairs_known(influence, pairs_needed(pairs, inference.measure))
    groups = inference.clusters
    if groups is not None:
        groups = read_clusters(groups, influence.n_observations)
    provenance = Provenance(
        kernels=influence.kernels,
        engine=influence.engine,
        rows=influence.positions(),
        library=influence.library,
        clusters=groups,
    )
    cautions = (*small_sample_cautions(influence.n_observations), *influence.notes)
    return Computed(influence, groups, provenance, cautions)


def _check_pairs_known(influence: Influence, pairs: Sequence[Pair]) -> None:
    absent = []
    for pair in pairs:
        try:
            influence.row(pair)
        except KeyError:
            absent.append(pair)
    if absent:
        raise ValueError(
            f"the Influence has no conditional means of {', '.join(map(repr, absent))}; add them "
            "to the pairs of reldep.influence() (normalised measures need the self-pairs too)."
        )
