"""One dependence in independent groups: level, both tails, power and coverage by simulation.

    python benchmarks/calibration_between.py            # run what is missing
    python benchmarks/calibration_between.py --quick    # few draws, for a trial

Kernels are fitted on all rows of a sample, as :func:`reldep.groups` does, for many samples at
once. Counts go to ``benchmarks/results/calibration_between.csv``; the section of
``docs/calibration.md`` is written from them by ``benchmarks/calibration.py --page``.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import batched
import numpy as np
from batched import Array, Stack
from counting import Rates, Tally
from scipy.special import stdtrit

from reldep.stats.groups import Groups

Generator = np.random.Generator
# Draw B samples of m rows of x and y.
Draw = Callable[[Generator, int, int], tuple[Array, Array]]
LEVEL = 0.05
DRAWS = 2_000
# Rows of all samples that are drawn at once, squared.
BATCH = 4_000_000
PAIR = ("x", "y")
KERNELS = {
    "cka": batched.laplace(batched.mean_scale),
    "hsic": batched.laplace(batched.mean_scale),
    "dcor": batched.negative_distance,
}


def normal(rng: Generator, B: int, m: int, columns: int = 1) -> Array:
    return rng.normal(size=(B, m, columns))


def straight(noise: float, columns: int = 1, slope: float = 1.0) -> Draw:
    """Make y = ±x + noise."""

    def draw(rng: Generator, B: int, m: int) -> tuple[Array, Array]:
        x = normal(rng, B, m, columns)
        return x, slope * x + noise * normal(rng, B, m, columns)

    return draw


def curved(noise: float) -> Draw:
    """Make y = x² + noise."""

    def draw(rng: Generator, B: int, m: int) -> tuple[Array, Array]:
        x = normal(rng, B, m)
        return x, x**2 + noise * normal(rng, B, m)

    return draw


def skewed(noise: float) -> Draw:
    """Make y = x + noise, both exponential."""

    def draw(rng: Generator, B: int, m: int) -> tuple[Array, Array]:
        x = rng.exponential(size=(B, m, 1))
        return x, x + noise * rng.exponential(size=(B, m, 1))

    return draw


def heavy(noise: float) -> Draw:
    """Make y = x + noise, both Student's t with 3 degrees of freedom."""

    def draw(rng: Generator, B: int, m: int) -> tuple[Array, Array]:
        x = rng.standard_t(3, size=(B, m, 1))
        return x, x + noise * rng.standard_t(3, size=(B, m, 1))

    return draw


def counts(rng: Generator, B: int, m: int) -> tuple[Array, Array]:
    """Draw two counts with one rate."""
    rate = 2.0 * rng.gamma(2.0, size=(B, m, 1))
    return rng.poisson(rate).astype(float), rng.poisson(rate).astype(float)


def sine(rng: Generator, B: int, m: int) -> tuple[Array, Array]:
    """Draw two periods of a sine with noise."""
    x = rng.uniform(-np.pi, np.pi, size=(B, m, 1))
    return x, np.sin(2 * x) + 0.5 * normal(rng, B, m)


def signs(noise: float) -> Draw:
    """Make y = ±x + noise, with a sign of its own in every row."""

    def draw(rng: Generator, B: int, m: int) -> tuple[Array, Array]:
        x = normal(rng, B, m)
        return x, np.sign(normal(rng, B, m)) * np.abs(x) + noise * normal(rng, B, m)

    return draw


def blended(ratio: float) -> Draw:
    """Make y nearly equal to x in one of 1 + ratio rows, and independent of it in the others."""

    def draw(rng: Generator, B: int, m: int) -> tuple[Array, Array]:
        x, y = normal(rng, B, m), normal(rng, B, m)
        alike = rng.uniform(size=(B, m, 1)) < 1.0 / (1.0 + ratio)
        return x, np.where(alike, x + 0.1 * normal(rng, B, m), y)

    return draw


@dataclass(frozen=True)
class Law:
    """The law of every group.

    Attributes
    ----------
    first, others : Draw
    chosen_on : bool
        Whether the law had a part in choosing the test.
    sizes : tuple of int or None
        Where the law was tuned for some sizes of groups.
    """

    first: Draw
    others: Draw
    chosen_on: bool = False
    sizes: tuple[tuple[int, ...], ...] = field(default=())


def alike(draw: Draw, chosen_on: bool = False) -> Law:
    """Make a law that all groups share."""
    return Law(draw, draw, chosen_on)


