from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text

import reldep
from reldep import plotting
from reldep.data.rows import Rows
from reldep.plotting.scatter import MOST_VECTOR_DOTS


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


def test_dots_square_to_the_variance_of_the_published_test(triple):
    joint = reldep.compare(*triple, measure="hsic", variance="fixed-kernel")
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


def test_lines_of_a_file_are_places_and_names_at_once(joint):
    ax = plotting.influence(with_rows(joint, Rows.labelled(np.arange(80) + 21, "line")), top=1)
    (label,) = ax.texts
    assert label.get_text() == str(int(label.xy[0]))
    assert int(label.xy[0]) == 21 + np.argmax(np.abs(joint.influence_values()))
    assert ax.get_xlabel() == "line of the file"


def test_identifiers_name_dots_that_stand_by_position(joint):
    ids = [f"p$_{i}$" for i in range(80)]
    ax = plotting.influence(with_rows(joint, Rows.labelled(ids, "patient")), top=1)
    most = int(np.argmax(np.abs(joint.influence_values())))
    assert ax.texts[0].get_text() == rf"p\$_{most}\$"
    assert ax.texts[0].xy[0] == most
    assert ax.get_xlabel() == "position in the input"


def with_rows(result, rows):
    return replace(result, provenance=replace(result.provenance, rows=rows))


def test_volcano_labels_the_smallest_pvalues_and_marks_the_significant():
    names = [f"gene {i}" for i in range(6)]
    effects, log10 = [0.1, -0.4, 0.5, 0.0, 0.2, -0.1], [-1, -30, -400, -0.1, -2, -1]
    significant = np.array(log10) < -5
    ax = plotting.volcano(effects, log10, names, significant=significant, top=3)
    assert [text.get_text() for text in ax.texts] == ["gene 2", "gene 1", "gene 4"]
    _zero, rest, marked = ax.lines
    np.testing.assert_array_equal(marked.get_xydata(), [[-0.4, 30], [0.5, 400]])
    assert len(rest.get_xdata()) == 4
    assert ax.get_legend().get_texts()[0].get_text() == "significant: 2 of 6"


def test_labels_of_a_volcano_do_not_lie_on_each_other():
    ax = plotting.volcano([0.5] * 8, np.linspace(-10, -9.99, 8), [f"gene {i}" for i in range(8)])
    ax.figure.canvas.draw()
    # An annotation's own extent has its line in it.
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    heights = sorted(box.y0 for box in boxes)
    assert min(np.diff(heights)) >= 0.9 * max(box.height for box in boxes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0], [0.0]), "pass one number of each per effect"),
        (([], []), "pass one number of each per effect"),
        (([1.0], [0.0], ["a", "b"]), "names has 2 entries for 1 effects"),
    ],
)
def test_wrong_volcanoes_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        plotting.volcano(*arguments)
