from __future__ import annotations

import numpy as np
import pytest

import reldep
from reldep import plotting
from reldep.plotting.observations import MOST_VECTOR_DOTS


def test_most_influential_rows_are_labelled_with_their_row(triple):
    x, y, z = (np.array(v) for v in triple)
    y[17] = 40.0
    ax = plotting.influence(reldep.compare(x, y, z, kernel="linear"), top=1)
    assert [text.get_text() for text in ax.texts] == ["17"]


def test_rows_count_in_the_input_where_some_were_dropped(triple):
    x, y, z = (np.array(v) for v in triple)
    x[:10] = np.nan
    y[17] = 40.0
    with pytest.warns(reldep.ReldepWarning):
        result = reldep.compare(x, y, z, kernel="linear", missing="drop")
    ax = plotting.influence(result, top=1)
    assert [text.get_text() for text in ax.texts] == ["17"]


def test_dots_square_to_the_variance_of_the_estimate(joint):
    ax = plotting.influence(joint, top=4)
    _zero, rest, chosen = ax.lines
    psi = np.concatenate([rest.get_ydata(), chosen.get_ydata()])
    np.testing.assert_array_equal(np.sort(psi), np.sort(joint.influence_values()))
    assert np.sqrt(np.sum(psi**2)) / len(psi) == pytest.approx(joint.standard_error)


def test_no_labels_on_request(joint):
    assert not plotting.influence(joint, top=0).texts


def test_dependence_has_an_influence_too(triple):
    assert len(plotting.influence(reldep.dependence(*triple[:2])).texts) == 5


def test_many_dots_are_drawn_as_an_image_inside_vector_pictures():
    n = MOST_VECTOR_DOTS + 1
    x = np.random.default_rng(0).normal(size=n)
    few = reldep.compare(x, x**2, x**3, kernel="linear")
    assert plotting.influence(few).lines[1].get_rasterized()
