"""Checks on what is asked and tested: copies, influential rows, unlike targets, covariates.

Copies are found by their values. Two columns are the same if all their values are. They are one
column in other units or words if they put the rows in the same order, or divide them into the same
levels (`Columns.orders`). A source may also be computed from several targets, as a sum, a product
or a ratio.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from reldep import exceptions
from reldep.checks.subjects import LEVEL, MOST_ROWS, Cautions, Data, Scanned, Tested
from reldep.data.variables import FloatArray, Numeric
from reldep.exceptions import InputError
from reldep.stats.estimates import estimate_dependences
from reldep.stats.pairwise import Test
from reldep.stats.series import largest_shares
from reldep.words import counted, listed, number, percent, pvalue_text

# Share of the standard deviation that a regression may leave of a formula whose values are
# rounded, for tables of up to three columns, and of more: a body mass index written with one
# decimal leaves .01, and strong measured dependences leave more than .1.
LEFT_OF_THREE, LEFT_OF_MANY = 0.03, 1e-3
# Rows per column, so that a regression does not fit by chance, and columns that take no time.
ROWS_PER_COLUMN, MOST_COLUMNS = 5, 200
# A column is part of a formula if the residual without it is this many times as large; of a column
# that only fits by chance it is hardly larger.
NEEDED = 3.0
# A normalised dependence above this is that of a variable and its copy, but for 1% of noise; one
# above COPIED is that of a copy, of which nothing but rounding is left to carry.
NEARLY_COPIED, COPIED = 0.99, 1.0 - 1e-9

# One row is called influential beyond a quarter of the variance, provided that this is fifteen
# times the average share: among 40 rows of healthy data the largest share is often a quarter,
# among 100 hardly ever.
INFLUENTIAL_SHARE, TIMES_AVERAGE = 0.25, 15.0

# The difference of skewness of the leave-one-out values of two dependences beyond which one of them
# rests on few rows. Healthy targets of seven laws exceed it in at most 6% of samples of 100 rows,
# 10% of 50, but up to 16% of 30 and 26% of 20 rows, where it is not looked for.
SKEWNESS, FEWEST_FOR_SKEWNESS = 1.5, 50
# The p-value that ties of such dependences fall below in 5% of samples (docs/calibration.md).
STRICTER = 0.025

# The error of a regression on covariates, as a share of what it leaves, above which differences
# may come from it: curves over many covariates are above, one curve is far below. Ties that are
# rejected although the error is below .25 have mostly more than .15 (docs/guide/given.md).
ROUGH = 0.15
# Covariates that explain more leave little, part of which is what the regression missed.
NEARLY_ALL = 0.95
# Residuals that are worth fewer rows, or this share of them, show only strong dependences.
FEW_EFFECTIVE, SMALL_SHARE = 30, 0.5


def check_source_outside(data: Data) -> None:
    """Raise an error if a target contains a column of the source."""
    source, columns = data.source, data.columns
    if source is None or source not in columns:
        return
    for target in columns:
        shared = columns[target].shared(columns[source]) if target != source else []
        if shared == [target]:
            raise InputError(f"the target {target!r} is the source itself; leave it out.")
        if shared:
            words = f"the target {target!r} contains {_quoted(shared)}, which is in the source"
            raise InputError(f"{words} {source!r} too; leave the column out of one of them.")


def copied(data: Data) -> Cautions:
    """Check for copies among the variables of a question, and for a source made of targets."""
    owners: dict[tuple[str, int], list[str]] = {}
    for name, columns in data.columns.items():
        for key in (*columns.values, *columns.orders):
            owners.setdefault(key, []).append(name)
    alike = {pair for names in owners.values() if len(names) > 1 for pair in combinations(names, 2)}
    if alike:
        yield from _named(data, [pair for pair in combinations(data.columns, 2) if pair in alike])
    if data.source is not None and data.source in data.columns:
        for formula in _formulas(data, data.source):
            yield exceptions.CopyWarning(f"{formula}, up to rounding; if so, leave it out.")


def near_copies(tested: Tested) -> Cautions:
    """Check for pairs that are nearly as dependent as a variable and its copy."""
    found, columns = tested.found, tested.data.columns
    if not found.is_bounded or not (found.values > NEARLY_COPIED).any():
        return
    close = []
    for (x, y), value in zip(found.pairs, found.values, strict=True):
        # Copies have a caution of their own, unless they are copies in some of the rows only.
        said = x in columns and y in columns and not tested.where
        is_said = said and (columns[x].is_like(columns[y]) or columns[x].shared(columns[y]))
        if value > NEARLY_COPIED and not is_said:
            close.append(f"{x!r} and {y!r}")
    if close:
        yield exceptions.CopyWarning(
            f"Nearly as dependent as copies of each other{tested.where}: {listed(close, 5)}; if "
            "one is computed or measured from the other, leave it out."
        )


def _named(data: Data, alike: list[tuple[str, str]]) -> Cautions:
    """Yield cautions about the pairs that the question compares, and all pairs of its targets."""
    asked, inside, copies = {frozenset(pair) for pair in data.pairs}, [], []
    for x, y in alike:
        if frozenset((x, y)) not in asked and (data.source is None or data.source in (x, y)):
            continue
        common = data.columns[x].shared(data.columns[y])
        if common and max(len(data.columns[name].values) for name in (x, y)) > 1:
            inside.append(f"{x!r} and {y!r} both contain {_quoted(common)}")
        else:
            copies.append(f"{x!r} and {y!r}")
    if inside:
        yield exceptions.CopyWarning(f"{listed(inside, 5)}; leave the column out of one of them.")
    if copies:
        yield exceptions.CopyWarning(
            f"One variable in two units or words, by its values: {listed(copies, 5)}; if one is "
            "computed from the other, leave it out."
        )


def _quoted(names: Sequence[str]) -> str:
    return listed(list(map(repr, names)), 5)


def _formulas(data: Data, source: str) -> Iterator[str]:
    """Yield in words how a source may be computed from targets.

    It may be a weighted sum, a product or a ratio of targets with one column, or a weighted sum of
    the columns of one target, as a part of a whole is of the other parts.
    """
    own = data.columns[source].only
    if own is None or len(own) > MOST_ROWS:
        return
    single: dict[str, FloatArray] = {}
    for name, columns in data.columns.items():
        block = columns.variable
        if name == source or not isinstance(block, Numeric):
            continue
        if columns.only is None:
            if _is_formula(_left(own, block.values), block.values, LEFT_OF_MANY):
                yield f"{source!r} is a weighted sum of the columns of {name!r}"
        elif not columns.is_like(data.columns[source]):
            single[name] = columns.only
    if len(single) > 1:
        table = np.column_stack(list(single.values()))
        needed, word = _needed(own, table), "weighted sum"
        if not needed and (own > 0).all() and (table > 0).all():
            needed, word = _needed(np.log(own), np.log(table)), "product or ratio"
        if needed:
            quoted = [repr(list(single)[i]) for i in needed]
            both = " and ".join(quoted) if len(quoted) == 2 else listed(quoted, 5)
            yield f"{source!r} is a {word} of {both}"


def _needed(own: FloatArray, table: FloatArray) -> list[int]:
    """Return the columns of a formula; none if there is no formula, or one column is enough."""
    allowed = LEFT_OF_THREE if table.shape[1] <= 3 else LEFT_OF_MANY
    left = _left(own, table)
    if not _is_formula(left, table, allowed):
        return []
    columns = range(table.shape[1])
    without = [_left(own, np.delete(table, i, axis=1)) for i in columns]
    needed = [i for i in columns if without[i] > max(NEEDED * left, allowed)]
    return needed if len(needed) > 1 else []


def _left(own: FloatArray, table: FloatArray) -> float:
    """Return the share of the spread that a regression leaves; infinity for too few rows."""
    n, p = table.shape
    if p > MOST_COLUMNS or n < ROWS_PER_COLUMN * (p + 1):
        return np.inf
    both = np.column_stack([own, table])
    both = both / np.maximum(np.abs(both).max(axis=0), np.finfo(float).tiny)
    both -= both.mean(axis=0)
    spread = np.abs(both).max(axis=0)
    both /= np.where(spread > 0, spread, 1.0)
    rest = both[:, 0] - both[:, 1:] @ np.linalg.lstsq(both[:, 1:], both[:, 0], rcond=None)[0]
    return float(np.linalg.norm(rest) / np.linalg.norm(both[:, 0])) if spread[0] > 0 else np.inf


def _is_formula(left: float, table: FloatArray, allowed: float) -> bool:
    """Return True if little is left, and not by accident, in rows that are repeated."""
    enough = ROWS_PER_COLUMN * (table.shape[1] + 1)
    return left <= allowed and len(np.unique(table, axis=0)) >= enough


def influential(tested: Tested | Scanned) -> Cautions:
    """Check whether one row makes up much of the variance of what is tested, or claimed."""
    rows, where = tested.data.rows, tested.where
    if tested.psi is None:
        return
    if isinstance(tested, Scanned):
        claims = np.flatnonzero(tested.claimed)
        heavy = [
            f"{tested.names[claims[i]]} ({rows.name(row)}, {share})"
            for i, row, share in heavy_rows(tested.psi[claims])
        ]
        where = f" in {len(heavy):,} of {len(claims):,} claims"
    elif len(tested.weights) == 1:
        for _, row, share in [] if tested.found.fragile else heavy_rows(tested.psi):
            words = f"One row ({rows.name(row)}) carries {share} of the variance{where}"
            test = tested.without(np.array([row])) if tested.is_difference else None
            if test is not None:
                words += f"; without it {pvalue_text(test.pvalue('two-sided'))}, two-sided"
            yield exceptions.InfluentialWarning(f"{words}. Look at it.")
        return
    else:
        found = tested.found
        is_copy = (found.values >= COPIED) & found.is_bounded
        heavy = [
            f"{rows.name(row)} in {found.pairs[i][0]!r} ~ {found.pairs[i][1]!r} ({share})"
            for i, row, share in heavy_rows(found.psi)
            if not is_copy[i]
        ]
    if heavy:
        yield exceptions.InfluentialWarning(
            f"One row carries much of the variance{where}: {listed(heavy, 5)}; look at it, and at "
            "the answer without it."
        )


def heavy_rows(psi: FloatArray) -> list[tuple[int, int, str]]:
    """Return which rows of `psi` one row of the data rules, which it is, and its share."""
    share, top = largest_shares(psi)
    heavy = np.flatnonzero(share > max(INFLUENTIAL_SHARE, TIMES_AVERAGE / psi.shape[1]))
    return [(i, int(top[i]), percent(round(float(share[i]), 2))) for i in heavy.tolist()]


def no_error(tested: Tested) -> Cautions:
    """Check whether a variable does not vary without one unit, so that there is no error."""
    found, units = tested.found, tested.found.units
    names = [units.names[variable] for variable in found.fragile]
    if names:
        yield exceptions.FewUnitsWarning(
            f"{listed(list(map(repr, names)), 5)} would not vary without one of the "
            f"{units.noun}, so that its dependences have no standard error{tested.where}: only "
            "estimates and p-values of independence are given."
        )


def unlike_targets(tested: Tested) -> Cautions:
    """Check whether one of two dependences rests on few rows and the other does not."""
    found, n = tested.found, tested.data.n
    is_plain = found.keeps_rows and not found.rows.any
    if not tested.is_difference or not is_plain or n < FEWEST_FOR_SKEWNESS:
        return
    sizes = np.abs(found.psi).max(axis=1, keepdims=True)
    scaled = found.psi / np.where(sizes > 0, sizes, 1.0)
    squares = scaled * scaled
    skewness = (squares * scaled).mean(axis=1) / np.maximum(squares.mean(axis=1), 1e-300) ** 1.5
    if not abs(skewness[0] - skewness[1]) > SKEWNESS:
        return
    few = int(np.argmax(np.abs(skewness)))
    order = np.argsort(-squares[few], kind="stable")
    shares = np.cumsum(squares[few][order])
    rows = order[: int(np.searchsorted(shares, 0.5 * shares[-1])) + 1]
    test, rest = found.test(tested.weights[0]), tested.without(rows)
    if test.pvalue("two-sided") < STRICTER and (rest is None or _agrees(rest, test)):
        return  # The answer stands, with these rows and without them.
    (x, y), (v, w) = found.pairs[few], found.pairs[1 - few]
    after = "" if rest is None else f"; without them {pvalue_text(rest.pvalue('two-sided'))}"
    yield exceptions.UnlikeTargetsWarning(
        f"Few rows carry one relation: {counted(len(rows), 'row')} of {n} "
        f"({tested.data.rows.names(rows)}) {'make' if len(rows) > 1 else 'makes'} half of the "
        f"uncertainty of {x!r} ~ {y!r}, unlike that of {v!r} ~ {w!r}{after}. If they are a "
        f"population of their own, ask for p < {STRICTER:g}; samples that lack such rows have no "
        "caution."
    )


def _agrees(rest: Test, test: Test) -> bool:
    """Return True if a test says the same as another, at the level that few rows ask for."""
    return rest.pvalue("two-sided") < STRICTER and rest.estimate * test.estimate > 0


def measures(tested: Tested) -> Cautions:
    """Check whether raw HSIC and CKA agree about a difference."""
    if not tested.is_difference or tested.found.measure != "hsic":
        return
    raw, normalised = tested.found.test(tested.weights[0]), _normalised(tested)
    if normalised is None:
        return
    claims = [one.pvalue("two-sided") < LEVEL for one in (raw, normalised)]
    if claims[0] == claims[1] and not (claims[0] and raw.estimate * normalised.estimate < 0):
        return
    yield exceptions.MeasureWarning(
        f"CKA disagrees with raw HSIC (difference {number(normalised.estimate)}, "
        f"{pvalue_text(normalised.pvalue('two-sided'))}, two-sided), which also counts how much a "
        "target varies in itself; use `measure='cka'` for unlike targets."
    )


def _normalised(tested: Tested) -> Test | None:
    """Test the contrast of CKA; with the scales held fixed where their A is not known."""
    found, influence, weights = tested.found, tested.influence, tested.weights[0]
    try:
        squares = [influence.hsic((x, x)) * influence.hsic((y, y)) for x, y in found.pairs]
        if not min(squares) > 0:
            return None
        own = {(name, name) for pair in found.pairs for name in pair}
        if found.rows.any or not own <= set(influence.pairs):
            return found.test(weights / np.sqrt(squares))
        cka = estimate_dependences(influence, found.pairs, "cka", found.variance)
        return cka.test(weights)
    except (KeyError, InputError):
        # CKA has no scale here; the HSICs that were asked for stand.
        return None


def covariates(data: Data) -> Cautions:
    """Check whether covariates are held fixed well, and leave enough."""
    held = data.conditioning
    if held is None:
        return
    rough = [name for name, error in held.errors.items() if error > ROUGH]
    if rough:
        yield exceptions.CovariatesWarning(
            f"The regression on `given` is rough: more than {ROUGH:.0%} of what is left of "
            f"{listed(rough, 5)} is its own error. A difference may come from it, and "
            "power is low; pass fewer columns, or more rows."
        )
    if held.joint:
        yield exceptions.CovariatesWarning(
            f"Covariates act together ({listed(held.joint, 3)}), which few rows show roughly: what "
            "was missed looks like dependence. Add the label of such a corner to `given`."
        )
    for name, share in held.explained.items():
        if share > NEARLY_ALL:
            yield exceptions.CovariatesWarning(
                f"`given` explains {share:.1%} of {name!r}: what is left is partly what the "
                "regression missed."
            )
    rows = held.effective_rows
    if rows < max(FEW_EFFECTIVE, SMALL_SHARE * held.n_observations):
        yield exceptions.CovariatesWarning(
            f"`given` leaves what {rows:.0f} of {held.n_observations} rows would tell; pass fewer "
            "columns."
        )
    if held.alone:
        verb = "is" if len(held.alone) == 1 else "are"
        yield exceptions.CovariatesWarning(
            f"{counted(len(held.alone), 'row')} alone in a category of `given`, or far from all "
            f"others in a number, cannot be compared and {verb} left out: {listed(held.alone, 5)}."
        )
