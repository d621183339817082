"""Which of thousands of sources depend more on one target than on another?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from reldep.data.checks import ALTERNATIVES, check_choice, check_count, check_level
from reldep.data.objects import native_name
from reldep.engine.batches import make_batches
from reldep.engine.threads import progress_bar
from reldep.exceptions import DataWarning, InputError, Option
from reldep.questions.calling import asked
from reldep.questions.cautions import small_sample_cautions
from reldep.questions.declaring import Choice, Question, Selector, Slot
from reldep.questions.settings import Settings
from reldep.questions.source_columns import WideStudy, read_wide
from reldep.questions.study import display_names
from reldep.results.provenance import Provenance
from reldep.results.scan_table import Scan, TargetScan
from reldep.stats.comparisons import holm
from reldep.stats.covariance import INDEPENDENT_ROWS
from reldep.stats.scanning import SourceTests, TargetTests, batch_jackknife, has_energy
from reldep.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.exceptions import ReldepWarning
    from reldep.questions.source_columns import Part

ADJUSTMENTS_OF_SCANS = ("single-step", "holm")
NO_ENERGY = "almost no variation: its dependence on anything has no scale"
TIED = "both dependences are the same for every observation"

# Numbers that a variable needs at a time, for every observation; and about what all of a batch
# may take.
NUMBERS_PER_ROW = 40
BATCH_BYTES = 60_000_000
LARGEST_BATCH = 1_000


@asked
def scan(
    sources: Any,
    first: Any,
    second: Any = None,
    *,
    measure: str = "cka",
    kernel: Any = "auto",
    alternative: str = "greater",
    missing: str = "raise",
    engine: Any = "auto",
    rng: Any = None,
    names: Sequence[str] | None = None,
    ids: Any = None,
    data: Any = None,  # noqa: ARG001 (@asked takes its columns)
    where: str | None = None,  # noqa: ARG001
    adjust: str = "single-step",
    confidence_level: float = 0.95,
    n_simulations: int = 10_000,
) -> Scan | TargetScan:
    """Ask :func:`compare` for every one of thousands of sources; or scan targets for one source.

    ``scan(sources, first, second)`` tests for each source, such as each gene, whether it depends
    more on `first` than on `second`. ``scan(source, targets)``, without `second`, gives the
    dependence of one source on each of thousands of targets.

    Parameters
    ----------
    sources : mapping of str to data, data frame or array of two dimensions
        Every column of a frame or array is a source of its own. Constant ones are skipped and
        listed. In the second form: one source, as for :func:`compare`.
    first, second : array_like, series, frame, sparse matrix or Precomputed
        The two targets. In the second form `first` is the many targets, and there is no `second`.
    measure, missing, engine, rng, ids, data, where
        As for :func:`compare`. With ``missing="drop"`` every source has its own complete rows.
    kernel : str, Kernel, callable, tuple or mapping, default "auto"
        One for all, a tuple (sources, first, second) or (source, targets), or a mapping by these
        roles and by name.
    alternative : {"greater", "less", "two-sided"}, default "greater"
        "two-sided" finds both those that depend more on `first` and more on `second`.
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

    Returns
    -------
    Scan or TargetScan
        With `to_frame()`, `is_discovery()`, `skipped`, `summary()`, `plot()`; a `TargetScan` also
        has `best(k)` and `confidence_interval()`.

    Notes
    -----
    Ctrl-C ends a scan early: the answer then holds the sources that were done, with a caution.

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
        measure=measure, kernel=kernel, missing=missing, engine=engine, rng=rng, ids=ids
    )
    if second is None:
        return _scan_targets(sources, first, names, settings, level, n_simulations)
    labels = display_names(("first", "second"), (first, second), names)
    fixed = dict(zip(labels, (first, second), strict=True))
    wide = read_wide("sources", sources, fixed, settings, ("first", "second"))
    found = _Work(wide, "sources").run(SourceTests)
    log_pvalues = found.tests.log_pvalues(alternative)
    pvalues = np.exp(log_pvalues)
    return Scan(
        provenance=found.provenance,
        warnings=found.cautions,
        log10_pvalues=log_pvalues / np.log(10.0),
        fdr=np.asarray(scipy.stats.false_discovery_control(pvalues)),
        adjusted_pvalues=found.tests.adjusted_pvalues(
            alternative, adjust, n_simulations, settings.generator()
        ),
        adjust=adjust,
        skipped=tuple(found.skipped),
        sources=found.names,
        first=labels[0],
        second=labels[1],
        alternative=alternative,
        tests=found.tests,
    )


