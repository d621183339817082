"""The Europarl reader on small corpora of the real layout."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from reldep.exceptions import ReldepWarning
from reproduction.corpora.europarl import read_europarl

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


def test_a_larger_corpus_is_thinned_evenly(corpus: Path) -> None:
    block = read_europarl(corpus, ["en"], n_documents=5).en
    assert block.shape == (5, 5)
    alphabet = sorted(TOPICS["en"][::2])
    assert [alphabet[block[[row]].indices[0]] for row in range(5)] == TOPICS["en"][::2]


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


def test_a_folder_of_another_form_is_refused_with_the_layout(tmp_path: Path) -> None:
    def refused(folder: Path, error: type[Exception], message: str, *languages: str) -> None:
        with pytest.raises(error, match=message):
            read_europarl(folder, languages)

    refused(tmp_path / "nowhere", OSError, r"nowhere' is not a folder; .*txt/<language>/ep-", "en")
    refused(tmp_path, OSError, "has no folder for fi, it; it contains no folders", "fi", "it")
    (tmp_path / "sv").mkdir()
    refused(tmp_path, OSError, "has no folder for en; it contains sv", "en", "sv")
    refused(tmp_path, ValueError, r"no files ep-\*\.txt in the folder of sv under", "sv")
    write(tmp_path, "en", "ep-96-04-15.txt", "Only sentences.\nNo marks.\n")
    refused(tmp_path, ValueError, r"no <CHAPTER ID=\.\.> mark .* sentence-aligned pairs", "en")


def test_without_the_text_extra_nothing_is_read(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ImportError, match=r"pip install 'reldep\[text\]'"):
        read_europarl(corpus, ["en"])
