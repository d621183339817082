"""Only promised exceptions leave: what other people's code raises becomes an error in words."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reldep
from reldep.data.variables import Numeric
from reldep.kernels import Gaussian, Laplace
from reldep.kernels.base import FittedKernel, Kernel

X, Y, Z = np.random.default_rng(0).normal(size=(3, 40))


class Tensor:
    """As a tensor that requires its gradient."""

    def __array__(self, *_, **__):
        raise RuntimeError("use tensor.detach() first")


class Lost:
    """As rows on a server that is gone."""

    def __len__(self):
        return 40

    def __getitem__(self, row):
        raise ConnectionError("the server is gone")


def failing(error):
    def kernel(A, B):
        raise error

    return kernel


class Own(Kernel):
    """A kernel of a user, with a mistake in its fit or in its blocks."""

    accepts = (Numeric,)

    def __init__(self, fit, block):
        self.functions = fit, block

    def fitted(self, variable):
        fit, block = self.functions
        return fit(OwnFitted(len(variable), block))


class OwnFitted(FittedKernel):
    label = "own"

    def __init__(self, n, block):
        self.__dict__.update(n=n, block=block)

    def __len__(self):
        return self.n

    def __call__(self, rows, cols):
        return self.block(np.eye(self.n)[rows][:, cols])


def own(fit=lambda fitted: fitted, block=lambda values: values):
    return lambda: reldep.compare(X, Y, Z, kernel=Own(fit, block))


def broken_partitions():
    dask = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"x": X, "y": Y, "z": Z})

    def broken(part):
        raise RuntimeError("lost")

    return dask.from_pandas(frame, npartitions=2).map_partitions(broken, meta=frame.head(0))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: reldep.compare(X, Y, Z, kernel=failing(RuntimeError("no"))),
            "the kernel function for source failed: no",
        ),
        (lambda: reldep.compare(X, Y, Z, kernel=failing(KeyError(1))), "failed: 1"),
        (lambda: reldep.compare(X, Y, Z, kernel=failing(ZeroDivisionError())), "for source failed"),
        (own(fit=lambda _: {}[0]), "kernel Own failed: 0"),
        (own(fit=lambda _: None), r"Own\.fitted must return a FittedKernel"),
        (own(block=lambda _: 1 / 0), "kernel OwnFitted failed: division by zero"),
        (own(block=lambda values: values[1:]), r"must return an array of shape \(rows, cols\)"),
        (lambda: reldep.compare(Tensor(), Y, Z), "detach"),
        (lambda: reldep.compare(X, Lost(), Z), "first of type Lost cannot be read: the server"),
        (lambda: reldep.compare("x", "y", "z", data=broken_partitions()), "lost"),
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


def test_reports_run_no_latex_whatever_the_settings_in_the_current_folder(tmp_path):
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nbackend: module://hacked\n")
    code = """
import subprocess, numpy, reldep
subprocess.Popen = None
values = numpy.random.default_rng(0).normal(size=(3, 30))
reldep.compare(*values).to_html("a.html")
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(reldep.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    assert "data:image/svg+xml" in (tmp_path / "a.html").read_text()


def test_every_promise_of_the_security_page_names_a_test_that_is_there():
    root = Path(__file__).parents[1]
    text = (root / "SECURITY.md").read_text("utf-8")
    named = re.findall(r"\]\((tests/[^)]*)\)", text)
    assert len(named) > 15
    assert [path for path in named if not (root / path).is_file()] == []
