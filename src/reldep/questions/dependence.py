"""One dependence: how strong is it, how sure, is there any? And the plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks import cautions_about, cautions_about_values
from reldep.data.checks import check_choice, check_count, check_names_known
from reldep.exceptions import InputError, InputTypeError
from reldep.questions.calling import asked, quiet_numbers, raise_in_full
from reldep.questions.clustered import dependent_independence
from reldep.questions.declaring import Choice, Question, Slot
from reldep.questions.settings import Settings
from reldep.questions.study import display_names, read_study
from reldep.results.one_dependence import Dependence
from reldep.stats.estimates import estimate_dependences
from reldep.stats.independence import (
    IndependenceTest,
    independence_test,
    permutation_test,
    unbiased_correlation,
)
from reldep.stats.units import pairs_needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reldep.engine import Influence, Pair
    from reldep.engine.given.residuals import Residuals
    from reldep.questions.study import Computed, Study

ROLES = ("x", "y")
TESTS = ("chi-square", "permutation")


@asked
def dependence(
    x: Any,
    y: Any,
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
    names: Sequence[str] | None = None,
    ids: Any = None,
    data: Any = None,  # noqa: ARG001 (@asked takes its columns)
    where: str | None = None,  # noqa: ARG001
    test: str = "chi-square",
    n_permutations: int = 999,
    given: Any = None,
) -> Dependence:
    """Estimate one dependence, with an interval and a test of independence.

    Parameters
    ----------
    x, y : array_like, series, frame, sparse matrix or Precomputed
    measure, kernel, variance, clusters, max_lag, missing, na, engine, rng, names, ids, given
        As for :func:`compare`.
    standardize, data, where
        As for :func:`compare`.
    test : {"chi-square", "permutation"}, default "chi-square"
        How independence is tested: by the chi-square approximation to the law of the unbiased
        correlation, quick and a little conservative; or by shuffling the rows of `y`, exact.
        With `clusters` sums over pairs of clusters are compared with an F law, or the values of
        a variable that is constant within clusters are permuted over them; with `max_lag` the
        series are shifted circularly; the result says which. With `given` conditional
        independence is tested, by "chi-square" only.
    n_permutations : int, default 999
        How often they are shuffled; the p-value is ``(1 + count) / (1 + n_permutations)``.

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
    check_choice("test", test, TESTS)
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
    check_count("n_permutations", n_permutations, at_least=1)
    if given is not None and test == "permutation":
        raise InputError(
            f"`test={test!r}` breaks the tie of the rows to the covariates and cannot be combined "
            "with `given`; use `test='chi-square'`."
        )
    labels = display_names(ROLES, (x, y), names)
    study = read_study(dict(zip(labels, (x, y), strict=True)), settings, roles=ROLES)
    pair = (labels[0], labels[1])
    computed = study.compute([pair], needed=pairs_needed([pair], "cka"))
    weights = np.ones(1)
    cautions = (*computed.cautions, *cautions_about(computed.tested(weights)))
    return Dependence(
        provenance=computed.provenance,
        warnings=cautions,
        dependences=computed.dependences,
        weights=weights,
        tested=computed.dependences.estimate(weights),
        alternative="greater",
        relation_pvalues=(None,),
        influence=computed.influence,
        x=labels[0],
        y=labels[1],
        independence=_independence(
            study, computed, pair, n_permutations if test == "permutation" else None
        ),
    )


def _independence(
    study: Study, computed: Computed, pair: Pair, n_permutations: int | None
) -> IndependenceTest:
    """Test independence by the unbiased correlation, or by shuffling the rows."""
    if study.residuals is not None:
        return conditional_independence(study.residuals, pair, computed.influence.hsic(pair))
    if study.rows.any:
        return dependent_independence(study, pair, computed.dependences, n_permutations)
    by_law = independence_test(unbiased_correlation(computed.influence, pair), len(study.dataset))
    if n_permutations is None:
        return by_law
    permuted = study.shuffled_hsics(pair, n_permutations)
    return permutation_test(by_law.statistic, computed.influence.hsic(pair), permuted)


def conditional_independence(
    residuals: Residuals[Any], pair: Pair, estimate: float
) -> IndependenceTest:
    """Test conditional independence by the chi-square approximation.

    As without covariates, but the scale is that of the products of residuals, which holds where
    the covariates rule how much both variables vary.
    """
    found = independence_test(estimate / residuals.null_scale(pair), residuals.n)
    return replace(found, test="chi-square, of residuals")


