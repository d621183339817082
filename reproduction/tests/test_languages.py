"""The experiment on languages: tables exact and pinned, and the tree."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.stats import norm
from written import assert_picture, read_table

import reldep
from reldep.datasets import load_languages
from reldep.exceptions import ReldepWarning
from reldep.stats.trees import average_linkage, groups_of
from reproduction import languages, paper, reproduce
from reproduction.languages import languages_pictures as pictures
from reproduction.languages import questions

# z of the paper's test by question.
PINNED = {
    "es pt|fi": 20.83511134,
    "fr it|da": 16.32937844,
    "it es|fi": 20.67539998,
    "pt es|da": 16.06027883,
    "de nl|fi": 8.979960241,
    "nl en|es": 7.33116232,
    "da sv|fr": -18.4163871,
    "sv en|it": 5.356355727,
    "en de|es": -17.85579206,
    "fr es|it": 1.208825528,
    "fr pt|it": 4.172325367,
    "es fr|it": 1.171934339,
    "es pt|it": 5.143714046,
    "es pt|fr": 4.148000158,
    "pt fr|it": 2.485335737,
    "pt es|it": 3.194046558,
    "pt es|fr": 0.4426858903,
    "da de sv|fi": 7.309110803,
    "da sv en|fr": -12.07415808,
    "de sv en|it": -12.89591561,
    "fr it es|sv": 19.29066482,
    "es fr pt|nl": 17.21948745,
}

TREE = {"es pt": 0.07933871863, "nl de da sv": 0.1958760023}


@pytest.fixture(scope="module")
def rows(quick):
    return read_table(quick("languages") / "languages_tests.csv")


@pytest.fixture(scope="module")
def influence():
    pages = load_languages()
    names = ("it", "fr", "es", "pt")
    pairs = list(combinations_with_replacement(names, 2))
    return reldep.influence({name: pages[name] for name in names}, pairs, kernel="gaussian")


def chosen(rows, test, table=None):
    return [row for row in rows if row["test"] == test and table in (None, row["table"])]


def written(row):
    return f"{row['source']} {row['near']}|{row['far']}"


def test_the_papers_test_is_pinned(rows):
    found = {written(row): float(row["z"]) for row in chosen(rows, "paper")}
    assert found == pytest.approx(PINNED, rel=1e-6)
    for row in chosen(rows, "paper"):
        assert float(row["p"]) == pytest.approx(norm.sf(float(row["z"])), rel=1e-6)


@pytest.mark.parametrize(
    ("table", "printed", "yes", "agree", "total"),
    [("groups", 9, 7, 7, 9), ("romance", 5, 5, 4, 8), ("contrasts", 5, 3, 3, 5)],
)
def test_verdicts_at_five_percent_beside_the_printed_ones(rows, table, printed, yes, agree, total):
    found = chosen(rows, "paper", table)
    assert len(found) == total
    assert sum(float(row["p"]) < 0.05 for row in found) == yes
    assert sum(float(row["printed_p"].removeprefix("< ")) < 0.05 for row in found) == printed
    same = [
        (float(row["p"]) < 0.05) == (float(row["printed_p"].removeprefix("< ")) < 0.05)
        for row in found
    ]
    assert sum(same) == agree
    assert [row["agree_at_5_percent"] for row in found] == list(map(str, same))


def test_the_default_is_that_of_the_program(rows, influence):
    row = next(r for r in chosen(rows, "default") if written(r) == "fr es|it")
    weights = {("fr", "es"): 1, ("fr", "it"): -1}
    asked = reldep.contrast(influence, weights, alternative="greater")
    assert float(row["z"]) == pytest.approx(asked.statistic, rel=1e-6)
    assert float(row["p"]) == pytest.approx(asked.pvalue, rel=1e-6)


def test_the_questions_are_the_papers():
    asked = [f"{q.source} {' '.join(q.near)}|{q.far}" for q in questions.QUESTIONS]
    assert asked == list(PINNED)
    assert questions.QUESTIONS[-1].weights == {
        ("es", "fr"): 1.0,
        ("es", "pt"): 1.0,
        ("es", "nl"): -2.0,
    }
    assert [len(table) for table in paper.LANGUAGES.values()] == [9, 8, 5]


@pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")
def test_neighbours_can_be_allowed_for():
    pages = load_languages()
    asked = {name: pages[name][:200] for name in ("fr", "es", "it")}
    pairs = list(combinations_with_replacement(asked, 2))
    influence = reldep.influence(asked, pairs, kernel="gaussian")
    rows = questions.answers(asked, influence, lagged=True)
    assert [row["test"] for row in rows] == ["paper", "default", questions.LAGGED] * 2
    data = (asked["fr"], asked["es"], asked["it"])
    one_sided = {"max_lag": "auto", "alternative": "greater"}
    expected = reldep.compare(*data, kernel="gaussian", **one_sided)
    assert rows[2]["p"] == pytest.approx(expected.pvalue)


def test_only_questions_whose_languages_are_there_are_asked():
    assert questions.questions_about({"fr", "it"}) == []
    asked = questions.questions_about({"fr", "it", "es"})
    assert [(q.source, *q.near, q.far) for q in asked] == [("fr", "es", "it"), ("es", "fr", "it")]


def test_every_romance_test_is_implied_by_the_tree():
    """The near language meets the source below the far one."""
    groups = groups_of(pictures._ROMANCE_LINKAGE)
    place = {name: i for i, name in enumerate(pictures.ROMANCE)}
    for source, (near,), far, _ in paper.LANGUAGES["romance"]:
        letter = pictures.parting_of({"source": source, "near": near, "far": far})
        group = groups["AB".index(letter)]
        assert {place[source], place[near]} <= group
        assert place[far] not in group


def test_similarities_are_cka_and_their_influence_is_its_derivative(influence):
    pages = load_languages()
    cka, psi = languages.similarities(influence)
    assert cka.diagonal() == pytest.approx(np.ones(4))
    assert cka == pytest.approx(cka.T)
    assert cka[1, 2] == pytest.approx(reldep.cka(pages.fr, pages.es, kernel="gaussian"))
    # A little more weight on some documents moves every CKA by the sum of their influence.
    weight = 1e-6 * np.random.default_rng(0).normal(size=influence.n_observations)
    moved = influence.estimates + influence.psi @ weight
    place = {name: i for i, name in enumerate(influence.names)}
    hsic = np.empty((4, 4))
    for (x, y), value in zip(influence.pairs, moved, strict=True):
        hsic[place[x], place[y]] = hsic[place[y], place[x]] = value
    again = hsic / np.sqrt(np.outer(hsic.diagonal(), hsic.diagonal()))
    assert again - cka == pytest.approx(psi @ weight, abs=1e-9)


def test_the_tree_of_the_languages_is_pinned(quick):
    found = {
        row["members"]: (float(row["height"]), float(row["confidence"]))
        for row in read_table(quick("languages") / "languages_tree.csv")
    }
    assert found["es pt"][0] == pytest.approx(TREE["es pt"], rel=1e-6)
    assert found["nl de da sv"][0] == pytest.approx(TREE["nl de da sv"], rel=1e-6)
    assert found["it fr es pt en"][1] > 0.95
    assert 0.7 < found["es pt"][1] < 0.95


def test_confidence_is_that_of_the_joint_law_of_the_hsics(influence):
    """Redrawing the HSICs and taking CKA anew gives the same shares as redrawing CKA."""
    cka, psi = languages.similarities(influence)
    linkage = average_linkage(cka)
    above = np.triu_indices(4, 1)
    n = 2000
    draws = languages.joint_draws(cka[above], psi[above], n, np.random.default_rng(0))
    shares = languages.support(linkage, draws)
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((n, influence.n_observations)) / influence.n_observations
    redrawn = influence.estimates + weights @ influence.psi.T
    rows = {pair: i for i, pair in enumerate(influence.pairs)}
    cells = np.array(
        [
            redrawn[:, rows[x, y]] / np.sqrt(redrawn[:, rows[x, x]] * redrawn[:, rows[y, y]])
            for x, y in influence.pairs
            if x != y
        ]
    ).T
    # Three standard deviations of a difference of two shares.
    assert shares == pytest.approx(languages.support(linkage, [cells]), abs=3 * (0.5 / n) ** 0.5)


def test_figures_and_page_are_written(quick):
    folder = quick("languages")
    assert_picture(folder, "languages_cka", "Portuguese", "CKA")
    assert_picture(folder, "languages_tree", "Finnish", "100%", "1 − CKA")
    verdicts = ("✓ &lt; 1e-8", "✗ 0.33", "✗ 0.7649", "✓ 0.0065", "A", "Portuguese")
    assert_picture(folder, "languages_romance", *verdicts)
    page = (folder / "languages.md").read_text(encoding="utf-8")
    assert "Yes at 5%: 5 of 8 in the paper, 5 with the paper's test here" in page
    assert "The paper's test here agrees with the printed p at 5% in 14 of 22" in page
    assert "| pt | es | fr | < 1e-8 | 0.44 | 0.33 |" in page
    assert "How the words were chosen" in page
    assert "947 pages" in page
    matrix = read_table(folder / "languages_cka.csv")
    assert float(matrix[3]["pt"]) == pytest.approx(1 - TREE["es pt"], rel=1e-6)


def made_up_documents(languages, n, seed=0):
    """Texts of one topic each, told by a word of its own in every language."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("bcdfgklmnprst"))
    topics = rng.integers(0, 6, size=n)
    texts = {}
    for language in languages:
        words = ["".join(rng.choice(letters, 6)) for _ in range(6)]
        other = ["".join(rng.choice(letters, 6)) for _ in range(12)]
        texts[language] = [
            " ".join([words[topic]] * 3 + list(rng.choice(other, 4))) for topic in topics
        ]
    return texts


