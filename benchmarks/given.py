"""Level and power of questions with ``given=``, next to marginal answers and to true residuals.

    python benchmarks/calibration.py --only given     # ten minutes; the tables of given.md

"Two thresholds at once" is why joint steps are among the terms. No other of these laws had a part
in any choice. Joint steps were chosen on others: both of 2 of 6, one but not both of 5, three of 4,
a slope above a threshold in 10, steps in 2 of 10. The constants of ``reldep.engine.regression``
(penalties, undersmoothing, numbers of steps, hinges, terms and folds, what a spread must be worth)
were chosen after looking at other laws at 60 to 300 rows: steps in 2 of 10 and of 20 covariates,
curves in 2 of 15, a product in 5, a curve over the length of 4 of 10, 12 correlated covariates,
hinges in 6, numbers mixed with labels, 30 labels, and spreads by exp(w), a step, a label, w² and
one of ten covariates. The penalty on all columns of the spread was taken after looking at these
and at smooth curves, steps and sines of one number, 2 and 6 labels, unrelated covariates and a
skewness that flips. Features where the rest still depends on w, and the unevenness of products,
were chosen on numbers cut into 3 to 21 classes of equal size, Poisson counts, rounded and
zero-inflated numbers, and two classes, not on those of the table of shapes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
from simulation import Array, Cell, markdown, shown

import reldep
from reldep.exceptions import CovariatesWarning

# Rows, and how many samples of each law; fewer of the laws that are slow.
SIZES = {100: 200, 300: 60}
FEWER = {100: 60, 300: 25}
OFTEN = (
    *("a rise with age", "a threshold in counts"),
    *("log of a skewed dose", "20 unequal labels"),
)
# What of x and of both targets is beyond the covariates, by the share of noise.
BEYOND = {"null": None, "tie": (0.7, 0.7), "apart": (0.6, 1.6)}
COLUMNS = {
    "given": (
        *("null marginal", "null given", "null true", "tie marginal", "tie given", "tie true"),
        *("apart given", "apart true", "caution"),
    ),
    "given rules": ("null", "null silent", "tie", "tie silent", "caution"),
    "given shapes": ("null", "null silent", "tie", "tie silent", "caution"),
}


def laws(g: np.random.Generator, m: int) -> dict[str, tuple[tuple[Any, Any, Any], Any]]:
    """Return what w does to x, y and z, and w: a function of their noise, or what is added."""
    age, count = g.uniform(20, 80, m), g.poisson(3, m).astype(float)
    dose = g.lognormal(size=m)
    pair, eight, twelve = (g.normal(size=(m, p)) for p in (2, 8, 12))
    common = 0.8 * g.normal(size=(m, 1)) + 0.6 * g.normal(size=(m, 8))
    four = g.choice(4, m, p=[0.5, 0.3, 0.15, 0.05])
    share = 1 / np.arange(1, 21)
    twenty = g.choice(20, m, p=share / share.sum())
    shift = g.normal(size=20)[twenty]
    rise = 4 / (1 + np.exp(-(age - 50) / 5))
    both = (eight[:, 0] > 0) & (eight[:, 1] > 0)
    wave = np.cos(2 * pair[:, 0]) + np.sin(2 * pair[:, 1])
    bent = np.tanh(common.sum(axis=1) / 3)
    sines = 1.2 * (np.sin(2 * twelve[:, 0]) + np.sin(2 * twelve[:, 1]))
    slope = np.array([-1.5, 0.0, 1.0, 2.0])[four] * pair[:, 0]
    label = np.array(["a", "b", "c", "d"])[four]
    mixed = pl.DataFrame({"number": pair[:, 0], "label": label})
    wide = np.array([0.4, 0.8, 1.6, 3.0])[four]
    fan = 0.4 + np.abs(eight[:, 0])
    return {
        "a rise with age": ((rise, rise, 0), age),
        "a threshold in counts": ((3 * (count > 3), 2 * (count > 3) + count / 3, 0), count),
        "log of a skewed dose": ((np.log(dose), -2 * np.log(dose), 0), dose),
        "20 unequal labels": ((1.5 * shift, -2 * shift, 0), [f"g{k}" for k in twenty]),
        "slopes by label": ((slope, slope + four, 0), mixed),
        "waves in both of 2": ((wave, 1.5 * wave, 0), pair),
        "two thresholds at once, 8": ((2.5 * both, 2 * both, 0), eight),
        "the size of 1 of 8": ((np.abs(eight[:, 0]), 2 * np.abs(eight[:, 0]), 0), eight),
        "tanh of 8 correlated": ((2 * bent, 3 * bent, 0), common),
        "sines in 2 of 12": ((sines, sines, 0), twelve),
        "spread by 4 labels": ((("times", wide), ("times", wide), 0), label),
        "spread by the size of 1 of 8": ((("times", fan), ("times", fan), 0), eight),
    }


def rules(g: np.random.Generator, m: int) -> dict[str, tuple[Array, Array]]:
    """Return what w adds to x and y by rules that few rows hardly show, and w."""
    three, four, five, six, seven, ten = (g.normal(size=(m, p)) for p in (3, 4, 5, 6, 7, 10))
    length = np.hypot(five[:, 0], five[:, 1])
    high = {name: w > 0 for name, w in (("5", five), ("6", six), ("7", seven))}
    corners = (high["7"][:, :2].all(axis=1), ~high["7"][:, 2:4].any(axis=1))
    return {
        "a ring in 2 of 5": (2.5 * ((length > 0.7) & (length < 1.4)), five),
        "3 of 4 high at once": (3 * (four[:, :3] > -0.3).all(axis=1), four),
        "one but not both, of 5": (2.5 * (high["5"][:, 0] ^ high["5"][:, 1]), five),
        "two corners, of 7": (2.5 * corners[0] - 2.5 * corners[1], seven),
        "both high, of 6": (2.5 * high["6"][:, :2].all(axis=1), six),
        "steps in 2 of 10": (1.5 * (ten[:, 0] > 0) + 1.5 * (ten[:, 1] > 0.5), ten),
        "the larger of 2 of 6": (1.5 * six[:, :2].max(axis=1), six),
        "log of a ratio, 2 of 5": (np.log(np.abs(five[:, 0] / five[:, 1])), five),
        "sine of a sum, 2 of 3": (1.5 * np.sin(three[:, 0] + three[:, 1]), three),
        "straight, 2 of 6": (six[:, 0] + six[:, 1], six),
    }


def shapes(g: np.random.Generator) -> dict[str, Callable[[Array], Array]]:
    """Return how a number is observed, so that what w leaves of it has another shape by w."""
    return {
        "a rating from 1 to 4": lambda v: 1.0 + np.digitize(v, [-1.0, 0.6, 1.5]),
        "a scale from 0 to 10": lambda v: np.clip(np.round(2.5 * v + 6), 0, 10),
        "whole numbers": np.round,
        "counts with long tails": lambda v: g.poisson(g.gamma(2, np.exp(v) / 2)).astype(float),
        "half zeros": lambda v: np.expm1(np.maximum(v, 0)),
        "a limit of detection": lambda v: np.maximum(v, -0.8),
        "yes or no": lambda v: 1.0 * (v > 0.4),
        "a rare yes": lambda v: 1.0 * (v > 2),
    }


def moved(left: Array, how: Any) -> Array:
    """Return what w makes of a variable."""
    return left * how[1] if isinstance(how, tuple) else left + how


def sample(g: np.random.Generator, m: int, case: str) -> tuple[Array, Array, Array]:
    """Draw x, y and z beyond w; noise has the tails of Student's t with 8 degrees of freedom."""
    u, *noise = g.standard_t(8, size=(4, m))
    parts = BEYOND[case]
    if parts is None:
        return noise[0], 0.7 * noise[1], noise[2]
    return u + 0.5 * noise[0], u + parts[0] * noise[1], u + parts[1] * noise[2]


