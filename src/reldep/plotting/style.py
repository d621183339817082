"""Colours and axes shared by all pictures."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's palette: told apart by colour-blind readers and in grey print.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#595959"

MEASURE_LABELS = {"hsic": "HSIC", "cka": "CKA", "dcor": "squared distance correlation"}


def axes(ax: Any, *, size: tuple[float, float] = (5.0, 4.0)) -> Any:
    """Give the Axes to draw on: the caller's, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, new = plt.subplots(figsize=size, layout="constrained")
    return new


def without_frame(ax: Any) -> None:
    """Take away the lines that carry no information."""
    ax.spines[["top", "right"]].set_visible(False)