SIZES = ((20, 20), (20, 80), (40, 160), (20, 80, 40), (20, 20, 40, 40, 80))
NULLS = {
    "weak: y = x + 2ε": alike(straight(2.0), True),
    "linear: y = x + ε": alike(straight(1.0), True),
    "strong: y = x + 0.3ε": alike(straight(0.3), True),
    "curved: y = x² + ε": alike(curved(1.0), True),
    "skewed: exponential x and ε": alike(skewed(1.0)),
    "opposite: y = x + ε and -x + ε": Law(straight(1.0), straight(1.0, slope=-1.0)),
    "heavy-tailed: t₃": alike(heavy(1.0)),
    "counts with one rate": alike(counts),
    "five columns": alike(straight(1.5, 5)),
    "sine, two periods": alike(sine),
    "independent": alike(lambda rng, B, m: (normal(rng, B, m), normal(rng, B, m))),
}
# Laws with nothing in common but the CKA under the default kernel. The noise of the first group
# was tuned until both have the same, on samples of 900 rows, separately for sizes that give the
# joint bandwidth another mixture of the two laws.
EQUAL, FIRST_SMALL, SECOND_SMALL = ((20, 20),), ((20, 80), (40, 160)), ((80, 20), (160, 40))
UNLIKE = {
    "straight and curved": [
        Law(straight(1.073), curved(0.7), True, sizes)
        for sizes in (EQUAL, FIRST_SMALL, SECOND_SMALL)
    ],
    "straight and random signs": [
        Law(straight(noise), signs(0.2), False, sizes)
        for noise, sizes in ((1.110, EQUAL), (1.073, FIRST_SMALL), (1.147, SECOND_SMALL))
    ],
    "a blend and straight": [
        Law(blended(ratio), straight(1.0), False, sizes)
        for ratio, sizes in ((0.888, EQUAL), (0.868, FIRST_SMALL), (0.928, SECOND_SMALL))
    ],
    "straight and skewed": [
        Law(straight(noise), skewed(0.5), False, sizes)
        for noise, sizes in ((0.498, EQUAL), (0.492, FIRST_SMALL), (0.498, SECOND_SMALL))
    ],
}
ALTERNATIVES = {
    "y = x + 0.7ε, others 1.5ε": Law(straight(0.7), straight(1.5)),
    "y = x + 1.5ε, others 0.7ε": Law(straight(1.5), straight(0.7)),
    "y = x + 0.3ε, others 0.5ε": Law(straight(0.3), straight(0.5)),
    "y = x + ε, others 3ε": Law(straight(1.0), straight(3.0)),
}


def joined_groups(
    law: Law, sizes: tuple[int, ...], rng: Generator, B: int, measure: str
) -> list[Groups]:
    """Draw samples and put the groups of each together."""
    drawn = [(law.first if g == 0 else law.others)(rng, B, m) for g, m in enumerate(sizes)]
    kernels = [
        KERNELS[measure](np.concatenate(side, axis=1)).kernel for side in zip(*drawn, strict=True)
    ]
    found = []
    for start, stop in itertools.pairwise(np.cumsum((0, *sizes))):
        own = slice(int(start), int(stop))
        part = {name: Stack(K[:, own, own].copy()) for name, K in zip("xy", kernels, strict=True)}
        found.append(batched.influence(part))
    usable = np.all([part.usable() for part in found], axis=0)
    estimates = [part.keep(usable).estimates([PAIR], measure) for part in found]
    return [Groups.of([one.only([b]) for one in estimates]) for b in range(int(usable.sum()))]


