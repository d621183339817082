"""Covariates of a question: residuals in place of its variables, before any kernel sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from reldep.checks.subjects import LEVEL, Columns
from reldep.data.frames import column_names, frame_library, native_name
from reldep.data.variables import FloatArray, IntArray, Labels, Mixed, Numeric, Sparse, Variable
from reldep.engine.centred import Pair, centre
from reldep.engine.covariates import Conditioning, Covariates, Regression
from reldep.engine.regression import ROUNDING, evenly, leading_features
from reldep.engine.threads import blas_threads_for
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import KINDS_IN_WORDS, Kernel
from reldep.kernels.choosing import FOR_NUMBERS, as_kernel
from reldep.kernels.columnwise import Standardized
from reldep.kernels.custom import FunctionKernel, Precomputed, ScikitKernel
from reldep.kernels.explicit import Delta, Linear, Polynomial
from reldep.kernels.mapped import MappedKernel
from reldep.kernels.radial import Distance, RadialKernel
from reldep.stats.independence import independence_log_pvalues
from reldep.words import counted

if TYPE_CHECKING:
    from reldep.questions.study import Study


# Minimum number of rows that residuals must be worth; a convention, not from a simulation.
FEWEST_EFFECTIVE = 20
# A variable is determined by covariates that leave no more of its variance.
NOTHING_LEFT = 1e-6
# Kernels of which residuals of numbers are points like the numbers themselves.
OF_POINTS = (RadialKernel, Linear, Polynomial, Distance, Standardized, FunctionKernel, ScikitKernel)


def covariates_beside(given: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return covariates that are to be read with the variables of these names."""
    if isinstance(given, (Precomputed, str)):
        kind = type(given).__name__
        raise InputTypeError(f"`given` is of type {kind}; pass the columns themselves.")
    return {"given" if "given" not in names else "given=": given}


def hold_fixed(study: Study, covariates: Variable, given: Any) -> Study:
    """Put what covariates leave in place of the variables of a study.

    The groups of rows, if there are any, are among the covariates.

    Parameters
    ----------
    study : Study
    covariates : Variable
        In the same rows.
    given : object
        The covariates as they were passed, for their names.
    """
    dataset, own = study.dataset, columns_of(covariates)
    columns = list(own)
    columns += [] if dataset.groups is None else [dataset.groups]
    _check_apart(dataset.variables.values(), columns)
    (units,) = study.dependence.codes(study.n) if study.dependence.any else (None,)
    design, kept = _design(columns, units)
    alone = np.setdiff1d(np.arange(len(dataset)), kept)
    if len(alone) > len(kept):
        rows = f"{counted(len(alone), 'row')} of {len(dataset)}"
        raise InputError(f"`given` has {rows} alone in a category; pass labels that rows share.")
    left = dataset.take(kept) if len(alone) else dataset
    columns = [one.take(kept) for one in columns]
    numbers = {
        name: as_numbers(variable, study.kernels[name]) for name, variable in left.variables.items()
    }
    with blas_threads_for(len(kept)):
        regression = Regression.of(design, {name: table for name, (table, *_) in numbers.items()})
    held = Conditioning(
        columns=names_of_columns(given),
        n_columns=design.straight.shape[1] - 1,
        explained=regression.explained,
        errors=regression.errors,
        n_observations=len(kept),
        effective_rows=regression.choice.smoother.effective_rows,
        terms=regression.choice.in_words(_names(columns)),
        joint=regression.choice.in_words(_names(columns), joint=True),
        curves=regression.choice.basis,
        alone=tuple(dataset.rows.name(row) for row in alone.tolist()),
        has_units=units is not None,
    )
    _check_enough(held)
    variables, kernels, spreads = {}, {}, []
    for name, (table, kernel, has_spread) in numbers.items():
        with blas_threads_for(len(kept)):
            values, varies = regression.residuals(table, has_spread=has_spread)
        variables[name], kernels[name] = Numeric(name, values), kernel
        spreads += [name] if varies else []
    rest = Rest(variables, kernels, columns, design)
    shapes = rest.even_out(regression, {name: table for name, (table, *_) in numbers.items()})
    held = replace(
        held, spreads=tuple(spreads), shapes=shapes, unevenness=rest.unevenness(study.pairs)
    )
    return replace(
        study,
        dataset=replace(left, variables=variables),
        kernels=kernels,
        conditioning=held,
        regression=regression,
        before=replace(study, fits={}, conditioning=held, given=tuple(own)),
    )


