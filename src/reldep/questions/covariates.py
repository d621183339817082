"""Covariates of a question: reading them, and what to beware of given them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.frames import column_names, frame_library
from reldep.data.objects import native_name
from reldep.data.variables import Labels, Mixed, Numeric
from reldep.engine.given.residuals import check_rows
from reldep.engine.given.unexplained import Covariates
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.custom import Precomputed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from reldep.data.dataset import AlignedData
    from reldep.data.variables import Variable

# Beyond this share hardly anything is left to compare, and what is left is mostly what the
# regression missed.
NEARLY_ALL = 0.95

# Regressions on few rows are rough, and so are those on a column for every four rows.
FEW_ROWS = 50
COLUMNS_PER_ROW = 0.25


def name_of_covariates(blocks: Mapping[str, Any]) -> str:
    """Choose what messages call the covariates: "given", unless a variable has that name."""
    return "given" if "given" not in blocks else "given="


def check_covariates(given: Any) -> None:
    """Refuse covariates that have no columns."""
    if isinstance(given, (Precomputed, str)):
        raise InputTypeError(
            f"`given` is of type {type(given).__name__}; pass the columns themselves: an array, a "
            "series or a data frame."
        )


def split_covariates(
    dataset: AlignedData,
    name: str,
    given: Any,
    *,
    skipped: Collection[str] = (),
    whole: bool | None = None,
) -> tuple[AlignedData, Covariates]:
    """Take the covariates out of a data set again, and decompose them.

    Variables that are kernel matrices are `skipped` where values are compared.
    """
    variables = dict(dataset.variables)
    covariates = variables.pop(name)
    check_rows(len(dataset))
    _check_no_doubt(covariates)
    _check_repeated(covariates)
    for own, variable in variables.items():
        if own not in skipped:
            _check_apart(variable, covariates)
    rest = replace(dataset, variables=variables)
    return rest, Covariates.of(covariates, names_of_columns(given), whole=whole)


def names_of_columns(given: Any) -> tuple[str, ...]:
    """Give the names that the columns of the covariates carry."""
    if frame_library(given) is not None and hasattr(given, "columns"):
        return tuple(column_names(given))
    own = native_name(given)
    return () if own is None else (own,)


def _check_apart(variable: Variable, covariates: Variable) -> None:
    """Refuse a variable whose columns are all among the covariates, up to rising functions."""
    known = {
        code.tobytes()
        for column in _columns(covariates)
        for code in (column, column.max() - column)
    }
    own = [column.tobytes() for column in _columns(variable)]
    if own and all(column in known for column in own):
        raise InputError(
            f"{variable.name} is among the columns of `given`, or a rising or falling function of "
            f"them: nothing of it is left once they are held fixed. Leave {variable.name} out, or "
            "take it out of `given`."
        )


def _check_repeated(covariates: Variable) -> None:
    """Refuse labels that no two rows have in common, such as names: they hold nothing fixed."""
    parts = covariates.parts if isinstance(covariates, Mixed) else (covariates,)
    for part in parts:
        if isinstance(part, Labels) and len(np.unique(part.codes)) == len(part):
            which = f"{part.name} of " if part.name != covariates.name else ""
            raise InputError(
                f"{which}`given` has a label of its own in every row, so that no two rows could be "
                "compared with it held fixed. Pass labels that several rows share, or numbers as "
                "numbers."
            )


def _check_no_doubt(covariates: Variable) -> None:
    """Refuse strings that may be numbers, as kernels chosen by the kind of data do."""
    for part in covariates.parts if isinstance(covariates, Mixed) else (covariates,):
        if isinstance(part, Labels) and part.doubt is not None:
            which = f"{part.name} of " if part.name != covariates.name else ""
            raise InputError(
                f"{which}`given` {part.doubt}. Pass numbers; or, if they are labels after all, a "
                "categorical column."
            )


def _columns(variable: Variable) -> Iterator[np.ndarray[Any, Any]]:
    """Give every column as codes that can be compared; none of other objects."""
    if isinstance(variable, Numeric):
        for column in variable.values.T:
            _, codes = np.unique(column, return_inverse=True)
            yield codes.reshape(-1).astype(np.int64)
    elif isinstance(variable, Labels):
        # By the order of their first appearance, so that the names of categories do not matter.
        _, first, codes = np.unique(variable.codes, return_index=True, return_inverse=True)
        yield np.argsort(np.argsort(first))[codes.reshape(-1)].astype(np.int64)
    elif isinstance(variable, Mixed):
        for part in variable.parts:
            yield from _columns(part)
