"""Is a dependence stronger in one group than in another?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Unpack, cast

import numpy as np

from reldep.arguments import Argument
from reldep.checks import cautions_about_groups
from reldep.data.frames import native_name
from reldep.data.variables import BoolArray, FloatArray, IntArray, Labels
from reldep.engine import compute_influence
from reldep.exceptions import InputError
from reldep.kernels.custom import FittedPrecomputed
from reldep.questions import options as shared
from reldep.questions.ask import question
from reldep.questions.study import Study, read_study
from reldep.results.groups import GroupComparison
from reldep.stats.estimates import estimate_dependences
from reldep.stats.groups import Groups
from reldep.words import counted, listed

Test = Literal["score", "permutation"]

# A jackknife of fewer rows says little, and nothing about its own error.
FEWEST_ROWS = 8


BY_COLUMN = Argument(
    "The group of every row: labels, or the column of them.",
    shown="array_like of labels or column name",
    columns="label",
    panel="",
    metavar="COL",
)


TEST = Argument(
    '"score" compares groups by a quasi-likelihood and Welch\'s F. "permutation" shuffles '
    "the labels and studentises: for small groups.",
    "score",
)


class GroupOptions(shared.Shared, shared.Directed, shared.Named, total=False):
    """The options of :func:`groups`."""

    test: Annotated[Test, TEST]
    n_permutations: Annotated[int, shared.repetitions("How often labels are shuffled.")]
    n_simulations: Annotated[
        int, shared.repetitions("Draws for the simultaneous intervals of the differences.", 10_000)
    ]


@question
def groups(
    x: shared.One,
    y: shared.Other,
    by: Annotated[Any, BY_COLUMN],
    **options: Unpack[GroupOptions],
) -> GroupComparison:
    """Test whether the dependence of `x` and `y` is the same in every group.

    The groups are independent samples of any sizes, such as women and men or patients and
    controls. Kernels are fitted once, on all rows, so that every group is seen through the same
    kernel; each group's dependence comes from its own rows.

    Returns
    -------
    GroupComparison
        With `pvalue` (all groups equal; for two groups of the difference), `to_frame()`,
        `differences()`, `confidence_interval()`, `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> import reldep
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=160)
    >>> group = np.repeat(["treated", "control"], 80)
    >>> share = np.where(group == "treated", 0.9, 0.4)
    >>> y = share * x + np.sqrt(1 - share**2) * rng.normal(size=160)
    >>> reldep.groups(x, y, group).pvalue < 0.001
    True
    """
    study = read_study({"x": x, "y": y}, {**options, "by": by})
    held, stored = cast("Labels", study.dataset.groups), study.stored
    categories = _ordered(held if stored is None else cast("Labels", stored.labels))
    levels = [_written(category) for category in categories]
    number = {category: g for g, category in enumerate(categories)}
    codes = np.array([number.get(category, -1) for category in held.categories])[held.codes]
    if options["alternative"] != "two-sided" and len(levels) > 2:
        asked = f"`alternative={options['alternative']!r}`"
        raise InputError(f"{asked} is for two groups, and there are {len(levels)}; leave it out.")
    studies = {
        level: _rows_of(study, codes == g, category)
        for g, (level, category) in enumerate(zip(levels, categories, strict=True))
    }
    _check_groups_vary(studies)
    parts = {level: part.compute() for level, part in studies.items()}
    dependences = tuple(part.found for part in parts.values())
    joined = Groups.of(dependences)
    computed = study.compute()
    permuted = None
    if options["test"] == "permutation":
        permuted = _permuted_pvalue(study, codes, options["n_permutations"])
    return GroupComparison(
        provenance=computed.provenance,
        warnings=(
            *computed.cautions,
            *cautions_about_groups(
                {g: part.tested(np.ones(1), where=f" in {g!r}") for g, part in parts.items()}
            ),
        ),
        x=study.names[0],
        y=study.names[1],
        by=native_name(by) or "group",
        groups=tuple(levels),
        dependences=dependences,
        differences_found=joined.differences(options["n_simulations"], shared.generator(options)),
        overall=joined.test(),
        alternative=options["alternative"],
        test=options["test"],
        permuted_pvalue=permuted,
        n_permutations=options["n_permutations"] if options["test"] == "permutation" else None,
    )


def _check_groups_vary(studies: Mapping[str, Study]) -> None:
    """Raise if a variable does not vary in some group: it has no dependence there."""
    still = []
    for group, study in studies.items():
        for name, own in study.dataset.variables.items():
            if own.is_constant():
                still.append(f"{name} in {group}")
            elif (row := own.lone()) is not None:
                still.append(f"{name} in {group}, but for {study.dataset.rows.name(row)}")
    if still:
        raise InputError(
            f"in some groups all observations are the same: {listed(still, 5)}. Leave these out."
        )


def _ordered(labels: Labels) -> list[Any]:
    """Return the labels that rows have, in order; raise if there is one, or one has few rows."""
    sizes = np.bincount(labels.codes[labels.codes >= 0], minlength=len(labels.categories))
    size_of = {one: size for one, size in zip(labels.categories, sizes, strict=True) if size}
    found = sorted(size_of, key=_sortable if labels.order is None else labels.order.index)
    if len(found) < 2:
        raise InputError(
            f"`by` has a single group, {_written(found[0])!r}; there is nothing to compare."
        )
    small = [f"{_written(one)} ({size_of[one]})" for one in found if size_of[one] < FEWEST_ROWS]
    if small:
        raise InputError(
            f"`by` has {len(small)} of {counted(len(found), 'group')} with fewer than "
            f"{FEWEST_ROWS} rows: {listed(small)}; join them with others, or leave them out."
        )
    return found


def _written(level: Any) -> str:
    """Write a label: whole numbers without a point, days without an hour, blanks in quotes."""
    if isinstance(level, float) and level.is_integer():
        return f"{level:.0f}"
    text = str(level).removesuffix(" 00:00:00")
    return text if text.strip() else repr(text)


def _sortable(level: Any) -> tuple[str, Any]:
    """Return the key that sorts numbers as numbers and words as words."""
    return ("", level) if isinstance(level, (int, float)) else ("word", str(level))


def _rows_of(study: Study, is_member: BoolArray, category: Any) -> Study:
    """Return a group of rows with the kernels that were fitted to all of them."""
    rows, stored = np.flatnonzero(is_member), study.stored
    fits = {name: fitted.take(rows) for name, fitted in study.fitted.items()}
    part = replace(study.part(rows), fits=fits)
    if stored is None:
        return part
    own = stored.group(category, len(rows))
    return replace(part, options={**study.options, "stored": own})


def _permuted_pvalue(
    study: Study, codes: IntArray, n_permutations: int, most_rows: int = 4_000
) -> float:
    """Shuffle the labels of whole rows and studentise each time (Chung and Romano, 2013).

    Exact if all groups follow one law, asymptotically valid if only the dependence is equal.
    Kernel matrices of more than `most_rows` are too large to be shuffled a thousand times.
    """
    n = len(codes)
    if n > most_rows:
        raise InputError(
            f"`test='permutation'` is for up to {most_rows} rows, not {n}; use `test='score'`."
        )
    matrices = [kernel(slice(None), slice(None)) for kernel in study.fitted.values()]
    rng, alternative = shared.generator(study.options), study.options["alternative"]
    observed = _statistic(matrices, codes, study.measure, alternative)
    beyond = 1
    for _ in range(n_permutations):
        shuffled = codes[rng.permutation(n)]
        beyond += _statistic(matrices, shuffled, study.measure, alternative) >= observed
    return beyond / (1.0 + n_permutations)


def _statistic(
    matrices: Sequence[FloatArray], codes: IntArray, measure: str, alternative: str
) -> float:
    """Return a studentised statistic that is large where the groups differ as asked."""
    pairs = [("x", "y"), ("x", "x"), ("y", "y")]
    found = []
    for g in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == g)
        kernels = {
            name: FittedPrecomputed(matrix[np.ix_(rows, rows)])
            for name, matrix in zip("xy", matrices, strict=True)
        }
        influence = compute_influence(kernels, pairs, "dense")
        fixed = replace(influence, bandwidth_psi=np.zeros_like(influence.values))
        found.append(estimate_dependences(fixed, pairs[:1], measure, "jackknife"))
    joined = Groups.of(found)
    if len(found) > 2 or alternative == "two-sided":
        return joined.test().statistic
    signed = joined.signed_root()
    return signed if alternative == "greater" else -signed
