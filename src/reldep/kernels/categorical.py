"""The kernel for categories: 1 where two observations carry the same label, else 0."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.data.variables import Labels, Mixed, Numeric, Variable, joint_labels
from reldep.kernels.base import ALL_ROWS, EQUAL, FittedKernel, Formula, Kernel, stacked

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray


def indicators(labels: Labels, rows: slice | IntArray = ALL_ROWS) -> csr_array:
    """Give the one-hot matrix of the labels, or some rows of it."""
    from scipy.sparse import csr_array

    codes = labels.codes[rows]
    entries = (np.ones(len(codes)), codes, np.arange(len(codes) + 1))
    return csr_array(entries, shape=(len(codes), int(labels.codes.max()) + 1))


@dataclass(frozen=True, eq=False)
class FittedDelta(FittedKernel):
    """Equality of codes."""

    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def codes(self) -> IntArray:
        """The number of each observation's category."""
        return self.labels.codes

    def __call__(self, rows: slice, cols: slice) -> FloatArray:
        return np.equal(self.codes[rows, None], self.codes[None, cols]).astype(np.float64)

    @property
    def label(self) -> str:
        return f"Delta({len(np.unique(self.codes))} categories)"

    @property
    def in_unit_interval(self) -> bool:
        return True

    @property
    def formula(self) -> Formula:
        return Formula(EQUAL, 0.0, 1.0, self.labels, self.codes[None, :])

    @property
    def nanoseconds(self) -> float:
        return 2.0

    def take(self, rows: IntArray) -> FittedDelta:
        return FittedDelta(self.labels.take(rows))

    def features(self, rows: slice | IntArray = ALL_ROWS) -> csr_array:
        """Give the one-hot matrix."""
        return indicators(self.labels, rows)


@dataclass(frozen=True)
class Delta(Kernel):
    """The kernel for categories: 1 for equal, 0 for different.

    On several columns two observations are equal if they agree in all of them. It equals the
    linear kernel on one-hot indicators.
    """

    accepts: ClassVar[tuple[type[Variable], ...]] = (Labels, Mixed, Numeric)

    @property
    def is_characteristic(self) -> bool:
        return True

    def fit(self, variable: Variable, *, rng: np.random.Generator | None = None) -> FittedDelta:  # noqa: ARG002
        self.check_accepts(variable)
        labels = _as_labels(variable)
        if len(np.unique(labels.codes)) == len(labels):
            raise ValueError(
                f"{variable.name} has {len(labels)} observations in {len(labels)} categories: no "
                "two agree, so kernel Delta sees no dependence (its HSIC is 0 by construction). "
                "Leave out identifiers, turn numbers stored as text or booleans into floats, and "
                "give strings a kernel made for them: Text(), Spectrum() or EditDistance()."
            )
        return FittedDelta(labels)

    def between(self, first: Variable, second: Variable) -> FloatArray:
        self.check_accepts(first)
        both = FittedDelta(_as_labels(stacked(first, second)))
        return both(slice(0, len(first)), slice(len(first), len(both)))


def _as_labels(variable: Variable) -> Labels:
    if isinstance(variable, Labels):
        return _composed(variable)
    if isinstance(variable, Numeric):
        return joint_labels(variable.name, [variable.values])
    if isinstance(variable, Mixed) and variable.numbers() is None:
        labels = variable.labels()
        if labels is not None:
            return labels
    raise TypeError(
        f"{variable.name} has numeric columns beside its labels; kernel Delta would compare the "
        'numbers for equality. Pass "auto", Gaussian() * Delta() or Gaussian() + Delta().'
    )


def _composed(labels: Labels) -> Labels:
    """Make one category of strings that only differ in how their accents are stored."""
    composed = [
        unicodedata.normalize("NFC", value) if isinstance(value, str) else value
        for value in labels.categories
    ]
    number = {value: i for i, value in enumerate(dict.fromkeys(composed))}
    if len(number) == len(composed):
        return labels
    codes = np.array([number[value] for value in composed], dtype=np.int64)[labels.codes]
    return replace(labels, codes=codes, categories=tuple(number))