def columns_left(
    regression: Regression, columns: Sequence[tuple[Variable, Kernel]]
) -> list[tuple[Numeric, Kernel] | None]:
    """Return what a regression leaves of columns of their own; None if it leaves nothing.

    The columns of numbers are taken together, which is many times as fast.
    """
    numbers = [as_numbers(variable, kernel) for variable, kernel in columns]
    together = [i for i, (_, _, has_spread) in enumerate(numbers) if has_spread]
    left = {
        i: regression.residuals(table, has_spread=False)[0]
        for i, (table, _, has_spread) in enumerate(numbers)
        if not has_spread
    }
    if together:
        widths = np.cumsum([numbers[i][0].shape[1] for i in together])
        table = np.column_stack([numbers[i][0] for i in together])
        whole, _ = regression.residuals(table, has_spread=True)
        left |= dict(zip(together, np.split(whole, widths[:-1], axis=1), strict=True))
    found: list[tuple[Numeric, Kernel] | None] = []
    for i, ((variable, _), (table, kernel, _)) in enumerate(zip(columns, numbers, strict=True)):
        is_left = np.ptp(left[i], axis=0) > NOTHING_LEFT**0.5 * np.ptp(table, axis=0)
        found.append((Numeric(variable.name, left[i]), kernel) if is_left.any() else None)
    return found


def as_numbers(variable: Variable, kernel: Kernel) -> tuple[FloatArray, Kernel, bool]:
    """Return the numbers that a kernel compares, the kernel on them, and if they have a spread.

    A kernel that maps observations to rows of numbers compares these; Delta compares indicators
    of the categories, by their products. Neither has a spread of its own.

    Two numbers are two categories: what covariates leave of them has another shape wherever their
    shares differ, which only products do not see.
    """
    if isinstance(variable, Labels) and isinstance(kernel, (Delta, Distance)):
        return np.eye(len(variable.categories))[variable.codes], Linear(), False
    if isinstance(kernel, Delta):
        return kernel.fit(variable).features().toarray(), Linear(), False
    if isinstance(kernel, MappedKernel) and not isinstance(kernel, Standardized):
        rows = kernel.rows(variable)
        inner = as_kernel(kernel.kernel, rows)
        if isinstance(inner, OF_POINTS):
            return _dense(rows), inner, not isinstance(inner, Linear)
    if isinstance(variable, (Numeric, Sparse)) and isinstance(kernel, OF_POINTS):
        values = _dense(variable)
        both = np.array([values[:, 0].argmin(), values[:, 0].argmax()])
        if values.shape[1] > 1 or not np.isin(values, values[both]).all():
            return values, kernel, True
        if isinstance(kernel, (RadialKernel, Distance, Standardized)):
            K = kernel.fit(variable).take(both)(slice(0, 2), slice(0, 2))
            size = np.sqrt(K[0, 0] + K[1, 1] - 2.0 * K[0, 1])
            return size * (values == values[both[1]]), Linear(), False
        return values, kernel, False
    raise InputError(
        f"`given` takes numbers and labels, not {variable.name} with kernel {kernel}; leave it out."
    )


def _dense(variable: Numeric | Sparse) -> FloatArray:
    return variable.values if isinstance(variable, Numeric) else variable.values.toarray()


