"""The work of a scan, chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks import Data, cautions_about, scans
from reldep.engine.scan import make_batches
from reldep.engine.threads import progress_bar
from reldep.exceptions import InputError
from reldep.results.provenance import Provenance
from reldep.stats.scan import batch_estimates, has_energy
from reldep.stats.series import INDEPENDENT_ROWS
from reldep.stats.units import NORMALISED
from reldep.words import listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import BoolArray
    from reldep.engine.scan import Batches, EngineBatches
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel
    from reldep.questions.source_columns import Part, WideStudy

NOT_HELD = "its kernel values are too large or too small to be added up: rescale it"
NO_ENERGY = "almost no variation: its dependence on anything has no scale"
TIED = "both dependences are the same for every observation"

# Numbers that a variable needs at a time, for every observation; and about what all of a chunk
# may take.
NUMBERS_PER_ROW = 40
CHUNK_BYTES = 60_000_000
LARGEST_CHUNK = 1_000

# Incomplete variables of a chunk mostly lack the same rows as others: so many sets of rows are
# remembered.
MOST_PATTERNS = 16


@dataclass(frozen=True, eq=False)
class Chunk:
    """What was found for some of the variables.

    Attributes
    ----------
    members : list of int
        Those that were tested, by their place in the input.
    tests : ScannedSources, ScannedTargets or None
        None where none could be tested.
    skipped : list of (int, str)
    kernels : list of str
        Those that were used.
    """

    members: list[int]
    tests: Any
    skipped: list[tuple[int, str]]
    kernels: list[str]


class ScanWork:
    """A scan from its first variable to its last, or to where it is interrupted.

    Parameters
    ----------
    wide : WideStudy
    kind : type
        The tests that are wanted: `ScannedSources` or `ScannedTargets`.
    """

    def __init__(self, wide: WideStudy, kind: type[Any]) -> None:
        self.wide, self.kind = wide, kind
        self.survey = wide.survey()
        self.skipped = dict(self.survey.skipped)
        self.kernels: dict[str, None] = {}
        self.done: list[int] = []
        self.interrupted = False
        self.tests: Any = None
        self._batches: dict[bytes, Batches | EngineBatches] = {}
        # Every chunk has a random seed of its own, so that a run can be continued at any.
        if len(self.skipped) == len(wide.names):
            raise self._nothing("used", "pass columns that vary.")

    def run(self) -> ScanWork:
        """Test everything; Ctrl-C keeps what is done."""
        found = []
        total = len(self.wide.names)
        with progress_bar(self.wide.role) as on_progress:
            try:
                for run in self._runs():
                    found.append(self._tested(run))
                    on_progress(run.stop, total)
            except KeyboardInterrupt:
                if not any(chunk.members for chunk in found):
                    raise
                self.interrupted = True
        for chunk in found:
            self.done += chunk.members
            self.skipped |= dict(chunk.skipped)
            self.kernels |= dict.fromkeys(chunk.kernels)
        if not self.done:
            raise self._nothing("tested", "pass other columns or more data.")
        order = np.argsort(self.done)
        self.done = [self.done[i] for i in order]
        tests = [chunk.tests for chunk in found if chunk.tests is not None]
        self.tests = self.kind.joined(tests, order)
        return self

    def _runs(self) -> list[slice]:
        """Cut the variables into chunks, always in the same way."""
        n_rows, n = len(self.wide), len(self.wide.names)
        size = int(np.clip(CHUNK_BYTES // (8 * NUMBERS_PER_ROW * n_rows), 1, LARGEST_CHUNK))
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def _tested(self, run: slice) -> Chunk:
        """Test the variables of a chunk."""
        members: list[int] = []
        tests, skipped = [], []
        kernels: dict[str, None] = {}
        for part in self.wide.parts(run.start, run.stop, self.survey.skipped):
            own_kernels, variables = self.wide.of(part)
            batches = self._batches_of(part)
            batch = batches.batch(own_kernels, variables)
            held = batch.is_held
            fine = held & has_energy(batch)
            skipped += [
                (part.members[i], NO_ENERGY if held[i] else NOT_HELD) for i in np.flatnonzero(~fine)
            ]
            if not fine.any():
                continue
            found = batch_estimates(
                batches, batch.take(fine), self.wide.study.measure, self.wide.fixed_names
            )
            own = self.kind.of(found, part.rows, len(self.wide))
            places = np.flatnonzero(fine)
            tied = own.ties()
            skipped += [(part.members[i], TIED) for i in places[tied]]
            kernels |= dict.fromkeys(str(own_kernels[i]) for i in places[~tied])
            members += [part.members[i] for i in places[~tied]]
            tests.append(self.kind.joined([own], np.flatnonzero(~tied)))
        joined = self.kind.joined(tests, np.arange(len(members))) if members else None
        return Chunk(members, joined, skipped, list(kernels))

    def _batches_of(self, part: Part) -> Batches | EngineBatches:
        """Give the fixed variables on the rows of a part, ready for many others."""
        if part.pattern not in self._batches:
            if len(self._batches) >= MOST_PATTERNS:
                self._batches.clear()
            fixed = self.wide.fit_fixed(part.rows)
            self._batches[part.pattern] = make_batches(
                fixed,
                self.wide.study.options["engine"],
                own_units=self.wide.study.measure in NORMALISED,
            )
        return self._batches[part.pattern]

    def _nothing(self, verb: str, way_out: str) -> InputError:
        member, reason = next(iter(sorted(self.skipped.items())))
        return InputError(
            f"none of {len(self.wide.names)} {self.wide.role} can be {verb}: "
            f"{self.wide.names[member]}, for one, is skipped ({reason}); {way_out}"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that were tested, in the order given."""
        return tuple(self.wide.names[i] for i in self.done)

    @property
    def skipped_names(self) -> tuple[tuple[str, str], ...]:
        """The variables that were skipped, in the order given, and why."""
        return tuple((self.wide.names[i], reason) for i, reason in sorted(self.skipped.items()))

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """What is to be said of some of the variables, by name."""
        copies = self.survey.checks.copies.items()
        return tuple((name, f"like {other}") for other, names in copies for name in names)

    @cached_property
    def fixed(self) -> Mapping[str, FittedKernel]:
        """The fixed variables on all rows."""
        return self.wide.fit_fixed(np.arange(len(self.wide)))

    @property
    def provenance(self) -> Provenance:
        """Where the numbers come from."""
        study, wide = self.wide.study, self.wide
        kernels: dict[str, Mapping[str, Any]] = {
            name: fitted.describe() for name, fitted in self.fixed.items()
        }
        kernels[wide.role] = {"kernel": listed(list(self.kernels), 3)}
        return Provenance(
            measure=study.measure,
            variance="jackknife",
            kernels=kernels,
            engine="batches",
            rows=study.dataset.rows,
            dependence=INDEPENDENT_ROWS,
            n_dropped=study.dataset.n_dropped,
            library=wide.library,
            notes=self.facts,
        )

    @property
    def cautions(self) -> tuple[ReldepWarning, ...]:
        """What to beware of."""
        return (*cautions_about(self.subject), *self.survey.checks.cautions())

    @cached_property
    def subject(self) -> Data:
        """The fixed variables, for the checks."""
        return replace(self.wide.subject(), fitted=self.fixed)

    @property
    def facts(self) -> tuple[str, ...]:
        """How the data were read, which columns were skipped and why."""
        wide = self.wide
        found = [*wide.study.dataset.notes]
        if self.interrupted:
            found.append(self._interrupted())
        for reason in dict.fromkeys(self.skipped.values()):
            own = [name for name, why in self.skipped_names if why == reason]
            verb = "was" if len(own) == 1 else "were"
            found.append(
                f"{len(own):,} of {len(wide.names):,} {wide.role} {verb} skipped ({reason}): "
                f"{listed(own, 5)}."
            )
        if self.survey.example:
            found.append(f"For one, {self.survey.example}")
        return tuple(found)

    def cautions_of_tests(self, claimed: BoolArray) -> tuple[ReldepWarning, ...]:
        """Say what to beware of once it is known which variables are claimed."""
        deviations = self.tests.deviations
        return (
            *scans.dependent_rows(self.subject, deviations),
            *scans.influential(self.subject, self.names, deviations, claimed),
        )

    def _interrupted(self) -> str:
        return (
            f"interrupted after {len(self.done):,} of {len(self.wide.names):,} {self.wide.role}: "
            "false-discovery rates and adjusted p-values count only these."
        )
