"""The options that all questions about a file share, and the data they ask for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from reldep.cli.kernels import parse_kernels

if TYPE_CHECKING:
    import polars as pl

    from reldep.tables import Table

DATA, METHOD, OUTPUT = "Data", "Method", "Output"


def _option(text: str, panel: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, **settings)


@dataclass(frozen=True)
class Request:
    """What a question about a file says besides its variables."""

    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="CSV, TSV (also .gz), Parquet, Arrow, Excel or NPZ; - for standard input. "
            "Several files need --join.",
        ),
    ]
    join: Annotated[str | None, _option("The column on which several files are joined.", DATA)] = (
        None
    )
    where: Annotated[
        str | None, _option("Only rows for which this holds: \"age > 40 AND sex = 'f'\".", DATA)
    ] = None
    categories: Annotated[
        str | None, _option("Columns of codes that are labels, not numbers.", DATA, metavar="COLS")
    ] = None
    missing: Annotated[str, _option("Incomplete rows: raise (an error) or drop.", DATA)] = "raise"
    measure: Annotated[str, _option("hsic, cka or dcor.", METHOD)] = "hsic"
    kernel: Annotated[
        list[str] | None,
        _option(
            "A kernel for all variables, or NAME=KERNEL for one; repeat it for several. "
            "KERNEL: auto, gaussian, gaussian:0.5*median, gaussian:2.0, laplace, linear, "
            "polynomial:3, delta, distance.",
            METHOD,
        ),
    ] = None
    variance: Annotated[
        str, _option("fixed-kernel, bandwidth-aware, second-order or full.", METHOD)
    ] = "fixed-kernel"
    clusters: Annotated[
        str | None,
        _option("The column that says which rows belong together.", METHOD, metavar="COL"),
    ] = None
    max_lag: Annotated[
        str | None, _option("Rows in time order: a number of steps, or auto.", METHOD)
    ] = None
    engine: Annotated[str, _option("auto, dense, tiled or features.", METHOD)] = "auto"
    seed: Annotated[int | None, _option("Seed of anything random.", METHOD)] = None
    alpha: Annotated[float, _option("Level of the test and of 1 - intervals.", METHOD)] = 0.05
    json: Annotated[bool, _option("Print JSON, numbers unrounded.", OUTPUT, "--json")] = False
    csv: Annotated[bool, _option("Print the table as CSV.", OUTPUT, "--csv")] = False
    plot: Annotated[
        Path | None, _option("Write the picture: .png, .svg or .pdf.", OUTPUT, metavar="PATH")
    ] = None
    report: Annotated[
        Path | None, _option("Write a report, one HTML file.", OUTPUT, metavar="PATH")
    ] = None

    @cached_property
    def table(self) -> Table:
        """The file or files, opened."""
        from reldep.tables import open_table

        return open_table(self.files, join=self.join, categories=self.categories)

    def blocks(self, *definitions: str) -> dict[str, list[str]]:
        """Find the columns of every variable, written ``COLS`` or ``NAME=COLS``."""
        found: dict[str, list[str]] = {}
        for definition in definitions:
            name, columns = self._block(definition)
            if name in found:
                raise ValueError(
                    f"two variables are named {name!r}; give them names of their own, "
                    "as in NAME=COLS."
                )
            found[name] = columns
        return found

    def _block(self, definition: str) -> tuple[str, list[str]]:
        from reldep.tables import parse_named

        if definition in self.table.columns:
            return definition, [definition]
        try:
            name, expression = parse_named(definition)
        except ValueError:
            return definition, self.table.select(definition)
        return name, self.table.select(expression)

    def read(self, blocks: dict[str, list[str]]) -> tuple[dict[str, Any], Any]:
        """Read only the columns used: the data of every variable, and the clusters."""
        columns = [column for block in blocks.values() for column in block]
        clusters = None if self.clusters is None else self.table.select(self.clusters)
        if clusters is not None and len(clusters) != 1:
            raise ValueError(f"--clusters {self.clusters} names {len(clusters)} columns; give one.")
        frame = self.table.read([*columns, *(clusters or [])], self.where)
        data = {name: _data_of(frame, block) for name, block in blocks.items()}
        return data, None if clusters is None else frame[clusters[0]]

    def options(self, clusters: Any) -> dict[str, Any]:
        """Give the keyword arguments of the question."""
        return {
            "measure": self.measure,
            "kernel": parse_kernels(self.kernel or []),
            "variance": self.variance,
            "clusters": clusters,
            "max_lag": self._lag(),
            "missing": self.missing,
            "engine": self.engine,
            "rng": self.seed,
        }

    def _lag(self) -> int | str | None:
        if self.max_lag is None or self.max_lag == "auto":
            return self.max_lag
        try:
            return int(self.max_lag)
        except ValueError:
            raise ValueError(
                f"--max-lag {self.max_lag} is neither a whole number nor auto."
            ) from None


def _data_of(frame: pl.DataFrame, columns: list[str]) -> Any:
    return frame[columns[0]] if len(columns) == 1 else frame.select(columns)


def asks(question: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a `Request` besides its own.

    The command takes the request as its first argument; typer sees the options one by one.
    """
    own = list(inspect.signature(question, eval_str=True).parameters.values())[1:]
    hints = get_type_hints(Request, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty if field.name == "files" else field.default,
        )
        for field in fields(Request)
    ]
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]

    @wraps(question)
    def command(**given: Any) -> None:
        request = Request(**{p.name: given.pop(p.name) for p in shared})
        question(request, **given)

    ordered = [shared[0], *parameters, *shared[1:]]
    command.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in ordered}
    del command.__wrapped__
    return command
