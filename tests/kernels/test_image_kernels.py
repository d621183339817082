"""Images and Embedding: the reduction by hand, batches, and every refusal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from reldep.kernels import Embedding, Gaussian, Images, Linear

ALL = slice(None)

RNG = np.random.default_rng(5)
PICTURES = RNG.integers(0, 256, (6, 5, 8, 3), dtype=np.uint8)


def test_blocks_are_averaged_channel_by_channel():
    reduced = Images(max_side=3).reduce(PICTURES)
    # 5 × 8 pixels in blocks of 3: 2 × 3, the last ones smaller.
    assert reduced.shape == (6, 2, 3, 3)
    assert reduced[1, 0, 0, 2] == pytest.approx(PICTURES[1, :3, :3, 2].mean())
    assert reduced[4, 1, 2, 0] == pytest.approx(PICTURES[4, 3:, 6:, 0].mean())


@pytest.mark.parametrize("side", [8, 32, None])
def test_small_pictures_keep_their_pixels(side):
    np.testing.assert_allclose(
        Images(side)(PICTURES), Gaussian()(PICTURES.reshape(6, -1).astype(float))
    )


def test_grey_pictures_lists_and_booleans_are_pictures_too():
    grey = PICTURES[..., 0]
    expected = Images(4)(grey)
    np.testing.assert_array_equal(Images(4)(list(grey)), expected)
    np.testing.assert_array_equal(Images(4)(grey.tolist()), expected)
    assert Images()(grey > 100).shape == (6, 6)
    assert Images(4, kernel=Linear())(grey).shape == (6, 6)


@pytest.mark.parametrize(
    ("data", "function"),
    [
        (PICTURES, lambda a: a.reshape(len(a), -1)[:, :7]),
        ([{1, 2}, {3}, set(), {4, 5, 6}, {1}], lambda batch: [[len(s), sum(s)] for s in batch]),
        (["one", "three", "five", "seven", "one"], lambda batch: [len(word) for word in batch]),
        (np.arange(10.0).reshape(5, 2), np.square),
        (sp.csr_array(np.eye(5)), lambda rows: rows.toarray()),
    ],
)
def test_embeddings_are_made_in_batches(data, function):
    sizes = []

    def counted(batch):
        sizes.append(batch.shape[0] if hasattr(batch, "shape") else len(batch))
        return function(batch)

    values = Embedding(counted, batch_size=2).fit(data)(ALL, ALL)
    assert sizes[:2] == [2, 2]
    assert sum(sizes) == len(values)
    vectors = np.asarray(function(data if hasattr(data, "shape") else list(data)), dtype=float)
    np.testing.assert_allclose(values, Gaussian()(vectors.reshape(len(values), -1)))


def test_the_label_names_the_embedding():
    def network(batch):
        return [[len(word)] for word in batch]

    fitted = Embedding(network, kernel=Linear()).fit(["a", "bc", "def"])
    assert fitted.label == "Embedding(network): Linear()"
    other = Embedding(network, kernel="delta").fit(["a", "bc", "de"])
    assert other.label == "Embedding(network): Delta(2 categories)"


def test_channels_may_come_first_or_last():
    last = np.random.default_rng(0).normal(size=(6, 8, 10, 3))
    first = np.moveaxis(last, 3, 1)
    fitted = {name: Images(4).fit(x) for name, x in (("C", first), ("", last))}
    np.testing.assert_allclose(fitted["C"](ALL, ALL), fitted[""](ALL, ALL))
    assert fitted["C"].label.startswith("Images(max_side=4), NCHW: ")
    assert fitted[""].label.startswith("Images(max_side=4), NHWC: ")


def test_a_layout_decides_for_pictures_that_could_be_either():
    pictures = np.random.default_rng(1).normal(size=(5, 3, 9, 4))
    stated = Images(None, "linear", layout="NCHW")(pictures)
    np.testing.assert_allclose(stated, Images(None, "linear")(np.moveaxis(pictures, 1, 3)[..., :3]))
