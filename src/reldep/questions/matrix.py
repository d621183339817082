"""How closely is every variable related to every other?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from typing import Annotated, Any, Literal, Unpack

import numpy as np

from reldep.arguments import Argument
from reldep.exceptions import InputError
from reldep.questions import options as shared
from reldep.questions.ask import question, read_variables
from reldep.questions.study import read_study
from reldep.results.matrix import Matrix
from reldep.stats.independence import relation_pvalues
from reldep.stats.simultaneous import JointDraws, false_discovery_rates, holm
from reldep.stats.units import pairs_needed

Adjustment = Literal["holm", "bh"]
ADJUSTMENTS = {"holm": holm, "bh": false_discovery_rates}


def all_columns(values: Mapping[str, Any]) -> Any:
    """Return the variables that words name, or all columns if they name none."""
    if "variables" not in values and "columns" in values:
        raise InputError("`columns` is the second of two sets; name the first by `variables`.")
    return values.get("variables", "@all")


ADJUST = Argument(
    "How the p-values of independence are adjusted: Holm's procedure controls the chance "
    "of any false claim, Benjamini and Hochberg's the share of them.",
    "holm",
)


class MatrixOptions(shared.Options, shared.Simultaneous, total=False):
    """The options of :func:`matrix`."""

    adjust: Annotated[Adjustment, ADJUST]


@question
def matrix(
    variables: Annotated[
        Any,
        shared.variables(
            "At least two.",
            implied=all_columns,
            in_words="Each column is a variable, and each NAME=COLS; all if left out.",
        ),
    ],
    columns: Annotated[
        Any, shared.variables("A second set: all dependences between the two sets.", None)
    ] = None,
    **options: Unpack[MatrixOptions],
) -> Matrix:
    """Estimate the dependence of every pair of variables.

    Returns
    -------
    Matrix
        With `to_frame()`, `compare(pair, pair)`, `tree()`, `confidence_interval()`, `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> data = {"a": x, "b": x + 0.5 * rng.normal(size=100), "c": rng.normal(size=100)}
    >>> result = reldep.matrix(data)
    >>> (result.to_frame()["adjusted_pvalue"] < 0.05).to_list()
    [True, False, False]
    >>> result.compare(("a", "b"), ("a", "c")).pvalue < 0.001
    True
    """
    rows = read_variables("variables", variables, at_least=2 if columns is None else 1)
    others = rows if columns is None else read_variables("columns", columns, at_least=1)
    pairs = list(combinations(rows, 2) if columns is None else product(rows, others))
    many = {"variables": rows} | ({} if columns is None else {"columns": others})
    study = read_study({}, options, many=many, pairs=pairs)
    computed = study.compute(needed=pairs_needed(pairs, "cka"))
    found = computed.found
    rng = shared.generator(options)
    draws = JointDraws.of(found.deviations, options["n_simulations"], rng)
    pvalues = np.array(relation_pvalues(computed.influence, found))
    return computed.answer(
        Matrix,
        np.eye(len(found.pairs)),
        row_names=tuple(rows),
        column_names=tuple(others),
        pvalues=pvalues,
        adjusted_pvalues=ADJUSTMENTS[options["adjust"]](pvalues),
        maxima=draws.value_maxima(),
        adjust=options["adjust"],
        confidence_level=options["confidence_level"],
        seed=int(rng.integers(2**62)),
    )
