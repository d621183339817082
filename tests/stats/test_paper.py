"""Algorithm 1 and the linear algebra around it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reldep

weights = arrays(
    float,
    st.integers(1, 8),
    elements=st.floats(-100, 100).map(lambda v: 0.0 if abs(v) < 1e-6 else v),
).filter(np.any)


@given(weights)
def test_the_rotation_is_orthogonal_and_turns_the_weights_onto_the_first_axis(v):
    Q = reldep.rotation(v)
    np.testing.assert_allclose(Q @ Q.T, np.eye(len(v)), atol=1e-12)
    expected = np.zeros(len(v))
    expected[0] = np.linalg.norm(v)
    np.testing.assert_allclose(Q @ v, expected, atol=1e-10 * np.linalg.norm(v))
    assert np.linalg.det(Q) == pytest.approx(1.0 if len(v) > 1 else np.sign(v[0]))


@given(weights, st.integers(0, 2**32 - 1))
def test_the_rotated_test_is_the_plain_contrast(v, seed):
    """First coordinate of QH over [Q Cov Q']_11 equals v·H over v' Cov v."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=len(v))
    root = rng.normal(size=(len(v), len(v) + 2))
    cov = root @ root.T
    Q = reldep.rotation(v)
    rotated = (Q @ H)[0] / np.sqrt((Q @ cov @ Q.T)[0, 0])
    assert rotated == pytest.approx(v @ H / np.sqrt(v @ cov @ v), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("v", [[-1], [0, 0, 2], [-3, 0], [0, -1], [1, 1, -2], [-1, -1, 2]])
def test_negative_zero_and_single_entries(v):
    np.testing.assert_allclose(
        reldep.rotation(v) @ v, np.linalg.norm(v) * np.eye(len(v))[0], atol=1e-12
    )
