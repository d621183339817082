"""Rankings: how often many comparisons at once make a false claim, and what their sets cover."""

from __future__ import annotations

import itertools
from collections import Counter

import batched
import numpy as np
from batched import Array, u_centred
from calibration_rows import KERNELS, TRUTH_SAMPLES, TRUTH_SIZE
from counting import Tally, remember, remembered

from reldep.stats.estimates import Estimates, estimates_of
from reldep.stats.simultaneous import (
    JointDraws,
    adjusted_pvalues,
    all_differences,
    critical_value,
    rank_dependences,
)
from reldep.stats.units import Units

SIMULATIONS = 500
CONFIDENCE = 0.95
# Noise of the targets: all tied, three groups, one ahead of the others.
NOISES = {
    "tied": lambda p: np.ones(p),
    "three groups": lambda p: np.repeat([0.5, 1.0, 2.0], [p // 3, p // 3, p - 2 * (p // 3)]),
    "one ahead": lambda p: np.r_[0.5, np.ones(p - 1)],
}
DRAWS = {50: (2000, 2000, 1000), 100: (2000, 2000, 1000), 200: (2000, 1000, 500)}
COUNTS = (5, 20, 100)


def draw(rng: np.random.Generator, noises: Array, m: int) -> Array:
    """Draw a source and its targets, shape (p + 1, m, 1)."""
    x = rng.normal(size=m)
    return np.vstack([x, x + noises[:, None] * rng.normal(size=(len(noises), m))])[:, :, None]


def source_means(stack: batched.Stack) -> Array:
    """Give A of the first variable with every other one."""
    m = stack.kernel.shape[1]
    K, L = stack.kernel[0], stack.kernel[1:]
    k, l = stack.sums[0], stack.sums[1:]  # noqa: E741
    q = np.einsum("ij,pij->pi", K, L)
    h = (m - 2) ** 2 * q - m * k * l
    h += (m - 2) * (q.sum(axis=1, keepdims=True) - l @ K - L @ k)
    h += l.sum(axis=1, keepdims=True) * k + k.sum() * l - (l @ k)[:, None]
    return h / (2.0 * (m - 1) * (m - 2) * (m - 3))


def estimates_in(data: Array) -> tuple[Estimates, Array]:
    """Leave out every row; give the influence values of the published test beside it."""
    stack = KERNELS["default"](data)
    p, m = len(data) - 1, data.shape[1]
    centred, slopes = u_centred(stack.kernel), u_centred(stack.slope)
    size = m * (m - 3)
    hsics = centred @ centred.T / size
    own = batched.conditional_means(stack, stack)
    means = np.vstack([source_means(stack), own])
    moved = (slopes[0] @ centred[1:].T / size)[:, None] * stack.moves[0]
    moved += (slopes[1:] @ centred[0] / size)[:, None] * stack.moves[1:]
    moved_own = 2.0 * (np.einsum("ij,ij->i", slopes, centred) / size)[:, None] * stack.moves
    left = np.r_[np.zeros(p, dtype=np.int64), np.arange(p + 1)]
    right = np.r_[np.arange(1, p + 1), np.arange(p + 1)]
    places, names = np.array([left, right]), [f"variable {i}" for i in range(p + 1)]
    units = Units.rows(means, np.vstack([moved, moved_own]), names, places, hsics)
    found = estimates_of(units, "cka", places[:, :p])
    psi = 4.0 * (means - means.mean(axis=1, keepdims=True))
    energies = np.diag(hsics)
    scale = np.sqrt(energies[0] * energies[1:])[:, None]
    value = found.values[:, None]
    plain = psi[:p] / scale - value / 2 * (psi[p] / energies[0] + psi[p + 1 :] / energies[1:, None])
    return found, plain


def true_values(noises: Array) -> Array:
    """Estimate the CKA of the population at each noise."""
    known = remembered("calibration_many_truth")
    for noise in np.unique(noises):
        if str(noise) not in known:
            rng = np.random.default_rng([21, int(100 * noise)])
            totals = np.zeros(3)
            for _ in range(TRUTH_SAMPLES):
                stack = KERNELS["default"](draw(rng, np.array([noise]), TRUTH_SIZE))
                made = {"x": _one(stack, 0), "y": _one(stack, 1)}
                totals += batched.influence(made).means.mean(axis=2)[0]
            known[str(noise)] = float(totals[1] / np.sqrt(totals[0] * totals[2]))
            remember("calibration_many_truth", known)
    return np.array([known[str(noise)] for noise in noises])


def _one(stack: batched.Stack, i: int) -> batched.Stack:
    return batched.Stack(stack.kernel[i : i + 1])


def events_of(noises: Array, m: int, seed: list[int], truth: Array) -> Counter[str]:
    """Draw one sample and tell what went wrong."""
    rng = np.random.default_rng(seed)
    found, psi = estimates_in(draw(rng, noises, m))
    p = len(noises)
    first, second = np.triu_indices(p, 1)
    equal = noises[first] == noises[second]
    gap = truth[first] - truth[second]
    draws = JointDraws.of(found.deviations, SIMULATIONS, rng)
    compared = all_differences(found)
    ranks = rank_dependences(compared, draws, p)
    critical = critical_value(ranks.maxima, CONFIDENCE)
    rejected = adjusted_pvalues(compared, "step-down", draws, ranks.maxima) <= 1 - CONFIDENCE
    low, high = compared.intervals(critical)
    each_low, each_high = found.simultaneous_intervals(draws.value_maxima(), CONFIDENCE)
    rank_low, rank_high = ranks.ranges(CONFIDENCE)
    # The strongest have the least noise; ties are taken as broken beforehand, by their order.
    true_rank = np.empty(p, dtype=int)
    true_rank[np.argsort(noises, kind="stable")] = 1 + np.arange(p)
    events = Counter(
        {
            "false claim": int(rejected[equal].any()),
            "differences not covered": int(((gap < low) | (gap > high)).any()),
            "dependences not covered": int(((truth < each_low) | (truth > each_high)).any()),
            "best lost": int(0 not in ranks.best(CONFIDENCE)),
            "rank sets wrong": int(((rank_low > true_rank) | (rank_high < true_rank)).any()),
        }
    )
    if not equal.all():
        events["share of differences found"] = float(rejected[~equal].mean())
    z = (found.values[first] - found.values[second]) * m
    z /= np.sqrt(((psi[first] - psi[second]) ** 2).sum(axis=1))
    old = JointDraws.of(psi, SIMULATIONS, rng).comparison_maxima(first, second)
    events["false claim, old"] = int((np.abs(z[equal]) > critical_value(old, CONFIDENCE)).any())
    return events


def main(quick: bool = False) -> None:
    """Run what is not there yet."""
    tally = Tally("calibration_many")
    done = tally.draws()
    cells = itertools.product(enumerate(NOISES.items()), DRAWS, zip(itertools.count(), COUNTS))
    for (number, (law, noises_of)), m, (place, p) in cells:
        name, n = f"{law}, p = {p}", 20 if quick else DRAWS[m][place]
        if law != "tied":
            n = n // 2  # the level is what these are not about
        if done.get((name, m), 0) >= n or (law != "tied" and (p == 5 or (p, m) == (100, 200))):
            continue
        noises = noises_of(p).astype(float)
        truth = true_values(noises)
        events: Counter[str] = Counter()
        for at in range(n):
            events.update(events_of(noises, m, [3, number, p, m, at], truth))
        tally.add(name, m, {("cka", "", what): (count, n) for what, count in events.items()})


if __name__ == "__main__":
    main()
