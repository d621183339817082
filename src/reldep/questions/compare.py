"""Is the source more closely related to the first target or to the second?"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, Unpack

import numpy as np

from reldep.arguments import Argument
from reldep.engine import Influence
from reldep.exceptions import InputError
from reldep.kernels import FittedKernel
from reldep.questions import options as shared
from reldep.questions.ask import question
from reldep.questions.study import Computed, Study, read_study
from reldep.results.comparison import Comparison
from reldep.stats.units import FEWEST_FOR_ERRORS

Method = Literal["joint", "split"]
WEIGHTS = np.array([1.0, -1.0])


class CompareOptions(shared.Options, shared.Directed, shared.Named, total=False):
    """The options of :func:`compare`."""


@question
def compare(
    source: shared.Source,
    first: shared.First,
    second: shared.Second,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Test whether `source` is more closely related to `first` or to `second`.

    The relative dependence test of Bounliphone, Gretton, Tenenhaus and Blaschko (ICML 2015),
    normalised and made right for small samples. Both dependences are estimated without bias on
    the same observations; their covariance enters the variance of the difference, which makes
    the joint test far more powerful than one that splits the data. The test as it was published
    is :func:`paper_test`.

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
    study = read_study({"source": source, "first": first, "second": second}, options)
    return compared(study.compute())


KERNEL = Argument(
    'As for compare; "published" is the Gaussian kernel at the median distance for '
    "numbers, and Delta for labels.",
    "published",
    "str, Kernel, callable, tuple or mapping",
    parse=shared.parse_kernels,
    is_list=True,
)
METHOD = Argument(
    'On the same rows, or "split": the first half of the rows for the one dependence and '
    "the second half for the other, as in the paper's independent test.",
    "joint",
)


class PaperOptions(shared.Basic, shared.Named, total=False):
    """The options of :func:`paper_test`."""

    data: shared.Data
    kernel: Annotated[Any, KERNEL]
    alternative: Annotated[shared.Alternative, Argument('"greater": more on the first.', "greater")]
    method: Annotated[Method, METHOD]


@question
def paper_test(
    source: shared.Source,
    first: shared.First,
    second: shared.Second,
    **options: Unpack[PaperOptions],
) -> Comparison:
    """Test whether `source` is more closely related to `first` than to `second`, as published.

    The test of Bounliphone, Gretton, Tenenhaus and Blaschko (ICML 2015) without anything that
    this package adds: raw HSIC, the plug-in variance with the kernel held fixed, and the normal
    law. Use it to reproduce the paper or to compare with it; :func:`compare` is the better
    default for data, because raw HSIC also counts a target's own kernel energy.

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
    study = read_study(
        {"source": source, "first": first, "second": second},
        {**options, "measure": "hsic", "variance": "fixed-kernel"},
    )
    is_joint = options["method"] == "joint"
    return compared(study.compute() if is_joint else compute_halves(study), options["method"])


def compared(computed: Computed, method: str = "joint") -> Comparison:
    """Test the difference of the two dependences and answer."""
    source, first, second = computed.data.names
    return computed.answer(
        Comparison,
        WEIGHTS,
        weights=WEIGHTS,
        tested=computed.found.test(WEIGHTS),
        alternative=computed.data.options["alternative"],
        source=source,
        first=first,
        second=second,
        method=method,
    )


def compute_halves(study: Study) -> Computed:
    """Compute one dependence on each half of the rows, kernels fitted on each.

    The result is an A of all rows: an observation has influence on the dependence of its own
    half only, so the covariance of the two comes out as 0.
    """
    n = study.n
    if n < 2 * FEWEST_FOR_ERRORS:
        few = f"`method='split'` needs at least {2 * FEWEST_FOR_ERRORS} observations, {n} given"
        raise InputError(f"{few}; use `method='joint'`.")
    halves = (np.arange(n // 2), np.arange(n // 2, n))
    source, *targets = study.names
    parts: list[Influence] = []
    fitted: dict[str, FittedKernel] = {}
    for rows, target, word in zip(halves, targets, ("first", "second"), strict=True):
        part = study.part(rows, {source: f"{source} ({word} half)", target: target})
        parts.append(part.influence(part.pairs))
        fitted |= part.fitted
    first, second = parts
    values = np.repeat([first.estimates, second.estimates], n, axis=1)
    for row, half, rows in zip(values, parts, halves, strict=True):
        # Such that the variance stays that of the half.
        row[rows] += (half.values[0] - half.estimates[0]) * (n / len(rows))
    influence = replace(
        first,
        values=values,
        pairs=(*first.pairs, *second.pairs),
        names=(*first.names, *second.names),
        n_observations=n,
        notes=(*first.notes, *second.notes),
        means={**first.means, **second.means},
        kernels={**first.kernels, **second.kernels},
        rows=study.dataset.rows,
        cautions=(*first.cautions, *second.cautions),
    )
    joined = replace(study, fits=fitted, pairs=influence.pairs)
    return Computed(replace(study, fits=fitted), influence, joined.estimates(influence))
