"""Cautions: how often each is given where it should be, and where it should not.

The package answers, as a user would ask, and its cautions are counted. The laws here had no part
in the choice of thresholds, which were set on normal autoregressive series, on normal rows in
blocks and on Poisson counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from counting import Counts, Tally
from scipy.signal import lfilter

import reldep
from reldep import exceptions
from reldep.kernels import Gaussian

Generator = np.random.Generator
Draw = Callable[[Generator, int], tuple[Any, ...]]
DRAWS = (100, 300)


@dataclass(frozen=True)
class Situation:
    """Data for which a caution is due, or is not."""

    caution: str
    words: str
    due: bool | str
    draw: Draw
    options: dict[str, Any] = field(default_factory=dict)
    sizes: tuple[int, ...] = (50, 100, 200)


def ar(rng: Generator, m: int, memory: float, columns: int = 1) -> np.ndarray:
    steps = rng.normal(size=(m + 200, columns)) * np.sqrt(1 - memory**2)
    return lfilter([1.0], [1.0, -memory], steps, axis=0)[200:]


def three(one: Callable[[], np.ndarray]) -> tuple[np.ndarray, ...]:
    """Draw a source and two targets with noise of the same kind."""
    x = one()
    return x, x + one(), x + one()


def counts_in_time(rng: Generator, m: int) -> tuple[np.ndarray, ...]:
    rate = np.exp(1.0 + 0.7 * ar(rng, m, 0.9))
    return tuple(rng.poisson(rate).astype(float) for _ in range(3))


def walk(rng: Generator, m: int) -> tuple[np.ndarray, ...]:
    return three(lambda: np.cumsum(rng.standard_t(3, size=m)))


def season(rng: Generator, m: int) -> tuple[np.ndarray, ...]:
    wave = np.sin(2 * np.pi * np.arange(m) / 24)[:, None]
    return three(lambda: wave + 0.5 * rng.gamma(2.0, size=(m, 5)))


def subjects(rng: Generator, m: int, size: int, share: float) -> tuple[np.ndarray, ...]:
    who = np.arange(m) // size

    def one() -> np.ndarray:
        common, own = rng.gamma(2.0, size=who.max() + 1)[who], rng.gamma(2.0, size=m)
        return np.sqrt(share) * common + np.sqrt(1 - share) * own

    return three(one)


def independent_rows(rng: Generator, m: int, law: str) -> tuple[np.ndarray, ...]:
    if law == "t2":
        return three(lambda: rng.standard_t(2, size=m))
    if law == "gamma":
        return three(lambda: rng.gamma(1.5, size=m))
    if law == "seven levels":
        return tuple(np.clip(np.round(v + 4), 1, 7) for v in three(lambda: rng.normal(size=m)))
    if law == "zero-inflated":
        x, y, z = three(lambda: rng.poisson(2.0, size=m) * (rng.uniform(size=m) < 0.6))
        return x.astype(float), y.astype(float), z.astype(float)
    if law == "rounded":
        return tuple(np.round(v, 1) for v in three(lambda: rng.normal(size=m)))
    if law == "ages":
        x = rng.integers(18, 80, size=m).astype(float)
        return x, np.round(x + 7 * rng.normal(size=m)), np.round(x + 7 * rng.normal(size=m))
    labels = rng.integers(0, 3, size=m)
    y, z = (labels + rng.normal(size=(2, m))).astype(float)
    return np.array(["a", "b", "c"])[labels], y, z


def sorted_by(rng: Generator, m: int, law: str, by: str) -> tuple[np.ndarray, ...]:
    sample = independent_rows(rng, m, law)
    key = sample[0] if by == "source" else sample[1]
    if by == "unused column":
        key = np.asarray(sample[0], dtype=float) + rng.normal(size=m)
    order = np.argsort(key, kind="stable")
    return tuple(values[order if by != "falling" else order[::-1]] for values in sample)


def copied(rng: Generator, m: int, times: int) -> tuple[np.ndarray, ...]:
    rows = rng.permutation(np.resize(np.arange(m // times), m))
    return tuple(values[rows] for values in independent_rows(rng, m // times, "gamma"))


def some_copied(rng: Generator, m: int, share: float) -> tuple[np.ndarray, ...]:
    fresh = round(m * (1 - share))
    rows = np.r_[np.arange(fresh), rng.integers(0, fresh, size=m - fresh)]
    return tuple(values[rows] for values in independent_rows(rng, fresh, "t2"))


def columns_of(rng: Generator, m: int, counts: tuple[int, int], noises: tuple[float, float]):
    x = rng.normal(size=m)
    y, z = (
        x[:, None] + noise * rng.normal(size=(m, count))
        for count, noise in zip(counts, noises, strict=True)
    )
    return x, y, z


def in_units(rng: Generator, m: int, factor: float) -> tuple[np.ndarray, ...]:
    x, y, z = three(lambda: rng.normal(size=m))
    return x, x + 1.5 * (y - x), factor * (x + 0.7 * (z - x))


def integers(rng: Generator, m: int, law: str) -> tuple[np.ndarray, ...]:
    draws = {
        "Poisson(1)": lambda: rng.poisson(1.0, size=m),
        "Poisson(4)": lambda: rng.poisson(4.0, size=m),
        "Poisson(9)": lambda: rng.poisson(9.0, size=m),
        "binomial(10, 0.4)": lambda: rng.binomial(10, 0.4, size=m),
        "four levels": lambda: rng.integers(0, 4, size=m),
        "seven levels": lambda: rng.integers(0, 7, size=m),
        "geometric(0.3)": lambda: rng.geometric(0.3, size=m),
    }[law]
    x = draws()
    noise = rng.normal(size=(2, m))
    return x.astype(float), x + noise[0], x + noise[1]


def clustered(rng: Generator, m: int, count: int) -> tuple[np.ndarray, ...]:
    return (*subjects(rng, m, m // count, 0.3), np.arange(m) // (m // count))


NEIGHBOURS, COPIES, MEASURE = "rows next to each other", "copied rows", "raw HSIC against CKA"
MEDIAN, NEAR, CLUSTERS = "median that jumps", "almost a copy", "few clusters"
# Here both targets depend equally on the source: what is rejected is the level of the test.
TIED = (NEIGHBOURS, COPIES)
HSIC = {"measure": "hsic", "alternative": "two-sided"}
SITUATIONS = [
    Situation(
        NEIGHBOURS,
        "log-normal series, AR(0.5)",
        True,
        lambda r, m: three(lambda: np.exp(ar(r, m, 0.5))),
    ),
    Situation(
        NEIGHBOURS,
        "log-normal series, AR(0.8)",
        True,
        lambda r, m: three(lambda: np.exp(ar(r, m, 0.8))),
    ),
    Situation(
        NEIGHBOURS,
        "series in 5 columns, AR(0.8)",
        True,
        lambda r, m: three(lambda: ar(r, m, 0.8, 5)),
    ),
    Situation(NEIGHBOURS, "counts with an AR(0.9) rate", True, counts_in_time),
    Situation(NEIGHBOURS, "random walk with t3 steps", True, walk),
    Situation(NEIGHBOURS, "yearly wave in 5 columns", True, season),
    Situation(
        NEIGHBOURS, "subjects of 5 rows, share 0.6", True, lambda r, m: subjects(r, m, 5, 0.6)
    ),
    Situation(
        NEIGHBOURS, "subjects of 10 rows, share 0.4", True, lambda r, m: subjects(r, m, 10, 0.4)
    ),
    *[
        Situation(
            NEIGHBOURS,
            f"independent rows, {law}",
            False,
            lambda r, m, law=law: independent_rows(r, m, law),
        )
        for law in ("t2", "gamma", "seven levels", "zero-inflated", "labels")
    ],
    Situation(
        NEIGHBOURS,
        "sorted by the source, gamma",
        False,
        lambda r, m: sorted_by(r, m, "gamma", "source"),
    ),
    Situation(
        NEIGHBOURS,
        "sorted by the source, ages",
        False,
        lambda r, m: sorted_by(r, m, "ages", "source"),
    ),
    Situation(
        NEIGHBOURS,
        "sorted by a target, falling",
        False,
        lambda r, m: sorted_by(r, m, "t2", "falling"),
    ),
    Situation(
        NEIGHBOURS,
        "in blocks by the source's label",
        False,
        lambda r, m: sorted_by(r, m, "labels", "source"),
    ),
    Situation(
        NEIGHBOURS,
        "sorted by a column not used",
        False,
        lambda r, m: sorted_by(r, m, "gamma", "unused column"),
    ),
    Situation(COPIES, "every row twice", True, lambda r, m: copied(r, m, 2)),
    Situation(COPIES, "every row four times", True, lambda r, m: copied(r, m, 4)),
    Situation(COPIES, "a fifth of the rows copied", True, lambda r, m: some_copied(r, m, 0.2)),
    Situation(COPIES, "one row in 20 copied", False, lambda r, m: some_copied(r, m, 0.05)),
    *[
        Situation(
            COPIES,
            f"independent rows, {law}",
            False,
            lambda r, m, law=law: independent_rows(r, m, law),
        )
        for law in ("seven levels", "zero-inflated", "rounded", "ages", "labels")
    ],
    Situation(
        MEASURE,
        "1 column against 20, noise 1 and 2.5",
        "disagree",
        lambda r, m: columns_of(r, m, (1, 20), (1.0, 2.5)),
        HSIC,
    ),
    Situation(
        MEASURE,
        "1 column against 5, noise 1 and 1",
        "disagree",
        lambda r, m: columns_of(r, m, (1, 5), (1.0, 1.0)),
        HSIC,
    ),
    Situation(
        MEASURE,
        "alike targets, noise 1 and 1",
        "disagree",
        lambda r, m: columns_of(r, m, (1, 1), (1.0, 1.0)),
        HSIC,
    ),
    Situation(
        MEASURE,
        "alike targets, noise 0.6 and 1.4",
        "disagree",
        lambda r, m: columns_of(r, m, (2, 2), (0.6, 1.4)),
        HSIC,
    ),
    Situation(
        MEASURE,
        "linear kernel, units × 10",
        "disagree",
        lambda r, m: in_units(r, m, 10.0),
        {**HSIC, "kernel": "linear"},
    ),
    Situation(
        MEASURE,
        "linear kernel, units × 0.1",
        "disagree",
        lambda r, m: in_units(r, m, 0.1),
        {**HSIC, "kernel": "linear"},
    ),
    Situation(
        MEASURE,
        "linear kernel, same units",
        "disagree",
        lambda r, m: in_units(r, m, 1.0),
        {**HSIC, "kernel": "linear"},
    ),
    *[
        Situation(
            MEDIAN, law, "jumps", lambda r, m, law=law: integers(r, m, law), {"kernel": Gaussian()}
        )
        for law in (
            "Poisson(1)",
            "Poisson(4)",
            "Poisson(9)",
            "binomial(10, 0.4)",
            "four levels",
            "seven levels",
            "geometric(0.3)",
        )
    ],
    Situation(
        NEAR,
        "source + 1% of noise",
        True,
        lambda r, m: (lambda x: (x, x + 0.01 * r.normal(size=m), x + r.normal(size=m)))(
            r.gamma(2.0, size=m)
        ),
    ),
    Situation(
        NEAR,
        "source rounded to 2 digits",
        True,
        lambda r, m: (lambda x: (x, np.round(x, 2), x + r.normal(size=m)))(r.gamma(2.0, size=m)),
    ),
    Situation(
        NEAR,
        "source + 10% of noise",
        False,
        lambda r, m: (lambda x: (x, x + 0.1 * r.normal(size=m), x + r.normal(size=m)))(
            r.gamma(2.0, size=m)
        ),
    ),
    Situation(
        NEAR,
        "square of the source",
        False,
        lambda r, m: (lambda x: (x, x**2, x + r.normal(size=m)))(r.normal(size=m)),
    ),
    Situation(CLUSTERS, "10 clusters", True, lambda r, m: clustered(r, m, 10), sizes=(100,)),
    Situation(CLUSTERS, "50 clusters", False, lambda r, m: clustered(r, m, 50), sizes=(100,)),
]
SIGNS = {
    NEIGHBOURS: (exceptions.DependentRowsWarning, ""),
    COPIES: (exceptions.RepeatedRowsWarning, ""),
    MEASURE: (exceptions.MeasureWarning, ""),
    MEDIAN: (exceptions.BandwidthWarning, "may jump"),
    NEAR: (exceptions.CopyWarning, ""),
    CLUSTERS: (exceptions.FewUnitsWarning, "clusters"),
}


def ask(situation: Situation, sample: tuple[Any, ...], **changed: Any) -> Any:
    """Ask the question as a user would; the cautions are in the answer."""
    options = {**situation.options, **changed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if situation.caution == CLUSTERS:
            return reldep.compare(*sample[:3], clusters=sample[3], **options)
        return reldep.compare(*sample, **options)


def is_given(situation: Situation, answer: Any) -> bool:
    kind, words = SIGNS[situation.caution]
    return any(isinstance(w, kind) and words in str(w) for w in answer.warnings)


def is_due(situation: Situation, sample: tuple[Any, ...], answer: Any, usual: float) -> bool:
    """Return whether the caution should be given for this sample."""
    if situation.due == "disagree":
        other = ask(situation, sample, measure="cka")
        significant = [one.pvalue < 0.05 for one in (answer, other)]
        opposite = answer.estimate * other.estimate < 0
        return significant[0] != significant[1] or (all(significant) and opposite)
    if situation.due == "jumps":
        return usual > 0.05
    return bool(situation.due)


def jump_share(situation: Situation, m: int) -> float:
    """Return the chance that two samples of a law have different median distances."""
    medians = []
    for at in range(100):
        x = situation.draw(np.random.default_rng([14, m, at]), m)[0]
        medians.append(np.median(np.abs(x[:, None] - x)[np.triu_indices(m, 1)]))
    _, counts = np.unique(medians, return_counts=True)
    return float(1.0 - ((counts / counts.sum()) ** 2).sum())


def simulate(situation: Situation, m: int, draws: range) -> Counts:
    """Count cautions given where they were due and where not."""
    usual = jump_share(situation, m) if situation.due == "jumps" else 0.0
    counted = {True: [0, 0, 0], False: [0, 0, 0]}
    for at in draws:
        rng = np.random.default_rng([13, sum(map(ord, situation.caution + situation.words)), m, at])
        sample = situation.draw(rng, m)
        answer = ask(situation, sample)
        cell = counted[is_due(situation, sample, answer, usual)]
        cell[0] += is_given(situation, answer)
        if situation.caution in TIED:
            cell[1] += answer.tested.pvalue() < 0.05
        cell[2] += 1
    return {
        (situation.caution, "due" if due else "not due", what): (count, total)
        for due, (given, rejected, total) in counted.items()
        for what, count in (("given", given), ("rejected", rejected))
        if total and (what == "given" or situation.caution in TIED)
    }


def main(quick: bool = False) -> None:
    """Run what is not there yet, a few samples of everything first."""
    tally = Tally("calibration_cautions")
    for upto in (20,) if quick else DRAWS:
        for situation in SITUATIONS:
            for m in situation.sizes:
                name = f"{situation.caution}: {situation.words}"
                old = tally.counts(name, m)
                stored = sum(of for key, (_, of) in old.items() if key[2] == "given")
                if stored < upto:
                    new = simulate(situation, m, range(stored, upto))
                    zero = (0.0, 0)
                    tally.add(
                        name,
                        m,
                        {
                            key: tuple(
                                map(sum, zip(old.get(key, zero), new.get(key, zero), strict=True))
                            )
                            for key in {**old, **new}
                        },
                    )


if __name__ == "__main__":
    main()
