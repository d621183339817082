"""Datasets: the mapping, the real data that ship, and data that are generated."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
import shutil
from importlib import resources
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from reldep.datasets import (
    Dataset,
    _shipped,
    load_acc,
    load_languages,
    load_nutrimouse,
    make_spirals,
    make_two_stimuli,
)

DATA = Path(str(resources.files("reldep.datasets"))) / "data"
LOADERS = [load_nutrimouse, load_acc, load_languages]


@pytest.fixture
def pets():
    weight, kind = np.arange(6.0).reshape(3, 2), pl.Series("kind", ["cat", "dog", "cat"])
    return Dataset("pets", {"weight": weight, "kind": kind}, "Three pets.", "Nobody (2020).")


def test_blocks_are_items_and_attributes_in_their_order(pets):
    assert repr(pets) == "Dataset 'pets': 3 observations\n  weight  3 × 2\n  kind    3"
    assert pets.weight is pets["weight"] is dict(pets)["weight"]
    assert {"weight", "kind", "description", "reference"} <= set(dir(pets))
    for twin in (pets, copy.copy(pets), copy.deepcopy(pets), pickle.loads(pickle.dumps(pets))):  # noqa: S301
        assert list(twin) == ["weight", "kind"]
        assert (len(twin), twin.n_observations, twin.reference) == (2, 3, "Nobody (2020).")
        np.testing.assert_array_equal(twin.weight, pets.weight)


def test_a_dataset_is_frozen_and_names_its_blocks(pets):
    with pytest.raises(dataclasses.FrozenInstanceError):
        pets.description = "Other pets."
    words = r"no block 'wieght'; its blocks are weight, kind\."
    with pytest.raises(KeyError, match=words):
        pets["wieght"]
    with pytest.raises(AttributeError, match=words):
        _ = pets.wieght


# ---------------------------------------------------------------------------- data that ship


@pytest.mark.parametrize("load", LOADERS)
def test_every_dataset_states_what_it_is_and_whom_to_cite(load):
    dataset = load()
    assert len(dataset.description) > 200
    assert dataset.reference
    assert len({block.shape[0] for block in dataset.values()}) == 1


def test_nutrimouse_has_the_published_design_and_numbers():
    mice = load_nutrimouse()
    assert [block.shape for block in mice.values()] == [(40,), (40,), (40, 21), (40, 120)]
    design = pl.DataFrame([mice.diet, mice.genotype]).group_by("diet", "genotype").len()
    assert design["len"].to_list() == [4] * 10
    # Percentages of fatty acids: each mouse sums to 100. Sums taken from the source tables.
    np.testing.assert_allclose(mice.lipid.sum_horizontal(), 100.0, atol=0.2)
    assert math.isclose(mice.lipid.to_numpy().sum(), 3999.98, rel_tol=1e-12)
    assert math.isclose(mice.gene.to_numpy().sum(), -3851.52, rel_tol=1e-12)
    assert (mice.lipid["C14.0"][0], mice.gene["X36b4"][0]) == (0.34, -0.42)


def test_acc_has_the_same_77_patients_in_all_blocks():
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
    patients = tumours.clinical["patient"].to_list()
    assert len(set(patients)) == 77
    for name in ("expression", "copy_number"):
        assert _shipped._table(f"acc_{name}.csv.gz")["patient"].to_list() == patients


def test_languages_are_ten_aligned_blocks_of_unit_rows_with_the_numbers_the_text_gave():
    pages = load_languages()
    assert {language: block.nnz for language, block in pages.items()} == {
        "fi": 61824, "it": 61165, "fr": 56294, "es": 54280, "pt": 54677,
        "en": 52082, "nl": 57551, "de": 59548, "da": 53689, "sv": 53804,
    }  # fmt: skip
    for block in pages.values():
        assert isinstance(block, csr_array)
        assert block.has_canonical_format
        np.testing.assert_allclose((block * block).sum(axis=1), 1.0, rtol=1e-12)
    assert (pages.fi.shape, pages.en.shape) == ((947, 9263), (947, 2744))
    assert math.isclose(pages.fi.sum(), 5679.673799, rel_tol=1e-9)
    assert math.isclose((pages.en[[0]] @ pages.en[[1]].T).toarray().item(), 0.2828552911800703)


def test_data_files_are_small():
    assert sum(file.stat().st_size for file in DATA.iterdir()) < 3_500_000


def half(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize("load", LOADERS)
@pytest.mark.parametrize(
    ("files", "change", "error", "words"),
    [
        ("*z", half, ValueError, r"z' that ships .* is damaged"),
        ("*z", Path.unlink, FileNotFoundError, r"z' .* is missing"),
        ("SHA256SUMS", Path.unlink, FileNotFoundError, r"SHA256SUMS' .* is missing"),
        ("SHA256SUMS", lambda file: file.write_text(""), ValueError, "is damaged"),
    ],
)
def test_a_changed_file_is_refused(load, files, change, error, words, tmp_path, monkeypatch):
    shutil.copytree(DATA, tmp_path / "data")
    monkeypatch.setattr(_shipped.resources, "files", lambda package: tmp_path)
    for file in (tmp_path / "data").glob(files):
        change(file)
    with pytest.raises(error, match=f"data file .*{words}.*install reldep again"):
        load()


# ------------------------------------------------------------------------------ generated data


@pytest.mark.parametrize("make", [make_spirals, make_two_stimuli])
def test_the_same_seed_gives_the_same_bytes(make):
    first, again = make(50, rng=3), make(50, rng=np.random.default_rng(3))
    assert all(first[name].tobytes() == again[name].tobytes() for name in first)
    for other in (make(50, rng=4), make(50)):
        assert not any(np.array_equal(first[name], other[name]) for name in first)


def test_seeded_values_do_not_change_between_versions():
    spirals = make_spirals(4, rng=7)
    np.testing.assert_allclose(spirals.source[0], [3.79118942, -1.00502477], rtol=1e-8)
    stimuli = make_two_stimuli(3, rng=7)
    np.testing.assert_allclose(stimuli.response, [-0.82921808, 0.04719953, -1.01703493], rtol=1e-6)


def test_spirals_lie_on_their_curves_with_noise_of_their_own():
    n = 20_000
    clean, spirals = make_spirals(n, 0, 0, 0, rng=2), make_spirals(n, 0.5, 0.3, 0.6, rng=2)
    t = clean.source[:, 0]
    assert 0.0 < t.min() < t.max() < 2 * np.pi
    np.testing.assert_allclose(clean.source[:, 1], np.sin(t))
    for name in ("first", "second"):
        np.testing.assert_allclose(clean[name], np.column_stack([t * np.cos(t), t * np.sin(t)]))
    noise = np.hstack([spirals[name] - clean[name] for name in spirals])
    # Four standard errors of a standard deviation, and of a correlation, from n draws.
    expected = np.repeat([0.5, 0.3, 0.6], 2)
    np.testing.assert_allclose(noise.std(axis=0), expected, rtol=4 / np.sqrt(2 * n))
    correlations = np.corrcoef(noise.T)[np.triu_indices(6, 1)]
    np.testing.assert_allclose(correlations, 0.0, atol=4 / np.sqrt(n))


def test_the_response_is_the_weighted_sum_of_the_streams():
    stimuli = make_two_stimuli(100, 2.0, -0.5, noise=0, rng=1)
    np.testing.assert_allclose(stimuli.response, 2.0 * stimuli.visual - 0.5 * stimuli.audio)


@pytest.mark.parametrize("autocorrelation", [-0.5, 0.0, 0.8])
def test_streams_have_variance_one_and_the_asked_autocorrelation(autocorrelation):
    n = 40_000
    stimuli = make_two_stimuli(n, autocorrelation=autocorrelation, rng=2)
    error = stimuli.response - stimuli.visual - stimuli.audio
    # The standard error of a mean of squares grows by this factor under autocorrelation.
    grown = np.sqrt((1 + autocorrelation**2) / (1 - autocorrelation**2))
    for stream in (stimuli.visual, stimuli.audio, error):
        assert stream.var() == pytest.approx(1.0, abs=4 * grown * np.sqrt(2 / n))
        lagged = np.corrcoef(stream[1:], stream[:-1])[0, 1]
        assert lagged == pytest.approx(autocorrelation, abs=4 / np.sqrt(n))


def test_streams_are_in_balance_from_their_first_point_on():
    generator = np.random.default_rng(3)
    starts = np.array([make_two_stimuli(2, rng=generator).visual for _ in range(4000)])
    np.testing.assert_allclose(starts.var(axis=0), 1.0, atol=4 * np.sqrt(2 / 4000))
    assert np.corrcoef(starts.T)[0, 1] == pytest.approx(0.8, abs=4 * 0.36 / np.sqrt(4000))


@pytest.mark.parametrize(
    ("weights", "truth"),
    [((-1, 1), "equally on both"), ((2, 1), "more on visual"), ((1, -3), "more on audio")],
)
def test_the_description_states_the_truth(weights, truth):
    assert truth in make_two_stimuli(5, *weights, rng=1).description
