"""The options that all questions about a file share, and the data they ask for."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

import typer

from reldep.cli.output import check_outputs
from reldep.questions.kernel_words import parse_kernels

if TYPE_CHECKING:
    import polars as pl

    from reldep.data import Table

DATA, METHOD, OUTPUT = "Data", "Method", "Output"


def _option(text: str, panel: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, **settings)


FILES: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV (also .gz), Parquet, Arrow, Excel or NPZ; - for standard input. "
        "Several files need --join.",
    ),
]
JOIN: TypeAlias = Annotated[
    str | None, _option("The column on which several files are joined.", DATA, metavar="COL")
]
CATEGORIES: TypeAlias = Annotated[
    str | None, _option("Columns of codes that are labels, not numbers.", DATA, metavar="COLS")
]
JSON: TypeAlias = Annotated[bool, _option("Print JSON, numbers unrounded.", OUTPUT, "--json")]
CSV: TypeAlias = Annotated[bool, _option("Print the table as CSV, unrounded.", OUTPUT, "--csv")]


@dataclass(frozen=True)
class Request:
    """What a question about a file says besides its variables."""

    context: typer.Context
    files: FILES
    join: JOIN = None
    where: Annotated[
        str | None,
        _option(
            "Only rows for which this holds: \"age > 40 and sex = 'f'\".", DATA, metavar="COND"
        ),
    ] = None
    categories: CATEGORIES = None
    missing: Annotated[
        Literal["raise", "drop"], _option("Incomplete rows: an error, or left out.", DATA)
    ] = "raise"
    measure: Annotated[
        Literal["hsic", "cka", "dcor"], _option("The measure of dependence.", METHOD)
    ] = "hsic"
    kernel: Annotated[
        list[str] | None,
        _option(
            "A kernel for all variables, or NAME=KERNEL for one; repeat it for several. "
            "auto, gaussian, gaussian:0.5*median, gaussian:2.0, laplace, linear, polynomial:3, "
            "delta, distance and others.",
            METHOD,
            metavar="KERNEL",
        ),
    ] = None
    variance: Annotated[
        Literal["fixed-kernel", "bandwidth-aware", "second-order", "full"],
        _option("fixed-kernel, bandwidth-aware, second-order or full.", METHOD, metavar="NAME"),
    ] = "fixed-kernel"
    clusters: Annotated[
        str | None,
        _option("The column that says which rows belong together.", METHOD, metavar="COL"),
    ] = None
    max_lag: Annotated[
        str | None,
        _option(
            "Rows in time order: how many steps apart they may depend, or auto.",
            METHOD,
            metavar="N",
        ),
    ] = None
    engine: Annotated[
        str, _option("What computes it: auto, dense, tiled, features.", METHOD, metavar="NAME")
    ] = "auto"
    seed: Annotated[
        int | None, _option("From which random steps start.", METHOD, metavar="N", min=0)
    ] = None
    alpha: Annotated[
        float, _option("Level of the test; intervals are at 1 - alpha.", METHOD, metavar="LEVEL")
    ] = 0.05
    json: JSON = False
    csv: CSV = False
    plot: Annotated[
        Path | None, _option("Write the picture: .png, .svg or .pdf.", OUTPUT, metavar="PATH")
    ] = None
    report: Annotated[
        Path | None, _option("Write a report, one HTML file.", OUTPUT, metavar="PATH")
    ] = None

    @property
    def command(self) -> str:
        """The command as it was typed, ready to be pasted."""
        return shlex.join(["reldep", *self.context.obj])

    @cached_property
    def table(self) -> Table:
        """The file or files, opened."""
        from reldep.data import open_table

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
        from reldep.data import parse_named

        if definition in self.table.columns:
            return definition, [definition]
        try:
            name, expression = parse_named(definition)
        except ValueError:
            columns = self.table.select(definition)
            return columns[0] if len(columns) == 1 else definition, columns
        return name, self.table.select(expression)

    def read(self, blocks: dict[str, list[str]]) -> tuple[dict[str, Any], Any]:
        """Read only the columns used: the data of every variable, and the clusters."""
        columns = [column for block in blocks.values() for column in block]
        clusters = [] if self.clusters is None else self.table.select(self.clusters)
        if len(clusters) > 1:
            raise ValueError(f"--clusters {self.clusters} names {len(clusters)} columns; give one.")
        frame = self.table.read([*columns, *clusters], self.where)
        data = {name: _data_of(frame, block) for name, block in blocks.items()}
        return data, frame[clusters[0]] if clusters else None

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
    What the request asks to be written is checked before the command does any work.
    """
    own = list(inspect.signature(question, eval_str=True).parameters.values())[1:]
    hints = get_type_hints(Request, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(Request)
    ]
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]

    @wraps(question)
    def command(**given: Any) -> None:
        request = Request(**{p.name: given.pop(p.name) for p in shared})
        check_outputs(request)
        question(request, **given)

    # Help lists the options in this order: the file, what is asked, how, what comes out.
    n_needed = sum(p.default is inspect.Parameter.empty for p in shared)
    ordered = [*shared[:n_needed], *parameters, *shared[n_needed:]]
    command.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in ordered}
    del command.__wrapped__
    return command
