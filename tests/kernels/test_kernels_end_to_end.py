"""Where the truth is known, `compare` finds it: one case for each kind of data.

In each case the source truly depends on the first target and not, or much less, on the
second; a kernel blind to the right feature would not see it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reldep
import reldep.kernels as rk

pytestmark = pytest.mark.filterwarnings("ignore::reldep.exceptions.ReldepWarning")


def fine(rng):
    x = rng.uniform(0, 1, 150)
    return x, np.sin(8 * np.pi * x) + 0.3 * rng.normal(size=150)


def small_next_to_large(rng):
    table = rng.normal(size=(200, 2)) * (1e4, 1.0)
    return table, table[:, 1] + 0.5 * rng.normal(size=200)


def stages(rng):
    x = rng.normal(size=300)
    return pd.cut(x + rng.normal(size=300), 5, labels=list("VWXYZ")).astype(str), x


def useless_label(rng):
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "label": rng.choice(["a", "b"], 200)})
    return frame, x + 0.3 * rng.normal(size=200)


@pytest.mark.parametrize(
    ("draw", "kernel", "other", "times"),
    [
        (fine, "gaussians", "gaussian", 2.0),
        (small_next_to_large, "standardized", "auto", 5.0),
        (stages, rk.Ordered(list("VWXYZ")), "delta", 1.3),
        (useless_label, "auto", rk.Gaussian() * rk.Delta(), 1.2),
    ],
)
def test_what_one_kernel_shows_another_hides(draw, kernel, other, times):
    x, y = draw(np.random.default_rng(3))
    shown, hidden = (reldep.cka(x, y, kernel=(one, "auto")) for one in (kernel, other))
    assert shown > times * hidden


def test_bags_show_a_dependence_on_the_spread():
    rng = np.random.default_rng(1)
    spread = rng.uniform(0.5, 2.0, 60)
    cells = [rng.normal(0, s, (30, 1)) for s in spread]
    assert reldep.cka(cells, spread, kernel=(rk.Bags(), "gaussian")) > 0.4
    assert reldep.cka([cell.mean() for cell in cells], spread) < 0.2


def test_what_only_censoring_depends_on_is_not_seen():
    """400 other draws: raw time wrong in 37 of 100, survival wrong in none and right in 51."""
    wrong, right, raw_wrong = 0, 0, 0
    rng = np.random.default_rng(5)
    for _ in range(40):
        risk, other = rng.normal(size=(2, 100))
        lifetime, left = rng.exponential(np.exp(-0.7 * risk)), rng.exponential(np.exp(-1.5 * other))
        time, event = np.minimum(lifetime, left), lifetime <= left
        raw, ours = (reldep.compare(t, risk, other) for t in (time, reldep.Survival(time, event)))
        raw_wrong += raw.pvalue < 0.05 and raw.statistic < 0
        wrong += ours.pvalue < 0.05 and ours.statistic < 0
        right += ours.pvalue < 0.05 and ours.statistic > 0
    # With 40 samples, 1 or fewer wrong answers at a level of 2.5% per side.
    assert wrong <= 1
    assert raw_wrong >= 6
    assert right >= 10
