"""Beside the classics and a bootstrap, and how far plans from pilots can be trusted."""

from __future__ import annotations

import time
from collections import Counter

import batched
import numpy as np
from batched import Array
from calibration_rows import KERNELS, PAIRS, chunks
from classics import correlations, steiger, williams
from counting import Tally, remember
from sampling_models import ALTERNATIVES, Model, normal, plus_noise
from scipy.special import ndtri

from reldep.stats.pairwise import Test, differences
from reldep.stats.power import Pilot, careful_effect
from reldep.stats.student import log_tail

LEVEL = 0.05
CLASSIC = {
    "equal, ρ = 0.71": Model("", "", normal(), plus_noise(), (1.0, 1.0)),
    "equal, ρ = 0.32": Model("", "", normal(), plus_noise(), (3.0, 3.0)),
    "equal, ρ = 0.96": Model("", "", normal(), plus_noise(), (0.3, 0.3)),
    "different, ρ = 0.82 and 0.61": ALTERNATIVES["noise 0.7 and 1.3"][1],
    "different, x² + ε": Model("", "", normal(), plus_noise(np.square), (0.5, 3.0)),
}
PILOT_ROWS, PILOTS = 80, 300
PLAN = {
    "noise 0.7 and 1.1": Model("", "", normal(), plus_noise(), (0.7, 1.1)),
    "noise 0.8 and 1.2": Model("", "", normal(), plus_noise(), (0.8, 1.2)),
}
GRID = {30: 600, 60: 600, 120: 400, 240: 200, 480: 100}


def classic_cell(name: str, m: int, draws: int) -> Counter[str]:
    """Count rejections by the classics and by jackknife-t, of the same samples."""
    events: Counter[str] = Counter()
    model = CLASSIC[name]
    for number, B in enumerate(chunks(draws, m)):
        rng = np.random.default_rng([7, list(CLASSIC).index(name), m, number])
        sample = model.draw(rng, B, m)
        rs = correlations(*(values[:, :, 0] for values in sample))
        events["Williams's t"] += int((williams(*rs, m)[1] < LEVEL).sum())
        events["Steiger's Z"] += int((steiger(*rs, m)[1] < LEVEL).sum())
        for label, kernel in (("linear kernel", batched.linear), ("default", KERNELS["default"])):
            found = batched.influence(dict(zip("xyz", map(kernel, sample), strict=True)))
            events[label] += int((two_sided(found) < LEVEL).sum())
    return events


def two_sided(found: batched.Samples) -> Array:
    """Give jackknife-t's p-values of a stack of samples."""
    B = len(found.means)
    tested = differences(found.estimates(PAIRS, "cka"), 2 * np.arange(B), 2 * np.arange(B) + 1)
    return 2.0 * np.exp(log_tail(np.abs(tested.statistic), tested.df))


def bootstrap_interval(kernels: dict[str, Array], rng: np.random.Generator, n: int) -> Array:
    """Give the percentile interval of the difference of CKAs by resampling rows."""
    m = len(kernels["x"])
    values = np.empty(n)
    for at in range(n):
        rows = np.ix_(*[rng.integers(0, m, size=m)] * 2)
        made = {name: batched.Stack(K[rows][None]) for name, K in kernels.items()}
        sums = {name: stack.sums for name, stack in made.items()}

        def hsic(a: str, b: str, made=made, sums=sums) -> float:
            return float(batched.hsic(made[a].kernel, made[b].kernel, sums[a], sums[b])[0])

        energy = hsic("x", "x")
        values[at] = sum(
            sign * hsic("x", name) / np.sqrt(energy * hsic(name, name))
            for sign, name in ((1, "y"), (-1, "z"))
        )
    return np.quantile(values, [0.025, 0.975])


def bootstrap_cell(name: str, model: Model, m: int, draws: int, truth: float) -> dict:
    """Compare coverage, length and time of a bootstrap with the dual interval."""
    covered, lengths, seconds = np.zeros(2), np.zeros(2), np.zeros(2)
    for at in range(draws):
        rng = np.random.default_rng([8, len(name), m, at])
        sample = model.draw(rng, 1, m)
        made = {n: KERNELS["default"](v) for n, v in zip("xyz", sample, strict=True)}
        with_diagonal = {n: stack.kernel[0] + np.eye(m) for n, stack in made.items()}
        start = time.process_time()
        found = batched.influence(made)
        test = found.estimates(PAIRS, "cka").estimate(np.array([1.0, -1.0]))
        intervals = [test.interval()]
        middle = time.process_time()
        intervals.append(tuple(bootstrap_interval(with_diagonal, rng, 999)))
        seconds += (middle - start, time.process_time() - middle)
        for i, (low, high) in enumerate(intervals):
            covered[i] += low <= truth <= high
            lengths[i] += high - low
    return {
        "law": name,
        "m": m,
        "draws": draws,
        "coverage": (covered / draws).tolist(),
        "length": (lengths / draws).round(4).tolist(),
        "milliseconds": (1000 * seconds / draws).round(2).tolist(),
    }