def influence(
    variables: Mapping[str, Any],
    pairs: Iterable[Pair],
    *,
    kernel: Any = "auto",
    variance: str = "jackknife",
    missing: str = "raise",
    na: Any = (),
    engine: Any = "auto",
    rng: Any = None,
    ids: Any = None,
) -> Influence:
    """Compute A, the conditional means of the HSIC of every pair, once for many questions.

    Parameters
    ----------
    variables : mapping of str to data
    pairs : iterable of (str, str)
        Self-pairs ``("x", "x")`` are allowed; normalised measures need them.
    kernel, missing, na, engine, rng, ids
        As for :func:`compare`.
    variance : {"jackknife", "fixed-kernel"}, default "jackknife"
        The most that will be asked of the result: "jackknife" computes what both need.

    Returns
    -------
    Influence
        `values` has one row a pair and one column an observation; the mean of a row is the
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
    settings = Settings(
        kernel=kernel, variance=variance, missing=missing, na=na, engine=engine, rng=rng, ids=ids
    )
    if not isinstance(variables, Mapping):
        raise InputTypeError(
            f"variables is of type {type(variables).__name__}; pass a mapping of names to data."
        )
    wanted = [(str(first), str(second)) for first, second in pairs]
    if not wanted:
        raise InputError("pairs is empty; pass at least one pair of names, ('x', 'y').")
    for pair in wanted:
        check_names_known("pairs", pair, variables)
    with quiet_numbers():
        study = read_study(variables, settings)
        result = study.influence(wanted)
    raise_in_full(cautions_about_values(study.subject(wanted)))
    return result


def hsic(
    x: Any,
    y: Any,
    *,
    kernel: Any = "auto",
    missing: str = "raise",
    na: Any = (),
    engine: Any = "auto",
) -> float:
    """Estimate HSIC without bias.

    Parameters
    ----------
    x, y, kernel, missing, na, engine
        As for :func:`compare`.

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
    return _plain(x, y, "hsic", kernel, missing, na, engine)


def cka(
    x: Any,
    y: Any,
    *,
    kernel: Any = "auto",
    missing: str = "raise",
    na: Any = (),
    engine: Any = "auto",
) -> float:
    """Estimate the centred kernel alignment, ``HSIC(x,y) / sqrt(HSIC(x,x) HSIC(y,y))``.

    Each HSIC is the unbiased estimate, so the value does not drift with the number of columns.

    Parameters
    ----------
    x, y, kernel, missing, na, engine
        As for :func:`compare`.

    Returns
    -------
    float
        1 for identical variables, about 0 for independent ones.
    """
    return _plain(x, y, "cka", kernel, missing, na, engine)


def distance_correlation(
    x: Any,
    y: Any,
    *,
    exponent: float = 1.0,
    missing: str = "raise",
    na: Any = (),
    engine: Any = "auto",
) -> float:
    """Estimate the squared distance correlation without bias.

    This is the bias-corrected estimator of Székely and Rizzo (2013), which is the squared
    correlation; it may be slightly negative where there is no dependence.

    Parameters
    ----------
    x, y, missing, na, engine
        As for :func:`compare`.
    exponent : float, default 1
        The power of the Euclidean distance, in (0, 2).

    Returns
    -------
    float
    """
    from reldep.kernels import Distance

    return _plain(x, y, "dcor", Distance(exponent), missing, na, engine)


def _plain(x: Any, y: Any, measure: str, kernel: Any, missing: str, na: Any, engine: Any) -> float:
    settings = Settings(
        measure=measure,
        variance="fixed-kernel",
        kernel=kernel,
        missing=missing,
        na=na,
        engine=engine,
    )
    pair = ("x", "y")
    with quiet_numbers():
        study = read_study({"x": x, "y": y}, settings)
        computed = study.influence(pairs_needed([pair], measure), means=())
        value = estimate_dependences(computed, [pair], measure).values[0]
    if not np.isfinite(value):
        raise InputError(
            f"{measure} is too large or too small to be a number; rescale the data, for instance "
            "by their standard deviation."
        )
    raise_in_full(cautions_about_values(study.subject([pair])))
    return float(value)


QUESTIONS = (
    Question(
        "dependence",
        dependence,
        slots=(Slot("x", "One variable."), Slot("y", "The other.")),
        choices=(
            Choice("test", "The test of independence.", "chi-square", TESTS),
            Choice("n_permutations", "How often rows are shuffled.", 999, kind="whole"),
        ),
        example="reldep dependence mice.csv --x diet --y 'lipids=C*'",
        has_plan=True,
    ),
)
