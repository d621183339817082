"""The real data that ship: shapes, numbers, alignment, and what a damaged file gives."""

from __future__ import annotations

import math
import shutil
from importlib import resources
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from reldep.datasets import _shipped, load_acc, load_languages, load_nutrimouse

DATA = Path(str(resources.files("reldep.datasets"))) / "data"
LOADERS = [load_nutrimouse, load_acc, load_languages]


@pytest.mark.parametrize("load", LOADERS)
def test_every_dataset_says_what_it_is_and_whom_to_cite(load) -> None:
    dataset = load()
    assert len(dataset.description) > 200
    assert any(character.isdigit() for character in dataset.reference) or load is load_languages
    assert len({block.shape[0] for block in dataset.values()}) == 1


def test_nutrimouse_has_the_published_design_and_numbers() -> None:
    mice = load_nutrimouse()
    assert [block.shape for block in mice.values()] == [(40,), (40,), (40, 21), (40, 120)]
    design = pl.DataFrame([mice.diet, mice.genotype]).group_by("diet", "genotype").len()
    assert design.height == 10
    assert set(design["len"]) == {4}
    # Percentages of fatty acids: each mouse sums to 100. Sums taken from the source tables.
    np.testing.assert_allclose(mice.lipid.sum_horizontal(), 100.0, atol=0.2)
    assert math.isclose(mice.lipid.to_numpy().sum(), 3999.98, rel_tol=1e-12)
    assert math.isclose(mice.gene.to_numpy().sum(), -3851.52, rel_tol=1e-12)
    assert mice.lipid["C14.0"][0] == 0.34
    assert mice.gene.columns[0] == "X36b4"
    assert mice.gene["X36b4"][0] == -0.42


def test_acc_holds_77_patients_with_198_genes_in_each_block() -> None:
    tumours = load_acc()
    assert [block.shape for block in tumours.values()] == [(77, 198), (77, 198), (77, 19)]
    assert len(set(tumours.expression.columns) & set(tumours.copy_number.columns)) == 197
    # Sums taken from the source tables, log2(x + 1) by another program.
    assert math.isclose(tumours.expression.to_numpy().sum(), 140340.15352873027, rel_tol=1e-12)
    assert math.isclose(tumours.expression["DIRAS3"][0], math.log2(1487.0317 + 1), rel_tol=1e-12)
    assert tumours.copy_number.to_numpy().sum() == 2033
    assert set(np.unique(tumours.copy_number.to_numpy())) == {-2, -1, 0, 1, 2}
    assert math.isclose(tumours.clinical["purity"].sum(), 60.91, rel_tol=1e-12)
    assert tumours.clinical["SCNA.cluster"].null_count() == 1
    assert not tumours.expression.null_count().to_numpy().any()


def test_acc_rows_are_the_same_patients_in_all_three_files() -> None:
    names = ("clinical", "expression", "copy_number")
    patients = [_shipped._table(f"acc_{name}.csv.gz")["patient"].to_list() for name in names]
    assert patients[0] == patients[1] == patients[2]
    assert len(set(patients[0])) == 77
    assert load_acc().clinical["patient"].to_list() == patients[0]


def test_languages_are_ten_aligned_blocks_of_unit_rows() -> None:
    pages = load_languages()
    assert tuple(pages) == ("fi", "it", "fr", "es", "pt", "en", "nl", "de", "da", "sv")
    for block in pages.values():
        assert isinstance(block, csr_array)
        assert block.dtype == np.float64
        assert block.has_canonical_format
        np.testing.assert_allclose((block * block).sum(axis=1), 1.0, rtol=1e-12)


def test_language_features_have_the_numbers_the_text_gave() -> None:
    pages = load_languages()
    assert {language: block.nnz for language, block in pages.items()} == {
        "fi": 61824, "it": 61165, "fr": 56294, "es": 54280, "pt": 54677,
        "en": 52082, "nl": 57551, "de": 59548, "da": 53689, "sv": 53804,
    }  # fmt: skip
    assert pages.fi.shape == (947, 9263)
    assert pages.en.shape == (947, 2744)
    assert math.isclose(pages.fi.sum(), 5679.673799, rel_tol=1e-9)
    assert math.isclose((pages.en[[0]] @ pages.en[[1]].T).toarray().item(), 0.2828552911800703)


def test_data_files_are_small() -> None:
    assert sum(file.stat().st_size for file in DATA.iterdir()) < 3_500_000


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(DATA, tmp_path / "data")
    monkeypatch.setattr(_shipped.resources, "files", lambda package: tmp_path)
    return tmp_path / "data"


def half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_text("")


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize(
    ("files", "change", "error", "words"),
    [
        ("*z", half, ValueError, r"z' that ships .* is damaged"),
        ("*z", Path.unlink, FileNotFoundError, r"z' .* is missing"),
        ("SHA256SUMS", Path.unlink, FileNotFoundError, r"SHA256SUMS' .* is missing"),
        ("SHA256SUMS", empty, ValueError, "is damaged"),
    ],
)
def test_a_changed_file_is_refused(load, files, change, error, words, own_data: Path) -> None:
    for file in own_data.glob(files):
        change(file)
    with pytest.raises(error, match=f"data file .*{words}.*install reldep again"):
        load()