def population(law: Law, sizes: tuple[int, ...], measure: str) -> float:
    """Give the true difference of the first two groups, from samples of many times the rows."""
    times = max(1, 400 // max(sizes))
    large = tuple(times * m for m in sizes)
    values = []
    for at in range(60):
        found = joined_groups(law, large, np.random.default_rng([62, *sizes, at]), 2, measure)
        values += [one.values[0] - one.values[1] for one in found]
    return float(np.mean(values))


def cell(
    law: Law, sizes: tuple[int, ...], measure: str, draws: int, truth: float | None
) -> Counter[str]:
    """Count what the test and the intervals say."""
    events: Counter[str] = Counter()
    rng = np.random.default_rng([61, *sizes])
    while events["draws"] < draws:
        B = min(draws - events["draws"], max(1, BATCH // sum(sizes) ** 2))
        for groups in joined_groups(law, sizes, rng, B, measure):
            events["draws"] += 1
            rejected = groups.test().pvalue < LEVEL
            if len(sizes) > 2:
                events["rejected"] += rejected
                adjusted = groups.differences(400, rng).adjusted
                events["some pair"] += bool((adjusted < LEVEL).any())
                continue
            side = "upper" if groups.values[0] > groups.values[1] else "lower"
            events[side] += rejected
            if truth is not None:
                root, df = groups.pairs(np.array([[0, 1]])).roots(truth / groups.unit)
                events["covered"] += abs(root[0]) <= -stdtrit(df[0], LEVEL / 2)
    return events


SECTION = """\
## Between independent groups

Level at 5% of the test that all groups have one dependence, for groups of these numbers of rows;
{draws:,} samples, so that a rate of .05 is known to ±.01. For two groups in brackets both tails,
.025 each being right: "stronger in the first" / "weaker in the first". Laws marked with a star had
a part in choosing the test, on other samples; the others had none.

{nulls}

The same for the other measures, without the tails.

{others}

Two groups with nothing in common but their CKA:

{unlike}

Power, and in brackets the share of 95% intervals of the difference that contain the truth:

{powers}

What was tried. Jackknife-t with Welch's degrees of freedom rejected up to .085 where groups
differ in size, nearly all of it in one tail. A score test at the value in common, the first
default, kept to .03 or less at 20 and 20 rows (but for "strong") and erred in one tail only
(.026 / .006 for "weak" with 40 and 160). The quasi-likelihood with the same variances had even
tails and levels of .021 to .053. Its variances of CKA were up to 1.6 times too large for 20
rows, because a part of the jackknife variance is divided by an estimate that may be near 0; with
both averaged over the groups first, as now, they are up to 1.4 times too large. Every group
borrows 4 degrees of freedom from all: 8 did as well, and 4 were taken after a first look at
"straight and random signs", where 8 rejected .067 to .070. Counting what is borrowed as degrees
of freedom raised the level to .06 and was left out.
"""


def shown_cell(rates: Rates, name: str, sizes: tuple[int, ...], measure: str, tails: bool) -> str:
    from calibration_tables import shown

    which = "-".join(map(str, sizes))
    if len(sizes) > 2:
        return shown(rates(name, sum(sizes), measure, which, "rejected"))
    sides = [rates(name, sum(sizes), measure, which, side) for side in ("upper", "lower")]
    if all(side is None for side in sides):
        return "–"
    total = shown(sum(side or 0.0 for side in sides))
    return f"{total} ({' / '.join(shown(side or 0.0) for side in sides)})" if tails else total


def section() -> str:
    """Write the section of the page of calibration."""
    from calibration_tables import markdown, shown

    rates = Rates(Tally("calibration_between").rows())
    heads = [", ".join(map(str, sizes)) for sizes in SIZES]
    stars = {name: name + (" *" if law.chosen_on else "") for name, law in NULLS.items()}
    nulls = [
        [stars[name], *(shown_cell(rates, name, sizes, "cka", True) for sizes in SIZES)]
        for name in NULLS
    ]
    others = [
        [stars[name], measure] + [shown_cell(rates, name, sizes, measure, False) for sizes in SIZES]
        for name in NULLS
        for measure in ("hsic", "dcor")
    ]
    pairs = [*EQUAL, *FIRST_SMALL, *SECOND_SMALL]
    unlike = [
        [name + (" *" if laws[0].chosen_on else "")]
        + [shown_cell(rates, name, sizes, "cka", True) for sizes in pairs]
        for name, laws in UNLIKE.items()
    ]

    def power(name: str, sizes: tuple[int, ...], measure: str) -> str:
        which = "-".join(map(str, sizes))
        found = shown_cell(rates, name, sizes, measure, False)
        covered = rates(name, sum(sizes), measure, which, "covered")
        return found if covered is None else f"{found} ({shown(covered)})"

    powers = [
        [name, measure, *(power(name, sizes, measure) for sizes in SIZES)]
        for name in ALTERNATIVES
        for measure in KERNELS
    ]
    return SECTION.format(
        draws=DRAWS,
        nulls=markdown(["law", *heads], nulls),
        others=markdown(["law", "measure", *heads], others),
        unlike=markdown(["laws", *(", ".join(map(str, sizes)) for sizes in pairs)], unlike),
        powers=markdown(["alternative", "measure", *heads], powers),
    )


def main(quick: bool = False) -> None:
    """Run what is not there yet."""
    tally = Tally("calibration_between")
    draws = 20 if quick else DRAWS
    cells = [
        (name, law, sizes, tuple(KERNELS), name in ALTERNATIVES)
        for name, law in {**NULLS, **ALTERNATIVES}.items()
        for sizes in SIZES
    ]
    cells += [
        (name, law, sizes, ("cka",), False)
        for name, laws in UNLIKE.items()
        for law in laws
        for sizes in law.sizes
    ]
    done = {(row["law"], row["method"]) for row in tally.rows()}
    for name, law, sizes, measures, is_alternative in cells:
        which = "-".join(map(str, sizes))
        if (name, which) in done:
            continue
        counts = dict(tally.counts(name, sum(sizes)))
        for measure in measures:
            wants_truth = is_alternative and len(sizes) == 2
            truth = population(law, sizes, measure) if wants_truth else None
            events = cell(law, sizes, measure, draws, truth)
            total = events.pop("draws")
            counts |= {(measure, which, what): (n, total) for what, n in events.items()}
        tally.add(name, sum(sizes), counts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
