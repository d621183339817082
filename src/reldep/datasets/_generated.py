"""Generated data whose truth is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reldep.arguments import check_count
from reldep.datasets._dataset import Dataset
from reldep.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PAPER = (
    "Bounliphone, W., Gretton, A., Tenenhaus, A. and Blaschko, M. (2015). A low variance "
    "consistent test of relative dependency. Proceedings of the 32nd International Conference "
    "on Machine Learning, PMLR 37, 20-29."
)


def make_spirals(
    n: int,
    gamma1: float = 0.3,
    gamma2: float = 0.3,
    gamma3: float = 0.6,
    *,
    rng: int | np.random.Generator | None = None,
) -> Dataset:
    r"""Draw the paper's synthetic data: one noisy sine and two noisy spirals.

    All three blocks follow the same hidden angle :math:`t`, uniform on
    :math:`(0, 2\pi)`; every coordinate has standard normal noise of its own:

    - ``source``: :math:`(t + \gamma_1 N,\ \sin t + \gamma_1 N)`
    - ``first``: :math:`(t \cos t + \gamma_2 N,\ t \sin t + \gamma_2 N)`
    - ``second``: :math:`(t \cos t + \gamma_3 N,\ t \sin t + \gamma_3 N)`

    **The truth**: with ``gamma2 < gamma3`` the source depends more on ``first`` than on
    ``second``; with ``gamma2 == gamma3`` both dependencies are equal (the null).

    Parameters
    ----------
    n : int
        Number of observations.
    gamma1, gamma2, gamma3 : float, default 0.3, 0.3, 0.6
        Noise of source, first and second, at least 0.
    rng : int, numpy.random.Generator or None, optional
        Seed or generator; the same seed gives the same numbers.

    Returns
    -------
    Dataset
        Blocks ``source``, ``first``, ``second``, each an array of shape (n, 2).

    References
    ----------
    Bounliphone et al. (2015), the synthetic experiment.

    Examples
    --------
    >>> from reldep.datasets import make_spirals
    >>> make_spirals(500, gamma3=0.7, rng=0).second.shape
    (500, 2)
    """
    check_count("n", n, at_least=1)
    noises = [
        _number(name, value, at_least=0.0)
        for name, value in (("gamma1", gamma1), ("gamma2", gamma2), ("gamma3", gamma3))
    ]
    generator = np.random.default_rng(rng)
    t = generator.uniform(0.0, 2.0 * np.pi, n)
    sine = np.column_stack([t, np.sin(t)])
    spiral = np.column_stack([t * np.cos(t), t * np.sin(t)])
    curves = {"source": sine, "first": spiral, "second": spiral}
    blocks = {
        name: curve + noise * generator.standard_normal((n, 2))
        for (name, curve), noise in zip(curves.items(), noises, strict=True)
    }
    description = (
        "A noisy sine (source) and two noisy spirals (first, second) that share one hidden "
        "angle: the synthetic experiment of Bounliphone et al. (2015). Noise: source "
        f"{noises[0]:g}, first {noises[1]:g}, second {noises[2]:g}. Truth: the spiral with "
        "less noise depends more on the source; equal noise, equal dependence. Generated, no "
        "licence needed."
    )
    return Dataset("spirals", blocks, description, _PAPER)


def make_two_stimuli(
    n: int,
    visual_weight: float = 1.0,
    audio_weight: float = 1.0,
    *,
    autocorrelation: float = 0.8,
    noise: float = 1.0,
    rng: int | np.random.Generator | None = None,
) -> Dataset:
    r"""Draw one response that follows two stimulus streams over time.

    The streams and the noise are independent first-order autoregressions, each with
    mean 0, variance 1 and the correlation ``autocorrelation`` between adjacent
    time points:

    .. math:: response_t = w_v\, visual_t + w_a\, audio_t + \text{noise} \cdot e_t

    **The truth**: all variables are normal, so the dependence of the response on a stream
    grows with the size of that stream's weight. The response depends more on ``visual``
    when ``abs(visual_weight) > abs(audio_weight)``, more on ``audio`` when it is smaller,
    and equally on both when the two are equal (the default: the null). Adjacent rows are
    correlated, so a test that treats rows as independent rejects that null too often; pass
    ``max_lag``.

    Parameters
    ----------
    n : int
        Number of time points.
    visual_weight, audio_weight : float, default 1.0
        How strongly the response follows each stream.
    autocorrelation : float, default 0.8
        Correlation between adjacent time points, strictly between -1 and 1;
        0 gives independent rows.
    noise : float, default 1.0
        Standard deviation of the noise in the response, at least 0.
    rng : int, numpy.random.Generator or None, optional
        Seed or generator; the same seed gives the same numbers.

    Returns
    -------
    Dataset
        Blocks ``response``, ``visual``, ``audio``, each an array of shape (n,), in time
        order.

    Examples
    --------
    >>> from reldep.datasets import make_two_stimuli
    >>> make_two_stimuli(400, visual_weight=2.0, rng=0)
    Dataset 'two_stimuli': 400 observations
      response  400
      visual    400
      audio     400
    """
    check_count("n", n, at_least=1)
    visual_weight = _number("visual_weight", visual_weight)
    audio_weight = _number("audio_weight", audio_weight)
    noise = _number("noise", noise, at_least=0.0)
    autocorrelation = _number("autocorrelation", autocorrelation)
    if not -1.0 < autocorrelation < 1.0:
        raise InputError(
            f"`autocorrelation={autocorrelation:g}`; pass a number strictly between -1 and 1: "
            "beyond, the streams have no fixed variance."
        )
    generator = np.random.default_rng(rng)
    visual, audio, error = (_autoregression(n, autocorrelation, generator) for _ in range(3))
    response = visual_weight * visual + audio_weight * audio + noise * error
    description = (
        "One response and two stimulus streams over time, generated: response = "
        f"{visual_weight:g} visual + {audio_weight:g} audio + {noise:g} noise; the streams and "
        "the noise are independent normal first-order autoregressions of variance 1 with "
        f"lag-one correlation {autocorrelation:g}. Truth: the response depends "
        f"{_stronger(visual_weight, audio_weight)}. No licence needed."
    )
    blocks = {"response": response, "visual": visual, "audio": audio}
    return Dataset("two_stimuli", blocks, description, _PAPER)


def _autoregression(
    n: int, autocorrelation: float, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw a stationary first-order autoregression of variance 1."""
    from scipy.signal import lfilter

    shocks = generator.standard_normal(n)
    # The first value has variance 1, so the series is stationary from its first point on.
    shocks[1:] *= math.sqrt(1.0 - autocorrelation**2)
    return np.asarray(lfilter([1.0], [1.0, -autocorrelation], shocks), dtype=np.float64)


def _stronger(visual_weight: float, audio_weight: float) -> str:
    if abs(visual_weight) == abs(audio_weight):
        return "equally on both streams"
    return "more on " + ("visual" if abs(visual_weight) > abs(audio_weight) else "audio")


def _number(name: str, value: float, at_least: float = -math.inf) -> float:
    way_out = "pass a finite number" + (f" of at least {at_least:g}." if at_least == 0 else ".")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputTypeError(f"`{name}={value!r}`; {way_out}") from None
    if not math.isfinite(number) or number < at_least:
        raise InputError(f"`{name}={value!r}`; {way_out}")
    return number
