"""Commands that bring their own data: ``reldep demo`` and ``reldep reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from reldep.cli.delivery import check_picture, in_words, say


def demo(
    out: Annotated[
        Path, typer.Option(metavar="PATH", help="Where to write the figure: .png, .svg or .pdf.")
    ] = Path("reldep-demo.png"),
    files: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the files that the examples of the documentation name into DIR instead.",
        ),
    ] = None,
) -> None:
    """Answer a real question: forty mice, their diet, lipids and genes."""
    from reldep.experiments.mice import QUESTIONS, compare_mice, draw_mice, write_examples

    if files is not None:
        for path in write_examples(files):
            say(str(path))
        return
    check_picture("--out", out)
    results = compare_mice()
    for source, result in results.items():
        say(f"{QUESTIONS[source]}\n\n{in_words(result)}\n")
    draw_mice(results, out)
    say(f"The two-sigma ellipses are in {out}.")


def reproduce(
    name: Annotated[
        str, typer.Argument(help="The experiment: synthetic, languages, tumour or stimuli.")
    ],
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The paper's sizes, or seconds.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="The random seed.")] = 0,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The directory to write into.")] = Path(
        "reproduction"
    ),
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A directory of parallel texts or of Europarl (languages), or "
            "ge_cgh_locIGR.rda (tumour).",
        ),
    ] = None,
) -> None:
    """Make the paper's figures and tables again, with our numbers beside the paper's.

    A run that was stopped continues where it was.
    """
    from reldep.experiments import reproduce as run_experiment

    size = "full" if full else "quick"
    try:
        paths = run_experiment(name, size=size, seed=seed, out=out, data=data)
    except KeyboardInterrupt:
        typer.echo("The same command continues from here.", err=True)
        raise
    for path in paths:
        say(str(path))
