"""Laws that had no part in the choice of the default kernel: written down after it was made."""

from __future__ import annotations

import numpy as np
from kernel_laws import Array, Generator, Law, normal, plus_noise, uniform


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