def asked(case: str, values: list[Array], **options: Any) -> Any:
    """Return the answer to the question of a case."""
    if case == "null":
        return reldep.dependence(*values[:2], **options)
    return reldep.compare(*values, names=("x", "y", "z"), **options)


class Given(Cell):
    """A law of covariates: how often answers reject in each case, and come with a caution."""

    def sample(self, at: int) -> Counter[str]:
        """Count answers in all cases: marginal, given w and of the true residuals."""
        m, events = int(self.size), Counter[str]()
        for number, case in enumerate(BEYOND):
            g = np.random.default_rng([m, at, number])
            how, w = laws(g, m)[self.law]
            true = [*sample(g, m, case)]
            if case == "tie" and isinstance(how[0], tuple):
                how = (0, how[1], 0)  # only the spread of y varies
            values = [moved(left, one) for left, one in zip(true, how, strict=True)]
            given = asked(case, values, given=w)
            answers = {"given": given, "true": asked(case, true), "marginal": asked(case, values)}
            for kind, answer in answers.items():
                events[f"{case} {kind}"] += answer.pvalue < 0.05
            if case == "tie":
                events["caution"] += _has_caution(given)
        return events


class Rule(Cell):
    """A rule that few rows hardly show: how often answers reject, and do so without a caution."""

    def sample(self, at: int) -> Counter[str]:
        """Count answers for a null and a tie given w."""
        m, events = int(self.size), Counter[str]()
        for number, case in enumerate(("null", "tie")):
            values, w = self.drawn(self.rng(at, number), m, case)
            answer = asked(case, values, given=w)
            events[case] += answer.pvalue < 0.05
            events[f"{case} silent"] += answer.pvalue < 0.05 and not _has_caution(answer)
            events["caution"] += case == "tie" and _has_caution(answer)
        return events

    def drawn(self, g: np.random.Generator, m: int, case: str) -> tuple[list[Array], Any]:
        """Draw x, y, z and w."""
        added, w = rules(g, m)[self.law]
        x, y, z = sample(g, m, case)
        return [x + added, y + added, z], w


