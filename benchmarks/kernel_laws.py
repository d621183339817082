"""Laws on which kernels compete: a source, and a target that is the source's image plus noise.

Two targets of one source are drawn with different noise, so that one depends more on the source
than the other; with equal noise they are exchangeable. Arrays have the shape (samples, rows,
columns).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Generator = np.random.Generator
Draw = Callable[[Generator, int, int], Array]
Image = Callable[[Generator, Array, float], Array]


@dataclass(frozen=True)
class Law:
    """A law with a line for the table.

    Attributes
    ----------
    source : callable
        ``source(rng, B, m)``. It may carry hidden columns that `seen` takes off.
    target : callable
        ``target(rng, source, noise)``.
    noise : float
        Of the more dependent target.
    seen : callable
        What of the source the test sees.
    """

    name: str
    description: str
    source: Draw
    target: Image
    noise: float
    seen: Callable[[Array], Array] = lambda source: source

    def draw(
        self, rng: Generator, B: int, m: int, first: float, second: float
    ) -> tuple[Array, Array, Array]:
        source = self.source(rng, B, m)
        y, z = (self.target(rng, source, noise) for noise in (first, second))
        return self.seen(source), y, z


def normal(columns: int = 1) -> Draw:
    return lambda rng, B, m: rng.normal(size=(B, m, columns))


def uniform(low: float, high: float) -> Draw:
    return lambda rng, B, m: rng.uniform(low, high, size=(B, m, 1))


def plus_noise(image: Callable[[Array], Array]) -> Image:
    def target(rng: Generator, x: Array, noise: float) -> Array:
        value = image(x)
        return value + noise * rng.normal(size=value.shape)

    return target


def heteroscedastic(rng: Generator, x: Array, noise: float) -> Array:
    return x * rng.normal(size=x.shape) + noise * rng.normal(size=x.shape)


def cross(rng: Generator, x: Array, noise: float) -> Array:
    return x * rng.choice([-1.0, 1.0], size=x.shape) + noise * rng.normal(size=x.shape)


def checkerboard(rng: Generator, x: Array, noise: float) -> Array:
    parity = np.floor(x) % 2
    cell = 2 * rng.integers(0, 2, size=x.shape) + parity
    return cell + rng.uniform(size=x.shape) + noise * rng.normal(size=x.shape)


def one_of_five(rng: Generator, x: Array, noise: float) -> Array:
    y = rng.normal(size=x.shape)
    y[:, :, 0] = (x[:, :, 0] + noise * y[:, :, 0]) / np.sqrt(1 + noise**2)
    return y


def four_of_twenty(rng: Generator, x: Array, noise: float) -> Array:
    y = rng.normal(size=x.shape)
    y[:, :, :4] = (x[:, :, :4] + noise * y[:, :, :4]) / np.sqrt(1 + noise**2)
    return y


def heavy(rng: Generator, x: Array, noise: float) -> Array:
    return x + noise * rng.standard_t(2, size=x.shape)


def outliers(rng: Generator, x: Array, noise: float) -> Array:
    y = x + noise * rng.normal(size=x.shape)
    return y + 10.0 * rng.normal(size=x.shape) * (rng.uniform(size=x.shape) < 0.02)


def mixture(rng: Generator, x: Array, noise: float) -> Array:
    return x + noise * (0.5 + np.abs(x) / 2) * rng.normal(size=x.shape)


def lognormal(rng: Generator, x: Array, noise: float) -> Array:
    return x * np.exp(noise * rng.normal(size=x.shape))


def levels(rng: Generator, x: Array, noise: float) -> Array:
    return likert((x + noise * rng.normal(size=x.shape)) / np.sqrt(1 + noise**2))


def likert(latent: Array) -> Array:
    return np.digitize(latent, [-1.2, -0.4, 0.4, 1.2]).astype(float)


def binary(rng: Generator, x: Array, noise: float) -> Array:
    return (x + noise * rng.normal(size=x.shape) > 0).astype(float)


def counts(rng: Generator, x: Array, noise: float) -> Array:
    return x + rng.poisson(noise, size=x.shape)


CENTRES = np.array([[0, 0], [3, 1], [-2, 3], [1, -3], [-3, -2.0]])


def labels(rng: Generator, x: Array, noise: float) -> Array:
    """Place five clusters anew, in an order that has nothing to do with the first one."""
    nearest = ((x[:, :, None, :] - CENTRES) ** 2).sum(axis=3).argmin(axis=2)
    return CENTRES[[2, 0, 4, 1, 3]][nearest] + noise * rng.normal(size=x.shape)


def clusters(rng: Generator, B: int, m: int) -> Array:
    return CENTRES[rng.integers(0, 5, size=(B, m))] + 0.5 * rng.normal(size=(B, m, 2))


def angle_and_noise(rng: Generator, B: int, m: int) -> Array:
    return np.dstack([rng.uniform(0, 2 * np.pi, size=(B, m)), *rng.normal(size=(2, B, m))])


def spiral_source(source: Array) -> Array:
    t = source[:, :, 0]
    return np.dstack([t, np.sin(t)]) + 0.3 * source[:, :, 1:]


def spiral(source: Array) -> Array:
    t = source[:, :, 0]
    return np.dstack([t * np.cos(t), t * np.sin(t)])


def product(x: Array) -> Array:
    return x[:, :, :1] * x[:, :, 1:2]


def three_images(x: Array) -> Array:
    return np.concatenate([x, x**2 - 1, np.sin(3 * x)], axis=2)


LAWS = {
    law.name: law
    for law in (
        Law("linear", "x + ε, normal", normal(), plus_noise(lambda x: x), 0.9),
        Law("strong linear", "x + ε, little noise", normal(), plus_noise(lambda x: x), 0.25),
        Law("uniform", "x + ε, x uniform", uniform(-1.7, 1.7), plus_noise(lambda x: x), 0.7),
        Law("monotone", "eˣ + ε", normal(), plus_noise(np.exp), 0.5),
        Law("saturating", "tanh 2x + ε", normal(), plus_noise(lambda x: np.tanh(2 * x)), 0.5),
        Law("step", "sign x + ε", normal(), plus_noise(np.sign), 0.5),
        Law("quadratic", "x² + ε", normal(), plus_noise(np.square), 0.5),
        Law(
            "W-shaped",
            "4(x² - ½)² + ε, x uniform",
            uniform(-1, 1),
            plus_noise(lambda x: 4 * (x**2 - 0.5) ** 2),
            0.1,
        ),
        Law(
            "sine, 1 period",
            "sin 2πx + ε",
            uniform(0, 1),
            plus_noise(lambda x: np.sin(2 * np.pi * x)),
            0.4,
        ),
        Law(
            "sine, 2 periods",
            "sin 4πx + ε",
            uniform(0, 1),
            plus_noise(lambda x: np.sin(4 * np.pi * x)),
            0.3,
        ),
        Law(
            "sine, 4 periods",
            "sin 8πx + ε",
            uniform(0, 1),
            plus_noise(lambda x: np.sin(8 * np.pi * x)),
            0.1,
        ),
        Law(
            "circle",
            "x = cos t, y = sin t + ε",
            angle_and_noise,
            plus_noise(lambda s: np.sin(s[:, :, :1])),
            0.1,
            lambda s: np.cos(s[:, :, :1]),
        ),
        Law("cross", "±x + ε", normal(), cross, 0.2),
        Law("checkerboard", "cells of one colour, 4 × 4", uniform(0, 4), checkerboard, 0.01),
        Law("heteroscedastic", "xε + ε'", normal(), heteroscedastic, 0.2),
        Law(
            "spiral",
            "the paper's synthetic data",
            angle_and_noise,
            plus_noise(spiral),
            0.3,
            spiral_source,
        ),
        Law(
            "two modes",
            "x in two clumps, noise grows with |x|",
            lambda rng, B, m: (
                rng.choice([-2.0, 2.0], size=(B, m, 1)) + 0.6 * rng.normal(size=(B, m, 1))
            ),
            mixture,
            0.6,
        ),
        Law("five clusters", "clusters in the plane, placed anew", clusters, labels, 0.7),
        Law("1 of 5 columns", "the others are noise", normal(5), one_of_five, 0.3),
        Law("4 of 20 columns", "the others are noise", normal(20), four_of_twenty, 0.3),
        Law("ten columns", "x + ε in each", normal(10), plus_noise(lambda x: x), 1.5),
        Law("product", "x₁x₂ + ε", normal(2), plus_noise(product), 0.2),
        Law(
            "curve in 3 columns", "(x, x² - 1, sin 3x) + ε", normal(), plus_noise(three_images), 0.8
        ),
        Law(
            "t₂ tails",
            "x + ε, Student with 2 degrees",
            lambda rng, B, m: rng.standard_t(2, size=(B, m, 1)),
            heavy,
            0.6,
        ),
        Law("outliers", "x + ε, 2% gross errors", normal(), outliers, 0.6),
        Law(
            "log-normal",
            "x eᵋ, x log-normal",
            lambda rng, B, m: np.exp(rng.normal(size=(B, m, 1))),
            lognormal,
            0.5,
        ),
        Law(
            "zero-inflated",
            "max(x + ε, 0)",
            normal(),
            lambda rng, x, noise: np.maximum(x + noise * rng.normal(size=x.shape), 0.0),
            0.6,
        ),
        Law(
            "counts",
            "x + Poisson, x Poisson",
            lambda rng, B, m: rng.poisson(2.0, size=(B, m, 1)).astype(float),
            counts,
            0.8,
        ),
        Law("five levels", "a cut x + ε; x cut too", normal(), levels, 0.5, likert),
        Law("yes or no", "x + ε > 0", normal(), binary, 0.4),
    )
}


# Laws that had no part in the choice of the default kernel: written down after it was made.


def two_slopes(rng: Generator, x: Array, noise: float) -> Array:
    slope = rng.choice([0.3, 2.0], size=x.shape)
    return slope * x + noise * rng.normal(size=x.shape)


def laplace_noise(rng: Generator, x: Array, noise: float) -> Array:
    return x + noise * rng.laplace(size=x.shape)


def trials(rng: Generator, x: Array, noise: float) -> Array:
    chance = 1.0 / (1.0 + np.exp(-(2.0 * x + noise * rng.normal(size=x.shape))))
    return rng.binomial(12, chance).astype(float)


def rounded(rng: Generator, x: Array, noise: float) -> Array:
    return np.round(2.0 * (x + noise * rng.normal(size=x.shape))) / 2.0


def arrivals(rng: Generator, x: Array, noise: float) -> Array:
    return rng.exponential(np.exp(x)) + noise * rng.exponential(size=x.shape)


def ring_radius(x: Array) -> Array:
    return np.sqrt((x**2).sum(axis=2, keepdims=True))


def maximum_of_three(x: Array) -> Array:
    return x.max(axis=2, keepdims=True)


HOLD_OUT = {
    law.name: law
    for law in (
        Law("absolute value", "|x| + ε", normal(), plus_noise(np.abs), 0.2),
        Law("cubic", "x³ - 2x + ε", normal(), plus_noise(lambda x: x**3 - 2 * x), 0.6),
        Law("sawtooth", "3x mod 1, + ε", uniform(0, 1), plus_noise(lambda x: (3 * x) % 1.0), 0.1),
        Law("bump", "e^(-8x²) + ε", uniform(-2, 2), plus_noise(lambda x: np.exp(-8 * x**2)), 0.1),
        Law("two slopes", "slope 0.3 or 2 at random", normal(), two_slopes, 0.3),
        Law("double exponential", "x + ε, Laplace noise", normal(), laplace_noise, 0.7),
        Law("12 trials", "binomial, logistic in x", normal(), trials, 0.3),
        Law("rounded", "to halves", normal(), rounded, 0.7),
        Law(
            "waiting times",
            "exponential with mean eˣ",
            normal(),
            arrivals,
            0.2,
        ),
        Law("radius", "√(x₁² + x₂²) + ε", normal(2), plus_noise(ring_radius), 0.3),
        Law(
            "largest of three",
            "max of 3 columns, + ε",
            normal(3),
            plus_noise(maximum_of_three),
            0.4,
        ),
        Law("six columns", "sin of each, + ε", normal(6), plus_noise(np.sin), 0.5),
    )
}
