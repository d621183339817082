"""From what a user writes for ``kernel=`` to one kernel per variable.

A name is ours (:data:`NAMED`, and "auto") or, where we have none of that name, one of
``sklearn.metrics.pairwise`` ("laplacian", "chi2", ...). "rbf" is our Gaussian with the median
bandwidth; "linear" and "polynomial" are ours too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from reldep.data.checks import check_choice, check_names_known
from reldep.exceptions import InputError, InputTypeError, Option
from reldep.kernels.automatic import FOR_NUMBERS, auto_kernel
from reldep.kernels.base import Kernel
from reldep.kernels.columnwise import Standardized
from reldep.kernels.given import (
    PAIRWISE_NAMES,
    FunctionKernel,
    Precomputed,
    ScikitKernel,
    is_scikit_kernel,
)
from reldep.kernels.radial import Distance, Gaussian

if TYPE_CHECKING:
    from reldep.data.variables import Variable

KernelSpec: TypeAlias = "str | Kernel | Callable[[Any, Any], Any]"

# The class of each, by its name in reldep.kernels.
NAMED: dict[str, str] = {
    "gaussian": "Gaussian",
    "rbf": "Gaussian",
    "gaussians": "Gaussians",
    "laplace": "Laplace",
    "linear": "Linear",
    "polynomial": "Polynomial",
    "delta": "Delta",
    "distance": "Distance",
    "text": "Text",
    "spectrum": "Spectrum",
    "edit-distance": "EditDistance",
    "jaccard": "Jaccard",
    "minmax": "MinMax",
    "weisfeiler-lehman": "WeisfeilerLehman",
    "images": "Images",
    "time-series": "TimeSeries",
    "haversine": "Haversine",
    "log-rank": "LogRank",
    "bags": "Bags",
    "composition": "Composition",
    "genotypes": "Genotypes",
    "ordered": "Ordered",
}


# Names that choose by the kind of data, with the kernel that numbers get: ours, ours with a scale
# for each column, and the paper's.
BY_KIND: dict[str, Kernel] = {
    "auto": FOR_NUMBERS,
    "standardized": Standardized(FOR_NUMBERS),
    "published": Gaussian(),
}


def as_kernel(spec: Any, variable: Variable) -> Kernel:
    """Turn a name, a kernel object or a function into a kernel for this variable."""
    if isinstance(spec, str) and spec.lower() in BY_KIND:
        return auto_kernel(variable, BY_KIND[spec.lower()])
    kernel = _without_data(spec)
    if kernel is None:
        raise InputTypeError(
            f"kernel for {variable.name} is of type {type(spec).__name__}",
            "pass a name, a kernel object or a function f(A, B). A kernel matrix goes in as "
            "Precomputed(matrix).",
        )
    return kernel


def kernel_class(name: str) -> Callable[..., Kernel]:
    """Find the class of a kernel by the name in lower case that users write."""
    import reldep.kernels

    found: Callable[..., Kernel] = getattr(reldep.kernels, NAMED[name])
    return found


def is_characteristic(spec: Any) -> bool:
    """Tell whether what a user wrote for ``kernel=`` is a characteristic kernel."""
    if isinstance(spec, str) and spec.lower() in BY_KIND:
        return True
    kernel = _without_data(spec)
    return kernel is not None and kernel.is_characteristic


def _without_data(spec: Any) -> Kernel | None:
    """Turn a specification into a kernel, where that does not depend on the data."""
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
    """Give every variable of a question its specification.

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
        chosen = {name: _look_up(spec, name, role_of.get(name)) for name in names}
    elif isinstance(spec, (tuple, list)):
        chosen = _in_order(spec, names, known, role_of)
    else:
        chosen = dict.fromkeys(names, spec)
    if measure == "dcor":
        chosen = {name: _of_distances(one) for name, one in chosen.items()}
    return chosen


def _look_up(spec: Mapping[str, Any], name: str, role: str | None) -> Any:
    if name in spec or role is None:
        return spec.get(name, "auto")
    return spec.get(role, "auto")


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
        shown = ", ".join(known[:6]) + (", …" if len(known) > 6 else "")
        raise InputError(
            f"kernel is a tuple of {len(spec)} for {len(known)} variables",
            f"give one for each of {shown}, a mapping by name, or a single one for all.",
        )
    by_place = dict(zip(known, spec, strict=True))
    return {name: by_place[places[name]] for name in names}


def _of_distances(spec: Any) -> Any:
    """Distance correlation is defined by distances: it brings its own kernel."""
    if isinstance(spec, str) and spec.lower() in {"auto", "distance"}:
        return Distance()
    if isinstance(spec, (Distance, Precomputed)):
        return spec
    raise InputError(
        [
            Option("measure", "dcor"),
            " is defined by distances, not by ",
            Option("kernel", spec if isinstance(spec, str) else _in_words(spec)),
        ],
        [
            "leave the kernel out, pass Distance(exponent) or a precomputed negative distance, "
            "or use ",
            Option("measure", "cka"),
            ".",
        ],
    )


def _in_words(spec: Any) -> Any:
    """Give a callable by its name; a kernel object speaks for itself."""
    return spec if isinstance(spec, Kernel) else getattr(spec, "__name__", spec)
