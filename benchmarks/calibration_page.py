"""The page that publishes the calibration: tables of rates in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from sampling_models import ALTERNATIVE, BANDWIDTH_NULLS, EIGHT_NULLS, MODELS, SMALL_SAMPLE_NULLS

Rates = Sequence[dict[str, Any]]

INTRODUCTION = """\
# Calibration: how far the numbers can be trusted

Does a test at 5 % reject a true null in 5 % of samples? Does a 95 % interval contain the truth
in 95 %? These tables answer by simulation. They are written by

    python benchmarks/calibration.py --publish

with {draws:,} samples for every law and number of observations m (Python {python}, NumPy {numpy},
reldep {reldep}). A rate of 0.050 from {draws:,} samples is known to ±{error:.3f} (two binomial
standard errors). Kernels are Gaussian with the median bandwidth, Delta for categories.
[Which variance to use](guide/variance.md) explains the four columns.

The laws. In all but the alternative, γ3 = 0.6, the two targets are exchangeable, so that the
difference of their dependences is 0:

{laws}
"""

SMALL = """\
## Small samples: level

Two-sided level of `compare` at 5 %, from independence to strong dependence.

{tables}
"""

COVERAGE = """\
## Small samples: coverage of the interval of one dependence

Share of 95 % intervals of `dependence` that contain the true value, which is the dependence at
the median bandwidth of the population ({truth}). Intervals are
made for dependent variables: under weak dependence the law of the estimate is skewed and they
contain the truth less often.

{tables}
"""

SECOND = """\
## Weak dependence: plug-in against second-order variance

Two-sided level at 5 % on eight nulls.

{tables}
"""

STUDENT = """\
### A small-sample quantile?

The same with Student's t in place of the normal law, degrees of freedom 2m/(κ - 1) from the
kurtosis κ of the influence values.

{tables}
"""

BANDWIDTH = """\
## Following the bandwidth: level and power

m = 200. Two-sided level on four nulls, and the power of the one-sided test on the paper's
synthetic alternative.

{tables}
"""

DEPENDENT = """\
## Rows that depend on each other

Two-sided level at 5 %. Clusters of 5 near copies, 200 rows, with and without `clusters=`; an
autoregression with coefficient 0.8, 400 rows, with and without `max_lag="auto"`.

{tables}
"""

TIME = """\
## Time

Processor seconds of one `compare(..., engine="dense")`, the fewest of nine, and in brackets as a
multiple of the paper's variance.

{tables}
"""


def page(rates: Rates, facts: dict[str, Any]) -> str:
    """Write the whole page."""
    draws = facts["draws"]
    error = 2 * math.sqrt(0.05 * 0.95 / draws)
    laws = "\n".join(f"- **{name}**: {model.description}." for name, model in MODELS.items())
    fixed, aware, second, full = "fixed-kernel", "bandwidth-aware", "second-order", "full"
    small = (SMALL_SAMPLE_NULLS, (20, 50, 100, 200), (fixed, aware))
    eight = (EIGHT_NULLS, (30, 100, 300))
    truth = "mean of 40 samples of 1,000"
    parts = [
        INTRODUCTION.format(error=error, laws=laws, **facts),
        SMALL.format(tables=by_size(rates, "level", *small)),
        COVERAGE.format(truth=truth, tables=by_size(rates, "coverage", *small)),
        SECOND.format(tables=by_size(rates, "level", *eight, (fixed, second, full))),
        STUDENT.format(tables=by_size(rates, "level, Student", *eight, (fixed, second))),
        BANDWIDTH.format(tables=bandwidth_table(rates)),
        DEPENDENT.format(tables=dependent_table(rates)),
        TIME.format(tables=time_table(facts["timings"])),
    ]
    return "\n".join(parts)


def by_size(
    rates: Rates,
    quantity: str,
    models: Iterable[str],
    sizes: Sequence[int],
    variances: Sequence[str],
) -> str:
    """Give a row a law and size, a column a measure and variance."""
    columns = [(measure, variance) for measure in ("hsic", "cka") for variance in variances]
    header = ["law", "m", *(f"{measure}, {variance}" for measure, variance in columns)]
    rows = [
        [model, str(m), *(cell(rates, model, m, *column, quantity) for column in columns)]
        for model in models
        for m in sizes
    ]
    return markdown(header, rows)


def bandwidth_table(rates: Rates) -> str:
    """Give the level on four nulls and the power, for both measures."""
    columns = [(me, v) for me in ("hsic", "cka") for v in ("fixed-kernel", "bandwidth-aware")]
    header = ["law", *(f"{measure}, {variance}" for measure, variance in columns)]
    rows = [
        [f"{model} (level)", *(cell(rates, model, 200, *column, "level") for column in columns)]
        for model in BANDWIDTH_NULLS
    ]
    power = [cell(rates, ALTERNATIVE, 200, *column, "power, one-sided") for column in columns]
    return markdown(header, [*rows, [f"{ALTERNATIVE} (power)", *power]])


def dependent_table(rates: Rates) -> str:
    """Give the level with and without the dependence of rows taken into account."""
    words = ("rows taken as independent", "dependence of rows given")
    rows = [
        [f"{model}, {measure}, {variance}"]
        + [cell(rates, model, m, measure, variance, word) for word in words]
        for model, m in (("clusters of 5", 200), ("AR(0.8)", 400))
        for measure in ("hsic", "cka")
        for variance in ("fixed-kernel", "bandwidth-aware")
    ]
    return markdown(["law", *words], rows)


def time_table(timings: Sequence[dict[str, float]]) -> str:
    """Give seconds and multiples of the plain test."""
    names = [name for name in timings[0] if name != "m"]
    rows = [
        [str(row["m"])] + [f"{row[n]:.4f} ({row[n] / row['fixed-kernel']:.2f}×)" for n in names]
        for row in timings
    ]
    return markdown(["m", *names], rows)


def cell(rates: Rates, model: str, m: int, measure: str, variance: str, quantity: str) -> str:
    """Find one rate."""
    key = (model, m, measure, variance, quantity)
    names = ("model", "m", "measure", "variance", "quantity")
    (found,) = (row["rate"] for row in rates if tuple(row[name] for name in names) == key)
    return f"{found:.3f}"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table."""
    rule = ["---", *["--:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *rows))
