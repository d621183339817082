"""Independent rows: level, coverage and power of the old and the new tests.

Each sample's conditional means are computed once for each kernel; every test is then asked of
the same A.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

import batched
import numpy as np
from batched import Array, Samples, Stack, u_centred
from counting import Counts, Tally, remember, remembered
from sampling_models import ALTERNATIVES, MODELS, Model

from reldep.stats.pairwise import differences
from reldep.stats.student import log_tail

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
DRAWS = {20: 2000, 30: 2000, 50: 2000, 100: 2000, 200: 2000, 1000: 1000}
POWER_DRAWS = {20: 2000, 30: 2000, 50: 2000, 100: 2000, 200: 2000, 1000: 200}
# Samples of the largest size are stored after so many.
BATCH = 100
# Samples from which the true dependence is computed, and their size: the error of the truth is
# a tenth of that of an estimate from 1,000 rows, a twentieth of one from 200.
TRUTH_SAMPLES, TRUTH_SIZE = 250, 400


def stacks(model: Model, kernel: str, sample: tuple[Array, ...]) -> dict[str, Stack]:
    """Evaluate a kernel on a stack of samples; labels have the delta kernel."""
    made = KERNELS[kernel]
    x = batched.delta(sample[0]) if model.labels and kernel != "distance" else made(sample[0])
    return {"x": x, **{name: made(y) for name, y in zip("yz", sample[1:], strict=False)}}


def chunk_size(m: int) -> int:
    """Give the number of samples whose matrices stay in the processor's cache together."""
    return max(1, 2**16 // m**2)


def chunks(draws: int, m: int) -> Iterator[int]:
    """Cut draws into stacks."""
    size = chunk_size(m)
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
    estimates = found.estimates(PAIRS, measure)
    tested = differences(estimates, 2 * np.arange(B), 2 * np.arange(B) + 1)
    tail = log_tail(np.abs(tested.statistic), tested.df)
    low, high = estimates.intervals(0.95)
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
    totals = {kernel: np.zeros(3) for kernel in KERNELS}
    for _ in range(TRUTH_SAMPLES):
        sample = model.draw(rng, 1, TRUTH_SIZE)
        for kernel, total in totals.items():
            made = stacks(model, kernel, sample[:2])
            x, y = made["x"], made["y"]
            total += [
                batched.hsic(a.kernel, b.kernel, a.sums, b.sums)[0]
                for a, b in ((x, x), (x, y), (y, y))
            ]
    values = {}
    for setting, (measure, kernel) in SETTINGS.items():
        xx, xy, yy = totals[kernel] / TRUTH_SAMPLES
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
    low, high = 0.2, 5.0
    for _ in range(12):
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


def simulate_null(name: str, m: int, draws: int, first: int = 0) -> Counts:
    """Draw from a law under which the two dependences are equal.

    Samples from `first` on, a multiple of the size of a stack; so a later run adds to an earlier.
    """
    model, true_values = MODELS[name], truth(name)
    events: Counter[tuple[str, str, str]] = Counter()
    parts: dict[tuple[str, float | None], list[Samples]] = {}
    noises = {setting: tuned_noise(name, setting) if model.tuned else None for setting in SETTINGS}
    wanted = {(SETTINGS[setting][1], noise) for setting, noise in noises.items()}
    for number, B in enumerate(chunks(draws - first, m), first // chunk_size(m)):
        for kernel, noise in wanted:
            rng = np.random.default_rng([1, list(MODELS).index(name), m, number])
            found = batched.influence(stacks(model, kernel, model.draw(rng, B, m, noise)))
            parts.setdefault((kernel, noise), []).append(found.keep(found.usable()))
    tested = {}
    for setting, (_, kernel) in SETTINGS.items():
        found = Samples.joined(parts[kernel, noises[setting]])
        tested[setting] = len(found.means)
        count_sample(found, setting, true_values.get(setting), events)
    return {key: (count, tested[key[0]]) for key, count in events.items()}


def statistics(model: Model, m: int, draws: int, seed: list[int]) -> dict[tuple[str, str], Array]:
    """Collect statistics on a scale on which they can be compared: z, and scores of t."""
    parts: dict[str, list[Samples]] = {kernel: [] for kernel in KERNELS}
    for number, B in enumerate(chunks(draws, m)):
        sample = model.draw(np.random.default_rng([*seed, number]), B, m)
        for kernel, some in parts.items():
            found = batched.influence(stacks(model, kernel, sample))
            some.append(found.keep(found.usable()))
    collected = {}
    for setting, (measure, kernel) in SETTINGS.items():
        found = Samples.joined(parts[kernel])
        z, _, _ = z_statistics(found, measure, aware=False)
        collected[setting, "fixed-kernel"] = np.abs(z)
        tail = np.abs(scored(found, measure)[0])
        collected[setting, "jackknife"] = -np.log(2.0 * tail)
    return collected


def simulate_power(name: str, m: int, draws: int) -> Counts:
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


def extend(tally: Tally, name: str, m: int, draws: int) -> None:
    """Add samples of a law to those that are stored, up to so many."""
    stored = tally.draws().get((name, m), 0)
    if stored % chunk_size(m):
        stored = 0  # a stack that was broken off cannot be gone on with
    old = tally.counts(name, m) if stored else {}
    new = simulate_null(name, m, draws, stored)
    summed: dict[tuple[str, str, str], tuple[float, int]] = {}
    for key in {**old, **new}:
        tested = [
            max((of for other, (_, of) in part.items() if other[0] == key[0]), default=0)
            for part in (old, new)
        ]
        count = sum(part.get(key, (0, 0))[0] for part in (old, new))
        summed[key] = (count, sum(tested))
    tally.add(name, m, summed)


def main(quick: bool = False, sizes: Sequence[int] = tuple(DRAWS)) -> None:
    """Run what is not there yet."""
    levels, power = Tally("calibration_rows"), Tally("calibration_power")
    for m in sizes:
        done, done_power = levels.draws(), power.draws()
        wanted = 100 if quick else DRAWS[m]
        for upto in range(min(wanted, BATCH) if m >= 1000 else wanted, wanted + 1, BATCH):
            for name in MODELS:
                # Some samples cannot be tested; a law with most of its samples is complete.
                if done.get((name, m), 0) < 0.98 * upto:
                    extend(levels, name, m, upto)
        wanted = 100 if quick else POWER_DRAWS[m]
        for name in ALTERNATIVES:
            if done_power.get((name, m), 0) < 0.98 * wanted:
                power.add(name, m, simulate_power(name, m, wanted))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=list(DRAWS))
    main(sizes=parser.parse_args().sizes)
