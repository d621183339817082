"""Cautions: how often each is given where it should be, and where it should not.

The package answers, as a user would ask, and its cautions are counted. The laws here had no part
in the choice of thresholds, which were set on normal autoregressive series, on normal rows in
blocks and on Poisson counts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from laws import autoregression
from tables import Cell, Generator

import reldep
from reldep import exceptions
from reldep.kernels import Gaussian

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Array = np.ndarray
Sample = tuple[Array, ...]


def three(one: Callable[[], Array]) -> Sample:
    """Draw a source and two targets with noise of the same kind."""
    x = one()
    return x, x + one(), x + one()


def series(rng: Generator, m: int, memory: float, columns: int = 1) -> Array:
    """Draw autoregressions in columns."""
    return np.column_stack([autoregression(rng, m, memory) for _ in range(columns)])


def counts_in_time(rng: Generator, m: int) -> Sample:
    rate = np.exp(1.0 + 0.7 * series(rng, m, 0.9))
    return tuple(rng.poisson(rate).astype(float) for _ in range(3))


def yearly(rng: Generator, m: int) -> Sample:
    wave = np.sin(2 * np.pi * np.arange(m) / 24)[:, None]
    return three(lambda: wave + 0.5 * rng.gamma(2.0, size=(m, 5)))


def subjects(rng: Generator, m: int, size: int, share: float) -> Sample:
    who = np.arange(m) // size

    def one() -> Array:
        common, own = rng.gamma(2.0, size=who.max() + 1)[who], rng.gamma(2.0, size=m)
        return np.sqrt(share) * common + np.sqrt(1 - share) * own

    return three(one)


def rows(rng: Generator, m: int, law: str) -> Sample:
    """Draw independent rows."""
    if law == "t2":
        return three(lambda: rng.standard_t(2, size=m))
    if law == "gamma":
        return three(lambda: rng.gamma(1.5, size=m))
    if law == "seven levels":
        return tuple(np.clip(np.round(v + 4), 1, 7) for v in three(lambda: rng.normal(size=m)))
    if law == "zero-inflated":
        return three(lambda: 1.0 * rng.poisson(2.0, size=m) * (rng.uniform(size=m) < 0.6))
    if law == "rounded":
        return tuple(np.round(v, 1) for v in three(lambda: rng.normal(size=m)))
    if law == "ages":
        x = rng.integers(18, 80, size=m).astype(float)
        return x, np.round(x + 7 * rng.normal(size=m)), np.round(x + 7 * rng.normal(size=m))
    labels = rng.integers(0, 3, size=m)
    y, z = (labels + rng.normal(size=(2, m))).astype(float)
    return np.array(["a", "b", "c"])[labels], y, z


def sorted_by(rng: Generator, m: int, law: str, by: str) -> Sample:
    sample = rows(rng, m, law)
    key = sample[0] if by == "source" else sample[1]
    if by == "unused column":
        key = np.asarray(sample[0], dtype=float) + rng.normal(size=m)
    order = np.argsort(key, kind="stable")
    return tuple(values[order if by != "falling" else order[::-1]] for values in sample)


def copied(rng: Generator, m: int, times: int) -> Sample:
    chosen = rng.permutation(np.resize(np.arange(m // times), m))
    return tuple(values[chosen] for values in rows(rng, m // times, "gamma"))


def some_copied(rng: Generator, m: int, share: float) -> Sample:
    fresh = round(m * (1 - share))
    chosen = np.r_[np.arange(fresh), rng.integers(0, fresh, size=m - fresh)]
    return tuple(values[chosen] for values in rows(rng, fresh, "t2"))


def columns(rng: Generator, m: int, counts: tuple[int, int], noises: tuple[float, float]) -> Sample:
    x = rng.normal(size=m)
    pairs = zip(counts, noises, strict=True)
    return x, *(x[:, None] + noise * rng.normal(size=(m, count)) for count, noise in pairs)


def in_units(rng: Generator, m: int, factor: float) -> Sample:
    x, y, z = three(lambda: rng.normal(size=m))
    return x, x + 1.5 * (y - x), factor * (x + 0.7 * (z - x))


WHOLE_NUMBERS: dict[str, Callable[[Generator, int], Array]] = {
    "Poisson(1)": lambda r, m: r.poisson(1.0, size=m),
    "Poisson(4)": lambda r, m: r.poisson(4.0, size=m),
    "Poisson(9)": lambda r, m: r.poisson(9.0, size=m),
    "binomial(10, 0.4)": lambda r, m: r.binomial(10, 0.4, size=m),
    "four levels": lambda r, m: r.integers(0, 4, size=m),
    "seven levels": lambda r, m: r.integers(0, 7, size=m),
    "geometric(0.3)": lambda r, m: r.geometric(0.3, size=m),
}


def whole_numbers(rng: Generator, m: int, law: str) -> Sample:
    x = WHOLE_NUMBERS[law](rng, m)
    noise = rng.normal(size=(2, m))
    return x.astype(float), x + noise[0], x + noise[1]


def nearly(rng: Generator, m: int, image: Callable[[Array, Array], Array]) -> Sample:
    x, noise = rng.gamma(2.0, size=m), rng.normal(size=(2, m))
    return x, image(x, noise[0]), x + noise[1]


def square(rng: Generator, m: int) -> Sample:
    x = rng.normal(size=m)
    return x, x**2, x + rng.normal(size=m)


def clusters(rng: Generator, m: int, count: int) -> Sample:
    return (*subjects(rng, m, m // count, 0.3), np.arange(m) // (m // count))


@dataclass(frozen=True)
class Kind:
    """A caution, the samples for which it is due (or a rule), and those for which it is not."""

    warning: type[exceptions.ReldepWarning]
    due: dict[str, Callable[[Generator, int], Sample]]
    not_due: dict[str, Callable[[Generator, int], Sample]] = field(default_factory=dict)
    text: str = ""
    rule: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    is_tied: bool = False  # What is rejected is the level of the test.
    sizes: tuple[int, ...] = (50, 100, 200)


def independent(*laws: str) -> dict[str, Any]:
    return {f"independent rows, {law}": lambda r, m, law=law: rows(r, m, law) for law in laws}


HSIC = {"measure": "hsic"}
LINEAR = {**HSIC, "kernel": "linear"}
KINDS = {
    "rows next to each other": Kind(
        exceptions.DependentRowsWarning,
        {
            "log-normal series, AR(0.5)": lambda r, m: three(lambda: np.exp(series(r, m, 0.5))),
            "log-normal series, AR(0.8)": lambda r, m: three(lambda: np.exp(series(r, m, 0.8))),
            "series in 5 columns, AR(0.8)": lambda r, m: three(lambda: series(r, m, 0.8, 5)),
            "counts with an AR(0.9) rate": counts_in_time,
            "random walk with t3 steps": lambda r, m: three(
                lambda: np.cumsum(r.standard_t(3, size=m))
            ),
            "yearly wave in 5 columns": yearly,
            "subjects of 5 rows, share 0.6": lambda r, m: subjects(r, m, 5, 0.6),
            "subjects of 10 rows, share 0.4": lambda r, m: subjects(r, m, 10, 0.4),
        },
        {
            **independent("t2", "gamma", "seven levels", "zero-inflated", "labels"),
            "sorted by the source, gamma": lambda r, m: sorted_by(r, m, "gamma", "source"),
            "sorted by the source, ages": lambda r, m: sorted_by(r, m, "ages", "source"),
            "sorted by a target, falling": lambda r, m: sorted_by(r, m, "t2", "falling"),
            "in blocks by the source's label": lambda r, m: sorted_by(r, m, "labels", "source"),
            "sorted by a column not used": lambda r, m: sorted_by(r, m, "gamma", "unused column"),
        },
        is_tied=True,
    ),
    "copied rows": Kind(
        exceptions.RepeatedRowsWarning,
        {
            "every row twice": lambda r, m: copied(r, m, 2),
            "every row four times": lambda r, m: copied(r, m, 4),
            "a fifth of the rows copied": lambda r, m: some_copied(r, m, 0.2),
        },
        {
            "one row in 20 copied": lambda r, m: some_copied(r, m, 0.05),
            **independent("seven levels", "zero-inflated", "rounded", "ages", "labels"),
        },
        is_tied=True,
    ),
    "raw HSIC against CKA": Kind(
        exceptions.MeasureWarning,
        {
            "1 column against 20, noise 1 and 2.5": lambda r, m: columns(r, m, (1, 20), (1, 2.5)),
            "1 column against 5, noise 1 and 1": lambda r, m: columns(r, m, (1, 5), (1, 1)),
            "alike targets, noise 1 and 1": lambda r, m: columns(r, m, (1, 1), (1, 1)),
            "alike targets, noise 0.6 and 1.4": lambda r, m: columns(r, m, (2, 2), (0.6, 1.4)),
            "linear kernel, units × 10": lambda r, m: in_units(r, m, 10.0),
            "linear kernel, units × 0.1": lambda r, m: in_units(r, m, 0.1),
            "linear kernel, same units": lambda r, m: in_units(r, m, 1.0),
        },
        rule="disagree",
        options=HSIC,
    ),
    "median that jumps": Kind(
        exceptions.BandwidthWarning,
        {law: lambda r, m, law=law: whole_numbers(r, m, law) for law in WHOLE_NUMBERS},
        text="may jump",
        rule="jumps",
        options={"kernel": Gaussian()},
    ),
    "almost a copy": Kind(
        exceptions.CopyWarning,
        {
            "source + 1% of noise": lambda r, m: nearly(r, m, lambda x, e: x + 0.01 * e),
            "source rounded to 2 digits": lambda r, m: nearly(r, m, lambda x, _: np.round(x, 2)),
        },
        {
            "source + 10% of noise": lambda r, m: nearly(r, m, lambda x, e: x + 0.1 * e),
            "square of the source": square,
        },
    ),
    "few clusters": Kind(
        exceptions.FewUnitsWarning,
        {"10 clusters": lambda r, m: clusters(r, m, 10)},
        {"50 clusters": lambda r, m: clusters(r, m, 50)},
        text="clusters",
        sizes=(100,),
    ),
}


def ask(kind: Kind, words: str, sample: Sample, **changed: Any) -> Any:
    """Ask the question as a user would; the cautions are in the answer."""
    options = {**(LINEAR if "linear" in words else kind.options), **changed}
    if len(sample) == 4:
        options["clusters"] = sample[3]
    return reldep.compare(*sample[:3], **options)


def one(kind: Kind, words: str, m: int, rng: Generator) -> Counter[str]:
    """Count in one sample whether the caution was due, was given, and the tie rejected."""
    due = words in kind.due
    sample = ({**kind.due, **kind.not_due})[words](rng, m)
    answer = ask(kind, words, sample)
    if kind.rule == "disagree":
        other = ask(kind, words, sample, measure="cka")
        significant = [found.pvalue < 0.05 for found in (answer, other)]
        opposite = answer.estimate * other.estimate < 0
        due = significant[0] != significant[1] or (all(significant) and opposite)
    elif kind.rule == "jumps":
        due = jump_share(words, m) > 0.05
    given = any(isinstance(w, kind.warning) and kind.text in str(w) for w in answer.warnings)
    name = "due" if due else "not due"
    events = Counter({name: 1, f"{name}, given": int(given)})
    if kind.is_tied:
        events[f"{name}, rejected"] = int(answer.pvalue < 0.05)
    return events


@cache
def jump_share(law: str, m: int) -> float:
    """Return the chance that two samples of a law have different median distances."""
    medians = []
    for at in range(100):
        x = WHOLE_NUMBERS[law](np.random.default_rng([14, m, at]), m)
        medians.append(np.median(np.abs(x[:, None] - x)[np.triu_indices(m, 1)]))
    _, counts = np.unique(medians, return_counts=True)
    return float(1.0 - ((counts / counts.sum()) ** 2).sum())


def caution_cells() -> Iterator[Cell]:
    """Yield the situations of every caution."""
    for name, kind in KINDS.items():
        for words in (*kind.due, *kind.not_due):
            for m in kind.sizes:

                def draw(rng: Generator, kind=kind, words=words, m=m) -> Counter[str]:
                    return one(kind, words, m, rng)

                yield Cell("cautions", f"{name}: {words}", str(m), 40, draw)