def _scan_targets(
    source: Any,
    targets: Any,
    names: Sequence[str] | None,
    settings: Settings,
    level: float,
    n_simulations: int,
) -> TargetScan:
    """Estimate the dependence of one source on every target."""
    label = names[0] if names else native_name(source) or "source"
    if isinstance(source, Mapping):
        # A name with its data, as for the sources of the first form.
        if len(source) != 1:
            raise InputError(
                f"{len(source)} sources, and only one other argument",
                ["pass one source and its targets, or ", Option("second"), " too."],
            )
        label, source = next(iter(source.items()))
    wide = read_wide("targets", targets, {label: source}, settings, ["source"])
    found = _Work(wide, "targets").run(TargetTests)
    log_pvalues = found.tests.log_pvalues()
    pvalues = np.exp(log_pvalues)
    return TargetScan(
        provenance=found.provenance,
        warnings=found.cautions,
        log10_pvalues=log_pvalues / np.log(10.0),
        fdr=np.asarray(scipy.stats.false_discovery_control(pvalues)),
        adjusted_pvalues=holm(pvalues),
        adjust="holm",
        skipped=tuple(found.skipped),
        source=label,
        targets=found.names,
        tests=found.tests,
        maxima=found.tests.maxima(n_simulations, settings.generator()),
        confidence_level=level,
    )