def columns_of(covariates: Variable) -> list[Numeric | Labels]:
    """Return every column that varies; raise if there is anything but numbers and labels."""
    found: list[Numeric | Labels] = []
    for part in covariates.parts if isinstance(covariates, Mixed) else (covariates,):
        which = f"{part.name} of " if part.name != covariates.name else ""
        if isinstance(part, Numeric):
            names = part.columns or tuple(f"column {j + 1}" for j in range(part.values.shape[1]))
            pairs = zip(names, part.values.T, strict=True)
            found += [Numeric(name, column[:, None]) for name, column in pairs]
        elif not isinstance(part, Labels):
            raise InputTypeError(
                f"`given` contains {KINDS_IN_WORDS[type(part)]}; pass columns of numbers or labels."
            )
        elif part.doubt is not None:
            raise InputError(
                f"{which}`given` {part.doubt}. Pass numbers, or a categorical column of labels."
            )
        elif len(np.unique(part.codes)) == len(part):
            raise InputError(
                f"{which}`given` has a label of its own in every row; pass labels that rows share."
            )
        else:
            found.append(part)
    return [one for one in found if not one.is_constant()]


def _design(
    covariates: Sequence[Numeric | Labels], units: IntArray | None
) -> tuple[Covariates, IntArray]:
    """Return the covariates in the rows of which they leave something, and these rows."""
    kept = np.arange(len(covariates[0]))
    while True:
        parts = [one.take(kept) for one in covariates]
        numbers = [one.values for one in parts if isinstance(one, Numeric)]
        design = Covariates(
            np.column_stack([np.empty((len(kept), 0)), *numbers]),
            [one.codes for one in parts if isinstance(one, Labels)],
            None if units is None else units[kept],
        )
        _check_rows(len(kept) - design.Q.shape[1] + 1, len(kept))
        if not design.alone.any():
            return design, kept
        kept = kept[~design.alone]


def _names(columns: Sequence[Numeric | Labels]) -> list[str]:
    """Return the name of every column of the design: numbers first, then categories."""
    names = [one.name for one in columns if isinstance(one, Numeric)]
    for one in columns:
        if isinstance(one, Labels):
            names += [f"{one.name}={one.categories[code]}" for code in np.unique(one.codes)]
    return names


def names_of_columns(given: Any) -> tuple[str, ...]:
    """Return the names that the columns of the covariates have."""
    if frame_library(given) is not None and hasattr(given, "columns"):
        return tuple(column_names(given))
    own = native_name(given)
    return () if own is None else (own,)


def _check_apart(variables: Iterable[Variable], covariates: Sequence[Variable]) -> None:
    """Raise if a variable is among the covariates, in other units or words."""
    known = [Columns(one) for one in covariates]
    among = {key for one in known for key in one.values}
    for variable in variables:
        own = Columns(variable)
        is_among = bool(own.values) and own.values.keys() <= among
        if is_among or any(own.is_like(one) for one in known):
            raise InputError(
                f"{variable.name} is among the columns of `given`, by its values or its order; "
                "take it out of one of them."
            )


def _check_rows(effective: float, n: int) -> None:
    if effective < FEWEST_EFFECTIVE:
        left = f"`given` leaves what {effective:.0f} of {n} rows would tell"
        raise InputError(f"{left}, and {FEWEST_EFFECTIVE} are needed; pass fewer columns.")


def _check_enough(held: Conditioning) -> None:
    """Raise if covariates leave too few rows, or nothing of a variable."""
    _check_rows(held.effective_rows, held.n_observations)
    for name, share in held.explained.items():
        if share >= 1.0 - NOTHING_LEFT:
            words = f"{name} is determined by {held.in_words()}: nothing of it is left"
            raise InputError(f"{words}; leave it out, or take its columns out of `given`.")


