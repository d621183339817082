"""The kernel for pictures: pixels averaged in blocks, then compared as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from reldep.data.checks import check_choice, check_count
from reldep.data.variables import Items, Numeric, Variable
from reldep.exceptions import InputError
from reldep.kernels.mapped import MappedKernel

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.kernels.resolve import KernelSpec

LAYOUTS = ("auto", "NHWC", "NCHW")

# Grey, colour, colour with transparency.
CHANNELS = (1, 3, 4)


@dataclass(frozen=True)
class Images(MappedKernel):
    """A kernel between pictures of one size, by their averaged pixels.

    Pictures larger than `max_side` are divided into equal square blocks, as few pixels wide as
    brings both sides down to `max_side`; each block becomes its mean, channel by channel.
    Averaging keeps shapes, drops noise and makes the distance a little less sensitive to small
    shifts: of 400 digits of 40 × 40 pixels, shifted at random by up to 2 pixels, the CKA with the
    digit falls from .54 to .34 on all pixels and to .39 on 10 × 10 blocks; by up to 4 pixels, to
    .15 and .16. Where what matters is finer or moves about, use :class:`Embedding` with a network.

    With ``max_side=None`` every pixel counts, and the kernel is characteristic if `kernel` is;
    with a reduction it is not, since details within a block are lost.

    Parameters
    ----------
    max_side : int or None, default 32
        The longest side after the reduction, in pixels. None keeps all pixels.
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the pixels.
    layout : {"auto", "NHWC", "NCHW"}, default "auto"
        Whether the channels come last or before height and width. "auto" looks for the side of
        length 1, 3 or 4, says in the label which layout it found, and refuses pictures that
        could be either.

    Notes
    -----
    The data are an array of shape (n, height, width), (n, height, width, channels) or (n,
    channels, height, width), or a list of n such pictures; integers or floats.

    Examples
    --------
    >>> import numpy as np
    >>> from reldep.kernels import Images
    >>> Images(max_side=2).reduce(np.arange(16.0).reshape(1, 4, 4))
    array([[[ 2.5,  4.5],
            [10.5, 12.5]]])
    """

    max_side: int | None = 32
    kernel: KernelSpec = "gaussian"
    layout: Literal["auto", "NHWC", "NCHW"] = "auto"

    accepts: ClassVar[tuple[type[Variable], ...]] = (Items,)

    def __post_init__(self) -> None:
        if self.max_side is not None:
            check_count("max_side", self.max_side, at_least=1)
        check_choice("layout", self.layout, LAYOUTS)

    @property
    def is_characteristic(self) -> bool:
        from reldep.kernels.resolve import is_characteristic

        return self.max_side is None and is_characteristic(self.kernel)

    @property
    def title(self) -> str:
        return f"Images(max_side={self.max_side})"

    @property
    def kernel_of_rows(self) -> Any:
        return self.kernel

    def title_for(self, variable: Variable) -> str:
        pictures = _as_one_array(variable)  # type: ignore[arg-type]
        if pictures.ndim == 3:
            return self.title
        return f"{self.title[:-1]}, {self._layout_of(pictures.shape, variable.name)})"

    def rows(self, variable: Variable) -> Numeric:
        pictures = _as_one_array(variable)  # type: ignore[arg-type]
        if pictures.ndim == 4 and self._layout_of(pictures.shape, variable.name) == "NCHW":
            pictures = np.moveaxis(pictures, 1, 3)
        return Numeric(variable.name, self.reduce(pictures).reshape(len(pictures), -1))

    def _layout_of(self, shape: tuple[int, ...], name: str) -> str:
        """Tell where the channels are."""
        if self.layout != "auto":
            return self.layout
        first, last = shape[1] in CHANNELS, shape[3] in CHANNELS
        if first == last:
            fault = "could have their channels first or last" if first else "have no side of"
            raise InputError(
                f"the pictures of {name} have the shape {shape[1:]}, which {fault}"
                f"{'' if first else ' 1, 3 or 4 for the channels'}",
                'pass Images(layout="NHWC") if the channels come last, layout="NCHW" if first.',
            )
        return "NCHW" if first else "NHWC"

    def reduce(self, pictures: npt.NDArray[Any]) -> FloatArray:
        """Average blocks of pixels until no side is longer than `max_side`."""
        longest = max(pictures.shape[1:3])
        block = 1 if self.max_side is None else -(-longest // self.max_side)
        if block == 1:
            return pictures.astype(np.float64)
        return _block_means(pictures, block)


def _block_means(pictures: npt.NDArray[Any], block: int) -> FloatArray:
    """Average squares of `block` pixels; those at the lower and right edge may be smaller."""
    n, height, width, *channels = pictures.shape
    rows, columns = -(-height // block), -(-width // block)
    sums = np.zeros((n, rows, columns, *channels))
    sizes = np.zeros((rows, columns, *[1] * len(channels)))
    for i in range(block):
        for j in range(block):
            pixels = pictures[:, i::block, j::block]
            corner = (slice(pixels.shape[1]), slice(pixels.shape[2]))
            sums[:, *corner] += pixels
            sizes[corner] += 1.0
    means: FloatArray = sums / sizes
    return means


def _as_one_array(variable: Items) -> npt.NDArray[Any]:
    """Give all pictures as one array."""
    items = variable.items
    if not isinstance(items, np.ndarray):
        pictures = [np.asarray(item) for item in items]
        shapes = {picture.shape for picture in pictures}
        if len(shapes) > 1:
            first, second = sorted(shapes)[:2]
            raise InputError(
                f"the pictures of {variable.name} have different shapes, such as {first} and "
                f"{second}",
                "resize them to one shape first.",
            )
        items = np.stack(pictures)
    if items.ndim not in (3, 4) or items.dtype.kind not in "biuf" or 0 in items.shape:
        raise InputError(
            f"{variable.name} is an array of shape {items.shape} and type {items.dtype}",
            "kernel Images takes numbers of shape (n, height, width), (n, height, width, channels) "
            "or (n, channels, height, width).",
        )
    return items
