"""The commands that answer a question about a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from reldep.cli.output import check_outputs, deliver
from reldep.cli.request import Request, asks

COLS = "COLS"


@asks
def compare(
    request: Request,
    source: Annotated[str, typer.Option(metavar=COLS, help="What depends.")],
    first: Annotated[str, typer.Option(metavar=COLS, help="On this more …")],
    second: Annotated[str, typer.Option(metavar=COLS, help="… than on this?")],
    alternative: Annotated[
        str, typer.Option(help="greater (more on the first), less or two-sided.")
    ] = "greater",
    method: Annotated[str, typer.Option(help="joint, or split as a baseline.")] = "joint",
) -> None:
    """Does SOURCE depend more on FIRST than on SECOND?

    COLS are names, ranges (C14:C22), globs ('ge_*'), types (@numeric, @categorical), separated by
    commas; NAME=COLS gives a block a name.

    Example: reldep compare mice.csv --source diet --first lipids=C14:C22 --second 'genes=ge_*'
    """
    import reldep

    check_outputs(request)
    blocks = request.blocks(source, first, second)
    data, clusters = request.read(blocks)
    options = request.options(clusters) | {"alternative": alternative, "names": list(data)}
    result = reldep.compare(*data.values(), method=method, **options)

    def over_bandwidths() -> Any:
        return reldep.sensitivity(*data.values(), **options)

    deliver(request, "compare", result, over_bandwidths)


@asks
def rank(
    request: Request,
    source: Annotated[str, typer.Option(metavar=COLS, help="What depends.")],
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COLS", help="A target, one column or a block; repeat it."),
    ] = None,
    targets: Annotated[
        str | None, typer.Option(metavar=COLS, help="Each of these columns is a target.")
    ] = None,
    adjust: Annotated[
        str, typer.Option(help="p-values for many pairs: single-step, step-down, holm or bh.")
    ] = "single-step",
) -> None:
    """On which of many targets does SOURCE depend most?

    Example: reldep rank plant.csv --source yield --targets 'x_*' --measure cka
    """
    import reldep
    from reldep.tables import quote_column

    check_outputs(request)
    each = [] if targets is None else [quote_column(c) for c in request.table.select(targets)]
    definitions = [*(target or []), *(f"{column}={column}" for column in each)]
    if len(definitions) < 2:
        raise ValueError("rank needs at least two targets: --target NAME=COLS twice, or --targets.")
    blocks = request.blocks(source, *definitions)
    data, clusters = request.read(blocks)
    name, *others = data
    result = reldep.rank(
        data[name],
        {other: data[other] for other in others},
        adjust=adjust,
        confidence_level=1 - request.alpha,
        names=[name, *others],
        **request.options(clusters),
    )
    deliver(request, "rank", result)


@asks
def contrast(
    request: Request,
    weight: Annotated[
        list[str],
        typer.Option(metavar="A~B=W", help="The weight of a pair, as in 'x~y=1'; repeat it."),
    ],
    variable: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COLS", help="A block of columns to be used in --weight."),
    ] = None,
    alternative: Annotated[str, typer.Option(help="greater, less or two-sided.")] = "greater",
) -> None:
    """Is a weighted sum of dependences positive?

    Example: reldep contrast t.csv --weight 'da~sv=1' --weight 'da~en=1' --weight 'da~fr=-2'
    """
    import reldep
    from reldep.tables import parse_weight, quote_column

    check_outputs(request)
    weights = dict(parse_weight(text) for text in weight)
    blocks = request.blocks(*(variable or []))
    used = dict.fromkeys(name for pair in weights for name in pair)
    columns = [quote_column(name) for name in used if name not in blocks]
    blocks |= request.blocks(*(f"{column}={column}" for column in columns))
    data, clusters = request.read(blocks)
    result = reldep.contrast(data, weights, alternative=alternative, **request.options(clusters))
    deliver(request, "contrast", result)


@asks
def dependence(
    request: Request,
    x: Annotated[str, typer.Option("--x", metavar=COLS, help="One variable.")],
    y: Annotated[str, typer.Option("--y", metavar=COLS, help="The other.")],
    test: Annotated[str, typer.Option(help="chi-square or permutation.")] = "chi-square",
) -> None:
    """How strong is one dependence, and is there any?

    Example: reldep dependence mice.csv --x diet --y lipids=C14:C22
    """
    import reldep

    check_outputs(request)
    data, clusters = request.read(request.blocks(x, y))
    result = reldep.dependence(
        *data.values(), names=list(data), test=test, **request.options(clusters)
    )
    deliver(request, "dependence", result)
