"""Which of thousands of sources are more closely related to one target than to another?"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from reldep.data.checks import ALTERNATIVES, check_choice, check_count, check_level
from reldep.data.objects import native_name
from reldep.exceptions import InputError
from reldep.questions.calling import asked
from reldep.questions.checkpoints import ScanCheckpoint
from reldep.questions.declaring import Choice, Question, Selector, Slot
from reldep.questions.scan_work import ScanWork
from reldep.questions.settings import Settings
from reldep.questions.source_columns import read_wide
from reldep.questions.study import display_names
from reldep.results.scan_table import Scan, TargetScan
from reldep.stats.scan import ScannedSources, ScannedTargets
from reldep.stats.simultaneous import holm

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

# The false-discovery rate at which claims are looked at again.
CLAIMED = 0.05

ADJUSTMENTS_OF_SCANS = ("single-step", "holm")


@asked
def scan(
    sources: Any,
    first: Any,
    second: Any = None,
    *,
    measure: str = "cka",
    kernel: Any = "auto",
    alternative: str = "two-sided",
    missing: str = "raise",
    na: Any = (),
    engine: Any = "auto",
    rng: Any = None,
    names: Sequence[str] | None = None,
    ids: Any = None,
    data: Any = None,  # noqa: ARG001 (@asked takes its columns)
    where: str | None = None,  # noqa: ARG001
    adjust: str = "single-step",
    confidence_level: float = 0.95,
    n_simulations: int = 10_000,
    output: str | PathLike[str] | None = None,
    resume: bool = False,
) -> Scan | TargetScan:
    """Ask :func:`compare` for every one of thousands of sources; or scan targets for one source.

    ``scan(sources, first, second)`` tests for each source, such as each gene, whether it is
    more closely related to `first` or to `second`. ``scan(source, targets)``, without `second`,
    gives the dependence of one source and each of thousands of targets.

    Parameters
    ----------
    sources : mapping of str to data, data frame or array of two dimensions
        Every column of a frame or array is a source of its own. Constant ones are skipped and
        listed. In the second form: one source, as for :func:`compare`.
    first, second : array_like, series, frame, sparse matrix or Precomputed
        The two targets. In the second form `first` is the many targets, and there is no `second`.
    measure, missing, na, engine, rng, ids, data, where
        As for :func:`compare`. With ``missing="drop"`` every source has its own complete rows.
    kernel : str, Kernel, callable, tuple or mapping, default "auto"
        One for all, a tuple (sources, first, second) or (source, targets), or a mapping by these
        roles and by name.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "two-sided" finds the sources that are more closely related to either target, "greater"
        only those more closely related to `first`, "less" only those to `second`.
    names : sequence of str, optional
        Names of `first` and `second`; in the second form of the source.
    adjust : {"single-step", "holm"}, default "single-step"
        How `adjusted_pvalue` keeps the chance of any false claim: by the joint law of all
        sources, which share their rows, or by Holm's procedure. `fdr` is Benjamini and
        Hochberg's in any case. In the second form always "holm".
    confidence_level : float, default 0.95
        Second form only: of the intervals, which hold for all targets at once.
    n_simulations : int, default 10000
        Draws from the joint law.
    output : path, optional
        A ``.csv`` or ``.parquet`` file for the table. It is written at the end, in one step; what
        is done until then is kept in a folder beside it, ``<output>.unfinished``.
    resume : bool, default False
        Whether to continue a run that was stopped, from that folder. The table is the one that
        an uninterrupted run gives. Other data or options than those it was begun with are
        refused.

    Returns
    -------
    Scan or TargetScan
        With `to_frame()`, `is_discovery()`, `skipped`, `summary()`, `plot()`; a `TargetScan` also
        has `best(k)` and `confidence_interval()`.

    Notes
    -----
    Ctrl-C ends a scan early: the answer then holds the sources that were done, with a caution.
    With `output` a run that was stopped or killed can be continued.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> diet, age = rng.normal(size=(2, 100))
    >>> genes = rng.normal(size=(100, 50))
    >>> genes[:, :5] += diet[:, None]
    >>> result = reldep.scan(genes, diet, age)
    >>> result.is_discovery().sum()
    np.int64(5)
    """
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("adjust", adjust, ADJUSTMENTS_OF_SCANS)
    level = check_level("confidence_level", confidence_level)
    check_count("n_simulations", n_simulations, at_least=int(np.ceil(20 / (1.0 - level))))
    settings = Settings(
        measure=measure, kernel=kernel, missing=missing, na=na, engine=engine, rng=rng, ids=ids
    )
    asks = _Asked(settings, alternative, adjust, level, n_simulations)
    kept = ScanCheckpoint.of(output, resume)
    with kept or nullcontext():
        if second is None:
            return _scan_targets(sources, first, names, asks, kept)
        return _scan_sources(sources, (first, second), names, asks, kept)


@dataclass(frozen=True, eq=False)
class _Asked:
    """What a scan says besides its data."""

    settings: Settings
    alternative: str
    adjust: str
    level: float
    n_simulations: int

    def decides(self, labels: Sequence[str]) -> dict[str, Any]:
        """Give what decides the answer, besides data and kernels."""
        return {
            "measure": self.settings.measure,
            "missing": self.settings.missing,
            "engine": repr(self.settings.engine),
            "alternative": self.alternative,
            "adjust": self.adjust,
            "confidence_level": self.level,
            "n_simulations": self.n_simulations,
            "names": list(labels),
        }


def _scan_sources(
    sources: Any,
    targets: tuple[Any, Any],
    names: Sequence[str] | None,
    asks: _Asked,
    kept: ScanCheckpoint | None,
) -> Scan:
    """Compare the two dependences of every source."""
    settings = asks.settings
    labels = display_names(("first", "second"), targets, names)
    fixed = dict(zip(labels, targets, strict=True))
    wide = read_wide("sources", sources, fixed, settings, ("first", "second"))
    found = ScanWork(wide, ScannedSources, kept, asks.decides(labels)).run()
    log_pvalues = found.tests.log_pvalues(asks.alternative)
    fdr = np.asarray(scipy.stats.false_discovery_control(np.exp(log_pvalues)))
    answer = Scan(
        provenance=found.provenance,
        warnings=(*found.cautions, *found.cautions_of_tests(fdr <= CLAIMED)),
        log10_pvalues=log_pvalues / np.log(10.0),
        fdr=fdr,
        adjusted_pvalues=found.tests.adjusted_pvalues(
            asks.alternative, asks.adjust, asks.n_simulations, settings.generator()
        ),
        adjust=asks.adjust,
        skipped=found.skipped_names,
        notes=found.notes,
        variables=found.names,
        first=labels[0],
        second=labels[1],
        alternative=asks.alternative,
        tests=found.tests,
    )
    found.finish(answer.table())
    return answer


def _scan_targets(
    source: Any,
    targets: Any,
    names: Sequence[str] | None,
    asks: _Asked,
    kept: ScanCheckpoint | None,
) -> TargetScan:
    """Estimate the dependence of one source on every target."""
    label = names[0] if names else native_name(source) or "source"
    if isinstance(source, Mapping):
        # A name with its data, as for the sources of the first form.
        if len(source) != 1:
            raise InputError(
                f"{len(source)} sources, and only one other argument; pass one source and its "
                "targets, or `second` too."
            )
        label, source = next(iter(source.items()))
    wide = read_wide("targets", targets, {label: source}, asks.settings, ["source"])
    found = ScanWork(wide, ScannedTargets, kept, asks.decides([label])).run()
    log_pvalues = found.tests.log_pvalues()
    pvalues = np.exp(log_pvalues)
    fdr = np.asarray(scipy.stats.false_discovery_control(pvalues))
    answer = TargetScan(
        provenance=found.provenance,
        warnings=(*found.cautions, *found.cautions_of_tests(fdr <= CLAIMED)),
        log10_pvalues=log_pvalues / np.log(10.0),
        fdr=fdr,
        adjusted_pvalues=holm(pvalues),
        adjust="holm",
        skipped=found.skipped_names,
        notes=found.notes,
        variables=found.names,
        source=label,
        tests=found.tests,
        maxima=found.tests.maxima(asks.n_simulations, asks.settings.generator()),
        confidence_level=asks.level,
    )
    found.finish(answer.table())
    return answer


class _ScanQuestion(Question):
    """Many sources and two targets, or one source and many targets."""

    def arguments(
        self,
        filled: Mapping[str, Any],  # noqa: ARG002
        data: Mapping[str, Any],
    ) -> tuple[list[Any], dict[str, Any]]:
        sources, targets = data.get("sources"), data.get("targets")
        pair = [next(iter(data[slot].items())) for slot in ("first", "second") if data.get(slot)]
        if sources and len(pair) == 2 and not targets:
            return [sources, *(block for _, block in pair)], {"names": [name for name, _ in pair]}
        if targets and data.get("source") and not sources and not pair:
            ((name, source),) = data["source"].items()
            return [source, targets], {"names": [name]}
        raise _neither()

    def written(self, filled: Mapping[str, Any], columns: Selector) -> dict[str, Any]:
        if filled.get("source"):
            return {"sources": filled["source"], "first": filled.get("targets")}
        return super().written(filled, columns)


def _neither() -> InputError:
    return InputError(
        "a scan is of many sources and two targets, or of one source and many targets; give "
        "`sources`, `first` and `second`; or `source` and `targets`."
    )


QUESTIONS = (
    _ScanQuestion(
        "scan",
        scan,
        slots=(
            Slot("first", "One target.", required=False),
            Slot("second", "The other target.", required=False),
            Slot("source", "One source, to scan many targets for.", required=False),
            Slot(
                "sources",
                "Each of these columns is a source.",
                "each",
                required=False,
                by_blocks=True,
            ),
            Slot(
                "targets",
                "Each of these columns is a target.",
                "each",
                required=False,
                by_blocks=True,
            ),
        ),
        choices=(
            Choice(
                "alternative",
                "What to show: either is stronger, FIRST is, or SECOND is.",
                "two-sided",
                ALTERNATIVES,
            ),
            Choice(
                "adjust",
                "How p-values are adjusted for the number of sources.",
                "single-step",
                ADJUSTMENTS_OF_SCANS,
            ),
        ),
        shared=("missing", "ids", "measure", "kernel", "engine", "rng"),
        example="reldep scan mice.csv --sources 'gene_*' --first diet --second genotype",
        can_resume=True,
    ),
)