def difference_truth(model: Model) -> float:
    """Estimate the difference of the population's CKAs."""
    rng = np.random.default_rng(31)
    totals = np.zeros(6)
    for _ in range(30):
        made = {
            n: KERNELS["default"](v) for n, v in zip("xyz", model.draw(rng, 1, 600), strict=True)
        }
        totals += batched.influence(made).means.mean(axis=2)[0]
    xx, xy, xz, yy, _, zz = totals
    return float(xy / np.sqrt(xx * yy) - xz / np.sqrt(xx * zz))


def planning_cell(name: str, quick: bool) -> dict:
    """Plan from pilots, and look up the power that the plans have in truth.

    The power at any n comes from simulated powers at a few n, on the scale on which it is a
    straight line in √n.
    """
    model = PLAN[name]
    roots, probits = [], []
    for m, draws in GRID.items():
        rejected = tested = 0
        for number, B in enumerate(chunks(20 if quick else draws, m)):
            rng = np.random.default_rng([9, list(PLAN).index(name), m, number])
            made = {
                n: KERNELS["default"](v) for n, v in zip("xyz", model.draw(rng, B, m), strict=True)
            }
            pvalues = two_sided(batched.influence(made))
            rejected, tested = rejected + int((pvalues < LEVEL).sum()), tested + B
        if 0.02 < rejected / tested < 0.99:
            roots.append(np.sqrt(m))
            probits.append(ndtri(rejected / tested))
    slope, start = np.polyfit(roots, probits, 1)

    def power(n: float) -> float:
        return float(_normal(start + slope * np.sqrt(n)))

    outcomes: dict[str, list[float]] = {k: [] for k in ("plain", "careful", "after significance")}
    careful_after, none = [], 0
    for at in range(20 if quick else PILOTS):
        rng = np.random.default_rng([10, list(PLAN).index(name), at])
        sample = model.draw(rng, 1, PILOT_ROWS)
        found = batched.influence(
            {n: KERNELS["default"](v) for n, v in zip("xyz", sample, strict=True)}
        )
        test = found.estimates(PAIRS, "cka").estimate(np.array([1.0, -1.0]))
        significant = test.pvalue() < LEVEL
        plan = _plan(test)
        careful = _plan(test, careful_effect(test, "two-sided"))
        if plan is None or careful is None:
            none += 1
            continue
        outcomes["plain"].append(power(plan))
        outcomes["careful"].append(power(careful))
        if significant:
            outcomes["after significance"].append(power(plan))
            careful_after.append(power(careful))
    means = {key: float(np.mean(values)) for key, values in outcomes.items() if values}
    means["careful, after significance"] = float(np.mean(careful_after))
    return {
        "law": name,
        "pilots": PILOTS,
        "without a careful plan": none,
        "power": means,
        "power of a pilot": power(PILOT_ROWS),
    }


def _plan(test: Test, effect: float | None = None) -> int | None:
    pilot = Pilot.of(test, PILOT_ROWS, effect)
    return pilot.sample_size(0.8, LEVEL, "two-sided") if pilot.effect else None


def _normal(x: float) -> float:
    from scipy.special import ndtr

    return ndtr(x)


def main(quick: bool = False) -> None:
    """Run what is not there yet."""
    tally = Tally("calibration_classics")
    done = tally.done()
    for m in (30, 50, 100):
        for name in CLASSIC:
            if (name, m) not in done:
                n = 50 if quick else (2000 if m <= 50 else 1000)
                events = classic_cell(name, m, n)
                tally.add(name, m, {("", what, "rejected"): (c, n) for what, c in events.items()})
    cells = {"linear": CLASSIC["equal, ρ = 0.71"], "noise 0.7 and 1.1": PLAN["noise 0.7 and 1.1"]}
    draws = 10 if quick else 200
    boot = [
        bootstrap_cell(name, model, 50, draws, 0.0 if name == "linear" else difference_truth(model))
        for name, model in cells.items()
    ]
    plans = [planning_cell(name, quick) for name in PLAN]
    remember("calibration_beside", {"bootstrap": boot, "planning": plans})


if __name__ == "__main__":
    main()
