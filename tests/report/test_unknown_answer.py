"""An answer that the program has never heard of is rendered by what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from reldep.report import page
from reldep.results.answer import Answer
from reldep.results.description import Picture, Section
from report.parsed import Document


@dataclass(frozen=True, eq=False)
class Weather(Answer):
    """How the weather will be: an answer from another world."""

    def question(self):
        return "Will it rain?"

    def sentence(self, alpha=0.05):
        return f"Rain at the level {alpha}."

    def table(self, alpha=0.05):
        return {"day": ["today", "tomorrow"], "wet_hours": [3.25, None], "statistic": [1.5, 2.5]}

    def headings(self):
        return {**super().headings(), "statistic": "millimetres"}

    def key_numbers(self, alpha=0.05):
        return {"Wet": "very"}

    def table_caption(self, alpha=0.05):
        return "Two days."

    def sections(self):
        return (
            Section(
                "Clouds",
                "clouds",
                self,
                paragraphs=("They are grey.",),
                table={"cloud": ["cirrus"], "standard_error": [0.5]},
                caption="One cloud.",
                pictures=(Picture(self._draw, "a cloud", "A cloud."),),
            ),
        )

    def references(self):
        return ("hsic", ("Howard, L. (1803). On clouds.", "https://example.org/clouds"))

    def pictures(self):
        return (Picture(self._draw, "a straight line", "It will rain."),)

    def _draw(self, ax=None):
        from reldep.plotting.style import axes

        drawn = axes(ax)
        drawn.plot([0, 1], [0, 1])
        return drawn


@pytest.fixture(scope="module")
def weather(comparison):
    provenance = replace(comparison.provenance, measure="cka")
    return Weather(provenance=provenance, warnings=())


def test_page_shows_all_that_the_answer_says(weather):
    document = Document(page(weather, alpha=0.1))
    assert document.unclosed == []
    for text in (
        "Will it rain?",
        "Rain at the level 0.1.",
        "Wetvery",
        "Two days.",
        "daywet hoursmillimetres",
        "today3.251.5",
        "They are grey.",
        "One cloud.",
        "cloudstandard error",
        "A cloud.",
        "On clouds.",
        "Song, L.",
    ):
        assert text in document.text
    assert [image["alt"] for image in document.all("img")] == ["a straight line", "a cloud"]


def test_tables_show_its_headings(weather):
    assert r"day & wet hours & millimetres \\" in weather.to_latex()
    assert "| day | wet hours | millimetres |" in weather.to_markdown()
    assert "millimetres" in Document(weather._repr_html_()).text


def test_values_for_machines_and_words_for_people_need_nothing_more(weather):
    values = weather.to_dict()
    assert values["kind"] == "weather"
    assert values["table"][1] == {"day": "tomorrow", "wet_hours": None, "statistic": 2.5}
    assert weather.summary().startswith("Rain at the level 0.05.")
    assert weather.plot().lines[0].get_xdata().tolist() == [0, 1]
