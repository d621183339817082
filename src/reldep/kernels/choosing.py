"""From what a user writes for ``kernel=``, or leaves out, to one kernel per variable.

A name stands for a kernel of this package (:data:`NAMED`), for a choice by the kind of the data
(:data:`BY_KIND`), or for a function of ``sklearn.metrics.pairwise`` ("laplacian", "chi2", ...).
"rbf" is the Gaussian with the median bandwidth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from reldep.arguments import check_choice, check_names_known
from reldep.data.lifetimes import Lifetime
from reldep.data.objects import WAY_OUT_OBJECTS
from reldep.data.variables import Items, Labels, Mixed, Variable
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import Kernel, wrong_type
from reldep.kernels.columnwise import Ordered, Standardized
from reldep.kernels.composite import Product
from reldep.kernels.custom import (
    PAIRWISE_NAMES,
    FunctionKernel,
    Precomputed,
    ScikitKernel,
    is_scikit_kernel,
)
from reldep.kernels.explicit import Agreement, Delta
from reldep.kernels.radial import Distance, Gaussian, Laplace
from reldep.words import listed

# The kernel for numbers. Over thirty laws its largest loss of power against the best kernel is a
# third of that of a Gaussian at the median distance, which is blind to anything finer than half
# the width of the data; the mean distance is smooth where the median jumps, as for counts; and on
# one column it is exact in O(m log m). The study is benchmarks/default_kernel.py.
FOR_NUMBERS = Laplace(bandwidth="mean")


def auto_kernel(variable: Variable, numbers: Kernel = FOR_NUMBERS) -> Kernel:
    """Return the kernel for the kind of data.

    Laplace for numbers, Delta for labels, LogRank for lifetimes. Labels with an order get
    :class:`~reldep.kernels.Ordered`; numbers next to labels the kernel for numbers times
    :class:`~reldep.kernels.Agreement` of the labels. Objects, and strings that look like texts,
    have no default kernel: which of their features matter is for the user to decide, and the error
    proposes kernels.

    Parameters
    ----------
    variable : Variable
    numbers : Kernel, default Laplace(bandwidth="mean")
        The kernel that numbers get.
    """
    if isinstance(variable, Labels):
        _refuse_texts(variable, "Pass `kernel='text'`")
        _refuse_doubtful(variable)
        if variable.order is not None:
            return Ordered()
        return Delta()
    if isinstance(variable, Mixed):
        return _for_mixed(variable, numbers)
    if isinstance(variable, Items):
        if isinstance(variable.items[0], Lifetime):
            from reldep.kernels.survival import LogRank

            return LogRank()
        error = InputError if variable.is_ragged() else InputTypeError
        raise error(
            f"{variable.name} contains {variable.in_words()}, which are neither numbers nor "
            f"labels; {_proposal(variable)}{WAY_OUT_OBJECTS}"
        )
    return numbers


def _for_mixed(variable: Mixed, kernel: Kernel) -> Kernel:
    for part in variable.parts:
        if isinstance(part, Labels):
            way_out = f"Give each column a kernel with Columns: {part.name!r} gets Text()"
            _refuse_texts(part, way_out)
            _refuse_doubtful(part)
    return Delta() if variable.numbers() is None else Product((kernel, Agreement()))


def _refuse_doubtful(labels: Labels) -> None:
    """Raise for strings that are labels only if the user declares them so."""
    if labels.doubt is not None:
        raise InputError(f"{labels.name} {labels.doubt}. Pass numbers, or `kernel='delta'`.")


def _refuse_texts(labels: Labels, way_out: str) -> None:
    """Raise for long strings that mostly differ: as labels they would show no dependence."""
    strings = [value for value in labels.categories if isinstance(value, (str, bytes))]
    if 2 * len(strings) <= len(labels):
        return
    length = float(np.median([len(string) for string in strings]))
    # Few names of categories are longer than a short sentence.
    if length > 30:
        raise InputError(
            f"{labels.name} contains {len(strings)} different strings of about {length:.0f} "
            f"characters, which as labels would show no dependence. {way_out} for texts, "
            "Spectrum() for sequences such as DNA, or Delta() for labels after all."
        )


def _proposal(variable: Items) -> str:
    """Return a kernel to propose for the objects, as a clause of a message."""
    first = next(item for item in variable.items if item is not None)
    if isinstance(first, np.ndarray) and first.ndim > 1:
        fitting = "Images() for pictures, TimeSeries() for series, Bags() for bags of vectors"
    elif isinstance(first, (set, frozenset)):
        fitting = "Jaccard()"
    elif isinstance(first, Mapping):
        fitting = "MinMax()"
    elif hasattr(first, "nodes") and hasattr(first, "edges"):
        fitting = "WeisfeilerLehman()"
    elif isinstance(first, (list, tuple, np.ndarray)):
        fitting = (
            "TimeSeries() for series, Bags() for bags of numbers, Jaccard() for sets, "
            "WeisfeilerLehman() for graphs"
        )
    else:
        fitting = "Embedding(function)"
    return f"pass kernel=reldep.kernels.{fitting}. "


# The class of each, by its name in lower case with hyphens, and two by other names.
_CLASSES = (
    *("Gaussian", "Gaussians", "Laplace", "Linear", "Polynomial", "Delta", "Distance", "Text"),
    *("Spectrum", "EditDistance", "Jaccard", "WeisfeilerLehman", "Images", "TimeSeries"),
    *("Haversine", "LogRank", "Bags", "Composition", "Genotypes", "Ordered"),
)
NAMED = {re.sub("(?<=[a-z])(?=[A-Z])", "-", name).lower(): name for name in _CLASSES}
NAMED |= {"rbf": "Gaussian", "minmax": "MinMax"}


# Names that choose by the kind of data, with the kernel that numbers get: ours, ours with a scale
# for each column, and the paper's.
BY_KIND: dict[str, Kernel] = {
    "auto": FOR_NUMBERS,
    "standardized": Standardized(FOR_NUMBERS),
    "published": Gaussian(),
}


def as_kernel(spec: Any, variable: Variable) -> Kernel:
    """Return the kernel that a name, a kernel object or a function stands for."""
    if isinstance(spec, str) and spec.lower() in BY_KIND:
        return auto_kernel(variable, BY_KIND[spec.lower()])
    kernel = _without_data(spec)
    if kernel is None:
        way_out = "pass a name, a kernel object, a function f(A, B) or Precomputed(matrix)."
        raise wrong_type(f"kernel for {variable.name}", spec, way_out)
    return kernel


def kernel_class(name: str) -> Callable[..., Kernel]:
    """Return the class of a kernel by its name in lower case."""
    import reldep.kernels

    found: Callable[..., Kernel] = getattr(reldep.kernels, NAMED[name])
    return found


def is_characteristic(spec: Any) -> bool:
    """Return True if what a user wrote for ``kernel=`` is a characteristic kernel."""
    if isinstance(spec, str) and spec.lower() in BY_KIND:
        return True
    kernel = _without_data(spec)
    return kernel is not None and kernel.is_characteristic


def _without_data(spec: Any) -> Kernel | None:
    """Return the kernel of a specification that does not depend on the data, else None."""
    if isinstance(spec, Kernel):
        return spec
    if isinstance(spec, str):
        name = spec.lower()
        check_choice("kernel", name, [*BY_KIND, *NAMED, *PAIRWISE_NAMES])
        return kernel_class(name)() if name in NAMED else ScikitKernel(name)
    if isinstance(spec, type) and issubclass(spec, Kernel):
        raise InputTypeError(f"kernel={spec.__name__} is a class; pass {spec.__name__}().")
    if is_scikit_kernel(spec):
        return ScikitKernel(spec)
    return FunctionKernel(spec) if callable(spec) else None


def assign(
    spec: Any,
    names: Sequence[str],
    *,
    roles: Sequence[str] | None = None,
    among: Sequence[str] | None = None,
    measure: str = "cka",
) -> dict[str, Any]:
    """Return the kernel specification of every variable of a question.

    Parameters
    ----------
    spec : kernel, tuple of kernels or mapping by name
        One specification for all; a tuple in the order of `among`, or one entry for each role;
        or a mapping by name or role, in which a name outranks its role and a variable that is
        left out gets "auto".
    names : sequence of str
        The variables that the question uses.
    roles : sequence of str, optional
        The argument that each of `names` was passed as, for instance ``("source", "targets",
        "targets")``.
    among : sequence of str, optional
        All variables that the user passed, where `names` are only some of them.
    measure : {"cka", "hsic", "dcor"}
        "dcor" is defined by distances and brings its own kernel.

    Returns
    -------
    dict of str to kernel specification
        In the order of `names`; :func:`as_kernel` turns each into a kernel for its data.

    Examples
    --------
    >>> assign("gaussian", ["x", "y"])
    {'x': 'gaussian', 'y': 'gaussian'}
    >>> assign({"targets": "linear"}, ["x", "y", "z"], roles=["source", "targets", "targets"])
    {'x': 'auto', 'y': 'linear', 'z': 'linear'}
    >>> assign(("linear", "delta", "auto"), ["x", "z"], among=["x", "y", "z"])
    {'x': 'linear', 'z': 'auto'}
    """
    known = list(names if among is None else among)
    role_of = dict(zip(names, roles, strict=True)) if roles is not None else {}
    if isinstance(spec, Mapping):
        check_names_known("kernel", spec, dict.fromkeys([*known, *role_of.values()]))
        by_role = {name: spec.get(role_of.get(name, ""), "auto") for name in names}
        chosen = {name: spec.get(name, by_role[name]) for name in names}
    elif isinstance(spec, (tuple, list)):
        chosen = _in_order(spec, names, known, role_of)
    else:
        chosen = dict.fromkeys(names, spec)
    if measure == "dcor":
        chosen = {name: _of_distances(one) for name, one in chosen.items()}
    return chosen


def _in_order(
    spec: Sequence[Any], names: Sequence[str], known: list[str], role_of: Mapping[str, str]
) -> dict[str, Any]:
    roles = list(dict.fromkeys(role_of.values()))
    if len(roles) not in (0, len(known)):
        # Several variables share a role: one entry for each role.
        known, places = roles, role_of
    else:
        places = {name: name for name in names}
    if len(spec) != len(known):
        raise InputError(
            f"kernel is a tuple of {len(spec)} for {len(known)} variables; pass one for each of "
            f"{listed(known, 6)}, a mapping by name, or a single one for all."
        )
    by_place = dict(zip(known, spec, strict=True))
    return {name: by_place[places[name]] for name in names}


def _of_distances(spec: Any) -> Any:
    """Return the kernel of distance correlation, which is defined by distances."""
    if isinstance(spec, str) and spec.lower() in {"auto", "distance"}:
        return Distance()
    if isinstance(spec, (Distance, Precomputed)):
        return spec
    name = spec if isinstance(spec, Kernel) else getattr(spec, "__name__", spec)
    raise InputError(
        f"`measure='dcor'` is defined by distances, not by `kernel={name}`; leave the kernel out, "
        "pass Distance(exponent) or Precomputed(-D), or use `measure='cka'`."
    )
