"""Laws from which the calibration draws: a source and two targets that depend on it equally.

Where the two targets are exchangeable given the source, the difference of their dependences is
0 whatever the kernel and the measure. In two laws they are not exchangeable and the noise of the
second target is tuned, for each measure and kernel, until the dependences are equal. Arrays have
the shape (samples, rows, columns).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Generator = np.random.Generator
Sample = tuple[Array, Array, Array]
Source = Callable[[Generator, int, int], Array]
Target = Callable[[Generator, Array, float], Array]


@dataclass(frozen=True)
class Model:
    """A law with a name and a line for the table.

    Attributes
    ----------
    source : callable
        ``source(rng, B, m)``, perhaps with hidden columns.
    target : callable
        ``target(rng, source, noise)``; the first of the two.
    noises : pair of float
        Of the two targets.
    seen : callable
        What of the source the test sees.
    second : callable or None
        How the second target is made, where it is not made as the first.
    labels : bool
        Whether the source holds categories.
    """

    name: str
    description: str
    source: Source
    target: Target
    noises: tuple[float, float]
    seen: Callable[[Array], Array] = lambda source: source
    second: Target | None = None
    labels: bool = False

    @property
    def tuned(self) -> bool:
        """Whether the second target's noise depends on the measure."""
        return self.second is not None

    def draw(self, rng: Generator, B: int, m: int, second_noise: float | None = None) -> Sample:
        """Draw B samples of m rows."""
        source = self.source(rng, B, m)
        first, second = self.noises
        if second_noise is not None:
            second = second_noise
        other = self.second or self.target
        return self.seen(source), self.target(rng, source, first), other(rng, source, second)


def normal(columns: int = 1) -> Source:
    return lambda rng, B, m: rng.normal(size=(B, m, columns))


def plus_noise(image: Callable[[Array], Array] = lambda x: x) -> Target:
    def target(rng: Generator, x: Array, noise: float) -> Array:
        value = image(x)
        return value + noise * rng.normal(size=value.shape)

    return target


def unrelated(rng: Generator, x: Array, noise: float) -> Array:
    return noise * rng.normal(size=x.shape)


def angles(rng: Generator, B: int, m: int) -> Array:
    return np.dstack([rng.uniform(0, 2 * np.pi, size=(B, m)), *rng.normal(size=(2, B, m))])


def spiral_source(source: Array) -> Array:
    t = source[:, :, 0]
    return np.dstack([t, np.sin(t)]) + 0.3 * source[:, :, 1:]


def spiral(source: Array) -> Array:
    t = source[:, :, 0]
    return np.dstack([t * np.cos(t), t * np.sin(t)])


def student(rng: Generator, x: Array, noise: float) -> Array:
    return x + noise * rng.standard_t(2, size=x.shape)


def gamma(rng: Generator, x: Array, noise: float) -> Array:
    return x + noise * rng.gamma(2.0, size=x.shape)


def mixture(rng: Generator, x: Array, noise: float) -> Array:
    return x + noise * (0.5 + np.abs(x) / 2) * rng.normal(size=x.shape)


def two_clumps(rng: Generator, B: int, m: int) -> Array:
    return rng.choice([-2.0, 2.0], size=(B, m, 1)) + 0.7 * rng.normal(size=(B, m, 1))


def counts(rng: Generator, x: Array, noise: float) -> Array:
    return x + rng.poisson(noise, size=x.shape)


def levels(latent: Array) -> Array:
    return np.digitize(latent, [-1.2, -0.4, 0.4, 1.2]).astype(float)


def cut(rng: Generator, x: Array, noise: float) -> Array:
    return levels((x + noise * rng.normal(size=x.shape)) / np.sqrt(1 + noise**2))


def signs(rng: Generator, x: Array, noise: float) -> Array:
    return x * rng.choice([-1.0, 1.0], size=x.shape) + noise * rng.normal(size=x.shape)


def in_three_columns(rng: Generator, x: Array, noise: float) -> Array:
    return np.repeat(x, 3, axis=2) + noise * rng.normal(size=(*x.shape[:2], 3))


