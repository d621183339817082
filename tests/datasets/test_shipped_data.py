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
from reldep.datasets._shipped import LANGUAGES

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


def test_arrays_hold_the_same_values_as_frames() -> None:
    mice, frames = load_nutrimouse(as_frame=False), load_nutrimouse()
    assert mice.diet.dtype.kind == "U"
    assert mice.diet.tolist() == frames.diet.to_list()
    np.testing.assert_array_equal(mice.lipid, frames.lipid.to_numpy())
    tumours, frames = load_acc(as_frame=False), load_acc()
    np.testing.assert_array_equal(tumours.expression, frames.expression.to_numpy())
    assert list(tumours.clinical.dtype.names) == frames.clinical.columns
    clusters = tumours.clinical["C1A.C1B"]
    assert clusters.dtype.kind == "U"
    assert [cluster or None for cluster in clusters.tolist()] == frames.clinical[
        "C1A.C1B"
    ].to_list()
    assert np.isnan(tumours.clinical["purity"]).sum() == frames.clinical["purity"].null_count() == 5


def test_languages_are_ten_aligned_blocks_of_unit_rows() -> None:
    pages = load_languages()
    assert tuple(pages) == LANGUAGES == ("fi", "it", "fr", "es", "pt", "en", "nl", "de", "da", "sv")
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


def test_pages_alike_in_spanish_are_alike_in_portuguese_more_than_in_finnish() -> None:
    pages = load_languages()
    pairs = np.triu_indices(pages.n_observations, 1)
    es, pt, fi = ((block @ block.T).toarray()[pairs] for block in (pages.es, pages.pt, pages.fi))
    assert np.corrcoef(es, pt)[0, 1] > 0.9 > np.corrcoef(es, fi)[0, 1] > 0.5


def test_data_files_are_small() -> None:
    assert sum(file.stat().st_size for file in DATA.iterdir()) < 3_500_000


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(DATA, tmp_path / "data")
    monkeypatch.setattr(_shipped.resources, "files", lambda package: tmp_path)
    return tmp_path / "data"


@pytest.mark.parametrize("load", LOADERS)
def test_a_half_written_file_is_called_damaged(load, own_data: Path) -> None:
    for file in own_data.glob("*z"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(
        ValueError, match=r"data file .*z' that ships .* is damaged.*install reldep again"
    ):
        load()


@pytest.mark.parametrize("load", LOADERS)
def test_a_missing_file_is_called_missing(load, own_data: Path) -> None:
    for file in own_data.glob("*z"):
        file.unlink()
    with pytest.raises(
        FileNotFoundError, match=r"data file .*z' .* is missing; install reldep again"
    ):
        load()


def test_missing_check_sums_are_reported_like_missing_data(own_data: Path) -> None:
    (own_data / "SHA256SUMS").unlink()
    with pytest.raises(FileNotFoundError, match=r"SHA256SUMS' .* is missing; install reldep again"):
        load_nutrimouse()


def test_a_file_without_a_check_sum_is_not_trusted(own_data: Path) -> None:
    (own_data / "SHA256SUMS").write_text("")
    with pytest.raises(ValueError, match="is damaged"):
        load_nutrimouse()
