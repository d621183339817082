"""A tree of variables by similarity, with the support of every group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.exceptions import InputError
from reldep.plotting import style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reldep.data.variables import FloatArray


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
