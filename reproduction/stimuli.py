"""Two streams of stimuli and one response over time: the size and power of the test.

The paper asks whether a response depends more on what is seen or on what is heard. Such streams
change slowly, so adjacent rows are correlated; a test that treats the rows as independent
then finds differences that are not there. `max_lag` repairs it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from matplotlib.figure import Figure

import reldep
from reldep.datasets import make_two_stimuli
from reldep.plotting.style import GREY, without_frame
from reproduction import RunRequest
from reproduction.output import Output, Rows, image, markdown_table, series
from reproduction.paper import LEVEL
from reproduction.repetitions import Cell, Record, Records, run_cells

LAGS: dict[str, int | Literal["auto"] | None] = {
    "independent rows": None,
    "max_lag = 5": 5,
    "max_lag = 20": 20,
    'max_lag = "auto"': "auto",
}
# Also in a quick run: the longest lag takes nearly as many.
TIME_POINTS = 400
AUTOCORRELATIONS = (0.0, 0.3, 0.6, 0.8, 0.9)
VISUAL_WEIGHTS = (1.0, 1.25, 1.5, 2.0, 3.0)
POWER_AUTOCORRELATION = 0.8

_INTRODUCTION = """\
One response follows two streams of stimuli, one seen and one heard, with weights of our choosing.
Both streams and the noise change slowly: the correlation between adjacent time points is given
below (first-order autoregressions). With equal weights the response depends equally on both, and
a two-sided test at 5% should reject in 5% of the samples. The data are generated, so the truth
is known; the paper has no such experiment, it is its motivating question."""

_SIZE = """\
All are `reldep.compare` with its default inference. The test for independent rows rejects a true
hypothesis more often the slower the streams change. With `max_lag` whole blocks of adjacent
rows are left out in turn, in place of single rows, which brings the share of false alarms to 3 to
7% at 400 time points. "auto" chooses the lag from the data."""

_POWER = """\
The price is power: a longer lag leaves fewer blocks. The seeming power of the test for independent
rows is worth nothing, because it also rejects when the weights are equal (first row)."""


def cells(request: RunRequest) -> list[Cell]:
    """List what is drawn in a quick or a full run."""
    n, repetitions = TIME_POINTS, 400 if request.is_full else 12
    size = [{"n": n, "autocorrelation": a, "visual_weight": 1.0} for a in AUTOCORRELATIONS]
    power = [
        {"n": n, "autocorrelation": POWER_AUTOCORRELATION, "visual_weight": w}
        for w in VISUAL_WEIGHTS
    ]
    return [
        *(Cell("size", settings, repetitions) for settings in size),
        *(Cell("power", settings, repetitions) for settings in power),
    ]


def measure(cell: Cell, rng: np.random.Generator) -> Record:
    """Draw one sample and give the two-sided p-value of each test."""
    streams = make_two_stimuli(
        int(cell.settings["n"]),
        visual_weight=cell.settings["visual_weight"],
        autocorrelation=cell.settings["autocorrelation"],
        rng=rng,
    )
    blocks = (streams.response, streams.visual, streams.audio)
    return {
        name: reldep.compare(*blocks, alternative="two-sided", max_lag=lag).pvalue
        for name, lag in LAGS.items()
    }


def run(request: RunRequest) -> list[Path]:
    """Draw, test and write; see :func:`reproduction.reproduce`."""
    found = run_cells("stimuli", cells(request), measure, request)
    size, power = (_rows(found[part]) for part in ("size", "power"))
    output = Output(request.out)
    output.figure("stimuli", _figure(size, power))
    output.table("stimuli_size", size)
    output.table("stimuli_power", power)
    output.page("stimuli", _paragraphs(request, size, power))
    return output.paths


def _rows(cells: list[tuple[Cell, Records]]) -> Rows:
    return [
        {
            **cell.settings,
            "repetitions": cell.repetitions,
            **{name: float((columns[name] < LEVEL).mean()) for name in LAGS},
        }
        for cell, columns in cells
    ]


def _figure(size: Rows, power: Rows) -> Figure:
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    panels = (
        (size, "autocorrelation", "equal weights: false alarms"),
        (power, "visual_weight", f"power, autocorrelation {POWER_AUTOCORRELATION}"),
    )
    for ax, (rows, key, title) in zip(figure.subplots(1, 2), panels, strict=True):
        for i, name in enumerate(LAGS):
            look = series(i)
            style = {"color": look.colour, "linestyle": look.line, "marker": look.marker}
            ax.plot([r[key] for r in rows], [r[name] for r in rows], label=name, **style)
        ax.axhline(LEVEL, color=GREY, linewidth=1, linestyle=":")
        ax.set(xlabel=key.replace("_", " "), ylabel="rejected at 5%", title=title, ylim=(-0.02, 1))
        without_frame(ax)
    figure.axes[1].legend(frameon=False, fontsize="small", loc="center right")
    return figure


def _paragraphs(request: RunRequest, size: Rows, power: Rows) -> list[str]:
    n, repetitions = size[0]["n"], size[0]["repetitions"]
    # Two standard deviations of a share of 5% among this many samples.
    chance = 2.0 * (LEVEL * (1.0 - LEVEL) / repetitions) ** 0.5
    return [
        "# Two stimuli and one response over time",
        _INTRODUCTION,
        f"This page was written by `python -m reproduction stimuli --{request.size} --seed "
        f"{request.seed}`: {repetitions} samples of {n} time points in each row. Chance alone "
        f"moves a true share of 5% by up to ±{100 * chance:.1f} points.",
        image("stimuli", "Share of samples in which the test rejects at 5%."),
        "## Equal weights: false alarms",
        _table(size, "autocorrelation"),
        _SIZE,
        "## The visual stream is stronger: power",
        _table(power, "visual_weight"),
        _POWER,
    ]


def _table(rows: Rows, key: str) -> str:
    lines = [[f"{row[key]:g}", *(f"{row[name]:.3f}" for name in LAGS)] for row in rows]
    return markdown_table([key.replace("_", " "), *LAGS], lines)
