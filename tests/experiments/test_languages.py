"""The experiment on languages: tables exact and pinned, and the tree."""

from __future__ import annotations

import time
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.stats import norm
from written import assert_picture, read_table

import reldep
from reldep.datasets import load_languages
from reldep.experiments import reproduce
from reldep.experiments.languages import questions, tree

# z by question, with hsic and with cka.
PINNED = {
    "es pt|fi": (20.83511134, 21.88495746),
    "fr it|da": (16.32937844, 12.72186523),
    "it es|fi": (20.67539998, 18.5426949),
    "pt es|da": (16.06027883, 16.69668753),
    "de nl|fi": (8.979960241, 5.804043155),
    "nl en|es": (7.33116232, 7.07267799),
    "da sv|fr": (-18.4163871, 3.406835576),
    "sv en|it": (5.356355727, 5.311806951),
    "en de|es": (-17.85579206, -17.47647084),
    "fr es|it": (1.208825528, 5.519586645),
    "fr pt|it": (4.172325367, 6.273982125),
    "es fr|it": (1.171934339, 2.377604116),
    "es pt|it": (5.143714046, 7.334120335),
    "es pt|fr": (4.148000158, 6.248934237),
    "pt fr|it": (2.485335737, 4.920284723),
    "pt es|it": (3.194046558, 8.750068354),
    "pt es|fr": (0.4426858903, 3.739776405),
    "da de sv|fi": (7.309110803, 8.594176156),
    "da sv en|fr": (-12.07415808, 6.684191114),
    "de sv en|it": (-12.89591561, 5.107908977),
    "fr it es|sv": (19.29066482, 18.93811719),
    "es fr pt|nl": (17.21948745, 14.216012),
}

TREE = {"es pt": 0.07933871863, "nl de da sv": 0.1958760023}


@pytest.fixture(scope="module")
def rows(quick):
    return read_table(quick("languages") / "languages_tests.csv")


@pytest.fixture(scope="module")
def romance():
    pages = load_languages()
    return questions.influence_of({name: pages[name] for name in ("it", "fr", "es", "pt")})


def count(rows, table, measure):
    chosen = [r for r in rows if (r["table"], r["measure"]) == (table, measure)]
    return sum(float(row["p"]) < 0.05 for row in chosen), len(chosen)


def test_the_tables_are_pinned(rows):
    found = {
        (f"{row['source']} {row['near']}|{row['far']}", row["measure"]): float(row["z"])
        for row in rows
    }
    expected = {
        (question, measure): z
        for question, values in PINNED.items()
        for measure, z in zip(("hsic", "cka"), values, strict=True)
    }
    assert found == pytest.approx(expected, rel=1e-6)
    for row in rows:
        assert float(row["p"]) == pytest.approx(norm.sf(float(row["z"])), rel=1e-6)


@pytest.mark.parametrize(
    ("table", "hsic", "cka", "total"),
    [("groups", 7, 8, 9), ("romance", 5, 8, 8), ("contrasts", 3, 5, 5)],
)
def test_yes_at_five_percent(rows, table, hsic, cka, total):
    assert count(rows, table, "hsic") == (hsic, total)
    assert count(rows, table, "cka") == (cka, total)


def test_the_questions_are_the_papers():
    written = [f"{q.source} {' '.join(q.near)}|{q.far}" for q in questions.QUESTIONS]
    assert written[0] == "es pt|fi"
    assert written[8] == "en de|es"
    assert written[16] == "pt es|fr"
    assert written[-1] == "es fr pt|nl"
    assert len(written) == 9 + 8 + 5
    assert questions.QUESTIONS[-1].weights == {
        ("es", "fr"): 1.0,
        ("es", "pt"): 1.0,
        ("es", "nl"): -2.0,
    }


def test_answers_from_a_are_those_from_the_data(romance):
    pages = load_languages()
    direct = reldep.compare(pages.fr, pages.es, pages.it, kernel="gaussian")
    asked = reldep.contrast(romance, {("fr", "es"): 1, ("fr", "it"): -1})
    assert asked.statistic == pytest.approx(direct.statistic, rel=1e-9)


def test_all_romance_questions_take_a_fraction_of_a_second_once_a_is_there(romance):
    asked = [q for q in questions.QUESTIONS if q.kind == "romance"]
    start = time.perf_counter()
    for question in asked:
        reldep.contrast(romance, question.weights)
    assert time.perf_counter() - start < 1.0


