"""Thousands of columns, each a variable of its own, read beside a few fixed variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks.scans import ColumnChecks
from reldep.data.frames import aligned, column_names, frame_library, index_rows
from reldep.data.objects import read_variable
from reldep.data.variables import Labels, Numeric
from reldep.exceptions import InputError, InputTypeError
from reldep.files.wide_columns import HeldColumns, TableColumns
from reldep.kernels.choosing import as_kernel, assign
from reldep.questions.study import Study, read_study
from reldep.questions.variables import name_variables, read_variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.checks import Data
    from reldep.data.variables import IntArray, Variable
    from reldep.files.wide_columns import WideColumns
    from reldep.kernels.base import FittedKernel, Kernel

CONSTANT = "constant"
LONE = "all observations but one are the same"
ALL_DIFFERENT = "every observation has a label of its own"
UNUSABLE = "not usable as it is"
TOO_FEW = "fewer than 6 complete observations"

# The jackknife leaves out one row at a time, and an HSIC needs 4.
FEWEST_ROWS = 6

# Variables that are looked at together before the work begins.
SURVEYED = 1_000


@dataclass(frozen=True, eq=False)
class Part:
    """Variables that have the same complete rows.

    Attributes
    ----------
    pattern : bytes
        Which rows they lack; empty for none.
    rows : ndarray of int
        The rows that they have, by their place among all that are used.
    members : list of int
        The variables, by their place in the input.
    variables : list of Variable
        On these rows.
    """

    pattern: bytes
    rows: IntArray
    members: list[int] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)


@dataclass(frozen=True)
class Survey:
    """What is known of many variables before the work begins.

    Attributes
    ----------
    skipped : dict of int to str
        Variables that cannot be tested, by their place, and why.
    checks : ColumnChecks
        What is to be said of some of them.
    example : str
        Why the first that cannot be used cannot.
    """

    skipped: dict[int, str]
    checks: ColumnChecks
    example: str = ""


@dataclass(frozen=True, eq=False)
class WideStudy:
    """Many variables and a few fixed ones on the same rows.

    Attributes
    ----------
    role : str
        What the many are called.
    columns : WideColumns
        The many.
    specs : mapping of str to object
        The kernel of each of them, as it was asked for.
    study : Study
        The fixed variables, in which rows that are incomplete there are left out.
    fixed_names : tuple of str
    library : str or None
    """

    role: str
    columns: WideColumns
    specs: Mapping[str, Any]
    study: Study
    fixed_names: tuple[str, ...]
    library: str | None

    def __len__(self) -> int:
        return len(self.study.dataset)

    @property
    def names(self) -> Sequence[str]:
        """Of the many."""
        return self.columns.names

    def read(self, start: int, stop: int) -> list[Variable]:
        """Give some of the many, without the rows in which a fixed variable is incomplete."""
        variables = self.columns.read(start, stop)
        if not self.study.dataset.n_dropped:
            return variables
        positions = self.study.dataset.rows.positions
        return [variable.take(positions) for variable in variables]

    def kernel(self, member: int, variable: Variable) -> Kernel:
        """Choose the kernel of one of the many."""
        kernel = as_kernel(self.specs[self.names[member]], variable)
        if self.study.dataset.n_dropped:
            return kernel.take(self.study.dataset.rows.positions)
        return kernel

    def parts(self, start: int, stop: int, skipped: Mapping[int, str]) -> list[Part]:
        """Sort some of the variables by their complete rows."""
        found: dict[bytes, Part] = {}
        for i, variable in enumerate(self.read(start, stop), start):
            if i in skipped:
                continue
            gaps = variable.missing()
            pattern = gaps.tobytes() if gaps.any() else b""
            if pattern not in found:
                found[pattern] = Part(pattern, np.flatnonzero(~gaps).astype(np.int64))
            found[pattern].members.append(i)
            found[pattern].variables.append(variable)
        return list(found.values())

    def of(self, part: Part) -> tuple[list[Kernel], list[Variable]]:
        """Give the kernels and the data of the variables of a part, on their complete rows."""
        pairs = zip(part.members, part.variables, strict=True)
        kernels = [self.kernel(i, variable) for i, variable in pairs]
        if not part.pattern:
            return kernels, part.variables
        return (
            [kernel.take(part.rows) for kernel in kernels],
            [variable.take(part.rows) for variable in part.variables],
        )

    def fit_fixed(self, rows: IntArray) -> Mapping[str, FittedKernel]:
        """Fit the fixed variables on some rows."""
        own = self.study
        if len(rows) < len(self):
            own = own.part(rows)
        return own.fitted

    def survey(self) -> Survey:
        """Look at all variables once: refuse what cannot be, note what must be skipped."""
        skipped: dict[int, str] = {}
        unusable: dict[int, InputError | InputTypeError] = {}
        fixed = self.subject()
        checks = ColumnChecks(fixed, self.role, len(self.names))
        _check_fixed_differ(fixed)
        gaps: dict[str, str] = {}
        for i, variable in self._all():
            missing = variable.missing()
            if missing.any():
                gaps[self.names[i]] = variable.describe_missing(fixed.rows)
            same = checks.look(self.names[i], variable)
            if same:
                raise InputError(
                    f"{self.names[i]!r} among the {self.role} is {same[0]!r} itself; leave it out "
                    f"of `{self.role}`."
                )
            try:
                self.kernel(i, variable)
            except (InputError, InputTypeError) as error:
                unusable.setdefault(i, error)
                skipped[i] = UNUSABLE
                continue
            kept = variable.take(np.flatnonzero(~missing)) if missing.any() else variable
            reason = _reason_to_skip(kept)
            if reason is not None:
                skipped[i] = reason
        self._check_gaps(gaps)
        if len(unusable) == len(self.names):
            raise next(iter(unusable.values()))
        example = next((str(error) for error in unusable.values()), "")
        return Survey(skipped, checks, example)

    def subject(self) -> Data:
        """Return the fixed variables, for the checks."""
        return self.study.data

    def _check_gaps(self, gaps: Mapping[str, str]) -> None:
        """Raise if columns have missing values, unless rows may be dropped."""
        if gaps and self.study.options["missing"] != "drop":
            name, words = next(iter(gaps.items()))
            raise InputError(
                f"{len(gaps)} of {len(self.names)} {self.role} have missing values, such as {name} "
                f"({words}). Fill them in, or pass `missing='drop'` to leave out, for each of "
                "them, the observations that it does not have."
            )

    def _all(self) -> Iterator[tuple[int, Variable]]:
        for start in range(0, len(self.names), SURVEYED):
            yield from enumerate(self.read(start, min(start + SURVEYED, len(self.names))), start)


def _reason_to_skip(variable: Variable) -> str | None:
    """Return why complete rows of a variable cannot be tested; None if they can."""
    if len(variable) < FEWEST_ROWS:
        return TOO_FEW
    if variable.is_constant():
        return CONSTANT
    if variable.lone() is not None:
        return LONE
    if isinstance(variable, Labels) and len(np.unique(variable.codes)) == len(variable):
        return ALL_DIFFERENT
    return None


def _check_fixed_differ(fixed: Data) -> None:
    """Raise if both fixed variables are the same."""
    columns = list(fixed.columns.values())
    if len(columns) == 2 and columns[0].values.keys() == columns[1].values.keys():
        raise InputError(
            f"{' and '.join(fixed.columns)} are the same, so that everything depends equally on "
            "both; pass different ones."
        )


def read_wide(
    role: str, many: Any, single: Mapping[str, Any], options: Mapping[str, Any]
) -> WideStudy:
    """Read a few fixed variables, and make many others ready to be read beside them.

    Parameters
    ----------
    role : str
        The argument that the many were passed as.
    many : mapping of str to data, data frame, array of two dimensions or TableColumns
    single : mapping of str to data
        The fixed variables, by argument.
    options : mapping of str to object
    """
    columns: WideColumns
    unmatched = None
    fixed = name_variables(single, {}, options["names"])
    if isinstance(many, TableColumns):
        columns, own, matched = many, {}, fixed
    else:
        blocks = {role: many} if _is_table(many) else read_variables(role, many, at_least=1)
        _check_apart(role, blocks, fixed)
        matched, unmatched = aligned({**blocks, **fixed})
        own = {name: matched.pop(name) for name in blocks}
        columns = _taken_apart(role, own)
    names = columns.names
    _check_apart(role, set(names), fixed)
    specs = assign(
        options["kernel"],
        [*names, *fixed],
        roles=[*[role] * len(names), *single],
        measure=options["measure"],
    )
    ids = options.get("ids")
    if ids is None:
        ids = next((rows for rows in map(index_rows, own.values()) if rows is not None), None)
    chosen = {name: specs[name] for name in fixed}
    own_options = {**options, "kernel": chosen, "ids": ids, "names": list(fixed)}
    study = read_study(dict(zip(single, matched.values(), strict=True)), own_options, pairs=())
    dataset = study.dataset
    if len(dataset) + dataset.n_dropped != columns.n_rows:
        raise InputError(
            f"the variables have different numbers of observations: {role} has {columns.n_rows}, "
            f"{next(iter(fixed))} has {len(dataset) + dataset.n_dropped}. Row i of each must be "
            "the same observation. Join or cut them first."
        )
    study = replace(study, dataset=replace(dataset, unmatched=unmatched))
    library = next((lib for lib in map(frame_library, own.values()) if lib), None)
    return WideStudy(role, columns, specs, study, tuple(fixed), library or dataset.library)


def _is_table(many: Any) -> bool:
    """Whether all columns can be read at once: a plain array, or a frame of numbers."""
    if isinstance(many, np.ndarray):
        return many.ndim == 2 and many.shape[1] > 0 and many.dtype.kind in "fiu"
    if isinstance(many, Mapping) or frame_library(many) is None or not hasattr(many, "columns"):
        return False
    names = column_names(many)
    if len(set(names)) < len(names):
        return False
    import narwhals as nw

    native = nw.from_native(many, eager_only=True, pass_through=True)
    if not isinstance(native, nw.DataFrame):
        return False
    return len(native.columns) > 0 and all(kind.is_numeric() for kind in native.schema.values())


def _taken_apart(role: str, blocks: Mapping[str, Any]) -> HeldColumns:
    """Read the blocks; a table of numbers is read once and then cut into columns."""
    if list(blocks) != [role]:
        return HeldColumns(
            list(blocks), [read_variable(data, name) for name, data in blocks.items()]
        )
    table = read_variable(blocks[role], role)
    if not isinstance(table, Numeric):
        columns = read_variables(role, blocks[role], at_least=1)
        return HeldColumns(
            list(columns), [read_variable(data, name) for name, data in columns.items()]
        )
    width = table.values.shape[1]
    noun = role.removesuffix("s")
    names = list(table.columns) or [f"{noun} {i}" for i in range(width)]
    by_column = np.ascontiguousarray(table.values.T)
    pairs = zip(names, by_column, strict=True)
    return HeldColumns(names, [Numeric(name, column[:, None]) for name, column in pairs])


def _check_apart(role: str, names: Any, fixed: Mapping[str, Any]) -> None:
    both = next((name for name in fixed if name in names), None)
    if both is not None:
        raise InputError(
            f"{both!r} is among the {role} and is also what they are compared with; leave it out "
            f"of {role}, or rename it."
        )
