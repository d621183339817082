"""All pairs as pictures: a heat map, the differences of targets, a tree of variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from reldep.data.variables import FloatArray
from reldep.exceptions import InputError
from reldep.plotting import style
from reldep.words import MEASURE_NAMES, percent

# More cells than this on a side leave no room for a number in each.
MOST_WRITTEN = 14

# From pale to dark, so that grey print keeps the order and strong means dark; without the
# whitest part, which would look like no cell at all.
COLOURS, PALEST = "Blues", 0.12


@style.readable
def heatmap(
    matrix: npt.ArrayLike,
    names: Sequence[str] | None = None,
    ax: Any = None,
    *,
    columns: Sequence[str] | None = None,
    measure: str = "cka",
    links: Any = None,
    pvalues: Any = None,
    alpha: float = 0.05,
) -> Any:
    """Draw the dependence of all pairs of many variables.

    The diagonal, a variable with itself, is left out of the colours, so that they show the
    differences between the other pairs.

    Parameters
    ----------
    matrix : array_like, shape (p, p) or (p, q)
        Dependences of all pairs.
    names : sequence of str, optional
        Of the p variables.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    columns : sequence of str, optional
        Of the q variables along the other side, where they are not the same.
    measure : {"hsic", "cka", "dcor"}, default "cka"
        What the numbers are.
    links : array_like, shape (p - 1, 4), optional
        A tree of the variables, as :func:`scipy.cluster.hierarchy.linkage` returns it: it is drawn
        above the cells and puts similar variables next to each other.
    pvalues : array_like, of the matrix's shape, optional
        Cells whose p-value is not below `alpha` are grey.
    alpha : float, default 0.05

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
    values, rows, across = _all_pairs(matrix, names, columns)
    grey = np.zeros(values.shape, dtype=bool)
    if pvalues is not None:
        grey = ~(style.shaped("pvalues", pvalues, values.shape, "one per cell") < alpha)
    if links is not None:
        if columns is not None:
            raise InputError("`links` belongs to a square matrix; leave out `columns`.")
        n = len(rows)
        links = style.shaped("links", links, (n - 1, 4), f"the linkage of the {n} variables")
        order = np.argsort(leaf_places(links))
        values, grey = values[order][:, order], grey[order][:, order]
        rows = across = [rows[i] for i in order]
    own = np.eye(len(rows), dtype=bool) if columns is None else np.zeros(values.shape, dtype=bool)
    # Below the scale stands for "not significant", which has a colour of its own.
    shown = np.ma.masked_array(np.where(grey, float(values.min()) - 1.0, values), mask=own)
    ax = style.axes(ax, size=_size(*values.shape))
    image = _cells(ax, shown, rows, across, empty=style.PALE if pvalues is None else "white")
    coloured = values[~(own | grey)]
    low, high = (coloured.min(), coloured.max()) if coloured.size else (0.0, 1.0)
    # Cells that are all alike are coloured from 0.
    image.set_clim(low if high > low else min(0.0, 2.0 * high), high or 1.0)
    if max(values.shape) <= MOST_WRITTEN:
        _write(ax, image, shown, _written(np.where(own, 0.0, values)))
    _colour_bar(ax, image, MEASURE_NAMES[measure])
    if links is not None:
        _tree_above(ax, links)
    if pvalues is not None:
        # Above the cells there may be a tree.
        _explain_grey(ax, alpha, height=1.0 if links is None else 1.18)
    return ax


def _tree_above(ax: Any, links: FloatArray) -> None:
    above = ax.inset_axes((0.0, 1.01, 1.0, 0.16))
    for heights, places in branches(links, leaf_places(links)):
        above.plot(places, heights, color=style.GREY, linewidth=1)
    above.set(xlim=(-0.5, len(links) + 0.5), ylim=(0.0, None))
    above.axis("off")


def _explain_grey(ax: Any, alpha: float, height: float = 1.0) -> None:
    text = f"grey: not significant at {percent(alpha)}"
    ax.set_title(text, fontsize="small", loc="right", y=height)


