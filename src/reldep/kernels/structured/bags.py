"""The kernel for bags of vectors: each observation is a sample of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.checks import check_positive
from reldep.data.variables import Items, Numeric, Variable
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.mapped import MappedKernel
from reldep.kernels.points import Points
from reldep.kernels.radial import Gaussian
from reldep.kernels.scales.median import median_distance

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.kernels.resolve import KernelSpec

# The median distance between vectors is taken over at most this many of them.
VECTORS_FOR_MEDIAN = 1000

# Products of means whose pivot has fallen to this share of the largest are rounding.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class Bags(MappedKernel):
    """A kernel between bags of vectors, such as the cells of a patient or the patches of a picture.

    A bag is taken as a sample from a distribution, which is represented by the mean of its
    vectors' Gaussian features (the kernel mean embedding); bags may differ in size. The
    embeddings are compared by `kernel`: the Gaussian is characteristic for distributions on a
    bounded set, "linear" is the mean kernel value between the vectors of two bags.

    All vectors are compared with each other once, so it is meant for up to about 20,000 vectors.

    Parameters
    ----------
    bandwidth : float or "median", default "median"
        The bandwidth of the Gaussian kernel between vectors, or the median distance between
        them (of 1,000 vectors at random where there are more).
    kernel : str, Kernel or callable, default "gaussian"
        The kernel between the embeddings.

    Notes
    -----
    The data are a list of tables, one row per vector; a list of numbers is a bag of numbers.

    References
    ----------
    Muandet, Fukumizu, Sriperumbudur & Schölkopf (2017), Kernel mean embedding of distributions,
    Foundations and Trends in Machine Learning 10.

    Examples
    --------
    >>> from reldep.kernels import Bags
    >>> Bags(bandwidth=1.0, kernel="linear")([[0.0], [0.0, 2.0]]).round(3)
    array([[1.   , 0.568],
           [0.568, 0.568]])
    """

    bandwidth: float | str = "median"
    kernel: KernelSpec = "gaussian"

    accepts: ClassVar[tuple[type[Variable], ...]] = (Items, Numeric)

    def __post_init__(self) -> None:
        if self.bandwidth != "median":
            check_positive("bandwidth", self.bandwidth)

    @property
    def title(self) -> str:
        shown = "median" if self.bandwidth == "median" else f"{float(self.bandwidth):g}"
        return f"Bags(bandwidth={shown})"

    @property
    def kernel_of_rows(self) -> Any:
        return self.kernel

    def rows(self, variable: Variable) -> Numeric:
        bags = _bags_of(variable)
        return Numeric(variable.name, embeddings(bags, self._width(bags)))

    def rows_between(self, first: Variable, second: Variable) -> tuple[Numeric, Numeric]:
        bags, others = _bags_of(first), _bags_of(second)
        rows = embeddings([*bags, *others], self._width(bags))
        return Numeric(first.name, rows[: len(bags)]), Numeric(second.name, rows[len(bags) :])

    def _width(self, bags: list[FloatArray]) -> float:
        if not isinstance(self.bandwidth, str):
            return float(self.bandwidth)
        vectors = np.concatenate(bags)
        if len(vectors) > VECTORS_FOR_MEDIAN:
            generator = np.random.default_rng(0)
            vectors = generator.choice(vectors, VECTORS_FOR_MEDIAN, replace=False)
        return float(median_distance(Points.of(Numeric("vectors", vectors))).value)


def embeddings(bags: list[FloatArray], bandwidth: float) -> FloatArray:
    """Give rows whose dot products are the mean kernel values between bags.

    The matrix of these means is factored by Cholesky with pivoting, which stops where only
    rounding is left: few columns are enough for bags that are much alike.
    """
    from scipy.linalg.lapack import dpstrf

    products = _mean_values(bags, bandwidth)
    factor, pivots, rank, _ = dpstrf(products, tol=NEGLIGIBLE * products.max(), lower=1)
    rows = np.empty((len(bags), rank))
    rows[pivots - 1] = np.tril(factor)[:, :rank]
    return rows


def _mean_values(bags: list[FloatArray], bandwidth: float) -> FloatArray:
    """Average the kernel between the vectors of every two bags, a bag's rows at a time."""
    fitted = Gaussian(bandwidth).fit(Numeric("vectors", np.concatenate(bags)))
    sizes = np.array([len(bag) for bag in bags])
    starts = np.cumsum(sizes) - sizes
    everything = slice(0, len(fitted))
    means = np.empty((len(bags), len(bags)))
    for i, start in enumerate(starts):
        block = fitted(slice(int(start), int(start + sizes[i])), everything)
        means[i] = np.add.reduceat(block.mean(axis=0), starts) / sizes
    return 0.5 * (means + means.T)


def _bags_of(variable: Variable) -> list[FloatArray]:
    rows = variable.values if isinstance(variable, Numeric) else variable.items  # type: ignore[attr-defined]
    bags = [_table(row, f"observation {i} of {variable.name}") for i, row in enumerate(rows)]
    widths = {bag.shape[1] for bag in bags}
    if len(widths) > 1:
        raise InputError(
            f"the vectors of {variable.name} have {min(widths)} to {max(widths)} entries",
            "all must have the same number.",
        )
    return bags


def _table(bag: Any, place: str) -> FloatArray:
    if hasattr(bag, "to_numpy"):
        bag = bag.to_numpy()
    try:
        values = np.asarray(bag, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"{place} holds something that is not a number ({error})",
            "kernel Bags takes tables of numbers, one row per vector.",
        ) from error
    if values.ndim not in (1, 2) or values.size == 0:
        raise InputError(f"{place} has shape {values.shape}", "pass a table with at least one row.")
    if not np.isfinite(values).all():
        raise InputError(f"{place} has NaN or infinite values", "fill them in or leave them out.")
    return values.reshape(len(values), -1)
