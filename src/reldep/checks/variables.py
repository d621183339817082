"""Checks on single variables, also over the thousands of columns of a scan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from reldep import exceptions
from reldep.checks.subjects import (
    FEWEST_ORDERED,
    MOST_ROWS,
    ROWS_PER_LEVEL,
    Beside,
    Cautions,
    Columns,
    Data,
    Levels,
)
from reldep.data.dataset import AlignedData
from reldep.data.lifetimes import event_beside
from reldep.data.missing_codes import have_codes_at_ends, suspected_codes, suspected_labels
from reldep.data.selectors import ColumnType
from reldep.data.variables import (
    MISSING_CODE,
    BoolArray,
    FloatArray,
    Labels,
    Mixed,
    Numeric,
    Sparse,
    Variable,
)
from reldep.words import listed, number

# Whole numbers with this many levels, the rarest at least a third as frequent as the commonest,
# look like codes: counts and ratings have rare values at their ends.
CODE_LEVELS, EVEN_FREQUENCIES = (5, 20), 1 / 3

# Columns whose standard deviations differ by more than this are hardly in one unit. Wide blocks are
# mostly of one kind (genes, pixels, fatty acids), whose spreads differ for a reason.
SPREAD_RATIO, MOST_UNITS = 10.0, 12
# A mean distance of this many times the usual distance is the distance to a few far values: samples
# of the Cauchy law reach about 10.
FAR = 100.0
# Where half of the variance of sparse rows lies in their length, or the ninth decile of the number
# of words is five times the first, length outweighs content.
LENGTH_SHARE, UNLIKE_LENGTHS = 0.5, 5.0

# A median distance jumps if the share of distances on one side of it is within 1.5 standard errors
# of 1/2; looked for up to this many different values, whose table of distances takes no time.
JUMP_DEVIATIONS, MOST_LEVELS = 1.5, 500

# A variable varies more in one group than in another if its spread is this many times as large and
# a test of equal spread (Brown and Forsythe) rejects at this level.
UNLIKE_SPREADS, SPREAD_LEVEL = 2.0, 0.01


def missing_codes(data: Data) -> Cautions:
    """Check for numbers and labels that stand for missing values."""
    found: dict[str, list[str]] = {}
    for part in data.parts:
        if isinstance(part, Numeric):
            for position in np.flatnonzero(have_codes_at_ends(part.values.T)).tolist():
                for code, _ in suspected_codes(part.values[:, position]):
                    found.setdefault(f"{code:.15g}", []).append(_column_name(part, position))
        elif isinstance(part, Labels):
            labels = _used_labels(part)
            blank = suspected_labels(labels)
            for label in blank if len(labels) > len(blank) else ():
                found.setdefault(repr(label), []).append(repr(part.name))
    for written, names in found.items():
        yield exceptions.MissingCodesWarning(
            f"{written} in {listed(names, 5)} may mean missing; pass `na={written}` to "
            "reldep.read()."
        )


def _column_name(variable: Numeric, position: int) -> str:
    if variable.values.shape[1] == 1:
        return repr(variable.name)
    own = variable.columns[position] if variable.columns else str(position)
    return f"column {own!r} of {variable.name!r}"


def _used_labels(labels: Labels) -> list[Any]:
    return [labels.categories[code] for code in np.unique(labels.codes) if code != MISSING_CODE]


def kinds(data: Data) -> Cautions:
    """Check for numbers that may be codes, and labels that may be one and the same."""
    codes, (low, high) = [], CODE_LEVELS
    for part in data.parts:
        if isinstance(part, Labels):
            yield from _twins(part)
            if part.caution is not None and part.name in data.automatic:
                yield exceptions.KindWarning(f"{part.name!r} {part.caution}.")
    for name, columns in data.columns.items():
        for part in columns.parts if name in data.automatic else ():
            one = columns if part is columns.variable else Columns(part)
            levels = None if one.only is None else one.levels
            if levels is not None and low <= len(levels.values) <= high and _like_codes(levels):
                codes.append(f"{name!r} ({levels.values[0]:g} to {levels.values[-1]:g})")
    if codes:
        yield exceptions.KindWarning(
            f"Numbers that may be codes without an order: {listed(codes, 5)}; if so, use "
            "`kernel='delta'`."
        )


def _twins(labels: Labels) -> Cautions:
    alike: dict[str, list[str]] = {}
    for word in [label for label in _used_labels(labels) if isinstance(label, str)]:
        alike.setdefault(_plainly_written(word), []).append(word)
    twins = [group for group in alike.values() if len(group) > 1]
    if twins:
        shown = "; ".join(listed(list(map(repr, group)), 3) for group in twins[:3])
        yield exceptions.KindWarning(
            f"{labels.name!r} has labels that may be the same ({shown}); write each in one way."
        )


def _plainly_written(word: str) -> str:
    """Return a label without what people write differently: capitals, spaces, 1.0 for 1."""
    plain = " ".join(word.lower().split())
    try:
        return f"{float(plain):g}" if plain[:1].isdigit() else plain
    except (ValueError, OverflowError):
        return plain


def _like_codes(levels: Levels) -> bool:
    """Return True for whole numbers in a row whose levels are about equally frequent."""
    values, counts = levels.values, levels.counts
    is_run = values[0] == np.rint(values[0]) and bool((np.diff(values) == 1).all())
    enough = len(levels.codes) >= ROWS_PER_LEVEL * len(values)
    return is_run and enough and bool(counts.min() >= EVEN_FREQUENCIES * counts.max())


def scales(data: Data) -> Cautions:
    """Check for columns, values or lengths that outweigh the others."""
    for name, variable in data.variables.items():
        numbers = variable.numbers() if isinstance(variable, Mixed) else variable
        if name not in data.automatic:
            continue
        if isinstance(numbers, Numeric) and numbers.values.shape[1] > 1:
            yield from _unlike_units(numbers, name)
        elif isinstance(variable, Sparse):
            yield from _ruled_by_length(variable)
    for name, chosen in data.bandwidths.items():
        if chosen.rule == "mean":
            yield from _far_values(name, data, chosen.value)
    for name in data.texts:
        yield from _unlike_lengths(name, data.variables[name])


def _in_reach(values: FloatArray) -> tuple[FloatArray, float]:
    """Return values divided by a power of two, so that no square of them overflows, and it."""
    largest = float(np.abs(values).max(initial=0.0))
    size = float(2.0 ** np.floor(np.log2(largest))) if largest > 0 else 1.0
    return values / size, size


def _unlike_units(numbers: Numeric, name: str) -> Cautions:
    spreads = _in_reach(numbers.values)[0].std(axis=0)
    varying = np.flatnonzero(spreads > 0)
    if not 2 <= len(varying) <= MOST_UNITS:
        return
    largest, smallest = varying[np.argmax(spreads[varying])], varying[np.argmin(spreads[varying])]
    ratio = spreads[largest] / spreads[smallest]
    if ratio >= SPREAD_RATIO:
        names = numbers.columns or tuple(f"column {i}" for i in range(len(spreads)))
        yield exceptions.ScaleWarning(
            f"In {name!r}, {names[largest]!r} outweighs {names[smallest]!r} (standard deviation × "
            f"{number(float(ratio), 2)}); if the units differ, use `kernel='standardized'`."
        )


def _ruled_by_length(variable: Sparse) -> Cautions:
    """Check for sparse counts whose rows differ by their length more than by their kind."""
    rows = variable.values[: min(len(variable), MOST_ROWS)]
    if rows.shape[0] < 4 or rows.min() < 0:
        return
    rows = rows / (rows.max() or 1.0)
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    mean = np.asarray(rows.mean(axis=0)).ravel()
    total, size = float((lengths**2).mean() - mean @ mean), float(np.linalg.norm(mean))
    if total <= 0 or size == 0:
        return
    # The share of the variance along the mean row, where rows of one kind differ by length.
    share = float(np.asarray(rows @ (mean / size)).ravel().var()) / total
    if share >= LENGTH_SHARE:
        yield exceptions.ScaleWarning(
            f"{share:.0%} of the variance of {variable.name!r} lies in the length of its rows; "
            "divide each row by its length, or use `kernel='cosine'`."
        )


def _far_values(name: str, data: Data, bandwidth: float) -> Cautions:
    """Check for values so far from the others that the mean distance is the distance to them."""
    values, size = data.columns[name].only, 1.0
    every = max(1, data.n // MOST_ROWS)
    if values is not None:
        away = np.abs(values - _median(values[::every]))
    else:
        values, size = _in_reach(data.variables[name].values)  # type: ignore[attr-defined]
        away = values - _median(values[::every])
        away = np.sqrt((away * away).sum(axis=1))
    some = away[::every]
    usual = _median(some[some > 0]) if some.any() else np.inf
    ratio = bandwidth / size / float(usual)
    if ratio >= FAR:
        yield exceptions.ScaleWarning(
            f"{name!r} is so far from the others in {data.rows.name(int(np.argmax(away)))} that "
            f"its bandwidth is {number(ratio, 2)} times the usual distance; correct the value, or "
            "use `kernel='gaussian'`, whose bandwidth is a median."
        )


def _median(values: FloatArray) -> FloatArray:
    """Return the upper median along the first axis, several times as fast as np.median."""
    return np.asarray(np.partition(values, len(values) // 2, axis=0)[len(values) // 2])


def _unlike_lengths(name: str, variable: Variable) -> Cautions:
    """Check for texts of very different lengths."""
    from reldep.kernels.strings import strings_of

    texts = strings_of(variable, "Text")  # type: ignore[arg-type]
    short, long = np.percentile([len(text.split()) for text in texts], (10, 90))
    if long > UNLIKE_LENGTHS * max(short, 1.0):
        yield exceptions.ScaleWarning(
            f"Texts of {name!r} have {short:.0f} to {long:.0f} words, and short ones have few in "
            "common with any other; cut them to similar lengths, or pass the logarithm of the "
            "number of words as `given`."
        )


def prepared_alike(data: Data) -> Cautions:
    """Check whether all texts are prepared in the same way."""
    ways: dict[str, list[str]] = {}
    for name, way in data.texts.items():
        ways.setdefault(way, []).append(repr(name))
    if len(ways) > 1:
        shown = " and ".join(f"{way} ({listed(names, 5)})" for way, names in ways.items())
        yield exceptions.UnequalWarning(
            f"Texts are prepared differently, as {shown}, and those prepared alike may be more "
            "closely related for that reason; prepare all of them in the same way."
        )


def bandwidths(data: Data) -> Cautions:
    """Check for median distances that are 0, or that another sample would not have."""
    ties, jumps = [], []
    for name, chosen in data.bandwidths.items():
        levels = data.columns[name].levels
        if chosen.has_ties:
            ties.append(repr(name))
        elif chosen.rule == "median" and levels is not None and _jumps(levels, chosen.value):
            jumps.append(repr(name))
    if ties:
        yield exceptions.BandwidthWarning(
            f"More than half of the distances in {listed(ties, 5)} are 0, so that the bandwidth "
            "is the median of the others; use `bandwidth='mean'`, or `kernel='delta'` for "
            "categories."
        )
    if jumps:
        yield exceptions.BandwidthWarning(
            f"The median distance of {listed(jumps, 5)} may jump from sample to sample, for which "
            "no standard error allows; use `bandwidth='mean'`."
        )


def _jumps(levels: Levels, median: float) -> bool:
    """Return True if the median distance of numbers with few levels is one by a narrow margin.

    Distances of whole numbers are whole numbers. Where the share of distances below the median,
    or up to it, is near 1/2, the median jumps to its neighbour from sample to sample.
    """
    values, counts, n = levels.values, levels.counts, len(levels.codes)
    if len(values) > min(n / 2, MOST_LEVELS):
        return False
    distances = np.abs(values[:, None] - values[None, :])
    for most in (median * (1 - 1e-9), median * (1 + 1e-9)):
        # Of the other rows, the share that is nearer.
        shares = ((distances < most) @ counts - 1.0) / (n - 1)
        mean = float(shares @ counts) / n
        error = 2.0 * np.sqrt(float((shares - mean) ** 2 @ counts)) / n
        if abs(mean - 0.5) < JUMP_DEVIATIONS * error:
            return True
    return False


def censored(beside: Beside) -> Cautions:
    """Check whether a time is used without the column with how it ended."""
    for name in beside.used:
        if beside.table.columns.get(name) in (ColumnType.NUMBER, ColumnType.INTEGER):
            event = event_beside(name, beside.unused)
            if event is not None:
                yield exceptions.CensoredWarning(
                    f"{name!r} may be censored by {event!r}, and a censored time is not a "
                    f"lifetime; if so, pass `survival='{name},{event}'` to reldep.read()."
                )


def spreads_of_groups(groups: Mapping[str, Data]) -> Cautions:
    """Check whether variables have the same range in every group.

    Over a narrow range of a variable its dependence on others is weaker, or none.
    """
    for name, columns in next(iter(groups.values())).columns.items():
        if not isinstance(columns.variable, Numeric):
            continue
        tables = [data.variables[name].values for data in groups.values()]  # type: ignore[attr-defined]
        ends = sorted((float(one.min()), float(one.max())) for one in tables)
        if columns.only is not None and all(a[1] < b[0] for a, b in pairwise(ends)):
            yield exceptions.UnequalWarning(
                f"The groups do not overlap in {name!r}, and over a part of its range its relation "
                "to others is weaker; choose groups by something else."
            )
            continue
        size = _in_reach(np.array(ends))[1]
        # The distance of every row from the median of its group.
        away = [
            np.linalg.norm(one / size - np.median(one / size, axis=0), axis=1) for one in tables
        ]
        spread = dict(zip(groups, [float(np.mean(one)) for one in away], strict=True))
        wide, narrow = max(spread, key=spread.__getitem__), min(spread, key=spread.__getitem__)
        if not spread[wide] > UNLIKE_SPREADS * spread[narrow]:
            continue
        if scipy.stats.f_oneway(*away).pvalue < SPREAD_LEVEL:
            yield exceptions.UnequalWarning(
                f"{name!r} varies {number(spread[wide] / spread[narrow], 2)} times as much in "
                f"{wide!r} as in {narrow!r}, which alone makes its relation to others stronger "
                "there; compare over one range."
            )


def plain_columns(variables: Sequence[Variable]) -> tuple[list[int], FloatArray]:
    """Return which variables are single columns of numbers, and their values, one row each."""
    own = {i: one.values for i, one in enumerate(variables) if isinstance(one, Numeric)}
    plain = [i for i, values in own.items() if values.shape[1] == 1]
    return plain, np.array([own[i][:, 0] for i in plain])


@dataclass
class ColumnChecks:
    """The checks of single variables, mapped over columns.

    Attributes
    ----------
    fixed : Data
        The variables that all columns are compared with.
    role : str
        What the columns are: "sources" or "targets".
    n_columns : int
    """

    fixed: Data
    role: str
    n_columns: int
    #: Columns that are a fixed variable in other units or words, by its name.
    copies: dict[str, list[str]] = field(default_factory=dict)
    found: dict[type[exceptions.ReldepWarning], dict[str, exceptions.ReldepWarning]] = field(
        default_factory=dict
    )

    def are_odd(self, variables: Sequence[Variable]) -> BoolArray:
        """Return which columns some check may concern, or cannot be tested; a superset of them.

        Numbers without gaps, with more levels than codes and scales have, no code at their ends
        and another order than the fixed variables, by some of the rows, are not among them.
        """
        odd = np.ones(len(variables), dtype=bool)
        plain, table = plain_columns(variables)
        if not plain or table.shape[1] < FEWEST_ORDERED:
            return odd
        some = np.sort(table[:, : 4 * CODE_LEVELS[1]], axis=1)
        is_odd = (some[:, 1:] > some[:, :-1]).sum(axis=1) < CODE_LEVELS[1]
        is_odd |= np.isnan(table.sum(axis=1)) | have_codes_at_ends(table)
        steps = np.sign(np.diff(table[:, :FEWEST_ORDERED], axis=1))
        for other in self.fixed.parts:
            for column in other.values.T if isinstance(other, Numeric) else ():
                own = np.sign(np.diff(column[:FEWEST_ORDERED]))
                is_odd |= (steps == own).all(axis=1) | (steps == -own).all(axis=1)
        odd[plain] = is_odd
        return odd

    def look(self, name: str, variable: Variable) -> list[str]:
        """Check one column; return the names of the fixed variables whose values it has."""
        own = AlignedData({name: variable}, self.fixed.rows)
        data = Data(dataset=own, automatic=frozenset({name}))
        for check in (missing_codes, kinds):
            for caution in check(data):
                self.found.setdefault(type(caution), {}).setdefault(name, caution)
        columns = data.columns[name]
        for other, known in self.fixed.columns.items():
            if known.is_like(columns):
                self.copies.setdefault(other, []).append(name)
        return [other for other, known in self.fixed.columns.items() if columns.shared(known)]

    def cautions(self) -> Cautions:
        """Yield one caution per kind, with how many columns it is about."""
        for kind, by_name in self.found.items():
            first = next(iter(by_name.values()))
            if len(by_name) == 1:
                yield first
            else:
                yield kind(f"{self._counted(list(by_name))}, for one: {first}")
        for other, names in self.copies.items():
            yield exceptions.CopyWarning(
                f"By its values, {self._counted(names)} may be {other!r} in other units or words; "
                "if it is, leave it out."
            )

    def _counted(self, names: Sequence[str]) -> str:
        return f"{len(names):,} of {self.n_columns:,} {self.role} ({listed(names, 5)})"
