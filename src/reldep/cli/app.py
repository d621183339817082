"""The command ``reldep``: from a file to an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="reldep",
    help="Which dependence is stronger? Does X depend more on Y than on Z?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _root() -> None:
    """Which dependence is stronger? Does X depend more on Y than on Z?"""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where to write the figure.")] = Path("reldep-demo.png"),
) -> None:
    """Answer a real question: forty mice, their diet, lipids and genes."""
    from reldep.experiments.mice import QUESTIONS, compare_mice, draw_mice

    results = compare_mice()
    for source, result in results.items():
        typer.echo(f"{QUESTIONS[source]}\n\n{result.summary()}\n")
    draw_mice(results, out)
    typer.echo(f"The two-sigma ellipses are in {out}.")


@app.command()
def version() -> None:
    """Print the version."""
    import reldep

    typer.echo(f"reldep {reldep.__version__}")


def main() -> None:
    """Run the command line."""
    app()
