"""Kernels for categories: equal labels, and the share of equal labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reldep.data.variables import Labels, Mixed, Numeric, Variable, joint_labels
from reldep.exceptions import InputError, InputTypeError, NoVariationError
from reldep.kernels.base import ALL_ROWS, FittedKernel, Kernel, stacked
from reldep.kernels.program import EQUAL, FIRST, Factor

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.base import Rows


def indicators(labels: Labels, rows: slice | IntArray = ALL_ROWS) -> csr_array:
    """Return the one-hot matrix of the labels, or some rows of it."""
    from scipy.sparse import csr_array

    codes = labels.codes[rows]
    entries = (np.ones(len(codes)), codes, np.arange(len(codes) + 1))
    return csr_array(entries, shape=(len(codes), len(labels.categories)))


def as_points(labels: Labels) -> FloatArray:
    """Return the codes of labels as points on a line; equal labels have distance 0."""
    return labels.codes.astype(np.float64)[:, None]


@dataclass(frozen=True, eq=False)
class FittedDelta(FittedKernel):
    """Equality of labels."""

    labels: Labels

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def codes(self) -> IntArray:
        """The number of each observation's category."""
        return self.labels.codes

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        return np.equal(self.codes[rows][:, None], self.codes[cols]).astype(np.float64)

    def program(self) -> list[Factor]:
        return [Factor(FIRST, EQUAL, self._points, 0.0)]

    @cached_property
    def _points(self) -> FloatArray:
        return as_points(self.labels)

    @property
    def label(self) -> str:
        return f"Delta({len(np.unique(self.codes))} categories)"

    @property
    def in_unit_interval(self) -> bool:
        return True

    def features(self, rows: slice | IntArray = ALL_ROWS) -> csr_array:
        """Return the one-hot matrix."""
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

    def fit(self, variable: Variable) -> FittedDelta:
        self.check_accepts(variable)
        labels = _as_labels(variable)
        if len(np.unique(labels.codes)) == len(labels):
            raise NoVariationError(
                f"{variable.name} has a label of its own in each of {len(labels)} observations, so "
                "that its HSIC is 0 by construction. Leave out identifiers ('*,!id' takes all "
                "columns but id), pass numbers as numbers, and strings with Text() or Spectrum()."
            )
        return FittedDelta(labels)

    def between(self, first: Variable, second: Variable) -> FloatArray:
        self.check_accepts(first)
        both = FittedDelta(_as_labels(stacked(first, second)))
        return both(slice(0, len(first)), slice(len(first), len(both)))


@dataclass(frozen=True, eq=False)
class FittedAgreement(FittedKernel):
    """Agreement over a floor: in each of the columns, and in all of them at once.

    Attributes
    ----------
    parts : tuple of Labels
        The label columns and, if there are several, all of them as one.
    weights : tuple of float
        What agreement in each part adds.
    floor : float
    """

    parts: tuple[Labels, ...]
    weights: tuple[float, ...]
    floor: float

    @classmethod
    def of(cls, columns: tuple[Labels, ...], floor: float) -> FittedAgreement:
        """Return the kernel; single columns and all at once each share half of 1 - floor."""
        if len(columns) == 1:
            return cls(columns, (1.0 - floor,), floor)
        together = joint_labels("all", [labels.codes for labels in columns])
        each = 0.5 * (1.0 - floor) / len(columns)
        weights = (*[each] * len(columns), 0.5 * (1.0 - floor))
        return cls((*columns, together), weights, floor)

    def __len__(self) -> int:
        return len(self.parts[0])

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        codes = self.parts[0].codes
        block = np.full((len(codes[rows]), len(codes[cols])), self.floor)
        for labels, weight in zip(self.parts, self.weights, strict=True):
            block += weight * np.equal(labels.codes[rows][:, None], labels.codes[cols])
        return block

    def program(self) -> list[Factor] | None:
        if len(self.parts) > 1:
            return None
        return [Factor(FIRST, EQUAL, self._points, self.floor)]

    @cached_property
    def _points(self) -> FloatArray:
        return as_points(self.parts[0])

    @property
    def label(self) -> str:
        n = max(1, len(self.parts) - 1)
        return f"Agreement(floor={self.floor:g}, {n} label column{'' if n == 1 else 's'})"

    @property
    def in_unit_interval(self) -> bool:
        return True

    def features(self, rows: slice | IntArray = ALL_ROWS) -> csr_array:
        """Return the one-hot matrices side by side, and a constant column for the floor."""
        from scipy.sparse import csr_array, hstack

        marks = [
            np.sqrt(weight) * indicators(labels, rows)
            for labels, weight in zip(self.parts, self.weights, strict=True)
        ]
        constant = csr_array(np.full((marks[0].shape[0], 1), np.sqrt(self.floor)))
        return hstack([*marks, constant], format="csr")


@dataclass(frozen=True)
class Agreement(Kernel):
    """The share of labels in which two rows agree, above a floor.

    Made to be multiplied with a kernel of numbers: ``Gaussian() * Agreement()`` is the default for
    frames with both. A plain product with :class:`Delta` is 0 between rows of different labels, so
    that an irrelevant label hides what the numbers show; with a floor of ½ such rows still count
    half. Relations that change with the label are seen.

    On one label column the kernel is ``floor + (1 - floor) [equal]``. On several, half of what is
    above the floor goes by the share of columns that agree, half by whether all do.

    Parameters
    ----------
    floor : float, default 0.5
        The value between rows that agree in no label column, from 0 to below 1. With 0 and one
        column it is :class:`Delta`.

    Examples
    --------
    >>> from reldep.kernels import Agreement
    >>> Agreement()([["f", "old"], ["f", "young"], ["m", "young"]])
    array([[1.   , 0.625, 0.5  ],
           [0.625, 1.   , 0.625],
           [0.5  , 0.625, 1.   ]])
    """

    floor: float = 0.5

    accepts: ClassVar[tuple[type[Variable], ...]] = (Mixed, Labels)

    def __post_init__(self) -> None:
        if isinstance(self.floor, bool) or not isinstance(self.floor, (int, float, np.number)):
            raise InputTypeError(f"`floor={self.floor!r}`; pass a number from 0 to below 1.")
        if not 0 <= self.floor < 1:
            raise InputError(f"`floor={self.floor!r}`; pass a number from 0 to below 1.")

    @property
    def is_characteristic(self) -> bool:
        return True

    def fit(self, variable: Variable) -> FittedAgreement:
        return self._fitted(variable)

    def between(self, first: Variable, second: Variable) -> FloatArray:
        both = self._fitted(stacked(first, second))
        return both(slice(0, len(first)), slice(len(first), len(both)))

    def _fitted(self, variable: Variable) -> FittedAgreement:
        self.check_accepts(variable)
        parts = variable.parts if isinstance(variable, Mixed) else (variable,)
        columns = tuple(part for part in parts if isinstance(part, Labels))
        if not columns:
            raise InputTypeError(f"{variable.name} has no label columns; use another kernel.")
        return FittedAgreement.of(columns, float(self.floor))


def _as_labels(variable: Variable) -> Labels:
    if isinstance(variable, Labels):
        return variable
    if isinstance(variable, Numeric):
        return joint_labels(variable.name, [variable.values])
    if isinstance(variable, Mixed) and variable.numbers() is None:
        labels = variable.labels()
        if labels is not None:
            return labels
    raise InputTypeError(
        f'{variable.name} has numbers next to labels; pass "auto" or Gaussian() * Delta().'
    )
