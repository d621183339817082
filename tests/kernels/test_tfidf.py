"""The text pipeline, step by step and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from reldep.datasets._shipped import LANGUAGES
from reldep.kernels.structured.documents import (
    STEMMERS,
    count_stems,
    has_stemmer,
    stems,
    tfidf,
    words,
)


def newer(language: str) -> pytest.MarkDecorator:
    """Mark a test of a stemmer that not every version of snowballstemmer has."""
    return pytest.mark.skipif(not has_stemmer(language), reason=f"no stemmer for {language} here")


def test_a_letter_and_its_separate_accent_are_one_letter() -> None:
    assert words("e\u0301te\u0301") == words("\u00e9t\u00e9") == ["été"]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Running runners ran", ["run", "runner", "ran"]),
        ("de", "Häuser Haus", ["haus", "haus"]),
        ("fr", "continuellement continuons", ["continuel", "continuon"]),
        pytest.param("cs", "domy domem", ["dom", "dom"], marks=newer("cs")),
        pytest.param("pl", "kobietami kobietach", ["kobiet", "kobiet"], marks=newer("pl")),
        pytest.param("et", "raamatutes raamatus", ["raama", "raama"], marks=newer("et")),
        pytest.param("fa", "کتابها کتاب", ["کتاب", "کتاب"], marks=newer("fa")),
    ],
)
def test_words_are_cut_to_their_stems(language: str, text: str, expected: list[str]) -> None:
    assert stems(language)(text) == expected


def test_a_stemmer_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snowballstemmer.algorithms", lambda: ["english"])
    assert has_stemmer("en")
    with pytest.raises(ValueError, match=r"no stemmer for 'Czech'; .*--upgrade"):
        stems("Czech")


def test_the_ten_languages_of_the_paper_can_be_stemmed() -> None:
    assert len(set(LANGUAGES)) == 10
    assert set(LANGUAGES) <= set(STEMMERS)


def test_counts_are_by_document_and_from_the_most_widespread_stem_on() -> None:
    texts = ["dog dogs cat", "dog bird bird", "fish", "fish cat", "snake"]
    counts = count_stems(texts, "en")
    # cat, dog and fish are in two documents each, bird and snake in one.
    expected = [[1, 2, 0, 0, 0], [0, 1, 0, 2, 0], [0, 0, 1, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 0, 1]]
    assert counts.toarray().tolist() == expected


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
