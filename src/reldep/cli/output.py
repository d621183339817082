"""What a command prints and writes: words, JSON, CSV, a picture, a report."""

from __future__ import annotations

import csv as csv_format
import io
import json as json_format
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reldep.cli.wording import as_options
from reldep.files import check_writable, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable

    from reldep.cli.request import Request
    from reldep.results.base import Answer

SCHEMA = "reldep.result/1"
PICTURES = (".png", ".svg", ".pdf")
REPORTS = (".html", ".htm")


def check_outputs(request: Request) -> None:
    """Refuse, before any work, what could not be printed or written after it."""
    from reldep.data.checks import check_level

    check_level("alpha", request.alpha)
    refuse_both(json=request.json, csv=request.csv)
    if request.plot is not None:
        check_picture("--plot", request.plot)
    if request.report is not None:
        if request.report.suffix.lower() not in REPORTS:
            raise ValueError(f"--report {request.report}: write a file that ends in .html.")
        check_writable(request.report)


def check_picture(option: str, path: Path) -> None:
    """Refuse a picture of a kind that cannot be drawn, or that cannot be written."""
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"{option} {path}: write a file that ends in {', '.join(PICTURES)}.")
    check_writable(path)


def refuse_both(*, json: bool, csv: bool) -> None:
    """Refuse two formats on one standard output."""
    if json and csv:
        raise ValueError("--json and --csv both print to standard output; choose one.")


def deliver(
    request: Request,
    question: str,
    result: Answer,
    sensitivity: Callable[[], Any] | None = None,
) -> None:
    """Write what was asked for and print the answer.

    If a file cannot be written the answer is printed all the same: it may have taken hours.
    """
    try:
        _write_files(request, result, sensitivity)
    finally:
        _print_answer(request, question, result)
    if not (request.json or request.csv):
        for kind, path in (("picture", request.plot), ("report", request.report)):
            if path is not None:
                typer.echo(f"The {kind} is in {path}.")


def _write_files(request: Request, result: Answer, sensitivity: Callable[[], Any] | None) -> None:
    if request.plot is not None:
        _draw(result, request.plot)
    if request.report is not None:
        result.to_html(
            request.report,
            alpha=request.alpha,
            sensitivity=sensitivity() if sensitivity and _has_bandwidth(result) else None,
            command=request.command,
        )


def _has_bandwidth(result: Answer) -> bool:
    return any("bandwidth" in kernel for kernel in result.provenance.kernels.values())


def _draw(result: Answer, path: Path) -> None:
    """Write the natural picture of a result."""
    import matplotlib as mpl

    mpl.use("Agg")
    figure = result.plot().figure
    with write_atomically(path) as temporary:
        figure.savefig(temporary, format=path.suffix.lower().lstrip("."), dpi=200)


def _print_answer(request: Request, question: str, result: Answer) -> None:
    join = request.table.join
    if request.json:
        typer.echo(json_text(as_json(request, question, result)))
        return
    if join is not None:
        # A table for machines stays a table.
        typer.echo(f"{join}" if request.csv else f"{join}\n", err=request.csv)
    if request.csv:
        print_csv(result.table())
    else:
        typer.echo(as_options(result.summary(request.alpha)))


def print_csv(columns: dict[str, list[Any]]) -> None:
    """Print columns as CSV with numbers unrounded."""
    text = io.StringIO()
    writer = csv_format.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    typer.echo(text.getvalue(), nl=False)


def json_text(value: Any) -> str:
    """Write plain values as JSON, numbers unrounded."""
    return json_format.dumps(_plain(value), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    """Turn tuples into lists and NumPy's numbers into Python's; JSON knows no infinity."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def as_json(request: Request, question: str, result: Answer) -> dict[str, Any]:
    """Give a result as plain values, laid out as in ``result.schema.json``."""
    import reldep
    from reldep.results.base import Result

    provenance, join = result.provenance, request.table.join
    specific = _estimate(result, request.alpha) if isinstance(result, Result) else _ranking(result)
    return {
        "schema": SCHEMA,
        "version": reldep.__version__,
        "question": question,
        "answer": result.sentence(request.alpha),
        "alpha": request.alpha,
        "measure": result.measure,
        "variance": result.variance,
        "n_observations": result.n_observations,
        "n_dropped": provenance.n_dropped,
        **specific,
        "table": _rows(result.table()),
        "cautions": [
            {"kind": type(caution).__name__, "text": str(caution)} for caution in result.warnings
        ],
        "kernels": {name: dict(kernel) for name, kernel in provenance.kernels.items()},
        "engine": provenance.engine,
        "join": None if join is None else asdict(join),
        "command": request.command,
    }


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


def _ranking(result: Any) -> dict[str, Any]:
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
