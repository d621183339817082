"""One dependence: how strong, how sure, is there any? And A, plans and plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack

import numpy as np

from reldep.arguments import Argument, check_names_known, public
from reldep.checks import cautions_about_values
from reldep.engine import Influence, Plan
from reldep.exceptions import InputError, InputTypeError
from reldep.questions import options as shared
from reldep.questions.ask import question, quiet_numbers, raise_in_full
from reldep.questions.clustered import dependent_independence
from reldep.questions.study import read_study
from reldep.results.tested import Dependence
from reldep.stats.independence import (
    IndependenceTest,
    independence_test,
    joined_units,
    permutation_test,
    products_test,
    unbiased_correlation,
)
from reldep.stats.pairwise import contrast
from reldep.stats.units import FEWEST_ROWS, pairs_needed

if TYPE_CHECKING:
    from reldep.questions.study import Computed, Study


Test = Literal["chi-square", "permutation"]


TEST = Argument(
    "The test of independence: by the chi-square approximation, or by shuffling the rows "
    "of `y`. With `clusters` and `max_lag` the result says which was used.",
    "chi-square",
)


class DependenceOptions(shared.Options, shared.Named, total=False):
    """The options of :func:`dependence`."""

    test: Annotated[Test, TEST]
    n_permutations: Annotated[int, shared.repetitions("How often rows are shuffled.")]


@question
def dependence(x: shared.One, y: shared.Other, **options: Unpack[DependenceOptions]) -> Dependence:
    """Estimate one dependence, with an interval and a test of independence.

    Returns
    -------
    Dependence
        `statistic` and `pvalue` belong to the test of independence; `confidence_interval()` is
        that of the estimate.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> reldep.dependence(x, x**2).pvalue < 0.001
    True
    """
    study = read_study({"x": x, "y": y}, options)
    computed = study.compute(needed=pairs_needed(study.pairs, "cka"))
    weights = np.ones(1)
    return computed.answer(
        Dependence,
        weights,
        weights=weights,
        tested=contrast(computed.found, weights),
        alternative="greater",
        x=study.names[0],
        y=study.names[1],
        independence=_independence(study, computed),
    )


def _independence(study: Study, computed: Computed) -> IndependenceTest:
    """Test independence by the unbiased correlation, or by shuffling the rows."""
    (pair,) = study.pairs
    influence, table = computed.influence, computed.influence.blocks
    n_permutations, rng = study.options["n_permutations"], shared.generator(study.options)
    if table is not None and table.each is not None:
        products, memory = table.unit_products(), computed.found.rows.memory
        if memory is not None:
            products = joined_units(products, max(int(memory.most_df) + 1, FEWEST_ROWS))
        return products_test(products, n_permutations, rng)
    if study.dependence.any:
        return dependent_independence(study, computed.found, n_permutations, rng)
    correlation = unbiased_correlation(influence, pair) / influence.unevenness(pair)
    by_law = independence_test(correlation, study.n, influence.block_sizes, influence.share)
    if study.options["test"] != "permutation":
        return by_law
    from reldep.engine.dense import permuted_hsics

    first, second = study.fitted.values()
    # The data as they are come first: blocks of rows have another HSIC than all pairs.
    shuffled = (rng.permutation(study.n) for _ in range(n_permutations))
    observed, *permuted = permuted_hsics(first, second, chain([np.arange(study.n)], shuffled))
    return permutation_test(by_law.statistic, observed, np.array(permuted))


class InfluenceOptions(shared.Kernels, shared.Basic, shared.Assessed, total=False):
    """The options of :func:`influence`."""


@public
def influence(
    variables: Annotated[Any, shared.variable("A mapping of names to data.")],
    pairs: Annotated[Any, Argument("Pairs of names; normalised measures need self-pairs too.")],
    **options: Unpack[InfluenceOptions],
) -> Influence:
    """Compute A, the conditional means of the HSIC of every pair, once for many questions.

    Returns
    -------
    Influence
        `values` has one row per pair and one column per observation; the mean of a row is the
        unbiased HSIC.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> x = np.random.default_rng(0).normal(size=50)
    >>> A = reldep.influence({"x": x, "y": x**2}, [("x", "y"), ("x", "x")])
    >>> A.values.shape
    (2, 50)
    """
    if not isinstance(variables, Mapping):
        raise InputTypeError(
            f"`variables` is of type {type(variables).__name__}; pass a mapping of names to data."
        )
    wanted = [(str(first), str(second)) for first, second in pairs]
    if not wanted:
        raise InputError("`pairs` is empty; pass at least one pair of names, ('x', 'y').")
    for pair in wanted:
        check_names_known("pairs", pair, variables)
    with quiet_numbers():
        study = read_study({}, options, many={"variables": variables}, pairs=wanted)
        result = study.influence(wanted)
        cautions = cautions_about_values(study)
    raise_in_full(cautions)
    return result


class PlanOptions(shared.Measured, shared.Kernels, shared.Basic, shared.Assessed, total=False):
    """The options of :func:`explain_plan`."""


@public
def explain_plan(
    source: shared.Source,
    first: Annotated[Any, shared.variable("A target; or a mapping of several, as for rank.")],
    second: Annotated[Any, shared.variable("A second target, as for compare.", None)] = None,
    **options: Unpack[PlanOptions],
) -> Plan:
    """Return which engine a question would get, why, and what memory and time it would take.

    Returns
    -------
    Plan
        Prints in plain words; `engine`, `reason`, `memory` (bytes), `seconds`, `fits`.

    Notes
    -----
    The kernels are fitted, bandwidths included; nothing is summed.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> x = np.random.default_rng(0).normal(size=300)
    >>> reldep.explain_plan(x, x**2, x**3).engine.name
    'dense'
    """
    single, many = {"source": source, "first": first, "second": second}, {}
    if isinstance(first, Mapping):
        many = {"targets": single.pop("first")}
    if second is None:
        del single["second"]
    started = perf_counter()
    with quiet_numbers():
        study = read_study(single, options, many=many)
        study.fitted  # noqa: B018, it is fitted here
        spent = perf_counter() - started
        plan = study.plan()
    # Reading the data and fitting the kernels is most of the work on short texts.
    return plan if plan.seconds is None else replace(plan, seconds=plan.seconds + spent)


class KernelOptions(shared.Kernels, shared.Basic, total=False):
    """The options of the functions that return a number and take a kernel."""


@public
def hsic(x: shared.One, y: shared.Other, **options: Unpack[KernelOptions]) -> float:
    """Estimate HSIC without bias.

    Returns
    -------
    float
        May be slightly negative where there is no dependence.

    Examples
    --------
    >>> import reldep
    >>> round(reldep.hsic([1, 2, 3, 4, 5, 6], [1, 4, 9, 16, 25, 36], kernel="linear"), 4)
    504.2778
    """
    return _plain(x, y, {**options, "measure": "hsic"})


@public
def cka(x: shared.One, y: shared.Other, **options: Unpack[KernelOptions]) -> float:
    """Estimate the centred kernel alignment, ``HSIC(x,y) / sqrt(HSIC(x,x) HSIC(y,y))``.

    Each HSIC is the unbiased estimate, so the value does not drift with the number of columns.

    Returns
    -------
    float
        1 for identical variables, about 0 for independent ones.
    """
    return _plain(x, y, {**options, "measure": "cka"})


class DistanceOptions(shared.Basic, total=False):
    """The options of :func:`distance_correlation`."""

    exponent: Annotated[float, Argument("The power of the Euclidean distance, in (0, 2).", 1.0)]


@public
def distance_correlation(
    x: shared.One, y: shared.Other, **options: Unpack[DistanceOptions]
) -> float:
    """Estimate the squared distance correlation without bias.

    This is the bias-corrected estimator of Székely and Rizzo (2013), which is the squared
    correlation; it may be slightly negative where there is no dependence.

    Returns
    -------
    float
    """
    from reldep.kernels import Distance

    kernel = Distance(options["exponent"])
    return _plain(x, y, {**options, "measure": "dcor", "kernel": kernel})


def _plain(x: Any, y: Any, options: Mapping[str, Any]) -> float:
    with quiet_numbers():
        study = read_study({"x": x, "y": y}, {**options, "variance": None})
        needed = pairs_needed(study.pairs, study.measure)
        computed = study.influence(needed)
        (pair,) = study.pairs
        is_plain = study.measure == "hsic"
        value = computed.hsic(pair) if is_plain else unbiased_correlation(computed, pair)
        cautions = cautions_about_values(study)
    raise_in_full(cautions)
    return value