@style.readable
def pairwise(
    names: Sequence[str],
    differences: npt.ArrayLike,
    pvalues: npt.ArrayLike,
    ax: Any = None,
    *,
    alpha: float = 0.05,
    measure: str = "cka",
) -> Any:
    """Draw which of several targets differ: colours where the adjusted p-value is below alpha.

    The targets run from the strongest to the weakest, so that a cell compares the stronger, its
    row, with the weaker, its column. The colour is the difference; cells of pairs that may be
    equal are pale. The p-values of a few targets are written in.

    Parameters
    ----------
    names : sequence of str
        The targets, the strongest first.
    differences, pvalues : array_like, shape (p, p)
        Row minus column, and the adjusted p-values; only what is above the diagonal is drawn.
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    alpha : float, default 0.05
    measure : {"cka", "hsic", "dcor"}, default "cka"

    Returns
    -------
    matplotlib.axes.Axes
    """
    difference, adjusted = (np.asarray(one, dtype=np.float64) for one in (differences, pvalues))
    compared = np.triu(np.ones(difference.shape, dtype=bool), 1)
    # Below the scale stands for "may be equal", which has a colour of its own.
    shown = np.ma.masked_array(np.where(adjusted < alpha, difference, -1.0), mask=~compared)
    ax = style.axes(ax, size=_size(len(names), len(names)))
    image = _cells(ax, shown, names, names, empty="white")
    image.set_clim(0.0, float(difference.max()) or 1.0)
    if len(names) <= MOST_WRITTEN:
        _write(ax, image, shown, [[_pvalue(p) for p in row] for row in adjusted])
    _colour_bar(ax, image, f"difference of {MEASURE_NAMES[measure]}")
    ax.set(xlabel="weaker", ylabel="stronger")
    _explain_grey(ax, alpha)
    return ax


def _pvalue(value: float) -> str:
    """Return a p-value that fits into a cell."""
    if value >= 0.001:
        return f"{value:.3f}"
    return f"{value:.0e}" if value >= 1e-99 else "<1e-99"


def _all_pairs(
    matrix: npt.ArrayLike, names: Sequence[str] | None, columns: Sequence[str] | None
) -> tuple[FloatArray, list[str], list[str]]:
    """Check the dependences and return them with the names along both sides."""
    values = np.asarray(matrix, dtype=np.float64)
    is_square = values.ndim == 2 and len(values) == values.shape[1] > 1
    if values.ndim != 2 or not (is_square or columns):
        raise InputError(
            f"`matrix` has shape {values.shape}; pass a square with 2 rows or more, or name the "
            "variables of the other side by `columns`."
        )
    used = values if columns is not None else values[~np.eye(len(values), dtype=bool)]
    if not np.isfinite(used).all():
        raise InputError("`matrix` has NaN or infinite values; pass the dependence of every pair.")
    rows = style.named("names", names, len(values))
    across = rows if columns is None else style.named("columns", columns, values.shape[1])
    return values, rows, across


def _size(rows: int, columns: int) -> tuple[float, float]:
    return 2.8 + min(0.52 * columns, 8.0), 2.2 + min(0.52 * rows, 8.0)