class _Work:
    """The work of a scan, batch by batch, and what is left of it if it is interrupted."""

    def __init__(self, wide: WideStudy, role: str) -> None:
        self.wide = wide
        self.role = role
        self.parts, self.skipped = wide.parts()
        self.done: list[int] = []
        self.interrupted = False
        self.tests: Any = None
        if not self.parts:
            name, reason = self.skipped[0]
            raise InputError(
                f"none of {len(wide.names)} {role} can be used: {name}, for one, is skipped "
                f"({reason})",
                "pass columns that vary.",
            )

    def run(self, kind: type[SourceTests] | type[TargetTests]) -> _Work:
        """Test everything; Ctrl-C keeps what is done."""
        found = []
        total = sum(len(part.members) for part in self.parts)
        with progress_bar(self.role) as on_progress:
            try:
                for members, tests in self._tested(kind):
                    self.done += members
                    found.append(tests)
                    on_progress(len(self.done), total)
            except KeyboardInterrupt:
                if not self.done:
                    raise
                self.interrupted = True
        if not self.done:
            name, reason = self.skipped[0]
            raise InputError(
                f"none of {len(self.wide.names)} {self.role} can be tested: {name}, for one, is "
                f"skipped ({reason})",
                "pass other columns or more data.",
            )
        order = np.argsort(self.done)
        self.done = [self.done[i] for i in order]
        self.tests = kind.joined(found, order)
        return self

    def _tested(self, kind: type[Any]) -> Iterator[tuple[list[int], Any]]:
        wide, settings = self.wide, self.wide.study.settings
        rng = settings.generator()
        for part in self.parts:
            batches = make_batches(part.fixed, settings.engine)
            for members in _runs(part, len(part.rows)):
                batch = batches.batch(*wide.of(part, members), rng=rng)
                fine = has_energy(batch, settings.measure)
                self._skip([i for i, ok in zip(members, fine, strict=True) if not ok], NO_ENERGY)
                if not fine.any():
                    continue
                jackknife = batch_jackknife(
                    batches, batch.take(fine), settings.measure, wide.fixed_names
                )
                tests = kind.of(jackknife, part.rows, len(wide))
                kept_members = [i for i, ok in zip(members, fine, strict=True) if ok]
                yield self._untied(kept_members, tests)

    def _untied(self, members: list[int], tests: Any) -> tuple[list[int], Any]:
        """Leave out sources whose two dependences are one and the same."""
        if not isinstance(tests, SourceTests) or (tests.standard_error > 0).all():
            return members, tests
        fine = np.flatnonzero(tests.standard_error > 0)
        self._skip([members[i] for i in np.flatnonzero(tests.standard_error == 0)], TIED)
        return [members[i] for i in fine], SourceTests.joined([tests], fine)

    def _skip(self, members: Sequence[int], reason: str) -> None:
        self.skipped += [(self.wide.names[i], reason) for i in members]

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that were tested, in the order given."""
        return tuple(self.wide.names[i] for i in self.done)

    @property
    def provenance(self) -> Provenance:
        """Where the numbers come from."""
        study, wide = self.wide.study, self.wide
        kernels: dict[str, Mapping[str, Any]] = {
            name: fitted.describe()
            for name, fitted in zip(wide.fixed_names, self.parts[0].fixed, strict=True)
        }
        chosen = dict.fromkeys(str(wide.kernels[i]) for i in self.done)
        kernels[self.role] = {"kernel": listed(list(chosen), 3)}
        return Provenance(
            measure=study.settings.measure,
            variance="jackknife",
            kernels=kernels,
            engine="batches",
            rows=study.dataset.rows,
            dependence=INDEPENDENT_ROWS,
            n_dropped=study.dataset.n_dropped,
            library=wide.library,
        )

    @property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        """What to beware of."""
        wide = self.wide
        found: list[ReldepWarning] = [*small_sample_cautions(len(wide)), *wide.cautions]
        found += wide.study.dataset.cautions
        for fitted in self.parts[0].fixed:
            found += fitted.cautions
        if self.interrupted:
            found.append(
                DataWarning(
                    f"interrupted after {len(self.done):,} of {len(wide.names):,} {self.role}: "
                    "false-discovery rates and adjusted p-values count only these."
                )
            )
        for reason in dict.fromkeys(reason for _, reason in self.skipped):
            names = [name for name, why in self.skipped if why == reason]
            verb = "was" if len(names) == 1 else "were"
            found.append(
                DataWarning(
                    f"{len(names):,} of {len(wide.names):,} {self.role} {verb} skipped "
                    f"({reason}): {listed(names, 5)}."
                )
            )
        return tuple(found)


def _runs(part: Part, n_rows: int) -> Iterator[list[int]]:
    size = int(np.clip(BATCH_BYTES // (8 * NUMBERS_PER_ROW * n_rows), 1, LARGEST_BATCH))
    members = iter(part.members)
    while run := list(islice(members, size)):
        yield run


class _ScanQuestion(Question):
    """Many sources and two targets, or one source and many targets."""

    def arguments(
        self,
        filled: Mapping[str, Any],  # noqa: ARG002
        data: Mapping[str, Mapping[str, Any]],
    ) -> tuple[list[Any], dict[str, Any]]:
        sources, targets = dict(data.get("sources", {})), dict(data.get("targets", {}))
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
        "a scan is of many sources and two targets, or of one source and many targets",
        [
            "give ",
            Option("sources"),
            ", ",
            Option("first"),
            " and ",
            Option("second"),
            "; or ",
            Option("source"),
            " and ",
            Option("targets"),
            ".",
        ],
    )


QUESTIONS = (
    _ScanQuestion(
        "scan",
        scan,
        slots=(
            Slot("first", "On this more …", required=False),
            Slot("second", "… than on this?", required=False),
            Slot("source", "One source, to scan many targets for.", required=False),
            Slot("sources", "Each of these columns is a source.", "each", required=False),
            Slot("targets", "Each of these columns is a target.", "each", required=False),
        ),
        choices=(
            Choice(
                "alternative",
                "What is to be shown: more on FIRST, less, or either.",
                "greater",
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
    ),
)
