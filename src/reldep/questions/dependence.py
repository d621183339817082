"""One dependence: how strong is it, how sure, is there any? And the plain numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import VARIANCES, check_choice, check_names_known
from reldep.questions._inference import Inference
from reldep.questions.cautions import cautions_about_dependence, cautions_of
from reldep.questions.repetition import repeatable
from reldep.questions.study import (
    display_names,
    prepare,
    provenance_of,
    raise_cautions,
)
from reldep.results.dependence import Dependence
from reldep.stats.independence import independence_test, permutation_pvalue
from reldep.stats.measures import estimate, pairs_needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reldep.engine import Influence, Pair

ROLES = ("x", "y")
TESTS = ("chi-square", "permutation")


@repeatable
def dependence(
    x: Any,
    y: Any,
    *,
    measure: str = "hsic",
    kernel: Any = "auto",
    variance: str = "fixed-kernel",
    clusters: Any = None,
    max_lag: int | str | None = None,
    missing: str = "raise",
    engine: Any = "auto",
    rng: Any = None,
    names: Sequence[str] | None = None,
    test: str = "chi-square",
    n_permutations: int = 999,
) -> Dependence:
    """Estimate one dependence, with an interval and a test of independence.

    Parameters
    ----------
    x, y : array_like, series, frame, sparse matrix or Precomputed
    measure, kernel, variance, clusters, max_lag, missing, engine, rng, names
        As for :func:`compare`.
    test : {"chi-square", "permutation"}, default "chi-square"
        How independence is tested: by the chi-square approximation to the law of the unbiased
        correlation, quick and a little conservative; or by shuffling the rows of `y`, exact for
        independent rows.
    n_permutations : int, default 999
        How often they are shuffled; the p-value is ``(1 + count) / (1 + n_permutations)``.

    Returns
    -------
    Dependence
        `statistic` and `pvalue` belong to the test of independence; `confidence_interval()` is
        normal, for dependent variables.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> reldep.dependence(x, x**2).pvalue < 0.001
    True
    """
    check_choice("test", test, TESTS)
    if test == "permutation":
        _check_permutations(n_permutations, clusters, max_lag)
    inference = Inference(measure, "greater", variance, max_lag, clusters)
    labels = display_names(ROLES, (x, y), names)
    study = prepare(
        dict(zip(labels, (x, y), strict=True)),
        kernel=kernel,
        measure=measure,
        missing=missing,
        clusters=clusters,
        engine=engine,
        rng=rng,
        roles=ROLES,
    )
    pair = (labels[0], labels[1])
    conditional_means = inference.influence(study, pairs_needed([pair], "cka"))
    fields = inference.test(conditional_means, [pair], np.ones(1), study.dataset.clusters)
    correlation = float(estimate(conditional_means, [pair], "cka").values[0])
    fields["statistic"], fields["pvalue"] = independence_test(correlation, len(study.dataset))
    if test == "permutation":
        permuted = study.shuffled_hsics(pair, n_permutations)
        fields["pvalue"] = permutation_pvalue(conditional_means.hsic(pair), permuted)
    cautions = (
        *cautions_of(study.dataset, study.fitted, fields["influence"]),
        *cautions_about_dependence(fields),
    )
    raise_cautions(cautions)
    del fields["weights"]
    return Dependence(
        **fields,
        provenance=provenance_of(study.dataset, study.fitted, conditional_means),
        warnings=cautions,
        x=labels[0],
        y=labels[1],
        test=test,
        n_permutations=n_permutations if test == "permutation" else None,
    )


def _check_permutations(n_permutations: Any, clusters: Any, max_lag: Any) -> None:
    whole = isinstance(n_permutations, (int, np.integer)) and not isinstance(n_permutations, bool)
    if not whole or n_permutations < 1:
        raise ValueError(f"n_permutations={n_permutations!r}; pass a whole number, at least 1.")
    if clusters is not None or max_lag:
        raise ValueError(
            'test="permutation" shuffles single rows, which clusters or max_lag say depend on each '
            'other; use test="chi-square", or leave clusters and max_lag out.'
        )


def influence(
    variables: Mapping[str, Any],
    pairs: Iterable[Pair],
    *,
    kernel: Any = "auto",
    variance: str = "fixed-kernel",
    missing: str = "raise",
    engine: Any = "auto",
    rng: Any = None,
) -> Influence:
    """Compute A, the conditional means of the HSIC of every pair, once for many questions.

    Parameters
    ----------
    variables : mapping of str to data
    pairs : iterable of (str, str)
        Self-pairs ``("x", "x")`` are allowed; normalised measures need them.
    kernel, missing, engine, rng
        As for :func:`compare`.
    variance : {"fixed-kernel", "bandwidth-aware", "second-order", "full"}
        The most that will be asked of the result: "full" computes what all four need.

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
    check_choice("variance", variance, VARIANCES)
    wanted = [(str(first), str(second)) for first, second in pairs]
    if not wanted:
        raise ValueError("pairs is empty; pass at least one pair of names, ('x', 'y').")
    for pair in wanted:
        check_names_known("pairs", pair, variables)
    study = prepare(variables, kernel=kernel, missing=missing, engine=engine, rng=rng)
    result = study.influence(wanted, variance)
    raise_cautions(cautions_of(study.dataset, study.fitted, result, tested=False))
    return result


def hsic(
    x: Any, y: Any, *, kernel: Any = "auto", missing: str = "raise", engine: Any = "auto"
) -> float:
    """Estimate HSIC without bias.

    Parameters
    ----------
    x, y, kernel, missing, engine
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
    return _plain(x, y, "hsic", kernel, missing, engine)


def cka(
    x: Any, y: Any, *, kernel: Any = "auto", missing: str = "raise", engine: Any = "auto"
) -> float:
    """Estimate the centred kernel alignment, ``HSIC(x,y) / sqrt(HSIC(x,x) HSIC(y,y))``.

    Each HSIC is the unbiased estimate, so the value does not drift with the number of columns.

    Parameters
    ----------
    x, y, kernel, missing, engine
        As for :func:`compare`.

    Returns
    -------
    float
        1 for identical variables, about 0 for independent ones.
    """
    return _plain(x, y, "cka", kernel, missing, engine)


def distance_correlation(
    x: Any, y: Any, *, exponent: float = 1.0, missing: str = "raise", engine: Any = "auto"
) -> float:
    """Estimate the squared distance correlation without bias.

    This is the bias-corrected estimator of Székely and Rizzo (2013), which is the squared
    correlation; it may be slightly negative where there is no dependence.

    Parameters
    ----------
    x, y, missing, engine
        As for :func:`compare`.
    exponent : float, default 1
        The power of the Euclidean distance, in (0, 2).

    Returns
    -------
    float
    """
    from reldep.kernels import Distance

    return _plain(x, y, "dcor", Distance(exponent), missing, engine)


def _plain(x: Any, y: Any, measure: str, kernel: Any, missing: str, engine: Any) -> float:
    study = prepare(
        {"x": x, "y": y}, kernel=kernel, measure=measure, missing=missing, engine=engine
    )
    pair = ("x", "y")
    computed = study.influence(pairs_needed([pair], measure), screened=False)
    value = estimate(computed, [pair], measure).values[0]
    raise_cautions(cautions_of(study.dataset, study.fitted, computed, tested=False))
    return float(value)
