"""Does a weighted sum of dependences differ from 0?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Unpack

import numpy as np

from reldep.arguments import Argument, check_names_known
from reldep.data.selectors import parse_named, parse_weight, quote_column
from reldep.data.variables import FloatArray
from reldep.engine import Influence, Pair
from reldep.engine.centred import canonical
from reldep.exceptions import InputError, InputTypeError
from reldep.questions import options as shared
from reldep.questions.ask import question, read_variables
from reldep.questions.study import read_study, reuse_influence
from reldep.results.comparison import Contrast
from reldep.stats.paper import check_weights


def parse_weights(given: str | Sequence[str]) -> dict[Pair, float]:
    """Return the weights that words such as ``a~b=1`` give to pairs."""
    weights: dict[Pair, float] = {}
    for word in given.splitlines() if isinstance(given, str) else given:
        pair, weight = parse_weight(word)
        if pair in weights:
            raise InputError(f"`weights={word!r}` repeats a pair that has a weight; give it one.")
        weights[pair] = weight
    return weights


def in_weights(values: Mapping[str, Any]) -> Any:
    """Return the variables that weights name: those of several columns, and plain columns."""
    own = values.get("variables", ())
    blocks = [own] if isinstance(own, str) else list(own)
    named = {parse_named(word)[0] for word in blocks}
    plain = dict.fromkeys(name for pair in values.get("weights", ()) for name in pair)
    return [*blocks, *(quote_column(name) for name in plain if name not in named)]


WEIGHTS = Argument(
    "The weight of every pair: {('x', 'y'): 1, ('x', 'z'): -1} compares two dependences.",
    shown="mapping of (str, str) to float",
    parse=parse_weights,
    is_list=True,
    panel="",
    metavar="A~B=W",
    flags=("--weight", "--weights"),
    label="Weights",
    in_words="The weight of a pair, as in 'x~y=1'; one for each pair.",
)


class ContrastOptions(shared.Options, shared.Directed, total=False):
    """The options of :func:`contrast`."""


@question
def contrast(
    variables: Annotated[
        Any,
        shared.variables(
            "At least two; or an Influence.",
            implied=in_weights,
            in_words="Variables of several columns, as NAME=COLS; other names are columns.",
        ),
    ],
    weights: Annotated[Any, WEIGHTS],
    **options: Unpack[ContrastOptions],
) -> Contrast:
    """Test whether a weighted sum of dependences differs from 0.

    The paper's general test: any weights on any pairs of any number of variables.

    Returns
    -------
    Contrast

    Examples
    --------
    Are two languages, together, nearer to a third than a fourth is?

    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> noisy = {name: x + s * rng.normal(size=100) for name, s in zip("abc", (0.5, 0.6, 3))}
    >>> result = reldep.contrast(
    ...     {"x": x, **noisy}, {("x", "a"): 0.5, ("x", "b"): 0.5, ("x", "c"): -1}
    ... )
    >>> result.pvalue < 0.001
    True

    Compute once, ask often; a normalised measure needs the self-pairs too:

    >>> pairs = [("x", name) for name in noisy] + [(name, name) for name in ("x", *noisy)]
    >>> A = reldep.influence({"x": x, **noisy}, pairs)
    >>> a_or_b = reldep.contrast(A, {("x", "a"): 1, ("x", "b"): -1})
    >>> a_or_c = reldep.contrast(A, {("x", "a"): 1, ("x", "c"): -1})
    >>> bool(a_or_b.estimate < a_or_c.estimate)
    True
    """
    if isinstance(variables, Influence):
        pairs, vector = read_weights(weights, variables.names)
        computed = reuse_influence(variables, pairs, options)
    else:
        known = read_variables("variables", variables)
        pairs, vector = read_weights(weights, known)
        used = {name: known[name] for pair in pairs for name in pair}
        study = read_study({}, options, many={"variables": used}, pairs=pairs, among=list(known))
        computed = study.compute()
    return computed.answer(
        Contrast,
        vector,
        weights=vector,
        tested=computed.found.test(vector),
        alternative=options["alternative"],
    )


def read_weights(weights: Any, names: Iterable[str]) -> tuple[tuple[Pair, ...], FloatArray]:
    """Check weights by pair; the same pair in both orders is added up."""
    if not isinstance(weights, Mapping) or not weights:
        what = "empty" if weights == {} else f"of type {type(weights).__name__}"
        raise InputTypeError(f"weights is {what}; pass a mapping, {{('x', 'y'): 1, ...}}.")
    known = list(names)
    total: dict[Pair, float] = {}
    original: dict[Pair, Pair] = {}
    for pair, weight in weights.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputTypeError(f"weights has the key {pair!r}; keys are pairs of names.")
        check_names_known("weights", pair, known)
        key = canonical(pair)
        original.setdefault(key, pair)
        try:
            total[key] = total.get(key, 0.0) + float(weight)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"weights gives {pair} {weight!r:.40}; pass a number.") from None
    vector = check_weights(np.array(list(total.values())))
    return tuple(original.values()), vector