def _cells(ax: Any, values: Any, rows: Sequence[str], columns: Sequence[str], *, empty: str) -> Any:
    """Colour the cells of a matrix; masked ones are empty, those below the scale pale."""
    import matplotlib as mpl
    from matplotlib.colors import ListedColormap

    scale = ListedColormap(mpl.colormaps[COLOURS](np.linspace(PALEST, 1.0, 256)))
    colours = scale.with_extremes(bad=empty, under=style.PALE)
    image = ax.imshow(values, cmap=colours, interpolation="nearest")
    across, down = style.thinned(columns), style.thinned(rows)
    ax.set_xticks(*across, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(*down)
    most = max(len(across[1]), len(down[1]))
    ax.tick_params(length=0, labelsize="small" if most <= 30 else "xx-small")
    ax.spines[:].set_visible(False)
    return image


def _write(ax: Any, image: Any, values: Any, texts: Sequence[Sequence[str]]) -> None:
    """Draw a text in every coloured cell, in black or white, whichever reads better."""
    size = 9 if max(values.shape) <= 8 else 7
    for row, column in zip(*np.nonzero(~np.ma.getmaskarray(values)), strict=True):
        colour = image.cmap(image.norm(values[row, column]))
        ink = "black" if _luminance(colour) > 0.18 else "white"
        text = texts[row][column]
        ax.text(column, row, text, ha="center", va="center", color=ink, fontsize=size)


def _luminance(colour: Sequence[float]) -> float:
    """Return the relative luminance of a colour, as the Web's contrast rules define it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _colour_bar(ax: Any, image: Any, text: str) -> None:
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, label=text)
    bar.outline.set_visible(False)


def _written(values: FloatArray) -> list[list[str]]:
    """Return the numbers of a matrix as texts, with two digits for the largest of them."""
    largest = float(np.abs(values).max())
    decimals = 1 - int(np.floor(np.log10(largest))) if largest > 0 else 2
    pattern = "{:z.1e}" if not -2 <= decimals <= 4 else f"{{:z.{max(0, decimals)}f}}"
    return [[pattern.format(value) for value in row] for row in values]


@style.readable
def tree(
    links: Any,
    names: Sequence[str],
    ax: Any = None,
    *,
    supports: Any = None,
    xlabel: str = "1 − CKA",
) -> Any:
    """Draw a tree from left to right, each group with its support.

    Parameters
    ----------
    links : array_like, shape (p - 1, 4)
        As :func:`scipy.cluster.hierarchy.linkage` returns them.
    names : sequence of str, length p
    ax : matplotlib.axes.Axes or an empty matplotlib.figure.Figure, optional
    supports : array_like, shape (p - 1,), optional
        Between 0 and 1, one for each row of `links`; that of the whole tree is not written.
    xlabel : str, default "1 − CKA"
        What the heights of the links are.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import reldep
    >>> links = [[0, 1, 0.2, 2], [2, 3, 0.7, 3]]
    >>> ax = reldep.plotting.tree(links, ["Danish", "Swedish", "Finnish"], supports=[0.98, 1])
    >>> [text.get_text() for text in ax.texts]
    ['98%']
    """
    n = len(names)
    joined = style.shaped(
        "links", links, (n - 1, 4), f"the linkage of {n} variables, as scipy returns it"
    )
    if supports is not None:
        supports = style.shaped(
            "supports", supports, (n - 1,), f"{n - 1} numbers, one for each link"
        )
        if not ((supports >= 0) & (supports <= 1)).all():
            raise InputError("`supports` has numbers outside 0 to 1; pass shares.")
    ax = style.axes(ax, size=(5.6, 1.2 + style.row_height(n) * n))
    place = leaf_places(joined)
    for i, corners in enumerate(branches(joined, place)):
        ax.plot(*corners, color=style.BLUE, linewidth=1.4, solid_joinstyle="miter")
        if supports is not None and i + 1 < len(joined):
            spot = (corners[0][1], float(np.mean(corners[1][1:3])))
            offset = {"xytext": (3, 1), "textcoords": "offset points", "va": "bottom"}
            ax.annotate(
                f"{100 * supports[i]:.0f}%", spot, fontsize="small", color=style.GREY, **offset
            )
    ax.set_yticks(place, style.labels(list(names), 30))
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_xlim(left=0.0)
    ax.set_xlabel(xlabel)
    ax.tick_params(axis="y", length=0)
    style.without_frame(ax)
    ax.spines["left"].set_visible(False)
    return ax


def branches(links: FloatArray, place: FloatArray) -> Iterator[tuple[list[float], list[float]]]:
    """Return the four corners of every link, as heights and places, in the order of `links`."""
    places = [float(value) for value in place]
    heights = [0.0] * len(places)
    for left, right, height, _ in links:
        a, b = int(left), int(right)
        yield (
            [heights[a], float(height), float(height), heights[b]],
            [places[a], places[a], places[b], places[b]],
        )
        places.append((places[a] + places[b]) / 2.0)
        heights.append(float(height))


def leaf_places(links: FloatArray) -> FloatArray:
    """Return a place for every leaf, such that no two branches cross."""
    from scipy.cluster.hierarchy import leaves_list

    return np.argsort(leaves_list(links)).astype(np.float64)
