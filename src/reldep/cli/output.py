"""What a command prints and writes: words, JSON, CSV, a picture, a report."""

from __future__ import annotations

import csv
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reldep.files import check_writable, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable

    from reldep.cli.request import Request
    from reldep.results.base import Answer

SCHEMA = "reldep.result/1"
PICTURES = (".png", ".svg", ".pdf")


def check_outputs(request: Request) -> None:
    """Refuse, before any work, what could not be written after it."""
    if request.json and request.csv:
        raise ValueError("--json and --csv both print to standard output; choose one.")
    if request.plot is not None and request.plot.suffix.lower() not in PICTURES:
        raise ValueError(f"--plot {request.plot}: write a file that ends in {', '.join(PICTURES)}.")
    if request.report is not None and request.report.suffix.lower() not in {".html", ".htm"}:
        raise ValueError(f"--report {request.report}: write a file that ends in .html.")
    for path in (request.plot, request.report):
        if path is not None:
            check_writable(path)


def deliver(
    request: Request,
    question: str,
    result: Answer,
    sensitivity: Callable[[], Any] | None = None,
) -> None:
    """Print the answer and write what was asked for."""
    if request.plot is not None:
        draw(result, request.plot)
    if request.report is not None:
        result.to_html(
            request.report,
            alpha=request.alpha,
            sensitivity=sensitivity() if sensitivity else None,
            command=command_line(),
        )
    if request.json:
        typer.echo(json.dumps(as_json(result, question, request.alpha), indent=2, allow_nan=False))
    elif request.csv:
        print_csv(result.table())
    else:
        _print_words(request, result)


def _print_words(request: Request, result: Answer) -> None:
    if request.table.join is not None:
        typer.echo(f"{request.table.join}\n")
    typer.echo(result.summary(request.alpha))
    for kind, path in (("picture", request.plot), ("report", request.report)):
        if path is not None:
            typer.echo(f"The {kind} is in {path}.")


def draw(result: Answer, path: Path) -> None:
    """Write the natural picture of a result."""
    import matplotlib as mpl

    mpl.use("Agg")
    figure = result.plot().figure
    with write_atomically(path) as temporary:
        figure.savefig(temporary, format=path.suffix.lower().lstrip("."), dpi=200)


def command_line() -> str:
    """Give the command as it was typed, ready to be pasted."""
    return shlex.join(["reldep", *sys.argv[1:]])


def print_csv(columns: dict[str, list[Any]]) -> None:
    """Print columns as CSV with numbers unrounded."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def as_json(result: Answer, question: str, alpha: float) -> dict[str, Any]:
    """Give a result as plain values; the layout is documented and stable."""
    import reldep

    provenance = result.provenance
    written: dict[str, Any] = {
        "schema": SCHEMA,
        "version": reldep.__version__,
        "question": question,
        "answer": result.sentence(alpha),
        "alpha": alpha,
        "measure": result.measure,
        "variance": result.variance,
        "n_observations": result.n_observations,
        "n_dropped": provenance.n_dropped,
    }
    written |= _estimate(result, alpha) if hasattr(result, "estimate") else _order(result)
    written["table"] = _rows(result.table())
    written["cautions"] = [
        {"kind": type(caution).__name__, "text": str(caution)} for caution in result.warnings
    ]
    written["kernels"] = {name: dict(kernel) for name, kernel in provenance.kernels.items()}
    written["engine"] = provenance.engine
    written["command"] = command_line()
    return written


def _estimate(result: Any, alpha: float) -> dict[str, Any]:
    """Give the fields of a tested estimate."""
    return {
        "estimate": result.estimate,
        "standard_error": result.standard_error,
        "statistic": result.statistic,
        "pvalue": result.pvalue,
        "alternative": result.alternative,
        "confidence_level": 1 - alpha,
        "confidence_interval": list(result.confidence_interval(1 - alpha)),
    }


def _order(result: Any) -> dict[str, Any]:
    """Give the fields of a ranking."""
    return {
        "source": result.source,
        "best": list(result.best),
        "adjust": result.adjust,
        "confidence_level": result.confidence_level,
        "pairwise": result.pairwise().to_dicts(),
    }


def _rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
