"""The parts of an answer: what renderers may rely on."""

from dataclasses import replace

import numpy as np

import reldep
from reldep import report
from reldep.description import (
    WRITERS,
    Column,
    Description,
    Picture,
    Section,
    Table,
    Value,
    errors,
    rounded,
)
from report.parsed import Document


def test_a_table_that_is_cut_keeps_the_rows_with_the_most_weight_and_says_so():
    values = Column("cka", "CKA", [0.1, 0.5, 0.123456, None])
    names = Column("pair", "pair", list("abcd"))
    table = Table(
        (names, values), "All pairs.", order=[1, 2, 0, 3], shown="The {n} strongest of {all} pairs."
    )
    assert table.top(9) is table
    cut = table.top(2)
    assert cut.caption == "All pairs. The 2 strongest of 4 pairs."
    assert cut.rows == [("b", "0.500"), ("c", "0.123")]
    assert table.rows[3] == ("d", "")


def test_only_numbers_are_set_to_the_right():
    assert Column("n", "n", [1, None, 2.5]).is_numeric
    assert not Column("yes", "yes", [True, False]).is_numeric
    assert not Column("name", "name", ["a"]).is_numeric


def test_columns_are_written_for_readers():
    assert rounded(3)([0.62, -0.0042, 0.0, None, "a", True]) == [
        *("0.620", "-0.004", "0.000", "", "a", "yes")
    ]
    # An exact 1 is the end of a range, and upper limits have the decimals of lower ones.
    assert rounded(3)([0.158, 1.0, -1.0]) == ["0.158", "1.000", "-1.000"]
    assert rounded(3, also=[0.5])([0.0351, 0.0]) == ["0.035", "0.000"]
    assert rounded(3)([0.0351, float("inf")]) == ["0.0351", "∞"]
    assert errors([0.0657, 0.0401]) == ["0.066", "0.040"]
    assert errors([0.103, 0.0701, None]) == ["0.103", "0.070", ""]
    assert WRITERS["pvalue"]([1e-9, 0.0, None]) == ["1.0e-9", "< 1e-300", ""]


def drawn(figure):
    on = figure.subplots()
    on.plot([0, 1], [0, 1])
    return on


WEATHER = Description(
    kind="weather",
    question="Will it rain?",
    claim="Rain at the level 0.1.",
    remarks=("Set `umbrella='up'`.",),
    alpha=0.1,
    numbers=(Value("wet", "Wet", 3.25), Value("dry", "", [1, np.float64(2.5), float("inf")])),
    table=Table(
        (
            Column("day", "day", ["today", "tomorrow"]),
            Column("wet_hours", "wet hours", [3.25, None]),
            Column("rain", "millimetres", [1.5, 12.0]),
        ),
        "Two days.",
    ),
    cautions=(reldep.ReldepWarning("take an umbrella"),),
    pictures=(Picture(drawn, "a straight line", "It will rain."),),
    sections=(
        Section(
            "Clouds",
            "clouds",
            ("They are grey.",),
            Table((Column("cloud", "cloud", ["cirrus"]),), "One cloud."),
            (Picture(drawn, "a cloud", "A cloud."),),
        ),
    ),
    notes=("Measured with a bucket.",),
    facts=(Value("bucket", "Bucket", "blue"), Value("n_drops", "", 7)),
    kernels={"sky": {"kernel": "Laplace(bandwidth=1)", "bandwidth": 1.0}},
    references=("hsic", ("Howard, L. (1803). On clouds.", "https://example.org/clouds")),
    call="weather()",
)


def test_a_page_shows_all_that_a_description_contains():
    document = Document(report.page(WEATHER))
    assert document.unclosed == []
    for text in (
        *("Will it rain?", "Rain at the level 0.1. Set `umbrella='up'`.", "Wet3.25", "Two days."),
        *("daywet hoursmillimetres", "today3.251.5", "take an umbrella", "They are grey."),
        *("One cloud.", "A cloud.", "On clouds.", "Song, L.", "Bucketblue", "weather()"),
        *("It will rain.", "skyLaplace(bandwidth=1)bandwidth = 1"),
    ):
        assert text in document.text
    assert [image["alt"] for image in document.all("img")] == ["a straight line", "a cloud"]


def test_an_article_folds_further_parts_and_several_make_one_document():
    articles = [report.article(WEATHER, name) for name in ("one", "two")]
    assert Document(articles[0]).all("details") == [{}, {}]
    document = Document(report.several(articles, ["a()", "b()"]))
    assert document.unclosed == []
    # Nothing can be unfolded on paper.
    assert document.all("details") == [{"open": None}] * 4
    assert [one["id"] for one in document.all("h2")] == ["one", "two"]
    assert "There are 2 answers below" in document.text
    assert document.text.count("CKA (centred kernel alignment) is") == 2
    assert document.text.count("take an umbrella") == 2
    assert document.text.index("a()") < document.text.index("b()")


def test_text_for_people_and_values_for_programs():
    text = report.plain_text(WEATHER)
    assert text.startswith(f"{WEATHER.sentence}\n\nday       wet_hours  rain")
    kernels = "Kernels: sky: Laplace(bandwidth=1)."
    assert text.endswith(
        f"Measured with a bucket.\nBucket: blue.\n{kernels}\nCaution: take an umbrella"
    )
    values = report.dictionary(WEATHER)
    assert values["table"][1] == {"day": "tomorrow", "wet_hours": None, "rain": 12.0}
    assert (values["wet"], values["dry"], values["n_drops"]) == (3.25, [1, 2.5, None], 7)
    assert report.csv_text(WEATHER.table) == "day,wet_hours,rain\ntoday,3.25,1.5\ntomorrow,,12.0\n"


def test_a_further_section_comes_first_and_brings_cautions_spelled_by_the_front_end():
    cautions = (*WEATHER.cautions, reldep.ReldepWarning("hold `hat='on'`"))
    more = WEATHER.beside(replace(WEATHER, kind="wind", title="Wind", cautions=cautions))
    assert [one.name for one in more.sections] == ["wind", "clouds"]
    assert more.sections[0].paragraphs == (WEATHER.sentence,)
    said = more.reworded(lambda words: words.replace("`", ""))
    assert [str(one) for one in said.cautions] == ["take an umbrella", "hold hat='on'"]
    assert said.sentence.endswith("Set umbrella='up'.")
