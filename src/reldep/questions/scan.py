"""Which of thousands of sources are more closely related to one target than to another?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack

import numpy as np

from reldep.arguments import Argument
from reldep.checks.subjects import LEVEL
from reldep.exceptions import InputError
from reldep.questions.ask import question
from reldep.questions.columns import read_columns
from reldep.questions.options import (
    Directed,
    Named,
    Shared,
    Simultaneous,
    generator,
    variable,
    variables,
)
from reldep.results.scan import Scan, TargetScan
from reldep.stats.scan import ScannedSources, ScannedTargets
from reldep.stats.simultaneous import false_discovery_rates, holm

if TYPE_CHECKING:
    from reldep.data.variables import FloatArray
    from reldep.questions.columns import Columns

Adjustment = Literal["single-step", "holm"]

SOURCES = replace(
    variables(
        "Many sources; or the only one, if there is no `second`.",
        in_words="Each of these columns is a source; or one source, to scan many targets for.",
    ),
    columns="many",
    flags=("--sources", "--source"),
)
FIRST = replace(
    variable(
        "The first of two targets; or many targets, if there is no `second`.",
        in_words="The first of two targets; or each of many, if there is no second.",
    ),
    many_without="second",
    flags=("--first", "--targets"),
)


class ScanOptions(Shared, Directed, Named, Simultaneous, total=False):
    """The options of :func:`scan`."""

    adjust: Annotated[
        Adjustment,
        Argument(
            "How adjusted p-values keep the chance of any false claim: by the joint law of all "
            "sources, or by Holm's procedure, as always for many targets.",
            "single-step",
        ),
    ]


@question
def scan(
    sources: Annotated[Any, SOURCES],
    first: Annotated[Any, FIRST],
    second: Annotated[Any, variable("The second target.", None)] = None,
    **options: Unpack[ScanOptions],
) -> Scan | TargetScan:
    """Ask :func:`compare` for every one of thousands of sources; or scan targets for one source.

    ``scan(sources, first, second)`` tests for each source, such as each gene, whether it is
    more closely related to `first` or to `second`. ``scan(source, targets)``, without `second`,
    gives the dependence of one source and each of thousands of targets.

    Returns
    -------
    Scan or TargetScan
        With `to_frame()`, `is_discovery()`, `skipped`, `summary()`, `plot()`; a `TargetScan` also
        has `confidence_interval()`.

    Notes
    -----
    Ctrl-C ends a scan early: the answer then holds the sources that were done, with a caution.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> diet, age = rng.normal(size=(2, 100))
    >>> genes = rng.normal(size=(100, 50))
    >>> genes[:, :5] += diet[:, None]
    >>> result = reldep.scan(genes, diet, age)
    >>> result.is_discovery().sum()
    np.int64(5)
    """
    if second is None:
        return _scan_targets(sources, first, options)
    return _scan_sources(sources, first, second, options)


def _scan_sources(sources: Any, first: Any, second: Any, options: Mapping[str, Any]) -> Scan:
    """Compare the two dependences of every source."""
    single = {"first": first, "second": second}
    found = read_columns("sources", sources, single, options, ScannedSources).run()
    alternative, adjust = options["alternative"], options["adjust"]
    adjusted = found.tests.adjusted_pvalues(
        alternative, adjust, options["n_simulations"], generator(options)
    )
    return Scan(
        **_screened(found, found.tests.log_pvalues(alternative)),
        adjusted_pvalues=adjusted,
        adjust=adjust,
        first=found.study.names[0],
        second=found.study.names[1],
        alternative=alternative,
    )


def _scan_targets(source: Any, targets: Any, options: Mapping[str, Any]) -> TargetScan:
    """Estimate the dependence of one source on every target."""
    names = options["names"]
    if isinstance(source, Mapping):
        # A name with its data, as for the sources of the first form.
        if len(source) != 1:
            words = f"`sources` are {len(source)}, next to one other argument"
            raise InputError(f"{words}; pass one source and its targets, or `second` too.")
        names, source = list(source), next(iter(source.values()))
    own = {**options, "names": names}
    found = read_columns("targets", targets, {"source": source}, own, ScannedTargets).run()
    log_pvalues = found.tests.log_pvalues
    return TargetScan(
        **_screened(found, log_pvalues),
        adjusted_pvalues=holm(np.exp(log_pvalues)),
        adjust="holm",
        source=found.study.names[0],
        maxima=found.tests.maxima(options["n_simulations"], generator(options)),
        confidence_level=options["confidence_level"],
    )


def _screened(found: Columns, log_pvalues: FloatArray) -> dict[str, Any]:
    """Return what the answers of both scans have in common."""
    fdr = false_discovery_rates(np.exp(log_pvalues))
    return {
        "provenance": found.provenance(),
        "warnings": found.warnings(fdr <= LEVEL),
        "log10_pvalue": log_pvalues / np.log(10.0),
        "fdr": fdr,
        "skipped": found.skipped_names,
        "notes": found.notes,
        "variables": found.names,
        "tests": found.tests,
    }
