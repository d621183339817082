"""Cautions: on real data, and where they should and should not be given.

``python benchmarks/cautions.py --publish`` asks thirty questions that the data of statsmodels,
scikit-learn and this package are used for in textbooks, once with all defaults; three are asked
again as their cautions advise. It writes the table of docs/guide/cautions.md; without ``--publish``
it prints it.

``python benchmarks/calibration.py --only cautions`` counts cautions in samples of laws that had no
part in the choice of thresholds, which were set on normal autoregressive series, on normal rows in
blocks and on Poisson counts. The table is in docs/calibration.md.
"""

from __future__ import annotations

import statistics
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from simulation import DOCS, Array, Cell, Generator, autoregression, data_set, markdown, publish

import reldep
from reldep import exceptions

PAGE = DOCS / "guide" / "cautions.md"
Sample = tuple[Array, ...]


# ----------------------------------------------------------------------------------- real data


@dataclass(frozen=True)
class Asked:
    """A question about a data set."""

    data: str
    question: str
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def answer(self) -> Any:
        """Return the answer."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ask = getattr(reldep, self.question)
            return ask(*self.arguments, data=data_set(self.data), **self.options)

    def __str__(self) -> str:
        words = [str(one) if isinstance(one, str) else " ".join(one) for one in self.arguments]
        options = [f"{name}={value!r}" for name, value in self.options.items()]
        return f"{self.question}({', '.join([*words, *options])})"


QUESTIONS = (
    Asked("anes96", "compare", ("vote", "PID", "income")),
    Asked("anes96", "rank", ("selfLR", "ClinLR,DoleLR,PID,age,educ,income")),
    Asked("ccard", "compare", ("AVGEXP", "INCOME", "AGE")),
    Asked("committee", "compare", ("BILLS104", "SIZE", "STAFF")),
    Asked("copper", "compare", ("WORLDCONSUMPTION", "COPPERPRICE", "INCOMEINDEX")),
    Asked("cpunish", "compare", ("EXECUTIONS", "INCOME", "PERPOVERTY")),
    Asked("elnino", "compare", ("JAN", "FEB", "JUL")),
    Asked("engel", "dependence", ("income", "foodexp")),
    Asked("fair", "rank", ("affairs", "rate_marriage,age,yrs_married,children,religious,educ")),
    Asked("grunfeld", "compare", ("invest", "value", "capital")),
    Asked("grunfeld", "compare", ("invest", "value", "capital"), {"clusters": "firm"}),
    Asked("heart", "dependence", ("survival", "age")),
    Asked("longley", "compare", ("TOTEMP", "GNP", "POP")),
    Asked("macrodata", "compare", ("infl", "unemp", "tbilrate")),
    Asked("macrodata", "compare", ("infl", "unemp", "tbilrate"), {"max_lag": "auto"}),
    Asked("modechoice", "compare", ("choice", "ttme", "gc")),
    Asked("modechoice", "compare", ("choice", "ttme", "gc"), {"clusters": "individual"}),
    Asked("randhie", "compare", ("mdvis", "lncoins", "physlm")),
    Asked("scotland", "compare", ("YES", "COUTAX", "UNEMPF")),
    Asked("spector", "compare", ("GRADE", "GPA", "TUCE")),
    Asked("stackloss", "compare", ("STACKLOSS", "AIRFLOW", "WATERTEMP")),
    Asked("star98", "compare", ("NABOVE", "LOWINC", "PERASIAN")),
    Asked("statecrime", "compare", ("murder", "poverty", "single")),
    Asked("breast_cancer", "compare", ("target", "mean radius", "mean texture")),
    Asked("diabetes", "rank", ("target", "age,sex,bmi,bp,s5")),
    Asked("iris", "compare", ("target", "sepal=sepal*", "petal=petal*")),
    Asked("linnerud", "compare", ("Weight", "Chins", "Jumps")),
    Asked("wine", "rank", ("target", "alcohol,malic_acid,flavanoids,proline")),
    Asked("nutrimouse", "compare", ("diet", "lipids=lipid*", "genes=gene*")),
    Asked("nutrimouse", "groups", ("lipids=lipid*", "genes=gene*", "genotype")),
)


def kinds(answer: Any) -> list[str]:
    """Return the kinds of the cautions of an answer."""
    return [type(one).__name__.removesuffix("Warning") for one in answer.warnings]


def table() -> str:
    """Return the table of the page, and the median number of cautions."""
    rows, counts = [], []
    for asked in QUESTIONS:
        answer = asked.answer()
        found = kinds(answer)
        counts.append(len(found))
        words = ", ".join(found) or "–"
        rows.append([asked.data, f"`{asked}`", f"{answer.n_observations:,}", words])
    return (
        f"{len(counts)} questions about the data sets of statsmodels and scikit-learn and our own: "
        f"{counts.count(0)} answers have no caution, the median answer has "
        f"{statistics.median(counts):g}, the largest number is {max(counts)}. "
        "`python benchmarks/cautions.py --publish` makes this table.\n\n"
        + markdown(["data", "question", "rows", "cautions"], rows)
    )


# --------------------------------------------------------------------------------- simulations


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


@dataclass(frozen=True)
class Kind:
    """A caution, the samples for which it is due, and those for which it is not."""

    warning: type[exceptions.ReldepWarning]
    due: dict[str, Callable[[Generator, int], Sample]]
    not_due: dict[str, Callable[[Generator, int], Sample]] = field(default_factory=dict)
    is_tied: bool = True  # What is rejected is the level of the test.


def independent(*laws: str) -> dict[str, Any]:
    return {f"independent rows, {law}": lambda r, m, law=law: rows(r, m, law) for law in laws}


DISAGREEMENT = "raw HSIC against CKA"
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
    ),
    DISAGREEMENT: Kind(
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
        is_tied=False,
    ),
}


def one(name: str, words: str, m: int, rng: Generator) -> Counter[str]:
    """Count in one sample whether the caution was due, was given, and the tie rejected.

    Raw HSIC and CKA disagree where one of them is significant, or both with opposite signs.
    """
    kind = KINDS[name]
    sample = ({**kind.due, **kind.not_due})[words](rng, m)
    if name == DISAGREEMENT:
        kernel = "linear" if "linear" in words else "auto"
        answer = reldep.compare(*sample, kernel=kernel, measure="hsic")
        other = reldep.compare(*sample, kernel=kernel, measure="cka")
        significant = [found.pvalue < 0.05 for found in (answer, other)]
        opposite = answer.estimate * other.estimate < 0
        is_due = significant[0] != significant[1] or (all(significant) and opposite)
    else:
        answer, is_due = reldep.compare(*sample), words in kind.due
    due = "due" if is_due else "not due"
    given = any(isinstance(caution, kind.warning) for caution in answer.warnings)
    events = Counter({due: 1, f"{due}, given": int(given)})
    if kind.is_tied:
        events[f"{due}, rejected"] = int(answer.pvalue < 0.05)
    return events


def caution_cells() -> Iterator[Cell]:
    """Yield the situations of every caution."""
    for name, kind in KINDS.items():
        for words in (*kind.due, *kind.not_due):
            for m in (50, 100, 200):

                def draw(rng: Generator, name=name, words=words, m=m) -> Counter[str]:
                    return one(name, words, m, rng)

                yield Cell("cautions", f"{name}: {words}", str(m), 40, draw)


if __name__ == "__main__":
    if "--publish" in sys.argv:
        publish(PAGE, "real questions", table())
    else:
        print(table())
