"""How closely is every variable related to every other?"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks import cautions_about
from reldep.data.checks import check_choice, check_count, check_level
from reldep.exceptions import InputError
from reldep.questions.calling import asked
from reldep.questions.declaring import Choice, Question, Selector, Slot, merged
from reldep.questions.dependence import conditional_independence
from reldep.questions.settings import Settings
from reldep.questions.study import read_study
from reldep.questions.targets import read_variables
from reldep.results.dependence_matrix import Matrix
from reldep.stats import student
from reldep.stats.independence import independence_pvalues_of
from reldep.stats.simultaneous import JointDraws, holm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep.data.variables import FloatArray
    from reldep.engine import Influence
    from reldep.questions.study import Study
    from reldep.stats.estimates import Estimates

ADJUSTMENTS_OF_CELLS = ("holm", "bh")


@asked
def matrix(
    variables: Any,
    columns: Any = None,
    *,
    measure: str = "cka",
    kernel: Any = "auto",
    standardize: bool = False,
    variance: str = "jackknife",
    clusters: Any = None,
    max_lag: int | str | None = None,
    missing: str = "raise",
    na: Any = (),
    engine: Any = "auto",
    rng: Any = None,
    ids: Any = None,
    data: Any = None,  # noqa: ARG001 (@asked takes its columns)
    where: str | None = None,  # noqa: ARG001
    confidence_level: float = 0.95,
    adjust: str = "holm",
    n_simulations: int = 10_000,
    given: Any = None,
) -> Matrix:
    """Estimate the dependence of every pair of variables.

    Parameters
    ----------
    variables : mapping of str to data, data frame or array of two dimensions
        At least two. Every column of a frame or array is a variable of its own; in a mapping a
        variable may have several columns, such as the activations of a network's layer.
    columns : as `variables`, optional
        A second set: the result is the rectangle of all dependences between the two sets.
    measure, kernel, clusters, max_lag, missing, na, engine, rng, ids, given, data, where
        As for :func:`compare`; a mapping of kernels is by name.
    standardize
        As for :func:`compare`.
    variance : {"jackknife", "fixed-kernel"}, default "jackknife"
    confidence_level : float, default 0.95
        Of the intervals, which cover the dependences of all pairs at once.
    adjust : {"holm", "bh"}, default "holm"
        How the p-values of independence are adjusted for their number: Holm's procedure
        controls the chance of any false claim, Benjamini and Hochberg's the share of them.
    n_simulations : int, default 10000
        Draws from the joint law of all cells.

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
    >>> result.is_shown().tolist()
    [True, False, False]
    >>> result.compare(("a", "b"), ("a", "c")).pvalue < 0.001
    True
    """
    check_choice("adjust", adjust, ADJUSTMENTS_OF_CELLS)
    level = check_level("confidence_level", confidence_level)
    check_count("n_simulations", n_simulations, at_least=int(np.ceil(20 / (1.0 - level))))
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
    blocks, rows, others = _sides(variables, columns)
    pairs = list(combinations(rows, 2)) if columns is None else list(product(rows, others))
    study = read_study(blocks, settings)
    selves = [(name, name) for name in blocks]
    computed = study.compute(pairs, needed=[*pairs, *selves])
    found = computed.dependences
    generator = settings.generator()
    draws = JointDraws.of(found.deviations, n_simulations, generator)
    pvalues = _independence(study, computed.influence, found)
    return Matrix(
        provenance=computed.provenance,
        warnings=(
            *computed.cautions,
            *cautions_about(computed.tested(np.eye(len(found.pairs)))),
        ),
        row_names=tuple(rows),
        column_names=tuple(others),
        dependences=found,
        influence=computed.influence,
        pvalues=pvalues,
        adjusted_pvalues=_adjusted(pvalues, adjust),
        maxima=draws.value_maxima(),
        adjust=adjust,
        confidence_level=level,
        seed=int(generator.integers(2**62)),
    )


def _sides(variables: Any, columns: Any) -> tuple[dict[str, Any], list[str], list[str]]:
    """Read the variables along both sides, and which name stands where."""
    rows = read_variables("variables", variables, at_least=2 if columns is None else 1)
    if columns is None:
        return rows, list(rows), list(rows)
    others = read_variables("columns", columns, at_least=1)
    both = [name for name in others if name in rows]
    if both:
        raise InputError(
            f"{both[0]!r} is among the variables and among the columns; rename one of them, or "
            "leave it out."
        )
    return {**rows, **others}, list(rows), list(others)


def _independence(study: Study, influence: Influence, found: Estimates) -> FloatArray:
    """Test every pair for independence by its unbiased correlation.

    Where rows depend on each other the estimate is compared with its own standard error.
    """
    n, pairs, held = influence.n_observations, found.pairs, study.residuals
    if held is not None:
        tests = [conditional_independence(held, pair, influence.hsic(pair)) for pair in pairs]
        return np.array([test.pvalue for test in tests])
    if found.rows.any:
        ratios = found.values / found.standard_errors
        return np.exp(student.log_pvalues(ratios, np.array(found.n_units() - 1.0), "greater"))
    own = {name: influence.hsic((name, name)) for pair in pairs for name in pair}
    hsics = np.array([influence.hsic(pair) for pair in pairs])
    scale = np.sqrt(np.array([own[x] * own[y] for x, y in pairs]))
    return independence_pvalues_of(hsics / scale, n)


def _adjusted(pvalues: FloatArray, method: str) -> FloatArray:
    if method == "holm":
        return holm(pvalues)
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(pvalues))


class _MatrixQuestion(Question):
    """One set of columns, or two; all columns of the file if none is named."""

    def blocks(
        self, filled: Mapping[str, Any], columns: Selector
    ) -> dict[str, dict[str, list[str]]]:
        return super().blocks(_filled(filled), columns)

    def arguments(
        self,
        filled: Mapping[str, Any],  # noqa: ARG002
        data: Mapping[str, Mapping[str, Any]],
    ) -> tuple[list[Any], dict[str, Any]]:
        others = dict(data.get("columns", {}))
        rows = merged({slot: named for slot, named in data.items() if slot != "columns"})
        return [rows, others or None], {}

    def written(self, filled: Mapping[str, Any], columns: Selector) -> dict[str, Any]:
        whole = _filled(filled)
        rows = columns.written(whole.get("variable"), whole.get("variables"))
        return {"variables": rows, "columns": filled.get("columns")}


def _filled(filled: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take every column of the file where no variable is named."""
    if filled.get("variables") or filled.get("variable"):
        return filled
    if filled.get("columns"):
        raise InputError("`columns` is the second of two sets; name the first by `variables`.")
    return {**filled, "variables": "*"}


QUESTIONS = (
    _MatrixQuestion(
        "matrix",
        matrix,
        slots=(
            Slot(
                "variables",
                "Each of these columns is a variable; all columns if left out.",
                "each",
                required=False,
            ),
            Slot(
                "variable",
                "A variable of several columns; repeat it.",
                "blocks",
                required=False,
                metavar="NAME=COLS",
            ),
            Slot(
                "columns",
                "A second set: all dependences between the two sets.",
                "each",
                required=False,
            ),
        ),
        choices=(
            Choice(
                "adjust",
                "How the p-values of independence are adjusted.",
                "holm",
                ADJUSTMENTS_OF_CELLS,
            ),
        ),
        example="reldep matrix mice.csv --variables 'C*'",
    ),
)
