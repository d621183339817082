"""One source and so many targets that their pairs must not be listed one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.engine import Influence
from reldep.engine.dense import PairTable, all_hsics
from reldep.engine.many.batches import DENSE_UP_TO, Batches
from reldep.engine.terms import check_held
from reldep.questions.study import Computed, descriptions
from reldep.stats.dependences import Jackknifed
from reldep.stats.jackknife import jackknife_of_rows
from reldep.stats.measures import NORMALISED
from reldep.stats.second_part import HsicTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray
    from reldep.questions.study import Study

# With fewer targets the general way is as quick.
MANY_TARGETS = 24


def takes_many(study: Study, n_targets: int) -> bool:
    """Whether targets are so many, and the choices such, that all are computed by products."""
    settings = study.settings
    return (
        n_targets >= MANY_TARGETS
        and settings.variance == "jackknife"
        and study.covariates is None
        and not study.rows.any
        and isinstance(settings.engine, str)
        and settings.engine in ("auto", "dense")
        and len(study.dataset) <= DENSE_UP_TO
    )


def compute_many(study: Study, source: str, targets: Sequence[str]) -> Computed:
    """Estimate the dependence of a source on each of many targets.

    The numbers are those of :meth:`Study.compute`; the HSICs of all pairs of targets, which the
    second component of the variance needs, come from matrix products.
    """
    influence, hsics = _influence(study, source, targets)
    t = len(targets)
    first, second = np.triu_indices(t + 1)
    table = HsicTable(first, second, hsics[first, second], t + 1)
    own = np.arange(t + 1)
    variables = np.r_[np.zeros(t, dtype=np.int64), own], np.r_[own[1:], own]
    left_out = jackknife_of_rows(
        influence.values,
        variables,
        np.arange(t),
        study.settings.measure,
        table,
        bandwidth_psi=influence.bandwidth_psi,
        names=influence.names,
    )
    return study.describe(influence, Jackknifed.of(influence.pairs[:t], left_out))


def _influence(study: Study, source: str, targets: Sequence[str]) -> tuple[Influence, FloatArray]:
    """Compute A of every target with the source, and of all with themselves; and all HSICs."""
    kernels = [study.kernels[name] for name in targets]
    variables = [study.dataset.variables[name] for name in targets]
    own_units = study.settings.measure in NORMALISED
    batches = Batches([study.fitted[source]], own_units=own_units)
    t, m = len(targets), batches.n
    means, moves = np.empty((2, 2 * t + 1, m))
    means[t], moves[t] = batches.own_means[0], batches.own_moves[0]

    def packed(run: slice) -> FloatArray:
        made = batches.batch(
            kernels[run], variables[run], rng=study.settings.generator(), packs=True
        )
        rows = np.arange(t)[run]
        for whole, part in ((means, made.means), (moves, made.moves)):
            whole[rows], whole[t + 1 + rows] = part[:, 0], part[:, 1]
        return np.empty((0, 0)) if made.packed is None else made.packed

    hsics = np.empty((t + 1, t + 1))
    hsics[1:, 1:] = all_hsics(packed, t, m)
    hsics[0, 1:] = hsics[1:, 0] = means[:t].mean(axis=1)
    hsics[0, 0] = batches.hsics[0, 0]
    names = (source, *targets)
    pairs = (*((source, name) for name in targets), *((name, name) for name in names))
    check_held(pairs, means, study.fitted)
    influence = Influence(
        means,
        pairs,
        names,
        m,
        "dense",
        bandwidth_psi=moves,
        means=PairTable(names, hsics),
        kernels=descriptions(study.fitted),
        rows=study.dataset.rows,
        library=study.dataset.library,
    )
    return influence, hsics
