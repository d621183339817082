"""Independent rows: level, coverage and power of the old and the new tests.

Each sample's conditional means are computed once for each kernel; every test is then asked of
the same A.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import batched
import numpy as np
from batched import Array, Samples, Stack, u_centred
from counting import Tally, remember, remembered
from sampling_models import ALTERNATIVES, MODELS, Model

from reldep.stats.differences import compare_pairs
from reldep.stats.score_intervals import score_intervals
from reldep.stats.student import log_tail

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVEL = 0.05
BAR = 1.959963984540054
# Measure and kernel together: what a user chooses.
KERNELS = {
    "gaussian": batched.gaussian(batched.median_scale),
    "default": batched.laplace(batched.mean_scale),
    "distance": batched.negative_distance,
}
SETTINGS = {
    "hsic": ("hsic", "gaussian"),
    "cka, Gaussian": ("cka", "gaussian"),
    "cka": ("cka", "default"),
    "dcor": ("dcor", "distance"),
}
PAIRS = (("x", "y"), ("x", "z"))
DRAWS = {20: 2000, 30: 1000, 50: 2000, 100: 1000, 200: 300}
LARGE = ("weak", "linear", "strong", "spiral", "five levels")
LARGE_DRAWS = {1000: 100}
# Samples from which the true dependence is computed, and their size.
TRUTH_SAMPLES, TRUTH_SIZE = 20, 600


def stacks(model: Model, kernel: str, sample: tuple[Array, ...]) -> dict[str, Stack]:
    """Evaluate a kernel on a stack of samples; labels have the delta kernel."""
    made = KERNELS[kernel]
    x = batched.delta(sample[0]) if model.labels and kernel != "distance" else made(sample[0])
    return {"x": x, "y": made(sample[1]), "z": made(sample[2])}


def chunks(draws: int, m: int) -> Iterator[int]:
    """Cut draws into stacks whose matrices stay in the processor's cache."""
    size = max(1, 2**16 // m**2)
    for start in range(0, draws, size):
        yield min(size, draws - start)


def z_statistics(found: Samples, measure: str, aware: bool) -> tuple[Array, Array, Array]:
    """Give the published test's z, with one dependence and its standard error."""
    at = {pair: i for i, pair in enumerate(found.pairs)}
    H = found.means.mean(axis=2)
    psi = 4.0 * (found.means - H[:, :, None])
    if aware:
        psi = psi + found.bandwidth
    values, rows = [], []
    for pair in PAIRS:
        value, row = H[:, at[pair]], psi[:, at[pair]]
        if measure != "hsic":
            own = [at[name, name] for name in pair]
            scale = np.sqrt(H[:, own[0]] * H[:, own[1]])
            value, row = value / scale, row / scale[:, None]
            for i in own:
                row = row - (value / (2.0 * H[:, i]))[:, None] * psi[:, i]
        values.append(value)
        rows.append(row)
    m = psi.shape[2]
    error = np.sqrt(((rows[0] - rows[1]) ** 2).sum(axis=1)) / m
    one = np.sqrt((rows[0] ** 2).sum(axis=1)) / m
    return (values[0] - values[1]) / error, values[0], one


def scored(found: Samples, measure: str) -> tuple[Array, Array, Array]:
    """Give jackknife-t's p-value on the normal scale, and the limits of the first dependence."""
    B = len(found.means)
    jackknife = found.jackknife(PAIRS, measure)
    tested = compare_pairs(jackknife, 2 * np.arange(B), 2 * np.arange(B) + 1)
    tail = log_tail(np.abs(tested.statistic), tested.df)
    low, high = score_intervals(jackknife)
    return np.sign(tested.statistic) * np.exp(tail), low[::2], high[::2]


def truth(name: str) -> dict[str, float]:
    """Estimate the dependence of the population for every setting, and tune ties."""
    known = remembered("calibration_truth")
    if name in known:
        return known[name]
    if name == "independent":
        return dict.fromkeys(SETTINGS, 0.0)
    model = MODELS[name]
    rng = np.random.default_rng([11, list(MODELS).index(name)])
    samples = [model.draw(rng, 1, TRUTH_SIZE) for _ in range(TRUTH_SAMPLES)]
    values = {}
    for setting, (measure, kernel) in SETTINGS.items():
        totals = np.zeros(3)
        for sample in samples:
            made = stacks(model, kernel, sample)
            del made["z"]
            totals += batched.influence(made).means.mean(axis=2)[0]
        xx, xy, yy = totals / TRUTH_SAMPLES
        values[setting] = float(xy if measure == "hsic" else xy / np.sqrt(xx * yy))
    remember("calibration_truth", {**known, name: values})
    return values


def tuned_noise(name: str, setting: str) -> float:
    """Find the noise of the second target at which the two dependences are equal."""
    known = remembered("calibration_noise")
    key = f"{name}, {setting}"
    if key in known:
        return known[key]
    model, (measure, kernel) = MODELS[name], SETTINGS[setting]

    def dependences(noise: float, side: int, sources: list[Array]) -> float:
        rng = np.random.default_rng([12, list(MODELS).index(name)])
        between = own = 0.0
        for source in sources:
            sample = model.draw(rng, 1, TRUTH_SIZE, noise)
            target = u_centred(KERNELS[kernel](sample[side]).kernel)[0]
            between, own = between + source @ target, own + target @ target
        return between if measure == "hsic" else between / np.sqrt(own)

    rng = np.random.default_rng([12, list(MODELS).index(name)])
    drawn = [model.draw(rng, 1, TRUTH_SIZE, 1.0)[0] for _ in range(TRUTH_SAMPLES)]
    sources = [u_centred(KERNELS[kernel](x).kernel)[0] for x in drawn]
    wanted = dependences(1.0, 1, sources)
    low, high = 0.05, 8.0
    for _ in range(10):
        noise = float(np.sqrt(low * high))
        stronger = dependences(noise, 2, sources) > wanted
        low, high = (noise, high) if stronger else (low, noise)
    remember("calibration_noise", {**remembered("calibration_noise"), key: noise})
    return noise


def count_sample(
    found: Samples, setting: str, true_value: float | None, events: Counter[tuple[str, str, str]]
) -> None:
    """Count what happens in a stack of samples."""
    measure, kernel = SETTINGS[setting]
    for method in ("fixed-kernel", "bandwidth-aware"):
        if method == "bandwidth-aware" and kernel == "distance":
            continue
        z, value, error = z_statistics(found, measure, aware=method != "fixed-kernel")
        events[setting, method, "upper"] += int((z > BAR).sum())
        events[setting, method, "lower"] += int((z < -BAR).sum())
        if true_value is not None:
            events[setting, method, "covered"] += int(
                (np.abs(value - true_value) <= BAR * error).sum()
            )
    signed_tail, low, high = scored(found, measure)
    rejected = np.abs(signed_tail) < LEVEL / 2
    events[setting, "jackknife", "upper"] += int((rejected & (signed_tail > 0)).sum())
    events[setting, "jackknife", "lower"] += int((rejected & (signed_tail < 0)).sum())
    if true_value is not None:
        inside = (low <= true_value) & (true_value <= high)
        events[setting, "jackknife", "covered"] += int(inside.sum())


def simulate_null(name: str, m: int, draws: int) -> dict[tuple[str, str, str], tuple[float, int]]:
    """Draw from a law under which the two dependences are equal."""
    model = MODELS[name]
    true_values = truth(name) if m <= 200 else {}
    events: Counter[tuple[str, str, str]] = Counter()
    tested: Counter[str] = Counter()
    for number, B in enumerate(chunks(draws, m)):
        computed: dict[tuple[str, float | None], Samples] = {}
        for setting, (_, kernel) in SETTINGS.items():
            noise = tuned_noise(name, setting) if model.tuned else None
            if (kernel, noise) not in computed:
                rng = np.random.default_rng([1, list(MODELS).index(name), m, number])
                found = batched.influence(stacks(model, kernel, model.draw(rng, B, m, noise)))
                computed[kernel, noise] = found.keep(found.usable())
            found = computed[kernel, noise]
            tested[setting] += len(found.means)
            if len(found.means):
                count_sample(found, setting, true_values.get(setting), events)
    return {key: (count, tested[key[0]]) for key, count in events.items()}


def statistics(model: Model, m: int, draws: int, seed: list[int]) -> dict[tuple[str, str], Array]:
    """Collect statistics on a scale on which they can be compared: z, and scores of t."""
    collected: dict[tuple[str, str], list[Array]] = {}
    for number, B in enumerate(chunks(draws, m)):
        rng = np.random.default_rng([*seed, number])
        sample = model.draw(rng, B, m)
        computed = {}
        for kernel in KERNELS:
            found = batched.influence(stacks(model, kernel, sample))
            computed[kernel] = found.keep(found.usable())
        for setting, (measure, kernel) in SETTINGS.items():
            found = computed[kernel]
            z, _, _ = z_statistics(found, measure, aware=False)
            collected.setdefault((setting, "fixed-kernel"), []).append(np.abs(z))
            tail = np.abs(scored(found, measure)[0])
            collected.setdefault((setting, "jackknife"), []).append(-np.log(2.0 * tail))
    return {key: np.concatenate(parts) for key, parts in collected.items()}


def simulate_power(name: str, m: int, draws: int) -> dict[tuple[str, str, str], tuple[float, int]]:
    """Draw from an alternative, and from its null to adjust the tests in size."""
    null, model = ALTERNATIVES[name]
    seed = [2, list(ALTERNATIVES).index(name), m]
    different = statistics(model, m, draws, [*seed, 0])
    equal = statistics(MODELS[null], m, draws, [*seed, 1])
    counts = {}
    for key, values in different.items():
        bar = BAR if key[1] == "fixed-kernel" else -np.log(LEVEL)
        adjusted = np.quantile(equal[key], 1.0 - LEVEL)
        counts[*key, "power"] = (float((values > bar).sum()), len(values))
        counts[*key, "power, adjusted"] = (float((values > adjusted).sum()), len(values))
    return counts


def main(quick: bool = False) -> None:
    """Run what is not there yet."""
    levels, power = Tally("calibration_rows"), Tally("calibration_power")
    done, done_power = levels.done(), power.done()
    for m, draws in {**DRAWS, **LARGE_DRAWS}.items():
        for name in MODELS if m <= 200 else LARGE:
            if (name, m) not in done:
                levels.add(name, m, simulate_null(name, m, 100 if quick else draws))
        for name in ALTERNATIVES if m in (30, 50, 100, 200) else ():
            if (name, m) not in done_power:
                n = 100 if quick else min(draws, 500)
                power.add(name, m, simulate_power(name, m, n))


if __name__ == "__main__":
    main()
