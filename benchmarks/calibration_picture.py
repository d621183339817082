"""The picture at the top of the page: levels of the old and new defaults beside the 5% line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from counting import Rates, Tally
from sampling_models import MODELS

if TYPE_CHECKING:
    from pathlib import Path

PANELS = (
    ("hsic", "fixed-kernel", "the published test\nraw HSIC"),
    ("cka, Gaussian", "fixed-kernel", "its variance with CKA"),
    ("cka", "jackknife", "the default now\nCKA, jackknife-t"),
)
SIZES = (20, 30, 50, 100, 200, 1000)
SPECIAL = ("independent",)


def colour(level: float) -> str:
    """Show what rejects too often in red and what rejects too seldom in grey."""
    if level > 0.075:
        return "#c8401f"
    return "#a0a8b0" if level < 0.03 else "#22384d"


def draw_picture(path: Path) -> None:
    """Draw every law as a dot: the share of true nulls that a test at 5% rejects."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "reldep"
    mpl.rcParams["svg.fonttype"] = "path"
    rates = Rates(Tally("calibration_rows").rows())
    known = {key[1] for key in rates.keys()}  # noqa: SIM118
    sizes, laws = [m for m in SIZES if m in known], list(MODELS)
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), sharey=True, layout="constrained")
    for axis, (measure, method, title) in zip(axes, PANELS, strict=True):
        axis.axhspan(0.035, 0.065, color="#dfe9f3", zorder=0)
        axis.axhline(0.05, color="#30557a", linewidth=1.2, zorder=1)
        for place, m in enumerate(sizes):
            for number, law in enumerate(laws):
                upper = rates(law, m, measure, method, "upper")
                lower = rates(law, m, measure, method, "lower")
                if upper is None and lower is None:
                    continue
                level = (upper or 0.0) + (lower or 0.0)
                shift = (number - len(laws) / 2) / len(laws) * 0.6
                hollow = law in SPECIAL
                axis.plot(
                    place + shift,
                    level,
                    "o",
                    markersize=4,
                    color=colour(level),
                    markerfacecolor="white" if hollow else None,
                )
        axis.set_title(title, fontsize=10)
        axis.set_xticks(np.arange(len(sizes)), [f"{m:,}" for m in sizes])
        axis.set_xlabel("rows")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylim(0, 0.16)
    axes[0].set_yticks([0, 0.05, 0.1, 0.15], ["0", "5%", "10%", "15%"])
    axes[0].set_ylabel("true nulls rejected at 5%")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
