"""Thousands of columns, each asked about by itself next to the same one or two variables.

A question about many columns is the question about one of them, mapped over chunks of columns: the
same kernels, checks and estimates. What cannot be asked about a column is noted, and the others go
on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks import Scanned, cautions_about
from reldep.checks.variables import ColumnChecks, plain_columns
from reldep.data.variables import BoolArray, IntArray, Labels, Numeric, Variable
from reldep.engine.block_table import BlockTable
from reldep.engine.blocks import FEWEST_ROWS as FEWEST_IN_A_BLOCK
from reldep.engine.scan import Batches, BlockBatches, deal_for_scan, make_batches
from reldep.engine.threads import progress_bar
from reldep.exceptions import InputError, InputTypeError, ReldepWarning
from reldep.files.in_parts import READ_BYTES, WideColumns
from reldep.kernels.base import Kernel
from reldep.kernels.choosing import as_kernel
from reldep.questions.covariates import columns_left
from reldep.questions.stored import StoredBatches
from reldep.questions.study import Study
from reldep.results.answer import Provenance
from reldep.stats.scan import batch_estimates
from reldep.stats.series import INDEPENDENT_ROWS
from reldep.stats.units import FEWEST_ROWS, NORMALISED
from reldep.words import listed

if TYPE_CHECKING:
    #: The place of a column, its kernel and its values.
    Member = tuple[int, Kernel, Variable]
    AnyBatches = Batches | BlockBatches


NO_GAPS = np.zeros(1, dtype=bool)

# Kernels are asked first about columns whose distances differ by more than this factor: they refuse
# a bandwidth of 1e7 usual distances.
FAR = 1e6


@dataclass(eq=False)
class Columns:
    """Many columns, and the variables that each of them is compared with.

    Attributes
    ----------
    role : str
        The argument that the columns were passed as.
    columns : WideColumns
    specs : mapping of str to object
        The kernel of every column, as it was asked for.
    study : Study
        The fixed variables.
    kind : type
        The tests that are wanted: `ScannedSources` or `ScannedTargets`.
    """

    role: str
    columns: WideColumns
    specs: Mapping[str, Any]
    study: Study
    kind: type[Any]
    library: str | None
    #: What was found: tests of the columns `done`, why others were skipped, kernels used.
    tests: Any = None
    done: list[int] = field(default_factory=list)
    skipped: dict[int, str] = field(default_factory=dict)
    kernels: dict[str, None] = field(default_factory=dict)
    #: The fitted kernel of every target; that of one stands for all that are alike.
    described: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    unusable: Exception | None = None
    is_interrupted: bool = False
    #: The block of every row, if blocks of rows are used; and the price that an interval has.
    blocks: IntArray | None = None
    price: float | None = None

    def __post_init__(self) -> None:
        read = self.study.before or self.study
        self.checks = ColumnChecks(read, self.role, len(self.columns.names))
        self._batches: dict[bytes, AnyBatches] = {}
        self._alike: dict[Any, Mapping[str, Any]] = {}
        self._is_dealt = False

    def run(self) -> Columns:
        """Test every column; Ctrl-C keeps what is done."""
        names, found, stop = self.columns.names, [], 0
        with progress_bar(self.role) as on_progress:
            try:
                while stop < len(names):
                    start, stop = stop, min(stop + self._chunk(), len(names))
                    found += self._tested(start, stop)
                    on_progress(stop, len(names))
            except KeyboardInterrupt:
                if not found:
                    raise
                self.is_interrupted = True
        if not found:
            raise self._nothing()
        members = np.concatenate([own for own, _ in found])
        order = np.argsort(members)
        self.done = members[order].tolist()
        self.tests = self.kind.joined([tests for _, tests in found], order)
        return self

    def _chunk(self) -> int:
        """Return how many columns are tested at a time.

        A column needs about 40 numbers per row at a time, and a chunk takes at most 60 MB; in
        blocks of rows a chunk is what is read at once.
        """
        row = 8 * len(self.study.dataset)
        most = 60_000_000 // (40 * row) if self.blocks is None else READ_BYTES // row
        return int(np.clip(most, 1, 1_000))

    def _tested(self, start: int, stop: int) -> list[tuple[IntArray, Any]]:
        """Return the tests of some columns, with their places, by the rows that they have."""
        variables, dataset = self.columns.read(start, stop), self.study.dataset
        if dataset.kept is not None:
            variables = [variable.take(dataset.kept) for variable in variables]
        by_rows: dict[bytes, list[Member]] = {}
        odd = self.checks.are_odd(variables).tolist()
        for i, variable in enumerate(variables):
            gaps = self._gaps(start + i, variable) if odd[i] else NO_GAPS
            kernel = self._kernel_of(start + i, variable, gaps, is_odd=odd[i])
            if kernel is not None:
                pattern = gaps.tobytes() if gaps.any() else b""
                by_rows.setdefault(pattern, []).append((start + i, kernel, variable))
        found = [self._tests_of(pattern, members) for pattern, members in by_rows.items()]
        return [(places, tests) for places, tests in found if len(places)]

    def _gaps(self, i: int, variable: Variable) -> BoolArray:
        """Check the values of a column, and return the rows that it does not have."""
        name, gaps = self.columns.names[i], variable.missing()
        if gaps.any() and self.study.options["missing"] != "drop":
            raise InputError(
                f"{name!r} among the {self.role} has missing values: "
                f"{variable.describe_missing(self.study.dataset.rows)}. Fill them in, or pass "
                "`missing='drop'` to leave out, for each column, the rows that it does not have."
            )
        same = self.checks.look(name, variable)
        if same:
            raise InputError(f"{name!r} among the {self.role} is {same[0]!r} itself; leave it out.")
        return gaps

    def _kernel_of(
        self, i: int, variable: Variable, gaps: BoolArray, *, is_odd: bool
    ) -> Kernel | None:
        """Return the kernel of a column; None, noting why, if it cannot be tested."""
        try:
            kernel = as_kernel(self.specs[self.columns.names[i]], variable)
        except (InputError, InputTypeError) as error:
            self.unusable = self.unusable or error
            self.skipped[i] = "not usable as it is"
            return None
        if is_odd:
            kept = variable.take(np.flatnonzero(~gaps)) if gaps.any() else variable
            reason = _reason_to_skip(kept)
            if reason is not None:
                self.skipped[i] = reason
                return None
        rows = self.study.dataset.kept
        return kernel if rows is None else kernel.take(rows)

    def _tests_of(self, pattern: bytes, members: list[Member]) -> tuple[IntArray, Any]:
        """Test columns that lack the same rows; return the places of those tested, and tests."""
        rows = np.arange(len(self.study.dataset))
        if pattern:
            rows = np.flatnonzero(~np.frombuffer(pattern, dtype=bool))
            members = [(i, k.take(rows), variable.take(rows)) for i, k, variable in members]
        members = self._that_fit(self._left_of(members, is_part=bool(pattern)))
        if members and not self._is_dealt:
            self._deal(pattern, rows, *members[0][1:])
        own = None if self.blocks is None or self.study.stored else self.blocks[rows]
        if own is not None and np.bincount(own).min() < FEWEST_IN_A_BLOCK:
            self._skip(members, "too few complete observations for blocks of rows")
            members = []
        if not members:
            return np.empty(0, dtype=np.int64), None
        return self._tests_in(self._batches_of(pattern, rows), members, rows)

    def _skip(self, members: Iterable[Member], reason: str) -> None:
        self.skipped |= {i: reason for i, *_ in members}

    def _left_of(self, members: list[Member], *, is_part: bool) -> list[Member]:
        """Put what covariates leave in place of columns, if there are any, and skip the others."""
        if self.study.regression is None:
            return members
        if is_part:
            self._skip(members, "missing values, which a scan with `given` does not allow")
            return []
        left = columns_left(self.study.regression, [(one, kernel) for _, kernel, one in members])
        both = list(zip(members, left, strict=True))
        self._skip((one for one, own in both if own is None), "determined by the covariates")
        return [(i, own[1], own[0]) for (i, *_), own in both if own is not None]

    def _that_fit(self, members: list[Member]) -> list[Member]:
        """Skip columns that their kernels refuse: those with a far value, as a question does."""
        far = _have_far_values([variable for *_, variable in members])
        for (i, kernel, variable), is_far in zip(members, far.tolist(), strict=True):
            if is_far:
                try:
                    kernel.fit(variable)
                except InputError as error:
                    self.unusable = self.unusable or error
                    self.skipped[i] = "not usable as it is"
        return [one for one in members if one[0] not in self.skipped]

    def _tests_in(
        self, batches: AnyBatches, members: Sequence[Member], rows: IntArray
    ) -> tuple[IntArray, Any]:
        """Test columns next to the fixed variables on the same rows; note those without a test."""
        places, kernels, variables = zip(*members, strict=True)
        batch, study = batches.batch(kernels, variables), self.study
        is_held = batch.is_held
        is_fine = is_held & batch.has_energy
        fine = np.flatnonzero(is_fine)
        huge = "its kernel values are too large or too small to be added up: rescale it"
        still = "almost no variation: its dependence on anything has no scale"
        self._skip((members[i] for i in np.flatnonzero(~is_held).tolist()), huge)
        self._skip((members[i] for i in np.flatnonzero(is_held & ~is_fine).tolist()), still)
        if not len(fine):
            return fine, None
        share = 1.0 if study.conditioning is None else study.conditioning.share
        found = batch_estimates(batches, batch.take(is_fine), study.measure, study.names, share)
        # What is independent has no price that matters: its interval begins at 0.
        related = np.flatnonzero(found.values > 3.0 * found.standard_errors)
        if batch.weights is not None and self.price is None and len(related) > 2:
            pairs = [("", "")] * len(found.values)
            self.price = replace(found, pairs=tuple(pairs)).only(related.tolist()).loss()
        if study.stored is not None:
            rows = np.broadcast_to(0, study.stored.n_rows)  # only their number counts
        tests = self.kind.of(found, rows, len(study.dataset), batch.weights)
        tied = tests.ties()
        same = "both dependences are the same for every observation"
        self._skip((members[i] for i in fine[tied].tolist()), same)
        for i in fine[~tied].tolist():
            self.kernels[str(kernels[i])] = None
            if self.role == "targets":
                self.described[places[i]] = self._description(kernels[i], variables[i])
        return np.array(places)[fine[~tied]], self.kind.joined([tests], np.flatnonzero(~tied))

    def _description(self, kernel: Kernel, variable: Variable) -> Mapping[str, Any]:
        """Return the fitted kernel of a column, or of one like it but for its values."""
        key = (str(kernel), type(variable), _size(variable))
        if key not in self._alike:
            self._alike[key] = kernel.fit(variable).describe()
        return self._alike[key]

    def _deal(self, pattern: bytes, rows: IntArray, kernel: Kernel, variable: Variable) -> None:
        """Deal the rows into blocks, if a column shows that these spare much time."""
        self._is_dealt = True
        if self.study.stored is not None:
            batches = StoredBatches(self.study.stored, self.study)
            self._batches[pattern] = batches
            self.blocks = np.repeat(np.arange(len(batches.sizes)), batches.sizes)
            return
        study, n_columns = self.study.part(rows) if pattern else self.study, len(self.columns.names)
        engine = study.options["engine"]
        n = len(self.study.dataset)
        self.blocks = deal_for_scan(study.fitted, engine, kernel.fit(variable), n_columns, n)

    def _batches_of(self, pattern: bytes, rows: IntArray) -> AnyBatches:
        """Return the fixed variables on some rows, ready for many others."""
        if pattern not in self._batches:
            # Incomplete columns mostly lack the same rows: few sets of rows are remembered.
            if len(self._batches) >= 16:
                self._batches.clear()
            study = self.study.part(rows) if pattern else self.study
            self._batches[pattern] = make_batches(
                study.fitted,
                study.options["engine"],
                blocks=None if self.blocks is None else self.blocks[rows],
                own_units=study.measure in NORMALISED,
            )
        return self._batches[pattern]

    def _nothing(self) -> Exception:
        """Return the error if no column could be tested."""
        reasons = set(self.skipped.values())
        if self.unusable is not None and len(reasons) == 1:
            return self.unusable
        member, reason = min(self.skipped.items())
        return InputError(
            f"none of {len(self.columns.names)} {self.role} can be tested: "
            f"{self.columns.names[member]}, for one, is skipped ({reason}); pass other columns."
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that were tested, in the order given."""
        return tuple(self.columns.names[i] for i in self.done)

    @property
    def skipped_names(self) -> tuple[tuple[str, str], ...]:
        """The columns that were skipped, in the order given, and why."""
        return tuple((self.columns.names[i], why) for i, why in sorted(self.skipped.items()))

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """What is to be said of some of the columns, by name."""
        copies = self.checks.copies.items()
        return tuple((name, f"like {other}") for other, names in copies for name in names)

    def provenance(self) -> Provenance:
        """Return where the numbers come from."""
        study, stored = self.study, self.study.stored
        remarks: tuple[str, ...] = ()
        fixed = {name: fitted.describe() for name, fitted in study.fitted.items()}
        if self.blocks is not None:
            sizes = np.bincount(self.blocks)
            table = BlockTable(np.empty((0, 0)), sizes, (), n_rows=sizes.sum())
            remarks = (table.note(self.price),)
        found = study.provenance(
            len(study.dataset) if stored is None else stored.n_rows,
            kernels={**fixed, self.role: {"kernel": listed(list(self.kernels), 3)}},
            engine="batches" if self.blocks is None else "blocks",
            dependence=INDEPENDENT_ROWS,
            remarks=remarks,
        )
        return replace(found, library=self.library, notes=self._facts())

    def _facts(self) -> tuple[str, ...]:
        """Return how the data were read, which columns were skipped and why."""
        found, n = [*self.study.dataset.notes], f"{len(self.columns.names):,} {self.role}"
        if self.is_interrupted:
            found.append(
                f"interrupted after {len(self.done):,} of {n}: false-discovery rates and adjusted "
                "p-values count only these."
            )
        for reason in dict.fromkeys(self.skipped.values()):
            own = [name for name, why in self.skipped_names if why == reason]
            verb = "was" if len(own) == 1 else "were"
            found.append(f"{len(own):,} of {n} {verb} skipped ({reason}): {listed(own, 5)}.")
        if self.unusable is not None:
            found.append(f"For one, {self.unusable}")
        return tuple(found)

    def warnings(self, claimed: BoolArray) -> tuple[ReldepWarning, ...]:
        """Return what to beware of, once it is known which columns are claimed."""
        study, psi = self.study, self.tests.deviations if self.blocks is None else None
        return (
            *cautions_about(study.before or study),
            *self.checks.cautions(),
            *cautions_about(Scanned(study, self.names, psi, claimed)),
        )


