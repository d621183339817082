"""Tables of the synthetic experiment, one row a setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.experiments.synthetic.draws import CANDIDATES, TESTS

if TYPE_CHECKING:
    from reldep.experiments.repetitions import Cell, Records

Rows = list[dict[str, Any]]

LEVEL = 0.05

# The p-values that the paper prints beside its figure, by γ3 and m.
PAPER: dict[tuple[float, float], tuple[float, float]] = {
    (0.7, 500): (0.0189, 0.35),
    (0.7, 1000): (1e-4, 0.37),
    (0.7, 3000): (1e-6, 0.29),
    (1.7, 500): (1e-9, 0.98),
    (1.7, 1000): (1e-10, 0.03),
    (1.7, 3000): (1e-13, 0.005),
}


def power_rows(cells: list[tuple[Cell, Records]]) -> Rows:
    """Count rejections at 5 %, with the 95 % interval of Wilson (1927)."""
    return [
        {
            "gamma3": float(cell.settings["gamma3"]),
            "m": cell.settings["m"],
            "test": test,
            "repetitions": cell.repetitions,
            **_rejections(columns[test]),
        }
        for cell, columns in cells
        for test in TESTS
    ]


def _rejections(pvalues: np.ndarray) -> dict[str, float]:
    from scipy.stats import binomtest

    share = binomtest(int((pvalues < LEVEL).sum()), len(pvalues))
    interval = share.proportion_ci(0.95, method="wilson")
    return {
        "power": float(share.statistic),
        "low_95": float(interval.low),
        "high_95": float(interval.high),
    }


def pvalue_rows(cells: list[tuple[Cell, Records]]) -> Rows:
    """Describe our p-values and the spread of z, with the paper's p-value where it has one."""
    rows = []
    for cell, columns in cells:
        setting = (cell.settings["gamma3"], cell.settings["m"])
        paper = PAPER.get(setting, ("", ""))
        for method, printed in zip(("joint", "split"), paper, strict=True):
            pvalues, z = columns[f"{method}_p"], columns[f"{method}_z"]
            low, median, high = np.quantile(pvalues, (0.25, 0.5, 0.75))
            rows.append(
                {
                    "gamma3": float(setting[0]),
                    "m": setting[1],
                    "test": method,
                    "draws": cell.repetitions,
                    "p_median": float(median),
                    "p_lower_quartile": float(low),
                    "p_upper_quartile": float(high),
                    "z_median": float(np.median(z)),
                    "z_deviation": float(z.std(ddof=1)),
                    "error_ratio": _error_ratio(columns, method),
                    "paper_p": printed,
                }
            )
    return rows


def _error_ratio(columns: Records, method: str) -> float:
    """Divide the standard error that the test estimates by the spread over the draws."""
    xy, xz, var_xy, cov, var_xz = (
        columns[f"{method}_{name}"] for name in ("xy", "xz", "var_xy", "cov", "var_xz")
    )
    estimated = np.sqrt((var_xy + var_xz - 2.0 * cov).mean())
    return float(estimated / (xy - xz).std(ddof=1))


def candidate_rows(cells: list[tuple[Cell, Records]]) -> Rows:
    """Give the median z of the joint test under each candidate, beside the paper's z."""
    from scipy.stats import norm

    rows = []
    for cell, columns in cells:
        setting = (cell.settings["gamma3"], cell.settings["m"])
        printed = PAPER.get(setting)
        rows.append(
            {
                "gamma3": float(setting[0]),
                "m": setting[1],
                "draws": cell.repetitions,
                "paper": "" if printed is None else float(norm.isf(printed[0])),
                **{name: float(np.median(columns[name])) for name in CANDIDATES},
            }
        )
    return rows
