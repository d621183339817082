"""check_kernel finds each fault, and passes what is sound."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import reldep.kernels as rk

ALL = slice(None)

X = np.random.default_rng(4).normal(size=(30, 2))


class FittedWith(rk.FittedKernel):
    """A kernel whose values are whatever the test asks for."""

    def __init__(self, fill, n):
        self.__dict__.update(fill=fill, n=n)

    def __len__(self):
        return self.n

    def __call__(self, rows, cols):
        return self.fill(rows, cols)

    @property
    def label(self):
        return "Faulty()"


class Faulty(rk.Kernel):
    def __init__(self, fill):
        self.fill = fill

    def fitted(self, variable):
        return FittedWith(self.fill, len(variable))


SOUND = rk.Gaussian().fit(X)(ALL, ALL)
ASYMMETRIC = np.triu(SOUND)
HOLED = np.where(np.eye(30) > 0, np.nan, SOUND)


def position(rows, cols):
    """Values that depend on where the block starts."""
    return SOUND[rows, cols] + (rows.start or 0)


def shared(rows, cols):
    """The kernel's own array, handed out."""
    return SHARED[rows, cols]


SHARED = SOUND.copy()


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (lambda r, c: ASYMMETRIC[r, c].copy(), "kernel Faulty\\(\\) fails on data: it is not symm"),
        (lambda r, c: -SOUND[r, c], "not positive semi-definite: the smallest eigenvalue after"),
        (lambda r, c: HOLED[r, c].copy(), "30 of its values are NaN or infinite"),
        (position, "blocks evaluated alone differ from the whole matrix by"),
        (shared, "the array returned must be a new one"),
    ],
)
def test_each_fault_is_found(fill, message):
    with pytest.raises(ValueError, match=message):
        rk.check_kernel(Faulty(fill), X)
    SHARED[...] = SOUND
    report = rk.check_kernel(Faulty(fill), X, raise_on_failure=False)
    SHARED[...] = SOUND
    assert not report.ok
    assert len(report.failures) >= 1


@pytest.mark.parametrize("kernel", [rk.Gaussian(), rk.Distance(), "linear", lambda a, b: a @ b.T])
def test_sound_kernels_pass(kernel):
    report = rk.check_kernel(kernel, X)
    assert report.ok
    assert report.failures == ()
    assert report.n_observations == 30
    assert report.smallest_eigenvalue > -1e-12
    assert report.asymmetry < 1e-12
    assert report.block_error < 1e-12
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.asymmetry = 0.0


def test_large_data_are_sampled_and_the_sample_can_be_chosen():
    x = np.random.default_rng(0).normal(size=1000)
    assert rk.check_kernel("gaussian", x).n_observations == 200
    same = [rk.check_kernel("gaussian", x, n_sample=50) for _ in range(2)]
    assert same[0] == same[1]
    other = rk.check_kernel("gaussian", x, n_sample=50, rng=np.random.default_rng(9))
    assert other.label != same[0].label


def test_matrices_follow_the_sample():
    report = rk.check_kernel(rk.Precomputed(SOUND), X, n_sample=10)
    assert report.n_observations == 10
    with pytest.raises(ValueError, match="fails on data: "):
        rk.check_kernel(rk.Precomputed(-SOUND), X)
