"""Thousands of columns, each a variable of its own, read beside a few fixed variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.frames import aligned, column_names, frame_library, index_rows
from reldep.data.objects import read_variable
from reldep.data.variables import Numeric
from reldep.exceptions import InputError, Option
from reldep.kernels.resolve import as_kernel, assign
from reldep.questions.study import Study, read_study
from reldep.questions.targets import read_variables, same_values
from reldep.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.data.variables import IntArray, Variable
    from reldep.exceptions import ReldepWarning
    from reldep.kernels.base import FittedKernel, Kernel
    from reldep.questions.settings import Settings

CONSTANT = "constant"
TOO_FEW = "fewer than 6 complete observations"

# The jackknife leaves out one row at a time, and an HSIC needs 4.
FEWEST_ROWS = 6


@dataclass(frozen=True, eq=False)
class Part:
    """Variables that have the same complete rows.

    Attributes
    ----------
    rows : ndarray of int
        Those rows, by their place among all that are used.
    fixed : tuple of FittedKernel
        The fixed variables on these rows.
    members : list of int
        The variables, by their place in the input.
    """

    rows: IntArray
    fixed: tuple[FittedKernel, ...]
    members: list[int]


@dataclass(frozen=True, eq=False)
class WideStudy:
    """Many variables and a few fixed ones on the same rows.

    Attributes
    ----------
    names : tuple of str
        Of the many.
    variables : tuple of Variable
    kernels : tuple of Kernel
        One for each of the many, to be fitted.
    study : Study
        The fixed variables, in which rows that are incomplete there are left out.
    fixed_names : tuple of str
    cautions : tuple of ReldepWarning
        About how rows were matched.
    library : str or None
    """

    names: tuple[str, ...]
    variables: tuple[Variable, ...]
    kernels: tuple[Kernel, ...]
    study: Study
    fixed_names: tuple[str, ...]
    cautions: tuple[ReldepWarning, ...]
    library: str | None

    def __len__(self) -> int:
        return len(self.study.dataset)

    def parts(self) -> tuple[list[Part], list[tuple[str, str]]]:
        """Sort the variables by their complete rows; name those that must be skipped."""
        skipped, patterns = [], dict[bytes, list[int]]()
        for i, variable in enumerate(self.variables):
            gaps = variable.missing()
            whole = not gaps.any()
            kept = variable if whole else variable.take(np.flatnonzero(~gaps))
            if len(kept) < FEWEST_ROWS:
                skipped.append((self.names[i], TOO_FEW))
            elif kept.is_constant():
                skipped.append((self.names[i], CONSTANT))
            else:
                patterns.setdefault(b"" if whole else gaps.tobytes(), []).append(i)
        return [self._part(pattern, members) for pattern, members in patterns.items()], skipped

    def _part(self, pattern: bytes, members: list[int]) -> Part:
        gaps = np.frombuffer(pattern, dtype=bool) if pattern else np.zeros(len(self), dtype=bool)
        rows = np.flatnonzero(~gaps).astype(np.int64)
        own = self.study
        if pattern:
            own = own.part(rows, {name: name for name in self.fixed_names})
        rng = own.settings.generator()
        fitted = (
            own.kernels[name].fit(own.dataset.variables[name], rng=rng) for name in self.fixed_names
        )
        return Part(rows, tuple(fitted), members)

    def of(self, part: Part, members: Sequence[int]) -> tuple[list[Kernel], list[Variable]]:
        """Give the kernels and the data of some variables of a part."""
        if len(part.rows) == len(self):
            return [self.kernels[i] for i in members], [self.variables[i] for i in members]
        kernels = [self.kernels[i].take(part.rows) for i in members]
        return kernels, [self.variables[i].take(part.rows) for i in members]


def read_wide(
    role: str, many: Any, fixed: Mapping[str, Any], settings: Settings, roles: Sequence[str]
) -> WideStudy:
    """Read many variables beside a few fixed ones, each with its kernel.

    Parameters
    ----------
    role : str
        The argument that the many were passed as.
    many : mapping of str to data, data frame or array of two dimensions
    fixed : mapping of str to data
        By the names they have in the result.
    settings : Settings
    roles : sequence of str
        The arguments that the fixed ones were passed as.
    """
    blocks = {role: many} if _is_table(many) else read_variables(role, many, at_least=1)
    _check_apart(role, blocks, fixed)
    matched, cautions = aligned({**blocks, **fixed})
    own = {name: matched.pop(name) for name in blocks}
    names, variables = _taken_apart(role, own)
    _check_apart(role, names, fixed)
    specs = assign(
        settings.kernel,
        [*names, *fixed],
        roles=[*[role] * len(names), *roles],
        measure=settings.measure,
    )
    ids = settings.ids
    if ids is None:
        ids = next((rows for rows in map(index_rows, own.values()) if rows is not None), None)
    placeholder = {f"\0{role}": np.arange(len(variables[0]))}
    study = read_study(
        {**placeholder, **matched},
        replace(settings, kernel={name: specs[name] for name in fixed}, ids=ids),
    )
    positions = study.dataset.rows.positions
    if study.dataset.n_dropped:
        variables = [variable.take(positions) for variable in variables]
    kernels = [
        as_kernel(specs[name], variable) for name, variable in zip(names, variables, strict=True)
    ]
    if study.dataset.n_dropped:
        kernels = [kernel.take(positions) for kernel in kernels]
    library = next((lib for lib in map(frame_library, own.values()) if lib), None)
    found = WideStudy(
        tuple(names),
        tuple(variables),
        tuple(kernels),
        study,
        tuple(fixed),
        cautions,
        library or study.dataset.library,
    )
    _check_complete(role, found)
    _check_different(role, found)
    return found


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


def _taken_apart(role: str, blocks: Mapping[str, Any]) -> tuple[list[str], list[Variable]]:
    """Read the blocks; a table of numbers is read once and then cut into columns."""
    if list(blocks) != [role]:
        return list(blocks), [read_variable(data, name) for name, data in blocks.items()]
    table = read_variable(blocks[role], role)
    if not isinstance(table, Numeric):
        columns = read_variables(role, blocks[role], at_least=1)
        return list(columns), [read_variable(data, name) for name, data in columns.items()]
    width = table.values.shape[1]
    noun = role.removesuffix("s")
    names = list(table.columns) or [f"{noun} {i}" for i in range(width)]
    by_column = np.ascontiguousarray(table.values.T)
    return names, [Numeric(name, column[:, None]) for name, column in _named(names, by_column)]


def _named(names: Sequence[str], table: Any) -> Iterator[tuple[str, Any]]:
    return zip(names, table, strict=True)


def _check_apart(role: str, names: Sequence[str] | Mapping[str, Any], fixed: Any) -> None:
    both = next((name for name in fixed if name in names), None)
    if both is not None:
        raise InputError(
            f"{both!r} is among the {role} and is also what they are compared with",
            f"leave it out of {role}, or rename it.",
        )


def _check_complete(role: str, found: WideStudy) -> None:
    """Refuse missing values, unless rows may be dropped."""
    if found.study.settings.missing == "drop":
        return
    gaps = [i for i, variable in enumerate(found.variables) if variable.missing().any()]
    if not gaps:
        return
    words = found.variables[gaps[0]].describe_missing(found.study.dataset.rows)
    raise InputError(
        f"{len(gaps)} of {len(found.names)} {role} have missing values, such as "
        f"{found.names[gaps[0]]} ({words}).",
        [
            "Fill them in, or pass ",
            Option("missing", "drop"),
            " to leave out, for each of them, the observations that it does not have.",
        ],
    )


def _check_different(role: str, found: WideStudy) -> None:
    """Refuse a variable that is a fixed one itself, and fixed ones that are the same."""
    fixed = {name: found.study.dataset.variables[name] for name in found.fixed_names}
    if len(fixed) == 2 and same_values(*fixed.values()):
        raise InputError(
            f"{' and '.join(fixed)} are the same, so that everything depends equally on both",
            "pass different ones.",
        )
    for other, variable in fixed.items():
        copies = [
            name
            for name, own in zip(found.names, found.variables, strict=True)
            if same_values(own, variable)
        ]
        if copies:
            raise InputError(
                f"{listed(copies, 5)} among the {role} "
                f"{'is' if len(copies) == 1 else 'are'} {other} itself, on which it depends most "
                "by construction",
                f"leave it out of {role}.",
            )
