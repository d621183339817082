"""The mapping that every loader returns."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import polars as pl
import pytest

from reldep.datasets import Dataset


@pytest.fixture
def pets() -> Dataset:
    blocks = {
        "weight": np.arange(6.0).reshape(3, 2),
        "kind": pl.Series("kind", ["cat", "dog", "cat"]),
    }
    return Dataset("pets", blocks, "Three pets.", "Nobody (2020).")


def test_blocks_are_items_and_attributes_in_their_order(pets: Dataset) -> None:
    assert list(pets) == ["weight", "kind"]
    assert len(pets) == 2
    assert pets.weight is pets["weight"] is dict(pets)["weight"]
    assert pets.n_observations == 3
    assert {"weight", "kind", "description", "reference"} <= set(dir(pets))


def test_a_dataset_prints_its_blocks_and_shapes(pets: Dataset) -> None:
    assert repr(pets) == "Dataset 'pets': 3 observations\n  weight  3 × 2\n  kind    3"


def test_nothing_can_be_swapped(pets: Dataset) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        pets.description = "Other pets."  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        pets.weight = 1
    with pytest.raises(TypeError):
        pets["weight"] = 1  # type: ignore[index]


def test_later_changes_of_the_given_mapping_do_not_reach_it() -> None:
    blocks = {"a": np.zeros(2)}
    dataset = Dataset("d", blocks, "", "")
    blocks["b"] = np.ones(2)
    assert list(dataset) == ["a"]


def test_an_unknown_block_is_refused_with_the_known_ones(pets: Dataset) -> None:
    words = r"no block 'wieght'; its blocks are weight, kind\."
    with pytest.raises(KeyError, match=words):
        pets["wieght"]
    with pytest.raises(AttributeError, match=words):
        _ = pets.wieght


def test_copies_and_pickles_keep_everything(pets: Dataset) -> None:
    for twin in (copy.copy(pets), copy.deepcopy(pets), pickle.loads(pickle.dumps(pets))):  # noqa: S301
        assert list(twin) == list(pets)
        np.testing.assert_array_equal(twin.weight, pets.weight)
        assert (twin.name, twin.description, twin.reference) == (
            pets.name,
            pets.description,
            pets.reference,
        )
