"""The paper's synthetic experiment: a noisy sine and two noisy spirals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest, norm

from reproduction import RunRequest
from reproduction.output import Output, Rows
from reproduction.paper import LEVEL, SYNTHETIC
from reproduction.repetitions import Cell, Records, run_cells
from reproduction.synthetic import draws
from reproduction.synthetic import synthetic_pictures as pictures
from reproduction.synthetic.synthetic_page import paragraphs


def run(request: RunRequest) -> list[Path]:
    """Draw, test and write; see :func:`reproduction.reproduce`."""
    found = run_cells("synthetic", draws.cells(request), draws.measure, request)
    power, two, tried = (found[part] for part in ("power", "draws", "candidates"))
    tables = {
        "power": power_rows(power),
        "pvalues": pvalue_rows(two),
        "candidates": candidate_rows(tried),
    }
    output = Output(request.out)
    output.figure("synthetic_scatter", pictures.scatter(request.seed))
    output.figure("synthetic_power", pictures.power(tables["power"]))
    output.figure("synthetic_draws", pictures.two_hsics(two))
    for name, rows in tables.items():
        output.table(f"synthetic_{name}", rows)
    output.page("synthetic", paragraphs(request, tables))
    return output.paths


def power_rows(cells: list[tuple[Cell, Records]]) -> Rows:
    """Count rejections at 5%, with the 95% interval of Wilson (1927)."""
    return [
        {
            "gamma3": float(cell.settings["gamma3"]),
            "m": cell.settings["m"],
            "test": test,
            "repetitions": cell.repetitions,
            **_rejections(columns[test]),
        }
        for cell, columns in cells
        for test in draws.TESTS
    ]


def _rejections(pvalues: np.ndarray) -> dict[str, float]:
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
        printed: dict[str, Any] = dict(
            zip(draws.METHODS, SYNTHETIC.get(setting, ("", "")), strict=True)
        )
        for test in (*draws.METHODS, "default"):
            low, median, high = np.quantile(columns[f"{test}_p"], (0.25, 0.5, 0.75))
            z = columns[f"{test}_z"]
            rows.append(
                {
                    "gamma3": float(setting[0]),
                    "m": setting[1],
                    "test": test,
                    "draws": cell.repetitions,
                    "p_median": float(median),
                    "p_lower_quartile": float(low),
                    "p_upper_quartile": float(high),
                    "z_median": float(np.median(z)),
                    "z_deviation": float(z.std(ddof=1)),
                    "error_ratio": "" if test == "default" else _error_ratio(columns, test),
                    "paper_p": printed.get(test, ""),
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
    """Return the median z of the joint test under each candidate, next to the paper's z."""
    rows = []
    for cell, columns in cells:
        setting = (cell.settings["gamma3"], cell.settings["m"])
        printed = SYNTHETIC.get(setting)
        rows.append(
            {
                "gamma3": float(setting[0]),
                "m": setting[1],
                "draws": cell.repetitions,
                "paper": "" if printed is None else float(norm.isf(printed[0])),
                **{name: float(np.median(columns[name])) for name in draws.CANDIDATES},
            }
        )
    return rows
