"""``reldep reproduce``: the paper's figures and tables by one command each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def reproduce_command(
    name: Annotated[
        str, typer.Argument(help="The experiment: synthetic, languages, tumour or stimuli.")
    ],
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The paper's sizes, or seconds.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 0,
    out: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("reproduction"),
    data: Annotated[
        Path | None,
        typer.Option(help="The Europarl folder (languages) or ge_cgh_locIGR.rda (tumour)."),
    ] = None,
) -> None:
    """Make the paper's figures and tables again, with our numbers beside the paper's.

    A run that was stopped goes on where it was.
    """
    from reldep.experiments import reproduce

    try:
        paths = reproduce(name, size="full" if full else "quick", seed=seed, out=out, data=data)
    except KeyboardInterrupt:
        typer.echo("The same command goes on from here.", err=True)
        raise typer.Abort from None
    for path in paths:
        typer.echo(path)
