"""How strong dependences are, on the scale of correlations that people know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reldep.exceptions import InputError
from reldep.stats.correlation import as_correlation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.engine.centred import Pair

# Kernels whose curve is known: the start of the label, the rule behind the bandwidth, the curve.
KNOWN = (
    ("Laplace(", "mean", "laplace"),
    ("Gaussian(", "median", "gaussian"),
    ("Linear(", None, "linear"),
    # Two categories, as well as two numbers, are one column of zeros and ones: under any kernel
    # CKA is the square of their correlation.
    ("Delta(2 categories)", None, "linear"),
    ("Distance(exponent=1)", None, "distance"),
)


@dataclass(frozen=True)
class Scale:
    """The curve that turns the dependence of a pair into a correlation.

    Attributes
    ----------
    kernel : str
        The kernel of the curve, one of :data:`reldep.stats.correlation.REFERENCES`.
    is_own : bool
        Whether both variables are single columns with that very kernel. Elsewhere the
        correlation is that of two bell-shaped variables whose dependence is as large.
    """

    kernel: str
    is_own: bool


def scale_of(pair: Pair, measure: str, kernels: Mapping[str, Mapping[str, Any]]) -> Scale:
    """Choose the curve for a pair of variables from their fitted kernels."""
    if measure == "hsic":
        raise InputError(
            "HSIC has the scale of its kernels, which correlations do not share; use "
            "`measure='cka'`."
        )
    curves, single = zip(*(_curve(kernels.get(name, {})) for name in pair), strict=True)
    if curves[0] is None or curves[0] != curves[1]:
        return Scale("distance" if measure == "dcor" else "laplace", is_own=False)
    return Scale(curves[0], all(single))


def _curve(kernel: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the curve that belongs to a fitted kernel, and whether it is of one column."""
    label = kernel.get("kernel", "")
    is_single = kernel.get("columns", 1 if label.startswith("Delta(2 ") else 0) == 1
    if kernel.get("is_binary"):
        return "linear", True
    for start, rule, curve in KNOWN:
        chosen = str(kernel.get("rule")).partition(" (")[0]  # without the number of distances
        if label.startswith(start) and rule in (None, chosen):
            return curve, is_single
    return None, is_single


def correlations(values: Sequence[float], scales: Sequence[Scale]) -> list[float]:
    """Return the dependences as correlations, each by its own curve."""
    found = [0.0] * len(values)
    for scale in set(scales):
        places = [i for i, one in enumerate(scales) if one == scale]
        curve = as_correlation([values[i] for i in places], scale.kernel)
        for i, value in zip(places, curve.tolist(), strict=True):
            found[i] = value
    return found


def correlation_text(value: float) -> str:
    """Return a correlation as papers print it, with two digits and no sign.

    Examples
    --------
    >>> correlation_text(0.5), correlation_text(0.003), correlation_text(0.999)
    ('.50', 'under .01', 'over .99')
    """
    if 0 < value < 0.005:
        return "under .01"
    return f"{value:.2f}".removeprefix("0") if value < 0.995 else "over .99"


def correlations_text(values: Sequence[float]) -> str:
    """Return a correlation with its limits.

    Examples
    --------
    >>> correlations_text((0.64, 0.42, 0.79))
    '.64 (.42 to .79)'
    """
    value, low, high = map(correlation_text, values)
    return f"{value} ({low} to {high})"


def strength_text(values: Sequence[float], scales: Sequence[Scale]) -> str:
    """Return how strong dependences are that are shown to exist.

    Examples
    --------
    >>> strength_text([0.115], [Scale("laplace", True)])
    'about as strong as a correlation of .50'
    >>> strength_text([0.62, 0.353], [Scale("laplace", False)] * 2)
    'about as strong as correlations of .91 and .77 for two bell-shaped variables'
    """
    written = [correlation_text(value) for value in correlations(values, scales)]
    what = f"a correlation of {written[0]}"
    if len(written) > 1:
        what = f"correlations of {', '.join(written[:-1])} and {written[-1]}"
    whose = "" if all(scale.is_own for scale in scales) else " for two bell-shaped variables"
    return f"about as strong as {what}{whose}"