def _reason_to_skip(variable: Variable) -> str | None:
    """Return why complete rows of a column cannot be tested; None if they can."""
    if len(variable) < FEWEST_ROWS:
        return f"fewer than {FEWEST_ROWS} complete observations"
    if variable.is_constant():
        return "constant"
    if variable.lone() is not None:
        return "all observations but one are the same"
    if isinstance(variable, Labels) and len(np.unique(variable.codes)) == len(variable):
        return "every observation has a label of its own"
    return None


def _size(variable: Variable) -> tuple[int, bool]:
    """Return the number of columns or labels, and whether a column has two different values."""
    if isinstance(variable, Labels):
        return len(np.unique(variable.codes)), False
    if not isinstance(variable, Numeric):
        return 0, False
    values = variable.values
    is_end = (values == values.min()) | (values == values.max())
    return values.shape[1], bool(is_end.all())


def _have_far_values(variables: Sequence[Variable]) -> BoolArray:
    """Return which columns may have a value far from the others; a superset of them."""
    found = np.array([isinstance(one, Numeric) for one in variables], dtype=bool)
    plain, table = plain_columns(variables)
    if plain:
        half = table.shape[1] // 2
        apart = np.abs(table - np.partition(table, half, axis=1)[:, [half]])
        near = np.where(apart > 0, apart, np.inf).min(axis=1)
        found[plain] = apart.max(axis=1) > FAR * near
    return found
