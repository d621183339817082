"""From what a user writes for ``kernel=`` to one kernel per variable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from reldep._reading import WAY_OUT_OBJECTS
from reldep._validation import check_choice, check_names_known
from reldep._variables import Items, Labels, Mixed, Variable
from reldep.kernels.base import Kernel
from reldep.kernels.categorical import Delta
from reldep.kernels.composite import Product
from reldep.kernels.dot import Linear, Polynomial
from reldep.kernels.given import FunctionKernel
from reldep.kernels.radial import Distance, Gaussian, Laplace

KernelSpec: TypeAlias = "str | Kernel | Callable[[Any, Any], Any]"

NAMED: dict[str, Callable[[], Kernel]] = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "linear": Linear,
    "polynomial": Polynomial,
    "delta": Delta,
    "distance": Distance,
}


def auto_kernel(variable: Variable) -> Kernel:
    """Choose by the kind of data: Gaussian for numbers, Delta for labels, both for both."""
    if isinstance(variable, Labels):
        return Delta()
    if isinstance(variable, Mixed):
        return Delta() if variable.numbers() is None else Product((Gaussian(), Delta()))
    if isinstance(variable, Items):
        kinds = sorted({type(item).__name__ for item in variable.items})
        raise TypeError(
            f"{variable.name} holds objects of type {', '.join(kinds[:3])}, which are neither "
            f"numbers nor labels. {WAY_OUT_OBJECTS}"
        )
    return Gaussian()


def as_kernel(spec: Any, variable: Variable) -> Kernel:
    """Turn a name, a kernel object or a function into a kernel for this variable."""
    if isinstance(spec, Kernel):
        return spec
    if isinstance(spec, str):
        check_choice("kernel", spec.lower(), ["auto", *NAMED])
        return auto_kernel(variable) if spec.lower() == "auto" else NAMED[spec.lower()]()
    if isinstance(spec, type) and issubclass(spec, Kernel):
        raise TypeError(f"kernel={spec.__name__} is a class; pass {spec.__name__}().")
    if callable(spec):
        return FunctionKernel(spec)
    raise TypeError(
        f"kernel for {variable.name} is of type {type(spec).__name__}; pass a name, a kernel "
        "object or a function f(A, B). A kernel matrix goes in as Precomputed(matrix)."
    )


def assign_kernels(spec: Any, roles: Sequence[str]) -> dict[str, Any]:
    """Give every variable its specification.

    Parameters
    ----------
    spec : kernel, tuple of kernels or mapping by name
        One specification for all; a tuple in the order of `roles`; or a mapping, in which a
        name left out gets "auto".
    roles : sequence of str
        The names of the variables.
    """
    if isinstance(spec, Mapping):
        check_names_known("kernel", spec, roles)
        return {role: spec.get(role, "auto") for role in roles}
    if isinstance(spec, (tuple, list)):
        if len(spec) != len(roles):
            raise ValueError(
                f"kernel is a tuple of {len(spec)} for {len(roles)} variables; give one for each "
                f"of {', '.join(roles)}, or a single one for all."
            )
        return dict(zip(roles, spec, strict=True))
    return dict.fromkeys(roles, spec)