class Rest:
    """What covariates leave of variables, where it still depends on the covariates.

    A part of the rows shows that: at most 1,000, with 2e7 numbers in all kernel matrices. Rows that
    depend on each other show it too often, which does no harm: features are only used if covariates
    predict them in units that were left out.

    Parameters
    ----------
    variables : dict of str to Numeric
    kernels : dict of str to Kernel
        Of the variables; both are changed.
    covariates : sequence of Numeric or Labels
    design : Covariates
    """

    def __init__(
        self,
        variables: dict[str, Numeric],
        kernels: dict[str, Kernel],
        covariates: Sequence[Numeric | Labels],
        design: Covariates,
    ) -> None:
        self.variables, self.kernels, self.design = variables, kernels, design
        each = [one for one in covariates if not one.is_constant()]
        # The order of rows is irrelevant.
        values = [one.values for one in variables.values()]
        order = np.lexsort(np.column_stack([*values, design.columns[:, ::-1]]).T)
        self.rows = evenly(order, int(min(1_000, np.sqrt(2e7 / len(each)))))
        self.covariates = [
            self.centred(FOR_NUMBERS if isinstance(one, Numeric) else Delta(), one) for one in each
        ]

    def even_out(self, regression: Regression, tables: Mapping[str, FloatArray]) -> tuple[str, ...]:
        """Put features in place of variables that depend on covariates, and return which.

        A rating near the end of its scale has another shape than one in the middle, and a count
        another where it is small: no residual is independent of the covariates then. Kernel
        features of the residual, less what the covariates predict of them, have mean 0 given the
        covariates, so that their products do for variables that are independent given these.
        """
        found = []
        for name, variable in self.variables.items():
            kernel, design = self.kernels[name], self.design
            if isinstance(kernel, Linear):
                continue
            with blas_threads_for(design.m):
                means = regression.means(tables[name])
                if not self.depends(self.centred(kernel, variable), means):
                    continue
                order = np.lexsort(variable.values.T[::-1])
                places = evenly(order, design.search.landmarks)
                features = leading_features(kernel.fit(variable), places, design.search.components)
                left = design.unpredicted(features, means)
            if left is not None:
                self.variables[name], self.kernels[name] = Numeric(name, left), Linear()
                found.append(name)
        return tuple(found)

    def depends(self, own: FloatArray, means: FloatArray) -> bool:
        """Whether a variable depends on a covariate or on its fitted mean, by its kernel."""
        # Means of rows in one category are equal up to rounding, which a fitted kernel refuses.
        distances = cdist(means[self.rows], means[self.rows])
        alike = np.exp(-distances / max(distances.mean(), ROUNDING))
        known = [*self.covariates, of_length_1(centre(alike))]
        values = np.array([np.vdot(own, one) for one in known])
        least = np.exp(independence_log_pvalues(values, len(self.rows)).min())
        return bool(least * len(known) * len(self.variables) < LEVEL)

    def unevenness(self, pairs: Iterable[Pair]) -> dict[Pair, float]:
        """Return by how much products of two kernels vary more than if both were even.

        Features keep a spread that varies with the covariates. If that of both variables is large
        in the same rows, products vary more than the variances of both say.
        """
        if self.design.units is not None:
            return {}
        squares = {
            name: np.square(self.centred(kernel, self.variables[name]))
            for name, kernel in self.kernels.items()
            if isinstance(kernel, Linear)
        }
        n = len(self.rows) * (len(self.rows) - 1.0)
        return {
            (x, y): float(np.sqrt(n * np.vdot(squares[x], squares[y])))
            for x, y in pairs
            if x != y and x in squares and y in squares
        }

    def centred(self, kernel: Kernel, variable: Variable) -> FloatArray:
        """Return the centred kernel matrix of the rows that are looked at, of length 1."""
        fitted = kernel.fit(variable.take(self.rows)).in_own_unit()
        return of_length_1(centre(fitted(slice(None), slice(None))))


def of_length_1(matrix: FloatArray) -> FloatArray:
    """Return a matrix divided by its norm, or itself if it is 0."""
    size = float(np.linalg.norm(matrix))
    return matrix / size if size > 0 else matrix
