"""Pictures ask no answer for its class: what an answer names is drawn."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import reldep
from reldep import plotting

# In STIX, which comes with matplotlib, but not in its usual font.
RARE = "\N{LATIN SMALL LETTER D WITH PALATAL HOOK}"
ROOMS = ("plotting", "report", "cli")


@pytest.mark.parametrize("room", ROOMS)
def test_renderers_import_no_answer(room):
    folder = Path(reldep.__file__).parent / room
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        guarded = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for inner in ast.walk(node)
        }
        imported = [
            node.module or ""
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and id(node) not in guarded
        ]
        known = {"reldep.results.description"}
        assert not [m for m in imported if m.startswith("reldep.results") and m not in known], path


def test_every_picture_an_answer_names_is_drawn(joint, split, ranking, triple):
    x, y, z = triple
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", reldep.ReldepWarning)
        answers = [
            joint,
            split,
            ranking,
            reldep.dependence(x, y),
            reldep.contrast({"x": x, "y": y, "z": z}, {("x", "y"): 1, ("y", "z"): -1}),
            reldep.sensitivity(x, y, z, factors=[0.5, 1, 2]),
        ]
    for answer in answers:
        sections = [(part.answer, part.pictures) for part in answer.sections()]
        for shown, pictures in [(answer, answer.pictures()), *sections]:
            for picture in pictures:
                assert picture.drawing in plotting.__all__
                figure = Figure(layout="constrained")
                assert picture.draw(shown, figure).figure is figure


def test_names_are_written_in_a_font_that_has_them(triple):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    result = reldep.compare(*triple, names=["x", f"{RARE}ata", "z"])
    figure = Figure()
    FigureCanvasAgg(figure)
    ax = plotting.forest(result, figure)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    families = {t.get_text(): t.get_fontfamily() for t in ax.findobj(Text)}
    assert "STIXGeneral" in families[f"x ~ {RARE}ata"]
    assert "STIXGeneral" not in families["x ~ z"]


def test_signs_that_no_font_has_change_no_font():
    from reldep.plotting.style import _fonts_with

    assert _fonts_with(frozenset("\U000e0fff")) == ()
