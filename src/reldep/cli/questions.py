"""The commands that answer a question about a file."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import typer

from reldep.cli.output import deliver
from reldep.cli.request import Request, asks

COLS = "COLS"
Alternative: TypeAlias = Literal["greater", "less", "two-sided"]


@asks
def compare(
    request: Request,
    source: Annotated[str, typer.Option(metavar=COLS, help="What depends.")],
    first: Annotated[str, typer.Option(metavar=COLS, help="On this more …")],
    second: Annotated[str, typer.Option(metavar=COLS, help="… than on this?")],
    alternative: Annotated[
        Alternative, typer.Option(help="What is to be shown: more on FIRST, less, or either.")
    ] = "greater",
    method: Annotated[
        Literal["joint", "split"], typer.Option(help="On the same rows, or on halves of them.")
    ] = "joint",
) -> None:
    """Does SOURCE depend more on FIRST than on SECOND?

    COLS: names (age,sex), ranges (C14:C22), globs ('gene_*'),
    types (@numeric, @categorical), exclusions ('!age');
    NAME=COLS gives a block a name.

    reldep compare mice.csv --source diet --first 'lipids=C*' --second 'genes=gene_*'
    """
    import reldep

    data, clusters = request.read(request.blocks(source, first, second))
    options = request.options(clusters) | {"alternative": alternative, "names": list(data)}
    result = reldep.compare(*data.values(), method=method, **options)

    def over_bandwidths() -> Any:
        return reldep.sensitivity(*data.values(), **options)

    deliver(request, "compare", result, over_bandwidths if method == "joint" else None)


@asks
def rank(
    request: Request,
    source: Annotated[str, typer.Option(metavar=COLS, help="What depends.")],
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COLS", help="A target, one column or a block; repeat it."),
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(
            metavar=COLS, help="Each of these columns is a target, except the source's own."
        ),
    ] = None,
    adjust: Annotated[
        Literal["single-step", "step-down", "holm", "bh"],
        typer.Option(
            metavar="NAME",
            help="How the p-values of many pairs are adjusted: single-step, step-down, holm or bh.",
        ),
    ] = "single-step",
) -> None:
    """On which of many targets does SOURCE depend most?

    COLS are as in reldep compare --help.

    reldep rank mice.csv --source diet --targets 'C*'
    """
    import reldep
    from reldep.data import quote_column

    own = {column for block in request.blocks(source).values() for column in block}
    each = [] if targets is None else [c for c in request.table.select(targets) if c not in own]
    quoted = [quote_column(column) for column in each]
    definitions = [*(target or []), *(f"{column}={column}" for column in quoted)]
    if len(definitions) < 2:
        raise ValueError("rank needs at least two targets: --target NAME=COLS twice, or --targets.")
    data, clusters = request.read(request.blocks(source, *definitions))
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
    alternative: Annotated[
        Alternative, typer.Option(help="What is to be shown: above 0, below, or either.")
    ] = "greater",
) -> None:
    """Is a weighted sum of dependences positive?

    The names in --weight are columns or blocks defined with --variable;
    COLS are as in reldep compare --help.

    reldep contrast t.csv --weight 'x~y=1' --weight 'x~z=1' --weight 'x~v=-2'
    """
    import reldep

    weights = _read_weights(weight)
    blocks = request.blocks(*(variable or []))
    used = dict.fromkeys(name for pair in weights for name in pair)
    blocks |= {name: [_column(request, name, blocks)] for name in used if name not in blocks}
    data, clusters = request.read(blocks)
    result = reldep.contrast(data, weights, alternative=alternative, **request.options(clusters))
    deliver(request, "contrast", result)


def _read_weights(words: list[str]) -> dict[tuple[str, str], float]:
    from reldep.data import parse_weight

    weights: dict[tuple[str, str], float] = {}
    for word in words:
        pair, weight = parse_weight(word)
        if pair in weights:
            raise ValueError(f"--weight {word}: the pair has a weight already; give it one.")
        weights[pair] = weight
    return weights


def _column(request: Request, name: str, blocks: dict[str, list[str]]) -> str:
    """Give the column of this name, or propose a column or block of a similar one."""
    from reldep.data.checks import hint

    if name not in request.table.columns:
        known = [*blocks, *request.table.columns]
        raise ValueError(
            f"--weight speaks of {name!r}, which is neither a --variable nor a column of "
            f"{request.table.name}; {hint(name, known, kind='names')}."
        )
    return name


@asks
def dependence(
    request: Request,
    x: Annotated[str, typer.Option("--x", metavar=COLS, help="One variable.")],
    y: Annotated[str, typer.Option("--y", metavar=COLS, help="The other.")],
    test: Annotated[
        Literal["chi-square", "permutation"], typer.Option(help="The test of independence.")
    ] = "chi-square",
) -> None:
    """How strong is one dependence, and is there any?

    COLS are as in reldep compare --help.

    reldep dependence mice.csv --x diet --y 'lipids=C*'
    """
    import reldep

    data, clusters = request.read(request.blocks(x, y))
    result = reldep.dependence(
        *data.values(), names=list(data), test=test, **request.options(clusters)
    )
    deliver(request, "dependence", result)
