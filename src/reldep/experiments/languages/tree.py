"""A tree of the languages from CKA, and how sure each of its groups is.

If the pages were drawn again, the HSICs of all pairs would vary together by a joint normal law
whose covariance A gives. Drawing from that law is cheap (multiplier bootstrap: each page gets a
standard normal weight), so the tree can be grown again a thousand times; the confidence of a
group is the share of trees that have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reldep import Influence

    FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """A branch of the tree.

    Attributes
    ----------
    members : tuple of str
    height : float
        The average of 1 - CKA between the two parts that meet here.
    confidence : float
        The share of redrawn trees that have the same group.
    parts : tuple of int
        The two branches that meet here; numbers below the number of languages are languages.
    """

    members: tuple[str, ...]
    height: float
    confidence: float
    parts: tuple[int, int]


def cka_matrix(influence: Influence, estimates: FloatArray | None = None) -> FloatArray:
    """Arrange the CKA of all pairs in a matrix, in the order of the languages."""
    values = influence.estimates if estimates is None else estimates
    place = {name: i for i, name in enumerate(influence.names)}
    matrix = np.empty((len(place), len(place)))
    for (x, y), value in zip(influence.pairs, values, strict=True):
        matrix[place[x], place[y]] = matrix[place[y], place[x]] = value
    scale = np.sqrt(matrix.diagonal())
    return np.asarray(matrix / np.outer(scale, scale))


def grow(influence: Influence, n_draws: int, rng: np.random.Generator) -> list[Group]:
    """Grow the tree by average linkage on 1 - CKA, and again with every page's weight redrawn."""
    links = _links(cka_matrix(influence))
    members = _members(links, len(influence.names))
    counts = dict.fromkeys(members, 0)
    psi = influence.psi / influence.n_observations
    for _ in range(n_draws):
        redrawn = influence.estimates + psi @ rng.standard_normal(influence.n_observations)
        again = _members(_links(cka_matrix(influence, redrawn)), len(influence.names))
        for group in counts.keys() & set(again):
            counts[group] += 1
    return [
        Group(
            tuple(influence.names[i] for i in sorted(group)),
            float(height),
            counts[group] / n_draws,
            (int(left), int(right)),
        )
        for group, (left, right, height, _) in zip(members, links, strict=True)
    ]


def _links(cka: FloatArray) -> FloatArray:
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    return np.asarray(linkage(squareform(1.0 - cka, checks=False), method="average"))


def _members(links: FloatArray, n: int) -> list[frozenset[int]]:
    """Give the languages below each meeting of two branches."""
    groups: list[frozenset[int]] = [frozenset([i]) for i in range(n)]
    for left, right, *_ in links:
        groups.append(groups[int(left)] | groups[int(right)])
    return groups[n:]


def draw(groups: list[Group], names: tuple[str, ...], ax: Any) -> None:
    """Draw the tree from left to right, each group with its confidence."""
    from reldep.plotting.style import BLUE, GREY, without_frame

    positions = {leaf: float(i) for i, leaf in enumerate(_leaves(groups, len(names)))}
    heights = dict.fromkeys(range(len(names)), 0.0)
    for number, group in enumerate(groups, start=len(names)):
        low, high = sorted(positions[part] for part in group.parts)
        positions[number], heights[number] = (low + high) / 2, group.height
        for part in group.parts:
            ax.plot([heights[part], group.height], [positions[part]] * 2, color=BLUE)
        ax.plot([group.height] * 2, [low, high], color=BLUE)
        if number + 1 < len(names) + len(groups):
            text = f"{100 * group.confidence:.0f} %"
            spot = (group.height, positions[number])
            offset = {"xytext": (4, 3), "textcoords": "offset points"}
            ax.annotate(text, spot, fontsize="small", color=GREY, **offset)
    ax.set_yticks([positions[i] for i in range(len(names))], names)
    ax.set_xlabel("1 - CKA")
    without_frame(ax)


def _leaves(groups: list[Group], n: int) -> list[int]:
    """Order the languages so that no two branches cross."""

    def below(number: int) -> list[int]:
        if number < n:
            return [number]
        return [leaf for part in groups[number - n].parts for leaf in below(part)]

    return below(n + len(groups) - 1)
