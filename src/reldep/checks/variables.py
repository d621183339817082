"""Checks on single variables: codes for missing values, kinds, scales and bandwidths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.data.inspection import has_codes_at_ends, suspected_codes
from reldep.data.missing_codes import MISSING_CODES
from reldep.data.variables import MISSING_CODE, Labels, Mixed, Numeric, Sparse
from reldep.exceptions import (
    BandwidthWarning,
    KindWarning,
    MissingCodesWarning,
    ScaleWarning,
    UnequalWarning,
)
from reldep.words import listed, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reldep.checks.subjects import Data
    from reldep.data.variables import FloatArray, Variable

# Whole numbers with this many levels, each about as frequent as the others and with this many rows,
# look like codes: counts and ratings have rare values at their ends.
CODE_LEVELS, EVEN_FREQUENCIES, ROWS_PER_LEVEL = (5, 20), 1 / 3, 5

# Columns whose standard deviations differ by more than this are hardly in one unit. Wide blocks are
# mostly of one kind (genes, pixels, fatty acids), whose spreads differ for a reason.
SPREAD_RATIO, MOST_UNITS = 10.0, 12
# Share of the variance of sparse rows that lies in their length, and rows looked at.
LENGTH_SHARE, SPARSE_ROWS = 0.5, 500
# A mean distance of this many times the usual distance is the distance to a few far values.
FAR = 100.0
# Rows from which the usual distance is found, to a few per cent.
ROWS_FOR_USUAL = 2_000
# Texts have unlike lengths if the ninth decile of the number of words is this many times the first.
UNLIKE_LENGTHS = 5.0

# A median distance jumps if the share of distances on one side of it is this many standard errors
# from 1/2; looked for up to this many different values.
JUMP_DEVIATIONS, MOST_LEVELS = 1.5, 500

_SHOWN = 5


def missing_codes(data: Data) -> Iterator[MissingCodesWarning]:
    """Check for numbers and labels that stand for missing values."""
    found: dict[str, list[str]] = {}
    for part in (*data.parts(), *data.labels.values()):
        if isinstance(part, Numeric):
            for position, column in enumerate(part.values.T):
                for code, _ in suspected_codes(column) if has_codes_at_ends(column) else ():
                    found.setdefault(f"{code:.15g}", []).append(_column_name(part, position))
        elif isinstance(part, Labels):
            words = _used_words(part)
            blank = [word for word in words if word.strip().lower() in MISSING_CODES | {""}]
            for word in blank if len(words) > len(blank) else ():
                found.setdefault(repr(word), []).append(repr(part.name))
    for written, names in found.items():
        yield MissingCodesWarning(
            f"{written} in {listed(names, _SHOWN)} may mean missing; pass `na={written}` to "
            "reldep.read()."
        )


def _column_name(variable: Numeric, position: int) -> str:
    if variable.values.shape[1] == 1:
        return repr(variable.name)
    own = variable.columns[position] if variable.columns else str(position)
    return f"column {own!r} of {variable.name!r}"


def _used_words(labels: Labels) -> list[str]:
    used = [labels.categories[code] for code in np.unique(labels.codes) if code != MISSING_CODE]
    return [word for word in used if isinstance(word, str)]


def kinds(data: Data) -> Iterator[KindWarning]:
    """Check for numbers that may be codes, and labels that may be one and the same."""
    codes = []
    for part in (*data.parts(), *data.labels.values()):
        if isinstance(part, Labels):
            yield from _twins(part)
            if part.caution is not None and part.name in data.automatic:
                yield KindWarning(f"{part.name!r} {part.caution}.")
        elif isinstance(part, Numeric) and part.name in data.automatic and _like_codes(part):
            codes.append(f"{part.name!r} ({part.values.min():g} to {part.values.max():g})")
    if codes:
        yield KindWarning(
            f"Numbers that may be codes without an order: {listed(codes, _SHOWN)}; if so, use "
            "`kernel='delta'`."
        )


def _twins(labels: Labels) -> Iterator[KindWarning]:
    alike: dict[str, list[str]] = {}
    for word in _used_words(labels):
        alike.setdefault(_plainly_written(word), []).append(word)
    twins = [group for group in alike.values() if len(group) > 1]
    if twins:
        shown = "; ".join(listed(list(map(repr, group)), 3) for group in twins[:3])
        yield KindWarning(
            f"{labels.name!r} has labels that may be the same ({shown}); write each in one way."
        )


def _plainly_written(word: str) -> str:
    """Return a label without what people write differently: capitals, spaces, 1.0 for 1."""
    plain = " ".join(word.lower().split())
    try:
        return f"{float(plain):g}" if plain[:1].isdigit() else plain
    except (ValueError, OverflowError):
        return plain


def _like_codes(variable: Numeric) -> bool:
    """Return True for whole numbers of few levels that are about equally frequent."""
    column = variable.values[:, 0]
    if variable.values.shape[1] != 1 or not np.array_equal(column, np.rint(column)):
        return False
    levels, counts = np.unique(column, return_counts=True)
    low, high = CODE_LEVELS
    is_run = levels[-1] - levels[0] == len(levels) - 1
    enough = len(column) >= ROWS_PER_LEVEL * len(levels)
    even = counts.min() >= EVEN_FREQUENCIES * counts.max()
    return bool(low <= len(levels) <= high and is_run and enough and even)


def scales(data: Data) -> Iterator[ScaleWarning]:
    """Check for columns or values that outweigh the others."""
    for name, variable in data.variables.items():
        if name in data.automatic:
            yield from _unlike_units(variable)
            yield from _ruled_by_length(variable)
        yield from _far_values(name, data)
        yield from _unlike_lengths(name, data)


def _unlike_units(variable: Variable) -> Iterator[ScaleWarning]:
    numbers = variable.numbers() if isinstance(variable, Mixed) else variable
    if not isinstance(numbers, Numeric):
        return
    spreads = numbers.values.std(axis=0)
    varying = np.flatnonzero(spreads > 0)
    if not 2 <= len(varying) <= MOST_UNITS:
        return
    largest, smallest = varying[np.argmax(spreads[varying])], varying[np.argmin(spreads[varying])]
    ratio = spreads[largest] / spreads[smallest]
    if ratio >= SPREAD_RATIO:
        names = numbers.columns or tuple(f"column {i}" for i in range(len(spreads)))
        yield ScaleWarning(
            f"In {variable.name!r}, {names[largest]!r} outweighs {names[smallest]!r} (standard "
            f"deviation × {number(float(ratio), 2)}); if the units differ, use "
            "`kernel='standardized'`."
        )


def _ruled_by_length(variable: Variable) -> Iterator[ScaleWarning]:
    """Check for sparse counts whose rows differ by their length more than by their kind."""
    if not isinstance(variable, Sparse):
        return
    rows = variable.values[: min(len(variable), SPARSE_ROWS)]
    if rows.shape[0] < 4 or rows.min() < 0:
        return
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    mean = np.asarray(rows.mean(axis=0)).ravel()
    total, size = float((lengths**2).mean() - mean @ mean), float(np.linalg.norm(mean))
    if total <= 0 or size == 0:
        return
    # The share of the variance along the mean row, where rows of one kind differ by length.
    share = float(np.asarray(rows @ (mean / size)).ravel().var()) / total
    if share >= LENGTH_SHARE:
        yield ScaleWarning(
            f"{share:.0%} of the variance of {variable.name!r} lies in the length of its rows; "
            "divide each row by its length, or use `kernel='cosine'`."
        )


def _far_values(name: str, data: Data) -> Iterator[ScaleWarning]:
    """Check for values so far from the others that the mean distance is the distance to them."""
    variable, kernel = data.variables[name], data.fitted.get(name)
    if kernel is None or not isinstance(variable, Numeric):
        return
    known = kernel.describe()
    if not str(known.get("rule", "")).startswith("mean"):
        return
    usual = _usual_distance(variable.values)
    ratio = float(known["bandwidth"]) / usual if usual > 0 else 0.0
    if ratio >= FAR:
        row = int(np.argmax(_distances_from_middle(variable.values)))
        yield ScaleWarning(
            f"{name!r} is so far from the others in {data.rows.name(row)} that its bandwidth is "
            f"{number(ratio, 2)} times the usual distance; correct the value, or use "
            "`kernel='gaussian'`, whose bandwidth is a median."
        )


def _usual_distance(values: FloatArray) -> float:
    """Return the median of the positive distances from the middle, from evenly spaced rows."""
    norms = _distances_from_middle(values[:: max(1, len(values) // ROWS_FOR_USUAL)])
    positive = norms[norms > 0]
    return float(_median(positive)) if len(positive) else 0.0


def _distances_from_middle(values: FloatArray) -> FloatArray:
    away = values - _median(values)
    return np.asarray(np.sqrt((away * away).sum(axis=1)))


def _median(values: FloatArray) -> FloatArray:
    """Return the upper median along the first axis, several times as fast as np.median."""
    return np.asarray(np.partition(values, len(values) // 2, axis=0)[len(values) // 2])


def _unlike_lengths(name: str, data: Data) -> Iterator[ScaleWarning]:
    """Check for texts of very different lengths."""
    kernel, variable = data.kernels.get(name), data.variables[name]
    if kernel is None or kernel.preparation(variable) is None:
        return
    from reldep.kernels.structured.strings import strings_of

    texts = strings_of(variable, "Text")  # type: ignore[arg-type]
    short, long = np.percentile([len(text.split()) for text in texts], (10, 90))
    if long > UNLIKE_LENGTHS * max(short, 1.0):
        yield ScaleWarning(
            f"Texts of {name!r} have {short:.0f} to {long:.0f} words, and short ones have few in "
            "common with any other; cut them to similar lengths, or pass the logarithm of the "
            "number of words as `given`."
        )


def prepared_alike(data: Data) -> Iterator[UnequalWarning]:
    """Check whether all texts are prepared in the same way."""
    ways: dict[str, list[str]] = {}
    for name, kernel in data.kernels.items():
        if name in data.variables:
            way = kernel.preparation(data.variables[name])
            if way is not None:
                ways.setdefault(way, []).append(repr(name))
    if len(ways) > 1:
        shown = " and ".join(f"{way} ({listed(names, _SHOWN)})" for way, names in ways.items())
        yield UnequalWarning(
            f"Texts are prepared differently, as {shown}, and those prepared alike may be more "
            "closely related for that reason; prepare all of them in the same way."
        )


def bandwidths(data: Data) -> Iterator[BandwidthWarning]:
    """Check for median distances that are 0, or that another sample would not have."""
    ties, jumps = [], []
    for name, kernel in data.fitted.items():
        variable, known = data.variables.get(name), kernel.describe()
        rule = str(known.get("rule", ""))
        if not rule.startswith("median") or not isinstance(variable, Numeric):
            continue
        if "non-zero" in rule:
            ties.append(repr(name))
        elif variable.values.shape[1] == 1 and _jumps(variable.values[:, 0], known["bandwidth"]):
            jumps.append(repr(name))
    if ties:
        yield BandwidthWarning(
            f"More than half of the distances in {listed(ties, _SHOWN)} are 0, so that the "
            "bandwidth is the median of the others; use `bandwidth='mean'`, or `kernel='delta'` "
            "for categories."
        )
    if jumps:
        yield BandwidthWarning(
            f"The median distance of {listed(jumps, _SHOWN)} may jump from sample to sample, for "
            "which no standard error allows; use `bandwidth='mean'`."
        )


def _jumps(values: FloatArray, median: float) -> bool:
    """Return True if the median distance of numbers with few levels is one by a narrow margin.

    Distances of whole numbers are whole numbers. Where the share of distances below the median,
    or up to it, is near 1/2, the median jumps to its neighbour from sample to sample.
    """
    levels, counts = np.unique(values, return_counts=True)
    n = len(values)
    if len(levels) > min(n / 2, MOST_LEVELS):
        return False
    distances = np.abs(levels[:, None] - levels[None, :])
    for most in (median * (1 - 1e-9), median * (1 + 1e-9)):
        # Of the other rows, the share that is nearer.
        shares = ((distances < most) @ counts - 1.0) / (n - 1)
        mean = float(shares @ counts) / n
        error = 2.0 * np.sqrt(float((shares - mean) ** 2 @ counts)) / n
        if abs(mean - 0.5) < JUMP_DEVIATIONS * error:
            return True
    return False
