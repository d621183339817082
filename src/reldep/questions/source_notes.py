"""What is noticed about thousands of variables, said once for all and not once for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.checks.copies import Marks
from reldep.data.inspection import has_codes_at_ends, suspected_codes, value_cautions
from reldep.data.variables import Numeric
from reldep.exceptions import (
    CopyWarning,
    DataWarning,
    InputError,
)
from reldep.kernels.custom import Precomputed
from reldep.questions.targets import same_values
from reldep.words import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import Variable
    from reldep.exceptions import ReldepWarning
    from reldep.questions.source_columns import WideStudy

# Different things that were understood about single variables are said up to so many.
MOST_SAID = 5

COPY = "determines {name}"


class Gaps:
    """Variables with missing values, which are refused unless rows may be dropped."""

    def __init__(self, wide: WideStudy) -> None:
        self._wide = wide
        self._count = 0
        self._example = ""

    def look(self, i: int, variable: Variable, missing: Any) -> None:
        """Note the variable if it has gaps."""
        if not missing.any():
            return
        self._count += 1
        if self._count == 1:
            words = variable.describe_missing(self._wide.study.dataset.rows)
            self._example = f"{self._wide.names[i]} ({words})"

    def check(self) -> None:
        """Refuse the gaps that were found."""
        if not self._count or self._wide.study.settings.missing == "drop":
            return
        raise InputError(
            f"{self._count} of {len(self._wide.names)} {self._wide.role} have missing values, such "
            f"as {self._example}. Fill them in, or pass `missing='drop'` to leave out, for each of "
            "them, the observations that it does not have."
        )


class Copies:
    """Variables that are a fixed one themselves, which are refused."""

    def __init__(self, wide: WideStudy) -> None:
        self._role = wide.role
        self._names = wide.names
        self.fixed = {name: wide.study.dataset.variables[name] for name in wide.fixed_names}
        self._found: dict[str, list[str]] = {name: [] for name in self.fixed}
        # Of a kernel matrix that was passed in there are no values, only the numbers of its rows.
        values = [
            variable
            for name, variable in self.fixed.items()
            if not isinstance(wide.study.kernels[name], Precomputed)
        ]
        if len(values) == 2 and same_values(*values):
            raise InputError(
                f"{' and '.join(self.fixed)} are the same, so that everything depends equally on "
                "both; pass different ones."
            )

    def look(self, i: int, variable: Variable) -> None:
        """Note the variable if it is a fixed one."""
        for name, other in self.fixed.items():
            if same_values(variable, other):
                self._found[name].append(self._names[i])

    def check(self) -> None:
        """Refuse the copies that were found."""
        for other, copies in self._found.items():
            if copies:
                raise InputError(
                    f"{listed(copies, 5)} among the {self._role} "
                    f"{'is' if len(copies) == 1 else 'are'} {other} itself, on which it depends "
                    f"most by construction; leave it out of {self._role}."
                )


class Doubts:
    """Variables that are tested all the same, but should be looked at.

    Those that order the observations as a fixed variable does may be that variable in other units.
    """

    def __init__(self, wide: WideStudy) -> None:
        self.found: dict[str, list[int]] = {}
        self._marks = {
            name: Marks.of(wide.study.dataset.variables[name])
            for name in wide.fixed_names
            if not isinstance(wide.study.kernels[name], Precomputed)
        }

    def look(self, i: int, variable: Variable) -> None:
        """Note what is to be said of a variable."""
        marks = Marks.of(variable)
        name = next((name for name, one in self._marks.items() if one.is_like(marks)), None)
        if name is not None:
            self.found.setdefault(COPY.format(name=name), []).append(i)


class Remarks:
    """What was understood about single variables, or looks odd in them, said once for all."""

    def __init__(self, wide: WideStudy) -> None:
        self._wide = wide
        self._codes: dict[float, list[str]] = {}
        self._said: dict[str, list[str]] = {}

    def look(self, i: int, variable: Variable) -> None:
        """Note codes for missing values, and what reading the variable had to say."""
        name = self._wide.names[i]
        if isinstance(variable, Numeric):
            for column in variable.values.T:
                for code, _ in suspected_codes(column) if has_codes_at_ends(column) else ():
                    self._codes.setdefault(code, []).append(name)
        about = (
            variable.cautions
            if isinstance(variable, Numeric)
            else (*variable.cautions, *value_cautions({name: variable}))
        )
        for caution in about:
            text = str(caution).removeprefix(f"{name}: ").removeprefix(f"{name} ")
            self._said.setdefault(text, []).append(name)

    def in_words(self) -> tuple[ReldepWarning, ...]:
        """Say every remark once, with how many variables it is about."""
        found = [
            DataWarning(
                f"{code:.15g} in {self._counted(names)} lies apart from all other values. If it "
                f"stands for a missing value, pass `na='{code:.15g}'`."
            )
            for code, names in self._codes.items()
        ]
        said = list(self._said.items())
        found += [
            DataWarning(f"{self._counted(names)}: {text}") for text, names in said[:MOST_SAID]
        ]
        rest = sum(len(names) for _, names in said[MOST_SAID:])
        if rest:
            found.append(DataWarning(f"{rest:,} more {self._wide.role} have remarks of their own."))
        return tuple(found)

    def _counted(self, names: Sequence[str]) -> str:
        wide = self._wide
        return f"{len(names):,} of {len(wide.names):,} {wide.role} ({listed(names, 5)})"


def doubts_in_words(
    doubts: Mapping[str, Sequence[int]], names: Sequence[str], role: str
) -> tuple[ReldepWarning, ...]:
    """Say every doubt once, with how many variables it is about and a few of their names."""
    found: list[ReldepWarning] = []
    for doubt, members in doubts.items():
        count = f"{len(members):,} of {len(names):,} {role}"
        more = f" ({listed([names[i] for i in members], 5)})"
        what = doubt.partition(" ")[2]
        found.append(
            CopyWarning(
                f"by its values, {count}{more} may be {what} in other units or words. If it is, "
                "leave it out."
            )
        )
    return tuple(found)
