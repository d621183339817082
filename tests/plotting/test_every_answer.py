"""Pictures come with the answers: every one of them can be drawn, in fonts that have its signs."""

from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import reldep
from reldep import plotting

# In STIX, which comes with matplotlib, but not in its usual font.
RARE = "\N{LATIN SMALL LETTER D WITH PALATAL HOOK}"


def test_a_comparison_draws_its_own_interval_and_names_its_sides(joint):
    ax = joint.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("CKA(source, first)", "CKA(source, second)")
    assert {"first stronger", "second stronger"} <= {text.get_text() for text in ax.texts}
    (strip,) = ax.child_axes
    limits = [tuple(line.get_xdata()) for line in strip.lines]
    assert tuple(joint.confidence_interval()) in limits


@pytest.mark.parametrize(("alternative", "end"), [("greater", 1), ("less", 0)])
def test_a_one_sided_question_has_one_line(triple, alternative, end):
    answer = reldep.compare(*triple, alternative=alternative)
    lines = [line for line in answer.plot().lines if line.get_color() == "#D55E00"]
    (offset,) = [line.get_xdata()[0] - line.get_ydata()[0] for line in lines]
    assert offset == pytest.approx(answer.confidence_interval()[1 - end])


def test_given_axes_are_used(joint):
    figure, ax = plt.subplots()
    assert joint.plot(ax) is ax
    assert figure.axes == [ax]


def test_names_are_shown_as_text_never_as_formulas(odd_names):
    ax = odd_names.plot()
    assert r"\$x_1\$" in ax.get_xlabel()
    ax.figure.canvas.draw()
    shown = ax.xaxis.label._preprocess_math(ax.get_xlabel())
    assert shown == ("CKA($x_1$, <script>…/script>)", False)


def test_names_are_written_in_a_font_that_has_them():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = Figure()
    FigureCanvasAgg(figure)
    names = [f"x ~ {RARE}ata", "x ~ z"]
    ax = plotting.forest(names, [0.2, 0.3], [0.1, 0.2], [0.3, 0.4], figure)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    families = {t.get_text(): t.get_fontfamily() for t in ax.findobj(Text)}
    assert "STIXGeneral" in families[f"x ~ {RARE}ata"]
    assert "STIXGeneral" not in families["x ~ z"]


PAIR, LINKS = [[1, 0.5], [0.5, 1]], [[0, 1, 0.2, 2]]


def test_names_without_room_above_the_axis_are_left_out():
    n = 30
    ax = plotting.volcano([0.5, *[0.01] * (n - 1)], [-10, *[-0.1] * (n - 1)], ["a"] * n, top=n)
    assert 1 <= len(ax.texts) < 5
