"""Digits at size: ``python benchmarks/accuracy.py [--rows 100000]``, a minute or two.

HSIC of linear kernels on whole numbers is known exactly from sums of whole numbers. The tiled
engine, which adds up the kernel matrices and knows nothing of this, is set beside it; then
single precision beside double on the paper's synthetic data.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

import numpy as np

from reldep.data.objects import read_variable
from reldep.datasets import make_spirals
from reldep.engine import Tiled, Wanted
from reldep.engine.terms import conditional_means, hsic
from reldep.kernels import Gaussian, Linear

PAIR = ("x", "y")


def exact_linear_hsic(x, y):
    """Give HSIC of linear kernels on whole numbers in exact arithmetic (features, no kernels)."""
    m = len(x)
    norms_x, norms_y = (x * x).sum(axis=1), (y * y).sum(axis=1)
    k, l = x @ x.sum(axis=0) - norms_x, y @ y.sum(axis=0) - norms_y  # noqa: E741
    trace = int(((x.T @ y) ** 2).sum()) - int(norms_x @ norms_y)
    total = trace + Fraction(int(k.sum()) * int(l.sum()), (m - 1) * (m - 2))
    return float((total - Fraction(2 * int(k @ l), m - 2)) / (m * (m - 3)))


def linear_error(m):
    """Give the relative errors of HSIC, by both formulas, against exact arithmetic."""
    rng = np.random.default_rng(0)
    x = rng.integers(-9, 10, size=(m, 2))
    y = x + rng.integers(-90, 91, size=(m, 2))
    kernels = {name: Linear().fit(read_variable(v, name)) for name, v in (("x", x), ("y", y))}
    terms = Tiled().terms(kernels, Wanted((PAIR,)))
    exact = exact_linear_hsic(x, y)
    found = hsic(terms, PAIR), float(conditional_means(terms, PAIR).mean())
    return [abs(value / exact - 1) for value in found]


def single_error(m):
    """Give the largest error of a conditional mean, and that of HSIC, in single precision."""
    data = make_spirals(m, rng=0)
    blocks = (("x", data["source"]), ("y", data["first"]))
    kernels = {name: Gaussian(bandwidth=2.0).fit(read_variable(v, name)) for name, v in blocks}
    double, single = (
        conditional_means(Tiled(precision=p).terms(kernels, Wanted((PAIR,))), PAIR)
        for p in ("double", "single")
    )
    worst = np.abs(single - double).max() / np.abs(double).max()
    return float(worst), abs(float(single.mean() / double.mean()) - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 100_000])
    for m in parser.parse_args().rows:
        start = time.perf_counter()
        by_sums, by_means = linear_error(m)
        print(f"{m:,} rows, linear kernels against exact arithmetic:")
        print(f"  relative error of HSIC {by_sums:.1e}, of the mean of A {by_means:.1e}")
        worst, mean = single_error(m)
        print(f"{m:,} rows, Gaussian kernels, single against double precision:")
        print(f"  largest error in A {worst:.1e} of its largest entry, of HSIC {mean:.1e}")
        print(f"  ({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
