"""All bandwidths at once: coverage of bands and levels of the two adjusted answers.

The grid is that of ``reldep.sensitivity``, from an eighth to eight times the mean distance. Under
the laws of the page there is no difference at any scale. Two more laws have one: one at every
scale, and one that is tuned to be 0 at the coarsest scale only, which is the hardest null of "at
every scale".
"""

from __future__ import annotations

from collections import Counter

import batched
import numpy as np
from batched import Array, Samples
from calibration_rows import PAIRS, TRUTH_SAMPLES, TRUTH_SIZE, chunks
from counting import Tally, remember, remembered
from sampling_models import MODELS, Model, normal, plus_noise

from reldep.questions.sensitivity import FACTORS
from reldep.stats.bandwidths import AcrossScales
from reldep.stats.pairwise import differences

LEVEL = 0.05
SIMULATIONS = 1000
EQUAL = ("linear", "spiral", "circle", "heavy-tailed", "mixture", "five levels")
UNEQUAL = {
    "noise 0.7 and 1.3": Model("", "", normal(), plus_noise(), (0.7, 1.3)),
    "equal at the coarsest": Model(
        "", "", normal(), plus_noise(), (2.0, 1.0), second=plus_noise(np.square)
    ),
}
DRAWS = {50: 1000, 30: 1000, 100: 500}


def model_of(name: str) -> Model:
    return UNEQUAL.get(name) or MODELS[name]


def kernels() -> list[batched.Kernel]:
    return [batched.laplace(batched.mean_scale, factor) for factor in FACTORS]


def true_differences(name: str) -> Array:
    """Estimate the difference of the population at every scale; tune where that is asked for."""
    if name in EQUAL:
        return np.zeros(len(FACTORS))
    known = remembered("calibration_scales_truth")
    if name not in known:
        noise = tuned_noise(name) if model_of(name).tuned else None
        values = [_dependences(name, noise, kernel) for kernel in kernels()]
        known[name] = {"noise": noise, "differences": [one - two for one, two in values]}
        remember("calibration_scales_truth", known)
    return np.array(known[name]["differences"])


def tuned_noise(name: str) -> float:
    """Find the second target's noise at which the difference is 0 at the coarsest scale."""
    low, high = 0.2, 20.0
    for _ in range(14):
        noise = float(np.sqrt(low * high))
        first, second = _dependences(name, noise, kernels()[-1])
        low, high = (noise, high) if second > first else (low, noise)
    return noise


def _dependences(name: str, noise: float | None, kernel: batched.Kernel) -> tuple[float, float]:
    """Give the CKA of the population with both targets."""
    rng = np.random.default_rng([31, len(name)])
    H = np.zeros(5)
    for _ in range(TRUTH_SAMPLES):
        x, y, z = map(kernel, model_of(name).draw(rng, 1, TRUTH_SIZE, noise))
        H += [
            batched.hsic(a.kernel, b.kernel, a.sums, b.sums)[0]
            for a, b in ((x, x), (y, y), (z, z), (x, y), (x, z))
        ]
    return float(H[3] / np.sqrt(H[0] * H[1])), float(H[4] / np.sqrt(H[0] * H[2]))


def events_of(scales: list[Samples], truth: Array, rng: np.random.Generator) -> Counter[str]:
    """Count what happens in a stack of samples, each seen at every scale."""
    events: Counter[str] = Counter()
    B = len(scales[0].means)
    deviations, tests = [], []
    for found in scales:
        estimates = found.estimates(PAIRS, "cka")
        compared = differences(estimates, 2 * np.arange(B), 2 * np.arange(B) + 1)
        deviations.append(estimates.deviations[::2] - estimates.deviations[1::2])
        tests.append([compared[b] for b in range(B)])
    for b in range(B):
        here = [at[b] for at in tests]
        across = AcrossScales.of(here, np.array([J[b] for J in deviations]), SIMULATIONS, rng)
        low, high = across.bands(1.0 - LEVEL)
        inside = [t.interval(1.0 - LEVEL) for t in here]
        events["draws"] += 1
        events["bands cover"] += bool(((low <= truth) & (truth <= high)).all())
        events["intervals cover"] += all(
            a <= t <= b for (a, b), t in zip(inside, truth, strict=True)
        )
        smallest = min(t.pvalue() for t in here)
        events["smallest of all"] += smallest < LEVEL
        events["Bonferroni"] += smallest * len(here) < LEVEL
        for side in ("two-sided", "greater", "less"):
            events[f"some, {side}"] += across.at_some_scale(side) < LEVEL
            events[f"every, {side}"] += across.at_every_scale(side) < LEVEL
    return events


def simulate(name: str, m: int, draws: int) -> Counter[str]:
    """Draw samples of a law."""
    truth = true_differences(name)
    noise = remembered("calibration_scales_truth").get(name, {}).get("noise")
    events: Counter[str] = Counter()
    for number, B in enumerate(chunks(draws, m)):
        rng = np.random.default_rng([8, sum(map(ord, name)), m, number])
        sample = model_of(name).draw(rng, B, m, noise)
        scales = [
            batched.influence(dict(zip("xyz", map(kernel, sample), strict=True)))
            for kernel in kernels()
        ]
        usable = np.all([found.usable() for found in scales], axis=0)
        if usable.any():
            events.update(events_of([found.keep(usable) for found in scales], truth, rng))
    return events


def main(quick: bool = False) -> None:
    """Run what is not there yet."""
    tally = Tally("calibration_scales")
    done = tally.done()
    for m, draws in DRAWS.items():
        for name in (*EQUAL, *UNEQUAL):
            if (name, m) not in done:
                events = simulate(name, m, 50 if quick else draws)
                total = events.pop("draws")
                tally.add(name, m, {("cka", "", what): (n, total) for what, n in events.items()})


if __name__ == "__main__":
    main()
