"""What "auto" chooses, and what it proposes where it must not choose."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import reldep
from reldep.data.objects import read_variable
from reldep.kernels import Delta, EditDistance, Spectrum, Text
from reldep.kernels.choosing import as_kernel

RNG = np.random.default_rng(6)
WORDS = ("bright", "cold", "rainy", "windy", "April", "June", "morning", "evening")
LONG = [" ".join(RNG.permutation(WORDS)[:3]) + f" of the day number {i:03d}" for i in range(12)]
Y = RNG.normal(size=12)


@pytest.mark.parametrize(
    "strings",
    [
        ["yes", "no"] * 6,
        # Long, but they repeat: names of categories.
        ["I agree with this statement completely", "I do not agree with this at all"] * 6,
    ],
)
def test_repeated_strings_are_labels(strings):
    assert as_kernel("auto", read_variable(strings, "v")) == Delta()


def test_long_strings_that_differ_are_texts_and_text_is_proposed():
    with pytest.raises(
        ValueError,
        match=r"source contains 12 different strings of about 40 characters.*"
        r"Pass `kernel=.text.` for texts, Spectrum\(\) for seq.*Delta\(\)",
    ):
        reldep.compare(LONG, Y, Y**2)


def test_a_text_column_of_a_frame_is_proposed_a_kernel_of_its_own():
    frame = pd.DataFrame({"age": Y, "review": LONG})
    with pytest.raises(ValueError, match=r"review contains .*with Columns: 'review' gets Text\(\)"):
        reldep.hsic(frame, Y)


def test_short_strings_that_all_differ_are_refused_by_delta_with_a_way_out():
    with pytest.raises(ValueError, match=r"HSIC is 0 by construction.*Text\(\) or Spectrum"):
        reldep.hsic([f"id{i}" for i in range(12)], Y)


@pytest.mark.parametrize("kernel", [Text(), Spectrum(), EditDistance(), "text", "edit-distance"])
def test_strings_read_as_labels_serve_every_string_kernel(kernel):
    assert np.isfinite(reldep.hsic(LONG, RNG.normal(size=12), kernel=(kernel, "auto")))


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ([{1}] * 12, TypeError, r"objects of type set, which are neither.*kernels\.Jaccard\(\)"),
        ([{"a": 1}] * 12, TypeError, r"objects of type dict, .*kernels\.MinMax\(\)"),
        ([nx.path_graph(3)] * 12, TypeError, r"type Graph, .*kernels\.WeisfeilerLehman\(\)"),
        (
            np.zeros((12, 4, 5)),
            TypeError,
            r"contains arrays of shape \(4, 5\), .*kernels\.Images\(\)",
        ),
        ([[1.0], [1.0, 2.0]] * 6, ValueError, r"rows of different lengths \(1 to 2\).*TimeSeries"),
        ([("ab", ["ab"])] * 12, TypeError, r"objects of type tuple, .*WeisfeilerLehman\(\) for gr"),
        ([1, "a", {2}] * 4, TypeError, r"objects of type int, set, str, .*Embedding\(function\)"),
    ],
)
def test_objects_are_proposed_a_kernel(data, error, message):
    with pytest.raises(error, match=message):
        reldep.hsic(data, Y)


def test_kernels_for_numbers_say_what_the_objects_are():
    with pytest.raises(TypeError, match=r"which contains rows of different lengths \(1 to"):
        reldep.hsic([[1.0], [1.0, 2.0]] * 6, Y, kernel="gaussian")


def test_missing_texts_can_be_dropped():
    texts = [None, *LONG[1:], *(f"{text} once more" for text in LONG)]
    dropped = reldep.dependence(texts, RNG.normal(size=24), kernel=(Text(), "auto"), missing="drop")
    assert dropped.n_observations == 23
