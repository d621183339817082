"""The text pipeline, step by step and against scikit-learn."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from reldep.datasets._tfidf import (
    LANGUAGES,
    STEMMERS,
    check_language,
    count_stems,
    require_text_extra,
    stems,
    tfidf,
    words,
)


def test_words_are_lower_case_runs_of_two_or_more_letters() -> None:
    assert words("L'éditeur n°2, b2b_Öffnen: ÄÄ x") == ["éditeur", "öffnen", "ää"]
    assert words("λόγος 42 Ελλάδα") == ["λόγος", "ελλάδα"]
    assert words("12 3.4 -") == []


def test_a_letter_and_its_separate_accent_are_one_letter() -> None:
    assert words("e\u0301te\u0301") == words("\u00e9t\u00e9") == ["été"]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Running runners ran", ["run", "runner", "ran"]),
        ("de", "Häuser Haus", ["haus", "haus"]),
        ("fr", "continuellement continuons", ["continuel", "continuon"]),
    ],
)
def test_words_are_cut_to_their_stems(language: str, text: str, expected: list[str]) -> None:
    assert stems(language)(text) == expected


@pytest.mark.parametrize("language", STEMMERS)
def test_every_listed_language_has_a_stemmer(language: str) -> None:
    assert all(isinstance(stem, str) for stem in stems(language)("Europa Parlament kommission"))


def test_the_ten_languages_of_the_paper_can_be_stemmed() -> None:
    assert len(set(LANGUAGES)) == 10
    assert set(LANGUAGES) <= set(STEMMERS)


def test_counts_are_by_document_and_from_the_most_widespread_stem_on() -> None:
    texts = ["dog dogs cat", "dog bird bird", "fish", "fish cat", "snake"]
    counts = count_stems(texts, "en")
    # cat, dog and fish are in two documents each, bird and snake in one.
    expected = [[1, 2, 0, 0, 0], [0, 1, 0, 2, 0], [0, 0, 1, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 0, 1]]
    assert counts.toarray().tolist() == expected


def test_stems_in_more_than_half_of_the_documents_are_stop_words() -> None:
    texts = ["the cat", "the dog", "the cat", "bird"]
    assert count_stems(texts, "en").toarray().tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [1, 0, 0],
        [0, 1, 0],
    ]
    assert count_stems(texts, "en", max_document_frequency=1.0).shape == (4, 4)


def test_texts_without_words_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"no words are left in the 'sv' documents: .* 50% of them"
    ):
        count_stems(["1 2", "3"], "sv")


def test_texts_of_stop_words_only_are_refused() -> None:
    with pytest.raises(ValueError, match="no words are left in the 'en' documents"):
        count_stems(["the", "the", "the"], "en")


def test_tfidf_equals_scikit_learn() -> None:
    generator = np.random.default_rng(1)
    counts = csr_array(generator.poisson(0.3, (40, 25)))
    expected = TfidfTransformer().fit_transform(counts).toarray()
    np.testing.assert_allclose(tfidf(counts).toarray(), expected, rtol=1e-14)


def test_a_document_without_stems_stays_a_row_of_zeros() -> None:
    weighted = tfidf(csr_array(np.array([[1, 0], [0, 0], [1, 2]])))
    assert weighted.toarray()[1].tolist() == [0.0, 0.0]
    np.testing.assert_allclose((weighted * weighted).sum(axis=1), [1.0, 0.0, 1.0])


def test_tfidf_leaves_the_counts_alone() -> None:
    counts = csr_array(np.array([[3, 0], [1, 2]]))
    tfidf(counts)
    assert counts.toarray().tolist() == [[3, 0], [1, 2]]


def test_a_language_without_a_stemmer_is_refused_with_a_hint() -> None:
    with pytest.raises(ValueError, match=r"languages holds 'FR', .* choose from da, .*mean 'fr'\?"):
        check_language("FR")
    with pytest.raises(ValueError, match=r"'xx', for which there is no stemmer; .*, sv\.$"):
        check_language("xx")


@pytest.mark.parametrize("package", ["sklearn.feature_extraction.text", "snowballstemmer"])
def test_without_the_text_extra_the_error_names_it(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ImportError, match=r"scikit-learn and snowballstemmer .*pip install 'reldep\[text\]'"
    ):
        require_text_extra()
