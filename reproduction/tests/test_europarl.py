"""The Europarl reader on small corpora of the real layout."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.sparse import csr_array

from reldep.exceptions import ReldepWarning
from reproduction.corpora.europarl import read_europarl

if TYPE_CHECKING:
    from pathlib import Path

# The same ten topics in three languages, one word each.
TOPICS = {
    "en": ["fish", "ship", "road", "bread", "wine", "steel", "milk", "water", "forest", "mountain"],
    "fr": ["poisson", "bateau", "route", "pain", "vin", "acier", "lait", "eau", "bois", "montagne"],
    "da": ["fisk", "skib", "vej", "brød", "vin", "stål", "mælk", "vand", "skov", "bjerg"],
}


def session(language: str, topics: range, *, quotes: bool = False) -> str:
    """One day of the proceedings: a chapter for each topic, two speakers in each."""
    lines = []
    for chapter, topic in enumerate(topics, start=1):
        word = TOPICS[language][topic]
        number = f'"{chapter:03d}"' if quotes else str(chapter)
        lines += [
            f"<CHAPTER ID={number}>",
            f"{word} {word}",
            '<SPEAKER ID=1 LANGUAGE="EN" NAME="President">',
            f"europa {word}",
            "<P>",
            f"{word} nova",
            '<SPEAKER ID=2 NAME="Somebody" AFFILIATION="X">',
            f"{word} europa",
        ]
    return "\n".join(lines) + "\n"


def write(root: Path, language: str, name: str, text: str) -> None:
    folder = root / language
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for language in TOPICS:
        write(tmp_path / "txt", language, "ep-00-01-17.txt", session(language, range(6, 10)))
        write(tmp_path / "txt", language, "ep-96-04-15.txt", session(language, range(6)))
    return tmp_path


def test_chapters_are_documents_aligned_over_the_languages(corpus: Path) -> None:
    speeches = read_europarl(corpus, ["en", "fr", "da"])
    assert list(speeches) == ["en", "fr", "da"]
    for block in speeches.values():
        assert isinstance(block, csr_array)
        # europa and nova are in every chapter: stop words. One word a chapter is left.
        assert block.shape == (10, 10)
        assert block.nnz == 10
        np.testing.assert_allclose(block.data, 1.0)
    assert speeches.n_observations == 10
    assert "10 chapters" in speeches.description
    assert "0 others were left out" in speeches.description
    assert "Koehn" in speeches.reference


def test_documents_come_in_time_order(corpus: Path) -> None:
    # Stems of one document each are numbered by the alphabet: so a row's column tells its word.
    block = read_europarl(corpus, ["en"]).en
    alphabet = sorted(TOPICS["en"])
    stems = {word: column for column, word in enumerate(alphabet)}
    columns = [int(block[[row]].indices[0]) for row in range(10)]
    assert columns == [stems[word] for word in TOPICS["en"]]


def test_ten_chapters_of_a_day_are_ordered_as_numbers(tmp_path: Path) -> None:
    text = session("en", range(10)) + "<CHAPTER ID=11>\nzebra\n"
    write(tmp_path, "en", "ep-99-01-01.txt", text)
    block = read_europarl(tmp_path, ["en"]).en
    alphabet = sorted([*TOPICS["en"], "zebra"])
    assert [alphabet[block[[row]].indices[0]] for row in range(11)] == [*TOPICS["en"], "zebra"]


def test_the_txt_folder_itself_may_be_given(corpus: Path) -> None:
    above, inside = read_europarl(corpus, ["en", "fr"]), read_europarl(corpus / "txt", ["en", "fr"])
    assert (above.fr != inside.fr).nnz == 0
    assert (above.fr != read_europarl(str(corpus), ["en", "fr"]).fr).nnz == 0


def test_numbers_in_quotation_marks_and_stray_bytes_are_read(tmp_path: Path) -> None:
    write(tmp_path, "en", "ep-09-10-19-005.txt", session("en", range(10), quotes=True))
    path = tmp_path / "en" / "ep-09-10-19-005.txt"
    path.write_bytes(path.read_bytes() + b"caf\xe9\n")
    assert read_europarl(tmp_path, ["en"]).en.shape == (10, 11)


def test_a_speaker_can_be_the_document(corpus: Path) -> None:
    speeches = read_europarl(corpus, ["en", "da"], unit="speaker", max_document_frequency=1.0)
    assert speeches.n_observations == 20
    # europa in all, nova with the first speakers only; the chapter title is nobody's turn.
    counts = (speeches.en > 0).sum(axis=0)
    assert sorted(np.asarray(counts).ravel().tolist()) == [2] * 10 + [10, 20]


def test_a_larger_corpus_is_thinned_evenly(corpus: Path) -> None:
    block = read_europarl(corpus, ["en"], n_documents=5).en
    assert block.shape == (5, 5)
    alphabet = sorted(TOPICS["en"][::2])
    assert [alphabet[block[[row]].indices[0]] for row in range(5)] == TOPICS["en"][::2]
    everything = read_europarl(corpus, ["en"], n_documents=None)
    assert everything.n_observations == 10


def test_documents_missing_in_one_language_are_counted_and_left_out(corpus: Path) -> None:
    write(corpus / "txt", "da", "ep-00-01-17.txt", session("da", range(6, 8)))
    with pytest.warns(
        ReldepWarning, match=r"2 of 10 documents are not in every language \(da lacks 2\)"
    ):
        speeches = read_europarl(corpus, ["en", "fr", "da"])
    assert speeches.n_observations == 8
    assert "2 others were left out" in speeches.description


def test_a_file_missing_in_one_language_is_left_out(corpus: Path) -> None:
    (corpus / "txt" / "fr" / "ep-00-01-17.txt").unlink()
    with pytest.warns(ReldepWarning, match=r"4 of 10 .*\(fr lacks 4\)") as caught:
        assert read_europarl(corpus, ["en", "fr"]).n_observations == 6
    # The warning points at the line of the caller.
    assert caught[0].filename == __file__


def test_a_chapter_without_text_does_not_count(corpus: Path) -> None:
    text = session("fr", range(6, 10)) + "<CHAPTER ID=5>\n   \n<P>\n\n"
    write(corpus / "txt", "fr", "ep-00-01-17.txt", text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_europarl(corpus, ["en", "fr"]).n_observations == 10


def test_fewer_than_four_common_documents_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "en", "ep-96-04-15.txt", session("en", range(10)))
    write(tmp_path, "fr", "ep-96-04-15.txt", session("fr", range(3)))
    expected = r"3 documents have text in every language and at least 4 .* 7 of 10 .*\(fr lacks 7\)"
    with pytest.raises(ValueError, match=expected):
        read_europarl(tmp_path, ["en", "fr"])


def test_files_without_marks_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "en", "ep-96-04-15.txt", "Only sentences.\nNo marks.\n")
    with pytest.raises(
        ValueError, match=r"hold no <CHAPTER ID=\.\.> mark .* sentence-aligned pairs"
    ):
        read_europarl(tmp_path, ["en"])


def test_a_missing_directory_is_named_with_the_layout(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere' is not a folder; .*txt/<language>/ep-"):
        read_europarl(tmp_path / "nowhere")


def test_an_empty_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"has no folder for fi, it, .*; it contains no folders"
    ):
        read_europarl(tmp_path)


def test_a_missing_language_is_named_beside_those_that_are_there(corpus: Path) -> None:
    with pytest.raises(FileNotFoundError, match="has no folder for sv; it contains da, en, fr"):
        read_europarl(corpus, ["en", "sv"])


def test_a_language_folder_without_files_is_named(corpus: Path) -> None:
    (corpus / "txt" / "sv").mkdir()
    with pytest.raises(ValueError, match=r"no files ep-\*\.txt in the folder of sv under .*txt'"):
        read_europarl(corpus, ["en", "sv"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"languages": "en"}, TypeError, "`languages='en'` is a text. Pass a list of codes"),
        ({"languages": []}, ValueError, "languages is empty. Name at least one"),
        ({"languages": ["en", "fr", "en"]}, ValueError, "languages names en more than once"),
        ({"languages": ["en", "lv"]}, ValueError, "languages is 'lv', for which"),
        ({"unit": "page"}, ValueError, "`unit='page'` is not known. Pass 'chapter' or"),
        ({"n_documents": 3}, ValueError, "`n_documents=3` is too few: at least 4"),
        ({"max_document_frequency": 0}, ValueError, "frequency=0` is not a share"),
        ({"max_document_frequency": 1.5}, ValueError, "frequency=1.5` is not a share"),
    ],
)
def test_wrong_options_are_named(corpus: Path, options, error, message: str) -> None:
    with pytest.raises(error, match=message):
        read_europarl(corpus, **options)


def test_without_the_text_extra_nothing_is_read(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ImportError, match=r"pip install 'reldep\[text\]'"):
        read_europarl(corpus, ["en"])
