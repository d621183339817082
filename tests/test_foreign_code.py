"""Only promised exceptions leave: what other people's code raises becomes an error in words."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reldep
from reldep.kernels import Gaussian, Laplace

X, Y, Z = np.random.default_rng(0).normal(size=(3, 40))


class Tensor:
    """As a tensor that requires its gradient."""

    def __array__(self, *_, **__):
        raise RuntimeError("use tensor.detach() first")


def failing(error):
    def kernel(A, B):
        raise error

    return kernel


def broken_partitions():
    dask = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"x": X, "y": Y, "z": Z})

    def broken(part):
        raise RuntimeError("lost")

    return dask.from_pandas(frame, npartitions=2).map_partitions(broken, meta=frame.head(0))


def contrast(weight):
    return reldep.contrast({"a": X, "b": Y, "c": Z}, {("a", "b"): weight, ("a", "c"): -1})


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: reldep.compare(X, Y, Z, kernel=failing(RuntimeError("no"))),
            "the kernel function for source failed: no",
        ),
        (lambda: reldep.compare(X, Y, Z, kernel=failing(KeyError(1))), "failed: 1"),
        (lambda: reldep.compare(X, Y, Z, kernel=failing(ZeroDivisionError())), "for source failed"),
        (
            lambda: reldep.compare(Tensor(), Y, Z),
            "detach",
        ),
        (lambda: reldep.compare("x", "y", "z", data=broken_partitions()), "lost"),
        (lambda: contrast(1e308), r"weights has numbers beyond 1e\+100"),
        (lambda: contrast(5e-324), "below 1e-100"),
        (lambda: contrast(10**400), "pass a number"),
        (lambda: contrast("much"), "pass a number"),
        (lambda: reldep.cka(X[:4], Y[:4], engine="blocks"), "too few for blocks"),
    ],
    ids=range(10),
)
def test_errors_of_others_are_told_in_words(ask, message):
    with pytest.raises(reldep.exceptions.InputError, match=message):
        ask()


@pytest.mark.parametrize("precision", [np.float16, np.float32, np.longdouble])
def test_bandwidths_of_any_precision_leak_no_warning(precision):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", reldep.exceptions.ReldepWarning)
        for kernel in (Gaussian, Laplace):
            given = reldep.compare(X, Y, Z, kernel=kernel(precision(2), factor=precision(1.5)))
            plain = reldep.compare(X, Y, Z, kernel=kernel(2, factor=1.5))
            assert given.estimate == pytest.approx(plain.estimate, rel=1e-9)
            assert json.loads(given.to_json())["table"]


def test_every_promise_of_the_security_page_names_a_test_that_is_there():
    root = Path(__file__).parents[1]
    text = (root / "SECURITY.md").read_text("utf-8")
    named = re.findall(r"\]\((tests/[^)]*)\)", text)
    assert len(named) > 15
    assert [path for path in named if not (root / path).is_file()] == []
