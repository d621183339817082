"""Text: the pipeline against scikit-learn, and every refusal."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from reldep.kernels.documents import (
    STEMMERS,
    check_language,
    count_stems,
    has_stemmer,
    stems,
    tfidf,
    words,
)


def test_words_are_lower_case_runs_of_two_or_more_letters():
    assert words("L'éditeur n°2, b2b_Öffnen: ÄÄ x") == ["éditeur", "öffnen", "ää"]
    assert words("e\u0301te\u0301") == words("\u00e9t\u00e9") == ["été"]


@pytest.mark.parametrize("language", STEMMERS)
def test_every_listed_language_has_a_stemmer_or_says_so(language):
    if not has_stemmer(language):
        with pytest.raises(ValueError, match=r"no stemmer for .*--upgrade"):
            stems(language)
        return
    assert all(isinstance(stem, str) for stem in stems(language)("Europa Parlament kommission"))


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "Running runners ran", ["run", "runner", "ran"]),
        ("German", "Häuser Haus", ["haus", "haus"]),
        ("FR", "continuellement continuons", ["continuel", "continuon"]),
        ("cs", "domy domem", ["dom", "dom"]),
        ("pl", "kobietami kobietach", ["kobiet", "kobiet"]),
        ("et", "raamatutes raamatus", ["raama", "raama"]),
        ("fa", "کتابها کتاب", ["کتاب", "کتاب"]),
    ],
)
def test_words_are_cut_to_their_stems(language, text, expected):
    if has_stemmer(check_language(language)):
        assert stems(language)(text) == expected


def test_stems_in_more_than_half_of_the_documents_are_stop_words():
    data = ["the cat", "the dog", "the cat", "bird"]
    expected = [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert count_stems(data, "en").toarray().tolist() == expected
    assert count_stems(data, None).toarray().tolist() == expected
    assert count_stems(data, "en", max_document_frequency=1.0).shape == (4, 4)
    for texts in (["1 2", "3"], ["the"] * 3):
        with pytest.raises(ValueError, match="no words are left in the 'en' documents"):
            count_stems(texts, "en")


def test_counts_are_by_document_and_from_the_most_widespread_stem_on():
    counts = count_stems(["dog dogs cat", "dog bird bird", "fish", "fish cat", "snake"], "en")
    # cat, dog and fish are in two documents each, bird and snake in one.
    expected = [[1, 2, 0, 0, 0], [0, 1, 0, 2, 0], [0, 0, 1, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 0, 1]]
    assert counts.toarray().tolist() == expected


def test_tfidf_equals_scikit_learn_and_leaves_the_counts_alone():
    counts = csr_array(np.random.default_rng(1).poisson(0.3, (40, 25)))
    before = counts.toarray()
    expected = TfidfTransformer().fit_transform(counts).toarray()
    np.testing.assert_allclose(tfidf(counts).toarray(), expected, rtol=1e-14)
    np.testing.assert_array_equal(counts.toarray(), before)
    # A document without stems stays a row of zeros.
    assert tfidf(csr_array(np.array([[1, 0], [0, 0], [1, 2]]))).toarray()[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी भाषा में लिखा हुआ पाठ", ["हिन्दी", "भाषा", "में", "लिखा", "हुआ", "पाठ"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("ייִדיש שבת", ["ייִדיש", "שבת"]),
        ("नेपाली भाषा", ["नेपाली", "भाषा"]),
        ("İstanbul I\u0307STANBUL istanbul", ["istanbul"] * 3),
        ("کتاب\u200cها co\u00adoperate", ["کتابها", "cooperate"]),
        ("我爱北京", ["我爱", "爱北", "北京"]),
        ("東京 Tower タ", ["東京", "tower", "タ"]),
        ("ไทย", ["ไท", "ทย"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("x 我 b2b", ["我"]),
    ],
)
def test_words_of_every_script_are_found(text, expected):
    assert words(text) == [unicodedata.normalize("NFC", word) for word in expected]


def test_turkish_has_its_own_small_letters():
    assert words("IRAK ırak İZMİR izmir", "tr") == ["ırak", "ırak", "izmir", "izmir"]
    assert stems("tr")("KAPI") == stems("tr")("kapı")