class Shape(Rule):
    """A number that is observed in part: the cases of a rule, where w moves y and z by turns."""

    def drawn(self, g: np.random.Generator, m: int, case: str) -> tuple[list[Array], Any]:
        """Draw x, y, z and w, two numbers: in a tie one moves x and y and the other x and z."""
        w = g.uniform(-2, 2, (m, 2))
        added = (w.sum(axis=1) / 2, w[:, 0], w[:, 1 if case == "tie" else 0])
        parts = zip(sample(g, m, case), added, strict=True)
        observed = shapes(g)[self.law]
        return [observed(left + one) for left, one in parts], w


def _has_caution(answer: Any) -> bool:
    return any(isinstance(one, CovariatesWarning) for one in answer.warnings)


def given_cells() -> Iterator[Cell]:
    """Yield the laws of given covariates, rules that few rows hardly show, and shapes."""
    for law in laws(np.random.default_rng(0), 30):
        for m, n in (SIZES if law in OFTEN else FEWER).items():
            yield Given("given", law, str(m), n, asked)
    for law in rules(np.random.default_rng(0), 30):
        for m, n in FEWER.items():
            yield Rule("given rules", law, str(m), n, asked)
    for law in shapes(np.random.default_rng(0)):
        for m, n in {**FEWER, 1_000: 25}.items():
            yield Shape("given shapes", law, str(m), n, asked)


def given_table(cells: dict[str, Counter[str]], table: str) -> str:
    """Return the rates of a table of these cells in Markdown."""
    columns, rows = COLUMNS[table], []
    for cell in given_cells():
        if cell.table == table:
            own = cells[cell.name]
            rates = [shown(own[column] / own["samples"], 2) for column in columns]
            rows.append([cell.law, cell.size, f"{own['samples']:.0f}", *rates])
    return markdown(
        ["observed as" if table == "given shapes" else "how w acts", "m", "samples", *columns], rows
    )
