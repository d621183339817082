"""Does a weighted sum of dependences differ from 0?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks import cautions_about
from reldep.data.checks import ALTERNATIVES, check_choice, check_names_known
from reldep.data.selectors import parse_weight, quote_column
from reldep.engine import Influence
from reldep.engine.terms import canonical
from reldep.exceptions import InputError, InputTypeError
from reldep.questions.calling import asked
from reldep.questions.declaring import Choice, Question, Selector, Slot
from reldep.questions.settings import Settings
from reldep.questions.study import read_study, reuse_influence
from reldep.results.comparison import Contrast
from reldep.stats.independence import relation_pvalues
from reldep.stats.pairwise import check_weights

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reldep.data.variables import FloatArray
    from reldep.engine import Pair


@asked
def contrast(
    variables: Mapping[str, Any] | Influence,
    weights: Mapping[Pair, float],
    *,
    measure: str = "cka",
    kernel: Any = "auto",
    standardize: bool = False,
    alternative: str = "two-sided",
    variance: str = "jackknife",
    clusters: Any = None,
    max_lag: int | str | None = None,
    missing: str = "raise",
    na: Any = (),
    engine: Any = "auto",
    rng: Any = None,
    ids: Any = None,
    given: Any = None,
    data: Any = None,  # noqa: ARG001 (@asked takes its columns)
    where: str | None = None,  # noqa: ARG001
) -> Contrast:
    """Test whether a weighted sum of dependences differs from 0.

    The paper's general test: any weights on any pairs of any number of variables.

    Parameters
    ----------
    variables : mapping of str to data, or Influence
        The same observations of every variable; or what :func:`influence` has computed from
        them, so that many questions cost no more than one.
    weights : mapping of (str, str) to float
        The weight of every pair. ``{("x", "y"): 1, ("x", "z"): -1}`` is :func:`compare`.
    measure, kernel, alternative, variance, clusters, max_lag, missing, na, engine, rng, ids, given
        As for :func:`compare`; a tuple of kernels follows the order of `variables`.
    standardize, data, where
        As for :func:`compare`.

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
    check_choice("alternative", alternative, ALTERNATIVES)
    settings = Settings(
        measure=measure,
        kernel=kernel,
        standardize=standardize,
        variance=variance,
        clusters=clusters,
        max_lag=max_lag,
        missing=missing,
        na=na,
        engine=engine,
        rng=rng,
        ids=ids,
        given=given,
    )
    if isinstance(variables, Influence):
        pairs, vector = read_weights(weights, variables.names)
        computed = reuse_influence(variables, pairs, settings)
    elif not isinstance(variables, Mapping):
        raise InputTypeError(
            f"variables is of type {type(variables).__name__}; pass a mapping of names to data."
        )
    else:
        pairs, vector = read_weights(weights, variables)
        used = dict.fromkeys(name for pair in pairs for name in pair)
        blocks = {name: variables[name] for name in used}
        study = read_study(blocks, settings, among=list(variables))
        computed = study.compute(pairs)
    test = computed.dependences.test(vector)
    is_difference = sorted(vector) == [-1.0, 1.0]
    about = cautions_about(computed.tested(vector, is_difference=is_difference))
    cautions = (*computed.cautions, *about)
    return Contrast(
        provenance=computed.provenance,
        warnings=cautions,
        dependences=computed.dependences,
        weights=vector,
        tested=test,
        alternative=alternative,
        influence=computed.influence,
        relation_pvalues=relation_pvalues(computed.influence, computed.dependences),
    )


def read_weights(weights: Any, names: Iterable[str]) -> tuple[tuple[Pair, ...], FloatArray]:
    """Check weights by pair; the same pair in both orders is added up."""
    if not isinstance(weights, Mapping) or not weights:
        raise InputTypeError(
            f"weights is {'empty' if weights == {} else f'of type {type(weights).__name__}'}; pass "
            "a mapping such as {('x', 'y'): 1, ('x', 'z'): -1}."
        )
    known = list(names)
    total: dict[Pair, float] = {}
    original: dict[Pair, Pair] = {}
    for pair, weight in weights.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputTypeError(
                f"weights has the key {pair!r}; keys are pairs of names, ('x', 'y')."
            )
        check_names_known("weights", pair, known)
        key = canonical(pair)
        original.setdefault(key, pair)
        total[key] = total.get(key, 0.0) + float(weight)
    vector = check_weights(np.array(list(total.values())))
    return tuple(original.values()), vector


class _ContrastQuestion(Question):
    """Weights of pairs, whose names are columns or blocks."""

    def blocks(
        self, filled: Mapping[str, Any], columns: Selector
    ) -> dict[str, dict[str, list[str]]]:
        found = {"variable": super().blocks(filled, columns).get("variable", {})}
        known = [*found["variable"], *columns.table.columns]
        for name in dict.fromkeys(name for pair in _parse_weights(filled) for name in pair):
            if name not in found["variable"]:
                check_names_known("weight", [name], known, "variable or column")
                found["variable"][name] = [name]
        return found

    def arguments(
        self, filled: Mapping[str, Any], data: Mapping[str, Mapping[str, Any]]
    ) -> tuple[list[Any], dict[str, Any]]:
        return [dict(data["variable"]), _parse_weights(filled)], {}

    def written(self, filled: Mapping[str, Any], columns: Selector) -> dict[str, Any]:
        blocks = self.blocks(filled, columns)["variable"]
        variables = {
            name: ",".join(quote_column(column) for column in found)
            for name, found in blocks.items()
        }
        return {"variables": variables, "weights": _parse_weights(filled)}


def _parse_weights(filled: Mapping[str, Any]) -> dict[Pair, float]:
    """Read ``A~B=W`` for every pair."""
    weights: dict[Pair, float] = {}
    for word in filled["weight"]:
        pair, weight = parse_weight(word)
        if pair in weights:
            raise InputError(f"`weight={word!r}` repeats a pair that has a weight; give it one.")
        weights[pair] = weight
    return weights


QUESTIONS = (
    _ContrastQuestion(
        "contrast",
        contrast,
        slots=(
            Slot(
                "weight",
                "The weight of a pair, as in 'x~y=1'; repeat it.",
                "words",
                metavar="A~B=W",
            ),
            Slot(
                "variable",
                "A block of columns to be used in --weight.",
                "blocks",
                required=False,
                metavar="NAME=COLS",
            ),
        ),
        choices=(
            Choice(
                "alternative",
                "What to show: different from 0, above 0, or below 0.",
                "two-sided",
                ALTERNATIVES,
            ),
        ),
        example="reldep contrast t.csv --weight 'x~y=1' --weight 'x~z=1' --weight 'x~v=-2'",
    ),
)