MODELS = {
    model.name: model
    for model in (
        Model("independent", "three independent normals", normal(), unrelated, (1, 1)),
        Model("weak", "y = x + 3ε, normal", normal(), plus_noise(), (3, 3)),
        Model("linear", "y = x + ε, normal", normal(), plus_noise(), (1, 1)),
        Model("strong", "y = x + 0.3ε, normal", normal(), plus_noise(), (0.3, 0.3)),
        Model(
            "spiral",
            "the paper's synthetic data, γ = 0.3 for all",
            angles,
            plus_noise(spiral),
            (0.3, 0.3),
            spiral_source,
        ),
        Model(
            "circle",
            "x = cos t, y = sin t, each with noise 0.3",
            angles,
            plus_noise(lambda s: np.sin(s[:, :, :1])),
            (0.3, 0.3),
            lambda s: np.cos(s[:, :, :1]) + 0.3 * s[:, :, 1:2],
        ),
        Model(
            "sine",
            "y = sin 4πx + 0.5ε, x uniform",
            lambda rng, B, m: rng.uniform(size=(B, m, 1)),
            plus_noise(lambda x: np.sin(4 * np.pi * x)),
            (0.5, 0.5),
        ),
        Model("signs", "y = ±x + 0.5ε, signs at random", normal(), signs, (0.5, 0.5)),
        Model("ten-dimensional", "y = x + 2ε in ten columns", normal(10), plus_noise(), (2, 2)),
        Model(
            "heavy-tailed",
            "y = x + ε, all Student t with 2 degrees",
            lambda rng, B, m: rng.standard_t(2, size=(B, m, 1)),
            student,
            (1, 1),
        ),
        Model(
            "gamma",
            "exponential x, gamma noise",
            lambda rng, B, m: rng.exponential(size=(B, m, 1)),
            gamma,
            (0.7, 0.7),
        ),
        Model("mixture", "x in two clumps, noise grows with |x|", two_clumps, mixture, (1, 1)),
        Model(
            "counts",
            "x Poisson, y = x + Poisson",
            lambda rng, B, m: rng.poisson(2.0, size=(B, m, 1)).astype(float),
            counts,
            (2, 2),
        ),
        Model("five levels", "x and y cut into five levels", normal(), cut, (0.8, 0.8), levels),
        Model(
            "categorical",
            "x one of 4 categories, y = its number + ε",
            lambda rng, B, m: rng.integers(0, 4, size=(B, m, 1)).astype(float),
            plus_noise(),
            (1, 1),
            labels=True,
        ),
        Model(
            "columns",
            "y one column, z three; noise of z tuned to a tie",
            normal(),
            plus_noise(),
            (1, 1),
            second=in_three_columns,
        ),
        Model(
            "mechanism",
            "y = x + 2ε, z = x² + τε; τ tuned to a tie",
            normal(),
            plus_noise(),
            (2, 1),
            second=plus_noise(np.square),
        ),
    )
}

# Alternatives with the null that they are compared with where tests are adjusted in size.
ALTERNATIVES = {
    "spiral, γ3 = 0.6": (
        "spiral",
        Model("", "the paper's alternative", angles, plus_noise(spiral), (0.3, 0.6), spiral_source),
    ),
    "noise 0.7 and 1.3": ("linear", Model("", "", normal(), plus_noise(), (0.7, 1.3))),
    "noise 0.25 and 0.4": ("strong", Model("", "", normal(), plus_noise(), (0.25, 0.4))),
    "sine, noise 0.3 and 0.9": (
        "sine",
        Model(
            "",
            "",
            lambda rng, B, m: rng.uniform(size=(B, m, 1)),
            plus_noise(lambda x: np.sin(4 * np.pi * x)),
            (0.3, 0.9),
        ),
    ),
    "ten columns, noise 1.3 and 2.2": (
        "ten-dimensional",
        Model("", "", normal(10), plus_noise(), (1.3, 2.2)),
    ),
    "five levels, noise 0.5 and 1.2": (
        "five levels",
        Model("", "", normal(), cut, (0.5, 1.2), levels),
    ),
}
