"""Matrices as pictures: all pairs of variables, all differences of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.data.checks import check_level
from reldep.engine.influence import Influence
from reldep.plotting.style import PALE, axes, thinned
from reldep.words import MEASURE_NAMES
from reldep.stats.measures import estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reldep.data.variables import FloatArray
    from reldep.results.ranking import Ranking

# More cells than this on a side leave no room for a number in each.
MOST_WRITTEN = 14

# From pale to dark, so that grey print keeps the order and strong means dark; without the
# whitest part, which would look like no cell at all.
COLOURS, PALEST = "Blues", 0.12


def heatmap(
    matrix: Any,
    names: Sequence[str] | None = None,
    ax: Any = None,
    *,
    measure: str = "cka",
) -> Any:
    """Draw the dependence of all pairs of many variables.

    The diagonal, a variable with itself, is left out of the colours, so that they show the
    differences between the other pairs.

    Parameters
    ----------
    matrix : array_like, shape (p, p), or Influence
        Dependences of all pairs, or the conditional means from which they follow.
    names : sequence of str, optional
        Of the p variables; an Influence brings its own.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    measure : {"hsic", "cka", "dcor"}, default "cka"
        What the numbers are; for an Influence, what is computed from it.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import reldep
    >>> ax = reldep.plotting.heatmap([[1, 0.4], [0.4, 1]], names=["height", "weight"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['height', 'weight']
    """
    values, labels = _all_pairs(matrix, names, measure)
    shown = np.ma.masked_array(values, mask=np.eye(len(values), dtype=bool))
    ax = axes(ax, size=_square(len(labels)))
    image = _cells(ax, shown, labels, empty=PALE)
    if len(labels) <= MOST_WRITTEN:
        _write(ax, image, shown, _written(shown.filled(0.0)))
    _colour_bar(ax, image, MEASURE_NAMES[measure])
    return ax


def pairwise(result: Ranking, ax: Any = None, *, alpha: float | None = None) -> Any:
    """Draw which targets differ: colours where the adjusted p-value is below alpha.

    The targets run from the strongest to the weakest, so that a cell compares the stronger, its
    row, with the weaker, its column. The colour is the difference; cells of pairs that may be
    equal are pale. Up to 14 targets have their adjusted p-values written in.

    Parameters
    ----------
    result : Ranking
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    alpha : float, optional
        By default 1 minus the confidence level of the ranking.

    Returns
    -------
    matplotlib.axes.Axes
    """
    level = 1.0 - result.confidence_level if alpha is None else check_level("alpha", alpha)
    names = result.table()["target"]
    difference, adjusted = _by_strength(result, names)
    compared = np.triu(np.ones(difference.shape, dtype=bool), 1)
    # Below the scale stands for "may be equal", which has a colour of its own.
    shown = np.ma.masked_array(np.where(adjusted < level, difference, -1.0), mask=~compared)
    ax = axes(ax, size=_square(len(names)))
    image = _cells(ax, shown, names, empty="white")
    image.set_clim(0.0, float(difference.max()) or 1.0)
    if len(names) <= MOST_WRITTEN:
        _write(ax, image, shown, [[_pvalue(p) for p in row] for row in adjusted])
    _colour_bar(ax, image, f"difference of {MEASURE_NAMES[result.measure]}")
    ax.set(xlabel="weaker", ylabel="stronger")
    ax.set_title(f"grey: adjusted p-value of {level:.3g} or more", fontsize="small", loc="right")
    return ax


def _by_strength(result: Ranking, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Give differences, row minus column, and adjusted p-values, the strongest target first."""
    found = result.differences
    place = np.array([names.index(target) for target in result.targets])
    rows, columns = place[found.first], place[found.second]
    sign = np.where(rows < columns, 1.0, -1.0)
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    difference = np.zeros((len(names), len(names)))
    adjusted = np.ones_like(difference)
    difference[low, high] = sign * found.difference
    adjusted[low, high] = result.adjusted_pvalues
    return difference, adjusted


def _pvalue(value: float) -> str:
    """Write a p-value in the room of a cell."""
    if value >= 0.001:
        return f"{value:.3f}"
    return f"{value:.0e}" if value >= 1e-99 else "<1e-99"


def _all_pairs(
    matrix: Any, names: Sequence[str] | None, measure: str
) -> tuple[FloatArray, list[str]]:
    """Give the square of dependences and the names along it."""
    if isinstance(matrix, Influence):
        labels = list(matrix.names) if names is None else [str(name) for name in names]
        return _from_influence(matrix, labels, measure), labels
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or len(values) < 2:
        raise ValueError(f"matrix has shape {values.shape}; pass a square with 2 rows or more.")
    if not np.isfinite(values[~np.eye(len(values), dtype=bool)]).all():
        raise ValueError("matrix has NaN or infinite values; pass the dependence of every pair.")
    labels = [str(i) for i in range(len(values))] if names is None else [str(n) for n in names]
    if len(labels) != len(values):
        raise ValueError(
            f"names has {len(labels)} entries for a matrix of {len(values)} variables; "
            "pass one name a row."
        )
    return values, labels


def _from_influence(influence: Influence, names: list[str], measure: str) -> FloatArray:
    pairs = [(x, y) for i, x in enumerate(names) for y in names[:i]]
    try:
        found = estimate(influence, pairs, measure).values
    except KeyError as missing:
        raise ValueError(
            f"matrix lacks the pair {missing.args[0]!r}; compute the influence of all pairs, and "
            'of every variable with itself for measure="cka" or "dcor".'
        ) from None
    values = np.ones((len(names), len(names)))
    values[np.tril_indices(len(names), -1)] = found
    return np.tril(values) + np.tril(values, -1).T


def _square(cells: int) -> tuple[float, float]:
    side = 2.2 + min(0.52 * cells, 8.0)
    return side + 0.6, side


def _cells(ax: Any, values: Any, names: Sequence[str], *, empty: str) -> Any:
    """Colour the cells of a square; masked ones are empty, those below the scale pale."""
    import matplotlib as mpl
    from matplotlib.colors import ListedColormap

    scale = ListedColormap(mpl.colormaps[COLOURS](np.linspace(PALEST, 1.0, 256)))
    colours = scale.with_extremes(bad=empty, under=PALE)
    image = ax.imshow(values, cmap=colours, interpolation="nearest")
    positions, written = thinned(names)
    size = "small" if len(written) <= 30 else "xx-small"
    ax.set_xticks(positions, written, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(positions, written)
    ax.tick_params(length=0, labelsize=size)
    ax.spines[:].set_visible(False)
    return image


def _write(ax: Any, image: Any, values: Any, texts: Sequence[Sequence[str]]) -> None:
    """Write a text into every coloured cell, in black or white, whichever reads better."""
    size = 9 if len(values) <= 8 else 7
    for row, column in zip(*np.nonzero(~np.ma.getmaskarray(values)), strict=True):
        colour = image.cmap(image.norm(values[row, column]))
        ink = "black" if _luminance(colour) > 0.18 else "white"
        text = texts[row][column]
        ax.text(column, row, text, ha="center", va="center", color=ink, fontsize=size)


def _luminance(colour: Sequence[float]) -> float:
    """Give the relative luminance of a colour, as the Web's contrast rules define it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _colour_bar(ax: Any, image: Any, text: str) -> None:
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, label=text)
    bar.outline.set_visible(False)


def _written(values: FloatArray) -> list[list[str]]:
    """Write numbers of one matrix alike, with two digits for the largest of them."""
    largest = float(np.abs(values).max())
    decimals = 1 - int(np.floor(np.log10(largest))) if largest > 0 else 2
    pattern = "{:z.1e}" if not -2 <= decimals <= 4 else f"{{:z.{max(0, decimals)}f}}"
    return [[pattern.format(value) for value in row] for row in values]
