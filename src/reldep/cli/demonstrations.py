"""``reldep demo``: forty mice, their diet and genotype, their lipids and genes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reldep.cli.output import check_picture, say

if TYPE_CHECKING:
    from reldep.results import Comparison

QUESTIONS = {
    "diet": "Is the diet of a mouse more closely related to the fatty acids of its liver or to the "
    "expression of its genes?",
    "genotype": "And its genotype?",
}


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
    if files is not None:
        from reldep.datasets._examples import write_examples

        for path in write_examples(files):
            say(str(path))
        return
    from reldep.cli.spelling import in_shell
    from reldep.report import plain_text

    check_picture("--out", out)
    results = compare_mice()
    for source, result in results.items():
        said = plain_text(result.describe().reworded(in_shell))
        say(f"{QUESTIONS[source]}\n\n{said}\n")
    draw_mice(results, out)
    say(f"The picture is in {out}.")


def compare_mice() -> dict[str, Comparison]:
    """Compare lipids with genes, once for the diet and once for the genotype.

    The linear kernel on one-hot labels, which is what Delta is, for the source; Gaussian with
    the median bandwidth for both blocks.
    """
    import reldep
    from reldep.datasets import load_nutrimouse

    mice = load_nutrimouse()
    return {
        source: reldep.compare(
            mice[source], mice["lipid"], mice["gene"], names=(source, "lipids", "genes")
        )
        for source in QUESTIONS
    }


def draw_mice(results: dict[str, Comparison], path: Path) -> None:
    """Write the pictures of both comparisons side by side."""
    from matplotlib.figure import Figure

    from reldep.io import write_atomically

    figure = Figure(figsize=(9.2, 6.4), layout="constrained")
    for ax, result in zip(figure.subplots(1, len(results)), results.values(), strict=True):
        result.plot(ax)
    with write_atomically(path) as temporary:
        figure.savefig(temporary, dpi=150, format=path.suffix.lstrip("."))
