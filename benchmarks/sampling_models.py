"""Laws from which the calibration draws: a source and two targets, mostly exchangeable ones.

Where the two targets are exchangeable given the source, the difference of their dependences is
0 whatever the kernel and the measure: a null on which a test should reject at its level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

Sample = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Model:
    """A law with a name and a line for the table."""

    name: str
    description: str
    draw: Callable[[np.random.Generator, int], Sample]


def linear(noise: float) -> Callable[[np.random.Generator, int], Sample]:
    def draw(rng: np.random.Generator, m: int) -> Sample:
        x = rng.normal(size=m)
        return x, x + noise * rng.normal(size=m), x + noise * rng.normal(size=m)

    return draw


def spirals(noise: float) -> Callable[[np.random.Generator, int], Sample]:
    """Draw the paper's synthetic data: γ1 = γ2 = 0.3 and γ3 = `noise`."""

    def draw(rng: np.random.Generator, m: int) -> Sample:
        t = rng.uniform(0, 2 * np.pi, size=m)
        around = np.c_[t * np.cos(t), t * np.sin(t)]
        source = np.c_[t, np.sin(t)] + 0.3 * rng.normal(size=(m, 2))
        first = around + 0.3 * rng.normal(size=(m, 2))
        return source, first, around + noise * rng.normal(size=(m, 2))

    return draw


def independent(rng: np.random.Generator, m: int) -> Sample:
    x, y, z = rng.normal(size=(3, m))
    return x, y, z


def circle(rng: np.random.Generator, m: int) -> Sample:
    t = rng.uniform(0, 2 * np.pi, size=m)
    x, y, z = np.array([np.cos(t), np.sin(t), np.sin(t)]) + 0.3 * rng.normal(size=(3, m))
    return x, y, z


def ten_dimensional(rng: np.random.Generator, m: int) -> Sample:
    x, first, second = rng.normal(size=(3, m, 10))
    return x, x + 2 * first, x + 2 * second


def heavy_tailed(rng: np.random.Generator, m: int) -> Sample:
    x, first, second = rng.standard_t(2, size=(3, m))
    return x, x + first, x + second


def categorical(rng: np.random.Generator, m: int) -> Sample:
    group = rng.integers(0, 4, size=m)
    return np.array(list("abcd"))[group], group + rng.normal(size=m), group + rng.normal(size=m)


def clustered(rng: np.random.Generator, m: int) -> Sample:
    """Draw clusters of five rows that are nearly copies of each other."""
    x, first, second = np.repeat(rng.normal(size=(3, m // 5)), 5, axis=1)
    jitter = 0.1 * rng.normal(size=(3, m))
    return x + jitter[0], x + first + jitter[1], x + second + jitter[2]


def autoregressive(rng: np.random.Generator, m: int) -> Sample:
    """Draw source and noise that are each an AR(0.8) in time."""
    from scipy.signal import lfilter

    x, first, second = lfilter([1.0], [1.0, -0.8], rng.normal(size=(3, m + 100)))[:, 100:]
    return x, x + 0.5 * first, x + 0.5 * second


MODELS = {
    model.name: model
    for model in (
        Model("independent", "three independent normals", independent),
        Model("weak", "y = x + 3ε, normal", linear(3.0)),
        Model("linear", "y = x + ε, normal", linear(1.0)),
        Model("strong", "y = x + 0.3ε, normal", linear(0.3)),
        Model("spiral", "the paper's synthetic data, γ = 0.3 for all", spirals(0.3)),
        Model("circle", "x = cos t, y = sin t, each with noise 0.3", circle),
        Model("ten-dimensional", "y = x + 2ε in ten columns", ten_dimensional),
        Model("heavy-tailed", "y = x + ε, all Student t with 2 degrees", heavy_tailed),
        Model("categorical", "x one of 4 categories, y = its number + ε", categorical),
        Model("spiral, γ3 = 0.6", "the paper's synthetic alternative", spirals(0.6)),
        Model("clusters of 5", "40 clusters of 5 near copies", clustered),
        Model("AR(0.8)", "source and noises autoregressive in time", autoregressive),
    )
}

SMALL_SAMPLE_NULLS = ("independent", "weak", "linear", "strong", "spiral")
EIGHT_NULLS = (*SMALL_SAMPLE_NULLS, "circle", "ten-dimensional", "heavy-tailed")
BANDWIDTH_NULLS = ("linear", "spiral", "heavy-tailed", "categorical")
ALTERNATIVE = "spiral, γ3 = 0.6"
