"""Text: the pipeline against scikit-learn, and every refusal."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pytest
import snowballstemmer
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from reldep.data.objects import read_variable
from reldep.kernels import Gaussian, Text, check_kernel
from reldep.kernels.structured.documents import (
    STEMMERS,
    check_language,
    count_stems,
    has_stemmer,
    require_text_extra,
    stems,
    tfidf,
    words,
)

ALL = slice(None)

DOCUMENTS = [
    "Running dogs run.",
    "The dog ran home; the cat did not.",
    "Cats and dogs!",
    "A house, two houses, three mice",
    "The mice left the house.",
]


def matrix(kernel, data):
    return kernel.fit(read_variable(data, "v"))(ALL, ALL)


def test_text_equals_the_vectorizer_of_scikit_learn():
    stem = snowballstemmer.stemmer("english").stemWord
    plain = TfidfVectorizer(analyzer=words, max_df=0.5).fit_transform(DOCUMENTS).toarray()
    np.testing.assert_allclose(matrix(Text(kernel="linear"), DOCUMENTS), plain @ plain.T)
    stemmed = TfidfVectorizer(analyzer=lambda t: [stem(w) for w in words(t)], max_df=0.5)
    rows = stemmed.fit_transform(DOCUMENTS).toarray()
    np.testing.assert_allclose(matrix(Text("en", kernel="linear"), DOCUMENTS), rows @ rows.T)
    np.testing.assert_allclose(
        matrix(Text("english", kernel=Gaussian(0.5)), DOCUMENTS),
        np.exp(-np.square(rows[:, None] - rows[None]).sum(axis=2) / 0.5),
    )


def test_stems_bring_together_what_words_keep_apart():
    data = ["a running dog", "dogs run", "nothing alike here", "no word shared"]
    assert matrix(Text(kernel="linear"), data)[0, 1] == 0
    assert matrix(Text("en", kernel="linear"), data)[0, 1] > 0.5


def test_text_says_in_its_label_what_it_did():
    fitted = Text("English").fit(read_variable(DOCUMENTS, "v"))
    assert fitted.label.startswith("Text('en'): Gaussian(bandwidth=1.")
    assert fitted.describe()["rule"] == "median"
    assert check_kernel(Text(), DOCUMENTS).label.startswith("Text(): Gaussian")


def test_words_are_lower_case_runs_of_two_or_more_letters():
    assert words("L'éditeur n°2, b2b_Öffnen: ÄÄ x") == ["éditeur", "öffnen", "ää"]
    assert words("e\u0301te\u0301") == words("\u00e9t\u00e9") == ["été"]


@pytest.mark.parametrize("language", [code for code in STEMMERS if has_stemmer(code)])
def test_every_listed_language_has_a_stemmer(language):
    assert all(isinstance(stem, str) for stem in stems(language)("Europa Parlament kommission"))


def test_languages_go_by_code_or_by_english_name():
    assert check_language("French") == check_language("FR") == "fr"
    assert stems("german")("Häuser Haus") == ["haus", "haus"]


def test_stems_in_more_than_half_of_the_documents_are_stop_words():
    data = ["the cat", "the dog", "the cat", "bird"]
    expected = [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert count_stems(data, "en").toarray().tolist() == expected
    assert count_stems(data, None).toarray().tolist() == expected
    assert count_stems(data, "en", max_document_frequency=1.0).shape == (4, 4)


def test_tfidf_equals_scikit_learn_and_leaves_the_counts_alone():
    counts = csr_array(np.random.default_rng(1).poisson(0.3, (40, 25)))
    before = counts.toarray()
    expected = TfidfTransformer().fit_transform(counts).toarray()
    np.testing.assert_allclose(tfidf(counts).toarray(), expected, rtol=1e-14)
    np.testing.assert_array_equal(counts.toarray(), before)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: matrix(Text(), ["good dog", "", "cat"]), ValueError, "an empty string in row 1"),
        (
            lambda: matrix(Text(), ["good dog", "12 3", "cat"]),
            ValueError,
            "v has a text without words in row 1; fill in or leave out",
        ),
        (
            lambda: matrix(Text(), ["good dog", None, 7, "cat"]),
            TypeError,
            "observation 1 of v is of type NoneType; kernel Text takes strings",
        ),
        (
            lambda: matrix(Text(), np.arange(4.0)),
            TypeError,
            "v, which contains numbers; it takes",
        ),
        (
            lambda: matrix(Text("sv"), ["samma ord"] * 3 + ["ord"]),
            ValueError,
            "no words are left in the 'sv' documents: every stem occurs in more than 50% of them",
        ),
        (lambda: count_stems(["1 2", "3"], None), ValueError, "no words are left in the documents"),
        (lambda: matrix(Text(max_document_frequency=1), ["ox"] * 4), ValueError, "look the same"),
        (
            lambda: Text("englsh"),
            ValueError,
            r"language is 'englsh', .* \(did you mean 'english'\?\); pass None or one of ar, ca",
        ),
        (lambda: Text("xx"), ValueError, "language is 'xx', for which there is no stemmer; pass"),
        (
            lambda: check_language("xx", "languages"),
            ValueError,
            "languages is 'xx'",
        ),
        (lambda: Text(max_document_frequency=2), ValueError, "`max_document_frequency=2`; pass a"),
        (lambda: matrix(Text(kernel="gausian"), DOCUMENTS), ValueError, "did you mean 'gaussian'"),
    ],
)
def test_bad_texts_say_what_and_how_to_go_on(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("module", "package"),
    [("sklearn.feature_extraction.text", "scikit-learn"), ("snowballstemmer", "snowballstemmer")],
)
def test_without_the_text_extra_the_error_names_it(module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        ImportError, match=rf"TF-IDF features needs {package} .*pip install 'reldep\[text\]'"
    ):
        require_text_extra()


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


def test_texts_without_spaces_are_said_to_be_read_by_pairs_of_characters():
    texts = ["我爱北京", "我爱上海", "北京上海", "hello world"]
    fitted = Text(kernel="linear").fit(read_variable(texts, "texts"))
    expected = "Text(), by pairs of characters in 3 texts without spaces: Linear()"
    assert fitted.label == expected
    assert fitted(ALL, ALL)[0, 1] > 0.1


def test_utf_8_bytes_are_the_text_they_encode():
    texts = ["one été", "two été", "two hiver"]
    encoded = [text.encode() for text in texts]
    np.testing.assert_array_equal(Text(kernel="linear")(encoded), Text(kernel="linear")(texts))
