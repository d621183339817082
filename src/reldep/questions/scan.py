"""Which of thousands of sources are more closely related to one target than to another?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Unpack

import numpy as np

from reldep.arguments import Argument
from reldep.checks.subjects import LEVEL
from reldep.data.dataset import aligned
from reldep.data.frames import frame_library, index_rows, is_frame, with_plain_names
from reldep.data.objects import columns_of, read_variable
from reldep.data.variables import FloatArray, Numeric, Variable
from reldep.exceptions import InputError
from reldep.files.in_parts import WideColumns
from reldep.kernels.choosing import assign
from reldep.questions import options as shared
from reldep.questions.ask import name_variables, question, read_variables
from reldep.questions.columns import Columns
from reldep.questions.study import read_study
from reldep.results.scan import Scan, TargetScan
from reldep.stats.scan import ScannedSources, ScannedTargets
from reldep.stats.simultaneous import false_discovery_rates, holm

Adjustment = Literal["single-step", "holm"]

SOURCES = replace(
    shared.variables(
        "Many sources; or the only one, if there is no `second`.",
        in_words="Each of these columns is a source; or one source, to scan many targets for.",
    ),
    columns="many",
    flags=("--sources", "--source"),
)
FIRST = replace(
    shared.variable(
        "The first of two targets; or many targets, if there is no `second`.",
        in_words="The first of two targets; or each of many, if there is no second.",
    ),
    many_without="second",
    flags=("--first", "--targets"),
)


ADJUST = Argument(
    "How adjusted p-values keep the chance of any false claim: by the joint law of all "
    "sources, or by Holm's procedure, as always for many targets.",
    "single-step",
)


class ScanOptions(shared.Shared, shared.Directed, shared.Named, shared.Simultaneous, total=False):
    """The options of :func:`scan`."""

    adjust: Annotated[Adjustment, ADJUST]


@question
def scan(
    sources: Annotated[Any, SOURCES],
    first: Annotated[Any, FIRST],
    second: Annotated[Any, shared.variable("The second target.", None)] = None,
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
        alternative, adjust, options["n_simulations"], shared.generator(options)
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
    if options["alternative"] != "two-sided":
        asked = f"`alternative={options['alternative']!r}`"
        raise InputError(
            f"{asked} compares two targets of each source; pass `second`, or leave it out."
        )
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
        kernels=tuple(found.described[i] for i in found.done),
        maxima=found.tests.maxima(options["n_simulations"], shared.generator(options)),
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


def read_columns(
    role: str, many: Any, single: Mapping[str, Any], options: Mapping[str, Any], kind: type[Any]
) -> Columns:
    """Read the fixed variables, and make the columns ready to be read next to them.

    Parameters
    ----------
    role : str
        The argument that the columns were passed as.
    many : mapping of str to data, data frame, array of two dimensions or WideColumns
    single : mapping of str to data
        The fixed variables, by argument.
    options : mapping of str to object
    kind : type
        The tests that are wanted.
    """
    fixed = name_variables(single, {}, options["names"])
    columns, matched, unmatched, ids, library = _matched(role, many, fixed)
    _check_apart(role, columns.names, fixed)
    specs = assign(
        options["kernel"],
        [*columns.names, *fixed],
        roles=[*[role] * len(columns.names), *single],
        measure=options["measure"],
    )
    chosen = {name: specs[name] for name in fixed}
    own = {**options, "kernel": chosen, "names": list(fixed), "ids": options.get("ids", ids)}
    study = read_study(dict(zip(single, matched, strict=True)), own, pairs=())
    dataset, marks = replace(study.dataset, unmatched=unmatched), [*study.columns.values()]
    held = study.conditioning
    n_rows = len(dataset) + dataset.n_dropped + (0 if held is None else len(held.alone))
    if n_rows != columns.n_rows:
        raise InputError(
            f"the variables have different numbers of observations: {role} has {columns.n_rows}, "
            f"{study.names[0]} has {n_rows}. Join or cut them first."
        )
    if len(marks) == 2 and marks[0].values.keys() == marks[1].values.keys():
        raise InputError(f"{' and '.join(study.names)} are the same; pass different ones.")
    study = replace(study, dataset=dataset)
    return Columns(role, columns, specs, study, kind, library or dataset.library)


def _matched(
    role: str, many: Any, fixed: Mapping[str, Any]
) -> tuple[WideColumns, list[Any], Any, Any, str | None]:
    """Return columns and fixed variables on the same rows, what was unmatched, rows, library."""
    if isinstance(many, WideColumns):
        return many, list(fixed.values()), None, None, None
    is_table = is_frame(many) or (isinstance(many, np.ndarray) and many.ndim == 2)
    # A table is matched as a whole; by a name that no variable has.
    blocks = {f"\0{role}": many} if is_table else read_variables(role, many, at_least=1)
    _check_apart(role, blocks, fixed)
    found, unmatched = aligned({**blocks, **fixed})
    matched = [found.pop(name) for name in fixed]
    ids = next((rows for rows in map(index_rows, found.values()) if rows is not None), None)
    library = next((one for one in map(frame_library, found.values()) if one), None)
    variables = (
        _variables_of(role, found[f"\0{role}"])
        if is_table
        else [read_variable(data, name) for name, data in found.items()]
    )
    if not variables:
        raise InputError(f"`{role}` has no columns; pass at least one.")
    columns = WideColumns([one.name for one in variables], held=variables)
    return columns, matched, unmatched, ids, library


def _check_apart(role: str, names: Iterable[str], fixed: Mapping[str, Any]) -> None:
    both = fixed.keys() & set(names)
    if both:
        raise InputError(f"{min(both)!r} is among the {role} and a variable of its own; rename it.")


def _variables_of(role: str, table: Any) -> Sequence[Variable]:
    """Return every column of a frame or an array as a variable; numbers all at once."""
    if is_frame(table):
        return columns_of(with_plain_names(table, role))
    whole, noun = read_variable(table, role), role.removesuffix("s")
    if not isinstance(whole, Numeric):
        columns = read_variables(role, table)
        return [read_variable(column, name) for name, column in columns.items()]
    by_column = np.ascontiguousarray(whole.values.T)
    return [Numeric(f"{noun} {i}", one[:, None]) for i, one in enumerate(by_column)]
