"""The default answer beside the test that holds its kernels fixed, and what it approximates."""

from __future__ import annotations

import numpy as np
from near_linear import core_seconds

COLUMNS = (1, 2, 3, 10)


def blocks_of(m, columns, seed=0):
    """Draw a source and two targets that depend on it."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, columns))
    return x, x + rng.normal(size=x.shape), x + 1.3 * rng.normal(size=x.shape)


def defaults(quick):
    """Time the default (CKA, jackknife, Laplace at the mean distance) beside fixed kernels."""
    import reldep
    from reldep.kernels import Laplace

    sizes = (2_200, 4_000) if quick else (2_000, 5_000, 20_000)
    rows = []
    for columns in COLUMNS:
        for m in (2_500, *sizes):
            blocks = blocks_of(m, columns)
            whole, answer = _quickest(lambda b=blocks: reldep.compare(*b))
            found = answer.influence.kernels.values()
            kernels = tuple(Laplace(kernel["bandwidth"]) for kernel in found)
            fixed, _ = _quickest(
                lambda b=blocks, k=kernels: reldep.compare(*b, kernel=k, variance="fixed-kernel")
            )
            if m in sizes:
                rows.append([columns, m, answer.influence.engine, whole, fixed, whole / fixed])
    head = ["columns", "rows", "engine", "default (core s)", "fixed kernels (core s)", "ratio"]
    return {
        "table": {"head": head, "rows": rows},
        "largest ratio, 2 to 10 columns": max(row[-1] for row in rows if row[0] > 1),
        "largest ratio, one column": max(row[-1] for row in rows if row[0] == 1),
    }


def _quickest(work, repetitions=2):
    """Give the least core seconds of a few runs, and the answer."""
    found = [core_seconds(work) for _ in range(repetitions)]
    return min(spent for spent, _ in found), found[-1][1]


def followed(quick):
    """Set standard errors that follow the bandwidths in blocks beside those from all pairs."""
    import reldep
    from reldep.engine import influence

    m = 3_000 if quick else 20_000
    rows = []
    for columns in COLUMNS:
        for kernel in ("auto", "gaussian"):
            blocks = blocks_of(m, columns)
            in_blocks = reldep.compare(*blocks, kernel=kernel)
            up_to = influence.FOLLOWED_EXACTLY_UP_TO
            influence.FOLLOWED_EXACTLY_UP_TO = m
            exact = reldep.compare(*blocks, kernel=kernel, engine="tiled")
            influence.FOLLOWED_EXACTLY_UP_TO = up_to
            name = "Laplace, mean" if kernel == "auto" else "Gaussian, median"
            both = [_errors(answer) for answer in (in_blocks, exact)]
            off = np.abs(both[0] / both[1] - 1)
            rows.append([columns, name, float(off[0]), float(off[1:].max())])
    head = ["columns", "kernel", "of the difference", "of an HSIC, at most"]
    worst = max(max(row[2:]) for row in rows)
    return {"m": m, "table": {"head": head, "rows": rows}, "largest relative error": worst}


def _errors(answer):
    """Give the standard error of the difference, and those of all HSICs."""
    found = answer.influence
    psi = found.psi + found.bandwidth_psi
    return np.array([answer.standard_error, *np.sqrt((psi**2).sum(axis=1)) / psi.shape[1]])


DEFAULT_JOBS = {job.__name__: job for job in (defaults, followed)}
