from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, linkage

from reldep import plotting

NAMES = ["Danish", "Swedish", "Finnish", "Estonian"]


@pytest.fixture(scope="module")
def links():
    return linkage(np.array([[0.0], [0.2], [2.0], [2.3]]), "average")


def test_branches_are_those_of_scipy(links):
    ax = plotting.tree(links, NAMES)
    drawn = {tuple(np.sort(line.get_xdata())) for line in ax.lines}
    expected = {tuple(np.sort(corners)) for corners in dendrogram(links, no_plot=True)["dcoord"]}
    assert drawn == expected


def test_no_two_branches_cross(links):
    ax = plotting.tree(links, NAMES)
    written = dict(zip([t.get_text() for t in ax.get_yticklabels()], ax.get_yticks(), strict=True))
    assert abs(written["Danish"] - written["Swedish"]) == 1
    assert abs(written["Finnish"] - written["Estonian"]) == 1


def test_support_stands_at_every_group_but_the_whole(links):
    ax = plotting.tree(links, NAMES, supports=[0.984, 0.5, 1.0])
    assert [text.get_text() for text in ax.texts] == ["98%", "50%"]
    assert [text.xy[0] for text in ax.texts] == pytest.approx(links[:2, 2])