def made_up(names, shares, n=200, seed=0):
    """Variables that share more or less of two hidden causes, as an Influence."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n, 2))
    variables = {
        name: causes @ np.array(share) + 0.3 * rng.normal(size=n)
        for name, share in zip(names, shares, strict=True)
    }
    return reldep.influence(variables, list(combinations_with_replacement(names, 2)))


def test_the_cka_matrix_has_the_cka_of_every_pair(romance):
    pages = load_languages()
    matrix = tree.cka_matrix(romance)
    assert matrix.diagonal() == pytest.approx(np.ones(4))
    assert matrix == pytest.approx(matrix.T)
    assert matrix[1, 2] == pytest.approx(reldep.cka(pages.fr, pages.es, kernel="gaussian"))


def test_the_tree_joins_the_nearest_first_and_is_sure_of_clear_groups():
    influence = made_up("abcd", [(1, 0), (1, 0), (0, 1), (0, 1)])
    groups = tree.grow(influence, 100, np.random.default_rng(0))
    assert {group.members for group in groups[:2]} == {("a", "b"), ("c", "d")}
    assert groups[-1].members == ("a", "b", "c", "d")
    assert [group.confidence for group in groups] == [1.0, 1.0, 1.0]
    assert groups[0].height <= groups[1].height <= groups[2].height
    matrix = tree.cka_matrix(influence)
    assert groups[0].height == pytest.approx(1 - max(matrix[0, 1], matrix[2, 3]))


def test_a_group_that_may_be_chance_has_little_confidence():
    influence = made_up("abc", [(1, 0), (1, 0), (1, 0)])
    first = tree.grow(influence, 300, np.random.default_rng(0))[0]
    assert len(first.members) == 2
    assert 0.3 < first.confidence < 0.9


def test_confidence_is_the_share_under_the_joint_normal_law():
    influence = made_up("abc", [(1, 0), (1, 0), (1, 0)], seed=2)
    first = tree.grow(influence, 4000, np.random.default_rng(1))[0]
    covariance = influence.psi @ influence.psi.T / influence.n_observations**2
    rng = np.random.default_rng(2)
    draws = rng.multivariate_normal(influence.estimates, covariance, size=4000)
    nearest = [np.argmax(tree.cka_matrix(influence, d)[np.triu_indices(3, 1)]) for d in draws]
    pair = [("a", "b"), ("a", "c"), ("b", "c")].index(first.members)
    # Three standard deviations of a difference of two shares among 4000.
    assert first.confidence == pytest.approx(np.mean(np.equal(nearest, pair)), abs=0.034)


def test_the_tree_of_the_languages_is_pinned(quick):
    found = {
        row["members"]: (float(row["height"]), float(row["confidence"]))
        for row in read_table(quick("languages") / "languages_tree.csv")
    }
    assert found["es pt"][0] == pytest.approx(TREE["es pt"], rel=1e-6)
    assert found["nl de da sv"][0] == pytest.approx(TREE["nl de da sv"], rel=1e-6)
    assert found["it fr es pt en"][1] > 0.95
    assert 0.7 < found["es pt"][1] < 0.95


def test_figures_and_page_are_written(quick):
    folder = quick("languages")
    assert_picture(folder, "languages_cka", "Portuguese", "CKA")
    assert_picture(folder, "languages_tree", "Finnish", "100 %", "1 - CKA")
    page = (folder / "languages.md").read_text(encoding="utf-8")
    assert "Yes at 5 %: 5 of 8 with hsic and 8 of 8 with cka." in page
    assert "How the words were chosen" in page
    assert "947 pages" in page
    matrix = read_table(folder / "languages_cka.csv")
    assert float(matrix[3]["pt"]) == pytest.approx(1 - TREE["es pt"], rel=1e-6)


def test_the_same_tables_are_made_from_europarl(tmp_path):
    root = tmp_path / "europarl" / "txt"
    rng = np.random.default_rng(0)
    letters = np.array(list("bcdfgklmnprst"))
    topics = rng.integers(0, 6, size=24)
    for language in questions.LANGUAGES:
        words = ["".join(rng.choice(letters, 6)) for _ in range(6)]
        other = ["".join(rng.choice(letters, 6)) for _ in range(12)]
        lines = []
        for chapter, topic in enumerate(topics, start=1):
            said = [words[topic]] * 3 + list(rng.choice(other, 4))
            lines += [f"<CHAPTER ID={chapter}>", " ".join(said)]
        (root / language).mkdir(parents=True)
        (root / language / "ep-96-04-15.txt").write_text("\n".join(lines))
    reproduce("languages", out=tmp_path / "out", data=tmp_path / "europarl", progress=False)
    rows = read_table(tmp_path / "out" / "languages_tests.csv")
    assert len(rows) == 2 * 22
    page = (tmp_path / "out" / "languages.md").read_text(encoding="utf-8")
    assert "24 chapters" in page
    assert "--data DIR" in page
    assert "How the words were chosen" not in page
