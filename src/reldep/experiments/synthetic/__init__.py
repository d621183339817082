"""The paper's synthetic experiment: a noisy sine and two noisy spirals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reldep.experiments.output import Output
from reldep.experiments.repetitions import records_of, run_cells
from reldep.experiments.synthetic import draws, pictures
from reldep.experiments.synthetic.page import paragraphs
from reldep.experiments.synthetic.summaries import candidate_rows, power_rows, pvalue_rows

if TYPE_CHECKING:
    from pathlib import Path

    from reldep.experiments.request import Request


def run(request: Request) -> list[Path]:
    """Draw, test and write; see :func:`reldep.experiments.reproduce`."""
    cells = draws.cells(request)
    checkpoint = run_cells("synthetic", cells, draws.measure, request)
    power, two, tried = (
        records_of(checkpoint, cells, part) for part in ("power", "draws", "candidates")
    )
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
    checkpoint.remove()
    return output.paths