def test_the_same_tables_are_made_from_europarl(tmp_path):
    root = tmp_path / "europarl" / "txt"
    ten = {language for q in questions.QUESTIONS for language in q.languages}
    for language, texts in made_up_documents(sorted(ten), 24).items():
        lines = [f"<CHAPTER ID={i}>\n{text}\n" for i, text in enumerate(texts, start=1)]
        (root / language).mkdir(parents=True)
        (root / language / "ep-96-04-15.txt").write_text("".join(lines))
    reproduce("languages", out=tmp_path / "out", data=tmp_path / "europarl")
    rows = read_table(tmp_path / "out" / "languages_tests.csv")
    assert len(rows) == 2 * 22
    page = (tmp_path / "out" / "languages.md").read_text(encoding="utf-8")
    assert "24 chapters" in page
    assert "--data DIR" in page
    assert "How the words were chosen" not in page


def write_texts(folder, languages):
    folder.mkdir()
    for language, texts in made_up_documents(languages, 30).items():
        (folder / f"{language}.txt").write_text("\n".join(texts), encoding="utf-8")
    return folder


def test_other_languages_get_their_tree_and_their_nearest(tmp_path):
    data = write_texts(tmp_path / "texts", ("cs", "et", "hu", "lv"))
    with pytest.warns(ReldepWarning, match=r"words \(lv\)"):
        reproduce("languages", size="full", out=tmp_path / "out", data=data)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert "languages_tree.png" in names
    assert not names & {"languages_tests.csv", "languages_romance.png"}
    nearest = read_table(tmp_path / "out" / "languages_nearest.csv")
    assert [row["language"] for row in nearest] == ["cs", "et", "hu", "lv"]
    assert all(row["may_be_nearest"] for row in nearest)
    page = (tmp_path / "out" / "languages.md").read_text(encoding="utf-8")
    assert "30 documents in 4 languages" in page
    assert "Prepared as stems (cs, et, hu) and words (lv)" in page
    assert "printed" not in page


def test_two_languages_are_too_few(tmp_path):
    data = write_texts(tmp_path / "texts", ("fr", "it"))
    with pytest.raises(ValueError, match=r"has the languages fr, it, .* takes three\. Add"):
        reproduce("languages", out=tmp_path / "out", data=data)
