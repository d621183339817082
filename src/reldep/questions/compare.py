"""Is the source more closely related to the first target or to the second?"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.checks import cautions_about
from reldep.data.checks import ALTERNATIVES, METHODS, check_choice
from reldep.engine import Influence
from reldep.exceptions import InputError
from reldep.questions.calling import asked
from reldep.questions.declaring import Choice, Question, Slot
from reldep.questions.settings import Settings
from reldep.questions.study import (
    Computed,
    Study,
    display_names,
    read_study,
    source_apart,
)
from reldep.results.comparison import Comparison
from reldep.stats.independence import relation_pvalues
from reldep.stats.paper import split
from reldep.stats.units import FEW_OBSERVATIONS, FEWEST_FOR_ERRORS, pairs_needed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray, IntArray
    from reldep.engine import Pair
    from reldep.kernels import FittedKernel

ROLES = ("source", "first", "second")
WEIGHTS = np.array([1.0, -1.0])


@asked
def compare(
    source: Any,
    first: Any,
    second: Any,
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
    names: Sequence[str] | None = None,
    ids: Any = None,
    given: Any = None,
    data: Any = None,  # noqa: ARG001 (@asked takes its columns)
    where: str | None = None,  # noqa: ARG001
) -> Comparison:
    """Test whether `source` is more closely related to `first` or to `second`.

    The relative dependence test of Bounliphone, Gretton, Tenenhaus and Blaschko (ICML 2015),
    normalised and made right for small samples. Both dependences are estimated without bias on
    the same observations; their covariance enters the variance of the difference, which makes
    the joint test far more powerful than one that splits the data. The test as it was published
    is :func:`paper_test`.

    Parameters
    ----------
    source, first, second : array_like, series, frame, sparse matrix or Precomputed
        The same observations in the same order. Numbers, categories, or anything a kernel is
        made for; several columns are one block.
    measure : {"cka", "hsic", "dcor"}, default "cka"
        Centred kernel alignment, raw HSIC or squared distance correlation. Raw HSIC also counts
        a target's own kernel energy, so it compares unlike targets only with care.
    kernel : str, Kernel, callable, tuple of three or mapping, default "auto"
        One for all, a tuple (source, first, second) or a mapping by name. "auto" chooses by the
        kind of data: see :mod:`reldep.kernels`.
    standardize : bool, default False
        Whether columns of one block are put on the same scale first, for blocks in mixed units;
        it stands for ``kernel="standardized"`` where the kernel is "auto".
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "two-sided" asks which of the two dependences is stronger; "greater" asks only whether
        that on `first` is, "less" whether that on `second` is.
    variance : {"jackknife", "fixed-kernel"}, default "jackknife"
        How errors are assessed. "jackknife" leaves out every row in turn and uses Student's t:
        right from about 30 rows on. "fixed-kernel" is the published variance with the normal
        law, for independent rows.
    clusters : array_like, optional
        A label per observation; those with the same label may depend on each other.
    max_lag : int or "auto", optional
        Rows in time order: those up to this many steps apart may depend on each other. "auto"
        chooses the number from the data.
    missing : {"raise", "drop"}, default "raise"
        What to do with incomplete observations.
    na : sequence of str or float, optional
        Values that stand for missing ones, such as ``(-999, "unknown")``.
    engine : str or engine, default "auto"
        How the kernels are summed.
    rng : None, int or numpy.random.Generator, optional
        Random seed; None is a fixed one, so that answers repeat.
    names : sequence of three str, optional
        Names for the result; by default those of the series, or the argument names.
    ids : array_like, optional
        A name for every row, by which cautions and tables call it; by default the index of a
        pandas frame, or the position, counted from 0.
    given : array_like, series or frame, optional
        Covariates W, such as age, sex and batch, numbers or labels: the question is then asked
        about what is left of every variable once W is held fixed. Up to 3,000 observations;
        independent rows only.
    data : path, data frame or mapping of str to arrays, optional
        Where the columns are. The variables, `clusters` and `ids` are then names of columns:
        ``"diet"``, ``"C14:C22"``, ``"gene_*"``, ``"lipids=C*"`` for a block with a name.
    where : str, optional
        A condition on the rows of `data`, such as ``"age > 40 and sex = 'f'"``.

    Returns
    -------
    Comparison
        With `estimate`, `statistic`, `pvalue`, `confidence_interval()`, `summary()`, `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> y, z = x + 0.5 * rng.normal(size=200), x + 2 * rng.normal(size=200)
    >>> result = reldep.compare(x, y, z)
    >>> result.pvalue < 0.001
    True

    By the names of columns:

    >>> reldep.compare("x", "y", "z", data={"x": x, "y": y, "z": z}).pvalue == result.pvalue
    True

    All three follow age here; beyond age, `x` depends on `z` only:

    >>> age = rng.normal(size=200)
    >>> x = age + rng.normal(size=200)
    >>> y, z = age + 0.5 * rng.normal(size=200), x + rng.normal(size=200)
    >>> beyond = reldep.compare(x, y, z, given=age, alternative="less")
    >>> beyond.pvalue < 0.001
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
    study, labels = read_three((source, first, second), names, settings)
    computed = study.compute(pairs_of(labels), needed=_needed(study, labels))
    return compared(computed, labels, alternative)


@asked
def paper_test(
    source: Any,
    first: Any,
    second: Any,
    *,
    kernel: Any = "published",
    alternative: str = "greater",
    method: str = "joint",
    missing: str = "raise",
    na: Any = (),
    engine: Any = "auto",
    names: Sequence[str] | None = None,
    ids: Any = None,
    data: Any = None,  # noqa: ARG001 (@asked takes its columns)
    where: str | None = None,  # noqa: ARG001
) -> Comparison:
    """Test whether `source` is more closely related to `first` than to `second`, as published.

    The test of Bounliphone, Gretton, Tenenhaus and Blaschko (ICML 2015) without anything that
    this package adds: raw HSIC, the plug-in variance with the kernel held fixed, and the normal
    law. Use it to reproduce the paper or to compare with it; :func:`compare` is the better
    default for data, because raw HSIC also counts a target's own kernel energy.

    Parameters
    ----------
    source, first, second, missing, na, engine, names, ids, data, where
        As for :func:`compare`.
    kernel : str, Kernel, callable, tuple of three or mapping, default "published"
        "published" takes the Gaussian kernel with the median of the pairwise distances as its
        bandwidth for numbers, and Delta for labels.
    alternative : {"greater", "less", "two-sided"}, default "greater"
    method : {"joint", "split"}, default "joint"
        "split" is the paper's independent test: the first half of the rows for the one
        dependence, the second half for the other, in the order given.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> y, z = x + 0.5 * rng.normal(size=200), x + 2 * rng.normal(size=200)
    >>> reldep.paper_test(x, y, z).pvalue < 0.001
    True
    """
    check_choice("method", method, METHODS)
    check_choice("alternative", alternative, ALTERNATIVES)
    settings = Settings(
        measure="hsic",
        kernel=kernel,
        variance="fixed-kernel",
        missing=missing,
        na=na,
        engine=engine,
        ids=ids,
    )
    study, labels = read_three((source, first, second), names, settings)
    if method == "joint":
        computed = study.compute(pairs_of(labels), needed=_needed(study, labels))
    else:
        computed = compute_halves(study, labels)
    return compared(computed, labels, alternative, method)


def read_three(
    blocks: tuple[Any, Any, Any], names: Sequence[str] | None, settings: Settings
) -> tuple[Study, list[str]]:
    """Read source, first and second, and choose their names for the result."""
    labels = display_names(ROLES, blocks, names)
    study = read_study(dict(zip(labels, blocks, strict=True)), settings, roles=ROLES)
    return source_apart(study, labels[0], labels[1:]), labels


def pairs_of(labels: Sequence[str]) -> tuple[Pair, Pair]:
    """Give the two dependences that are compared."""
    source, first, second = labels
    return (source, first), (source, second)


def _needed(study: Study, labels: Sequence[str]) -> tuple[Pair, ...]:
    """List the pairs of which A is needed, also for the caution that sets CKA beside raw HSIC."""
    few = len(study.dataset) <= FEW_OBSERVATIONS
    return pairs_needed(pairs_of(labels), "cka" if few else study.settings.measure)


def compared(
    computed: Computed, labels: Sequence[str], alternative: str, method: str = "joint"
) -> Comparison:
    """Test the difference of the two dependences and answer."""
    test = computed.dependences.test(WEIGHTS)
    about = cautions_about(computed.tested(WEIGHTS, is_difference=True))
    n = computed.influence.n_observations // (2 if method == "split" else 1)
    return Comparison(
        provenance=computed.provenance,
        warnings=(*computed.cautions, *about),
        dependences=computed.dependences,
        weights=WEIGHTS,
        tested=test,
        alternative=alternative,
        influence=computed.influence,
        relation_pvalues=relation_pvalues(computed.influence, computed.dependences, n),
        source=labels[0],
        first=labels[1],
        second=labels[2],
        method=method,
    )


def compute_halves(study: Study, labels: Sequence[str]) -> Computed:
    """Compute one dependence on each half of the rows, kernels fitted on each.

    The result is an A of all rows: an observation has influence on the dependence of its own
    half only, so the covariance of the two comes out as 0.
    """
    n = len(study.dataset)
    if n < 2 * FEWEST_FOR_ERRORS:
        raise InputError(
            f"`method='split'` needs at least {2 * FEWEST_FOR_ERRORS} observations, {n} given; use "
            "`method='joint'`."
        )
    halves = (np.arange(n // 2), np.arange(n // 2, n))
    parts = []
    fitted: dict[str, FittedKernel] = {}
    for chosen, target, word in zip(halves, labels[1:], ("first", "second"), strict=True):
        own_source = f"{labels[0]} ({word} half)"
        part = study.part(chosen, {labels[0]: own_source, target: target})
        parts.append(part.compute([(own_source, target)]))
        fitted |= part.fitted
    influence = _spread_over_all_rows([part.influence for part in parts], halves, study)
    first, second = (part.dependences for part in parts)
    whole = Study(study.dataset, study.kernels, study.settings, fitted)
    return whole.describe(influence, split(first, second, halves))


def _spread_over_all_rows(
    parts: Sequence[Influence], rows: Sequence[IntArray], study: Study
) -> Influence:
    """Join the A of disjoint sets of rows into one, keeping every estimate and variance."""
    n = len(study.dataset)
    values = [
        part.estimates[:, None] + _spread(part.values - part.estimates[:, None], chosen, n)
        for part, chosen in zip(parts, rows, strict=True)
    ]
    return Influence(
        np.concatenate(values),
        tuple(pair for part in parts for pair in part.pairs),
        tuple(dict.fromkeys(name for part in parts for name in part.names)),
        n,
        parts[0].engine,
        tuple(note for part in parts for note in part.notes),
        None,
        means={pair: value for part in parts for pair, value in part.means.items()},
        kernels={name: kernel for part in parts for name, kernel in part.kernels.items()},
        rows=study.dataset.rows,
        library=study.dataset.library,
    )


def _spread(values: FloatArray, rows: IntArray, n: int) -> FloatArray:
    """Give centred values of some rows to all n, such that their variance stays the same."""
    whole = np.zeros((len(values), n))
    whole[:, rows] = values * (n / len(rows))
    return whole


def compare_as_asked(
    *variables: Any, paper: bool = False, method: str = "joint", **options: Any
) -> Comparison:
    """Answer by :func:`compare`, or by the published test if that is asked for."""
    if not paper:
        if method != "joint":
            raise InputError("`method='split'` is part of the published test; use it with `paper`.")
        return compare(*variables, **options)
    takes = inspect.signature(paper_test).parameters
    extra = next((name for name in options if name not in takes), None)
    if extra is not None:
        raise InputError(
            f"`paper=True` is the test as published and takes no `{extra}`; leave one of them out."
        )
    return paper_test(*variables, method=method, **options)


QUESTIONS = (
    Question(
        "compare",
        compare_as_asked,
        slots=(
            Slot("source", "The variable whose relations are compared."),
            Slot("first", "One target."),
            Slot("second", "The other target."),
        ),
        choices=(
            # No default of its own: the published test has another than `compare`.
            Choice(
                "alternative",
                "What to show: two-sided (either is stronger, as usual), greater (FIRST is, as "
                "usual with --paper) or less (SECOND is).",
                None,
                ALTERNATIVES,
            ),
            Choice("method", "On the same rows, or on halves of them.", "joint", METHODS),
            Choice(
                "paper",
                "The test as published: raw HSIC, fixed kernels, normal law.",
                False,
                kind="flag",
            ),
        ),
        example="reldep compare mice.csv --source diet --first 'lipids=C*' --second 'genes=gene_*'",
        has_bandwidths=True,
        has_plan=True,
    ),
)
