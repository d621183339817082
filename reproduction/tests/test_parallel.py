"""The reader of any folder of parallel texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reldep.exceptions import ReldepWarning
from reproduction.corpora.europarl import is_europarl, read_europarl
from reproduction.corpora.parallel import read_parallel

# Six documents in three languages, two words each.
DOCUMENTS = {
    "en": ["red fish", "blue fish", "old boat", "new boat", "green tree", "tall tree"],
    "fr": ["poisson rouge", "poisson bleu", "vieux bateau", "bateau neuf", "arbre vert", "arbre"],
    "lv": ["zivs sarkana", "zivs zila", "laiva veca", "laiva jauna", "koks zals", "koks garš"],
}


def write_lines(folder: Path, texts: dict[str, list[str]]) -> Path:
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def write_files(folder: Path, texts: dict[str, list[str]]) -> Path:
    for name, lines in texts.items():
        for i, line in enumerate(lines):
            path = folder / name / f"part{i % 2}" / f"{i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(line, encoding="utf-8")
    return folder


def two(*names: str) -> dict[str, list[str]]:
    return {name: DOCUMENTS[name] for name in names}


def columns_of(block, row: int) -> set[int]:
    return set(block[[row]].indices.tolist())


def test_a_line_is_a_document(tmp_path: Path) -> None:
    texts = read_parallel(write_lines(tmp_path, two("en", "fr")))
    assert list(texts) == ["en", "fr"]
    assert texts.n_observations == 6
    for block in texts.values():
        np.testing.assert_allclose(np.sqrt(block.multiply(block).sum(axis=1)), 1.0)
    # Documents 0 and 1 share the fish, 0 and 2 nothing.
    assert columns_of(texts.en, 0) & columns_of(texts.en, 1)
    assert not columns_of(texts.en, 0) & columns_of(texts.en, 2)
    assert "6 documents in 2 languages" in texts.description
    assert "Prepared as stems (en, fr);" in texts.description


def test_a_file_is_a_document_and_both_layouts_give_the_same_rows(tmp_path: Path) -> None:
    (tmp_path / "lines").mkdir()
    (tmp_path / "files").mkdir()
    lines = read_parallel(write_lines(tmp_path / "lines", two("en", "fr")))
    files = read_parallel(write_files(tmp_path / "files", two("en", "fr")))
    # Files come in the order of their paths: part0/0, part0/2, part0/4, part1/1, ...
    order = [0, 2, 4, 1, 3, 5]
    for name in ("en", "fr"):
        expected = (lines[name] @ lines[name].T).toarray()[np.ix_(order, order)]
        np.testing.assert_allclose((files[name] @ files[name].T).toarray(), expected)


def test_names_may_have_a_country_or_be_english_and_others_are_passed_over(tmp_path: Path) -> None:
    texts = {"en-GB": DOCUMENTS["en"], "french": DOCUMENTS["fr"], "README": ["about"]}
    read = read_parallel(write_lines(tmp_path, texts))
    assert list(read) == ["en-GB", "french"]
    assert "Prepared as stems (en-GB, french);" in read.description


def test_some_stemmed_and_some_not_is_a_caution(tmp_path: Path) -> None:
    write_lines(tmp_path, DOCUMENTS)
    with pytest.warns(
        ReldepWarning, match=r"prepared differently, as stems \(en, fr\) and words \(lv\), .* less"
    ) as caught:
        read = read_parallel(tmp_path)
    assert caught[0].filename == __file__
    assert "Prepared as stems (en, fr) and words (lv);" in read.description


def test_languages_without_spaces_are_prepared_differently(tmp_path: Path) -> None:
    chinese = ["红色的鱼", "蓝色的鱼", "旧的船只", "新的船只", "绿色的树", "高大的树"]
    write_lines(tmp_path, {**two("en"), "zh-Hans": chinese})
    with pytest.warns(ReldepWarning, match=r"stems \(en\) and pairs of characters \(zh-Hans\)"):
        read_parallel(tmp_path)


def test_an_empty_line_is_a_document_left_out(tmp_path: Path) -> None:
    texts = {"en": [*DOCUMENTS["en"][:5], ""], "fr": ["", *DOCUMENTS["fr"][1:]]}
    with pytest.warns(
        ReldepWarning, match=r"2 of 6 documents .*\(en lacks 1, fr lacks 1\)"
    ) as caught:
        assert read_parallel(write_lines(tmp_path, texts)).n_observations == 4
    assert caught[0].filename == __file__


def test_a_missing_file_is_a_document_left_out(tmp_path: Path) -> None:
    write_files(tmp_path, two("en", "fr"))
    (tmp_path / "fr" / "part0" / "2.txt").unlink()
    with pytest.warns(ReldepWarning, match=r"1 of 6 documents .*\(fr lacks 1\)"):
        assert read_parallel(tmp_path).n_observations == 5


def test_lines_are_not_broken_at_other_characters(tmp_path: Path) -> None:
    lines = ["red\x0cfish", "blue\u2028fish", "old\x85boat", "new boat"]
    write_lines(tmp_path, {"en": lines, "fr": DOCUMENTS["fr"][:4]})
    assert read_parallel(tmp_path).n_observations == 4


def test_files_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    write_lines(tmp_path, {"en": DOCUMENTS["en"], "fr": DOCUMENTS["fr"][:5]})
    with pytest.raises(ValueError, match=r"different numbers of lines \(en 6, fr 5\).*empty one"):
        read_parallel(tmp_path)
    (tmp_path / "fr.txt").write_bytes(b"caf\xe9\n" * 6)
    with pytest.raises(ValueError, match=r"fr.txt' is not UTF-8 from byte 4 on\. Save"):
        read_parallel(tmp_path)
    write_files(tmp_path, {"it": DOCUMENTS["fr"], "fr": DOCUMENTS["fr"]})
    with pytest.raises(ValueError, match=r"files \(en, fr\) and folders \(fr, it\).*one file per"):
        read_parallel(tmp_path)


def test_a_folder_without_texts_says_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no text of any language\. Expected is one file"):
        read_parallel(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"directory=.*nowhere' is not a folder\. Expected"):
        read_parallel(tmp_path / "nowhere")


def test_europarl_is_told_from_other_folders(tmp_path: Path) -> None:
    write_files(tmp_path, two("en", "fr"))
    assert not is_europarl(tmp_path)
    folder = tmp_path / "txt" / "en"
    folder.mkdir(parents=True)
    text = "".join(f"<CHAPTER ID={i}>\n{line}\n" for i, line in enumerate(DOCUMENTS["en"], 1))
    (folder / "ep-96-04-15.txt").write_text(text, encoding="utf-8")
    assert is_europarl(tmp_path)
    assert read_europarl(tmp_path, ["en"]).n_observations == 6
