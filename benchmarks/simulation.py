"""What the simulations share: cells and their counts, laws to draw from, tables of pages.

Laws draw a source and two targets that depend on it equally. *Alike* targets are exchangeable given
the source, so that the difference is 0 for every kernel and measure. *Unlike* targets depend on the
source in different ways; a number of the second target is tuned until both CKAs under the default
kernels are equal (`tune`). *Real* worlds are data frames from which rows are drawn with
replacement: their dependences are known exactly (`population`).
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

import reldep
from reldep.exceptions import InputError

RESULTS = Path(__file__).resolve().parent / "results"
DOCS = RESULTS.parents[1] / "docs"
STORE = RESULTS / "calibration.csv"
Array = npt.NDArray[Any]
Generator = np.random.Generator
Draw = Callable[[Generator], Any]


@dataclass(frozen=True)
class Cell:
    """One cell: `draw` takes one sample and counts what happens in it."""

    table: str
    law: str
    size: str
    samples: int
    draw: Draw

    @property
    def name(self) -> str:
        return f"{self.table}/{self.law}/{self.size}"

    def rng(self, *at: int) -> Generator:
        """Return the generator of a sample; seeds are fixed by the name of the cell."""
        return np.random.default_rng([zlib.crc32(self.name.encode()), *at])

    def sample(self, at: int) -> Counter[str]:
        """Return what happens in one sample."""
        return Counter(self.draw(self.rng(at)))

    def run(self, samples: int | None = None) -> Counter[str]:
        """Count over all samples; those without an answer are counted as "refused"."""
        events: Counter[str] = Counter()
        for at in range(samples or self.samples):
            try:
                events.update(self.sample(at))
            except InputError:
                events["refused"] += 1
        events["samples"] = samples or self.samples
        return events


def stored() -> dict[str, Counter[str]]:
    """Read the counts of every cell."""
    found: dict[str, Counter[str]] = {}
    if STORE.exists():
        with STORE.open(encoding="utf-8", newline="") as file:
            for cell, what, count in csv.reader(file):
                found.setdefault(cell, Counter())[what] = float(count)
    return found


def store(cells: dict[str, Counter[str]]) -> None:
    """Write the counts of every cell, in the order of their names."""
    part = STORE.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for name in sorted(cells):
            writer.writerows([name, what, f"{n:g}"] for what, n in sorted(cells[name].items()))
    part.replace(STORE)


def shown(value: float | None, digits: int = 3) -> str:
    """Return a rate as .051."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}".removeprefix("0") if value < 1 - 0.5 * 10**-digits else "1"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table: columns of words to the left, columns of figures to the right."""
    body = [list(row) for row in rows]
    figures = [
        all(re.match(r"[^\w`]*\d|–", cell) for cell in column) for column in zip(*body, strict=True)
    ]
    rule = ["---", *("--:" if is_figure else "---" for is_figure in figures[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in (header, rule, *body))


def with_parts(page: Path, parts: Mapping[str, str]) -> str:
    """Return a page with other texts between ``<!-- mark: begin -->`` and its end."""
    found = page.read_text(encoding="utf-8")
    for mark, text in parts.items():
        begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
        before, rest = found.split(begin)
        found = f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}"
    return found


def publish(page: Path, mark: str, text: str) -> None:
    """Write text into its place in a page."""
    page.write_text(with_parts(page, {mark: text}), encoding="utf-8")


# ---------------------------------------------------------------------------------------- laws

Sample = tuple[Array, Array, Array]
TIES = RESULTS / "ties.json"


@dataclass(frozen=True)
class Law:
    """A law with a line for the page; `draw(rng, m, number)` has the tuned number last."""

    text: str
    draw: Callable[[Generator, int, float], Sample]
    bounds: tuple[float, float] | None = None  # between which the number of an unlike tie lies


def both(source: Callable[[Generator, int], Any], target: Callable[[Generator, Any], Any]) -> Any:
    """Make alike targets of one hidden source."""

    def draw(rng: Generator, m: int, _: float = 0.0) -> Sample:
        hidden = source(rng, m)
        seen = hidden[0] if isinstance(hidden, tuple) else hidden
        return seen, target(rng, hidden), target(rng, hidden)

    return draw


def normal(rng: Generator, m: int) -> Array:
    return rng.normal(size=m)


def angle(rng: Generator, m: int) -> Array:
    t = rng.uniform(0, 2 * np.pi, size=m)
    return np.cos(t) + 0.3 * rng.normal(size=m), t


def spiral(rng: Generator, m: int) -> Any:
    t = rng.uniform(0, 2 * np.pi, size=m)
    return np.column_stack([t, np.sin(t)]) + 0.3 * rng.normal(size=(m, 2)), t


def spiral_target(rng: Generator, hidden: Any) -> Array:
    t = hidden[1]
    return np.column_stack([t * np.cos(t), t * np.sin(t)]) + 0.3 * rng.normal(size=(len(t), 2))


def plus(noise: float, image: Callable[[Array], Array] = lambda x: x) -> Any:
    return lambda rng, x: image(x) + noise * rng.normal(size=np.shape(x))


def zero_inflated(rng: Generator, m: int) -> Array:
    return rng.exponential(size=m) * (rng.uniform(size=m) < 0.3)


NAMES = np.array(["least", "less", "middle", "more", "most"])


def cut(values: Array) -> Array:
    return np.digitize(values, [-1.2, -0.4, 0.4, 1.2])


ALIKE = {
    "independent": Law("three independent normals", both(normal, lambda r, x: normal(r, len(x)))),
    "weak": Law("y = x + 3ε", both(normal, plus(3.0))),
    "linear": Law("y = x + ε", both(normal, plus(1.0))),
    "strong": Law("y = x + 0.3ε", both(normal, plus(0.3))),
    "spiral": Law("the paper's synthetic data", both(spiral, spiral_target)),
    "circle": Law(
        "x = cos t, y = sin t, noise 0.3",
        both(angle, lambda r, h: np.sin(h[1]) + 0.3 * r.normal(size=len(h[1]))),
    ),
    "ten columns": Law(
        "y = x + 2ε in ten columns", both(lambda r, m: r.normal(size=(m, 10)), plus(2.0))
    ),
    "t₂ tails": Law(
        "y = x + ε, Student's t with 2 degrees",
        both(lambda r, m: r.standard_t(2, m), lambda r, x: x + r.standard_t(2, len(x))),
    ),
    "two clumps": Law(
        "x in two clumps, noise grows with |x|",
        both(
            lambda r, m: r.choice([-2.0, 2.0], m) + 0.7 * r.normal(size=m),
            lambda r, x: x + (0.5 + np.abs(x) / 2) * r.normal(size=len(x)),
        ),
    ),
    "counts": Law(
        "x Poisson(2), y = x + Poisson(2)",
        both(lambda r, m: r.poisson(2.0, m).astype(float), lambda r, x: x + r.poisson(2.0, len(x))),
    ),
    "many zeros": Law("70% of x are 0, y = x + ε/2", both(zero_inflated, plus(0.5))),
    "rare label": Law(
        "one of ten rows is a case, cases are 1.5 higher",
        both(
            lambda r, m: np.where(r.permutation(m) < max(3, m // 10), "case", "control"),
            lambda r, x: 1.5 * (x == "case") + r.normal(size=len(x)),
        ),
    ),
}


def unlike(first: Any, second: Any, source: Any = normal) -> Any:
    """Make targets of two kinds; the second takes the number that is tuned."""

    def draw(rng: Generator, m: int, number: float) -> Sample:
        x = source(rng, m)
        return x, first(rng, x), second(rng, x, number)

    return draw


def tau(image: Callable[[Array], Array] = lambda x: x) -> Any:
    return lambda rng, x, number: image(x) + number * rng.normal(size=len(x))


def rare_rows(share: float, shift: float) -> Any:
    """Make a share of the rows move far in x and y, and not in z."""

    def draw(rng: Generator, m: int, number: float) -> Sample:
        far = rng.uniform(size=m) < share
        x = rng.normal(size=m)
        y = 0.5 * rng.normal(size=m) + shift * far
        return x + shift * far, y, x + number * rng.normal(size=m)

    return draw


def errors(share: float) -> Any:
    """Make y follow x closely, but for gross errors in a share of its rows."""

    def draw(rng: Generator, m: int, number: float) -> Sample:
        x = rng.normal(size=m)
        wrong = rng.uniform(size=m) < share
        y = np.where(wrong, 12.0 * rng.normal(size=m), x + 0.2 * rng.normal(size=m))
        return x, y, x + number * rng.normal(size=m)

    return draw


def diseased(rng: Generator, m: int, number: float) -> Sample:
    sick = rng.uniform(size=m) < 0.08
    x = rng.normal(size=m) + 5.0 * sick
    grade = np.where(sick, 0.0, x)
    return x, 5.0 * sick + rng.normal(size=m), grade + number * rng.normal(size=m)


UNLIKE = {
    "line, square": Law("y = x + 2ε, z = x² + τε", unlike(plus(2.0), tau(np.square)), (0.3, 12.0)),
    "one, three columns": Law(
        "y = x + ε, z = three copies of x, each + τε",
        unlike(plus(1.0), lambda r, x, t: x[:, None] + t * r.normal(size=(len(x), 3))),
        (0.5, 6.0),
    ),
    "line, sine": Law(
        "y = x + ε, z = sin 3x + τε", unlike(plus(1.5), tau(lambda x: np.sin(3 * x))), (0.05, 5.0)
    ),
    "line, step": Law(
        "y = x + ε, z = [x > 1] + τε", unlike(plus(1.5), tau(lambda x: 1.0 * (x > 1))), (0.03, 5.0)
    ),
    "line, spread": Law(
        "y = x + 4ε, z = ε (|x| + τ)",
        unlike(plus(4.0), lambda r, x, t: (np.abs(x) + t) * r.normal(size=len(x))),
        (0.001, 5.0),
    ),
    "number, label": Law(
        "y = x + ε, z = five levels of x + τε",
        unlike(plus(1.0), lambda r, x, t: NAMES[cut(x + t * r.normal(size=len(x)))]),
        (0.05, 6.0),
    ),
    "normal, t₂ noise": Law(
        "y = x + ε, z = x + τ t₂",
        unlike(plus(1.0), lambda r, x, t: x + t * r.standard_t(2, len(x))),
        (0.1, 5.0),
    ),
    "line, saturating": Law(
        "y = x + ε, z = tanh 3x + τε", unlike(plus(1.0), tau(lambda x: np.tanh(3 * x))), (0.1, 6.0)
    ),
    "line, many zeros": Law(
        "y = x + 1.5ε, z = max(x - 0.8 + τε, 0)",
        unlike(plus(1.5), lambda r, x, t: np.maximum(x - 0.8 + t * r.normal(size=len(x)), 0.0)),
        (0.02, 4.0),
    ),
    "skewed source": Law(
        "x log-normal, y = log x + ε, z = x + τε",
        unlike(plus(1.0, np.log), tau(), lambda r, m: np.exp(r.normal(size=m))),
        (0.1, 9.0),
    ),
    "two laboratories": Law(
        "half of the rows of y have their own scale, z = x + τε",
        unlike(
            lambda r, x: np.where(r.uniform(size=len(x)) < 0.5, x, 3 * x) + r.normal(size=len(x)),
            tau(),
        ),
        (0.1, 6.0),
    ),
    "6% rare rows": Law("6% of rows lie far out in x and y", rare_rows(0.06, 6.0), (0.3, 6.0)),
    "8% diseased": Law("y shows disease, z grades the healthy", diseased, (0.2, 6.0)),
    "10% gross errors": Law("y = x but for gross errors", errors(0.10), (0.1, 6.0)),
    "5% gross errors": Law("y = x but for fewer gross errors", errors(0.05), (0.1, 6.0)),
}


def tune(name: str) -> float:
    """Return the number at which both CKAs are equal; computed once and kept.

    From six samples of 20,000 rows, or of 2,000 where a target has several columns.
    """
    known = json.loads(TIES.read_text(encoding="utf-8")) if TIES.exists() else {}
    if name not in known:
        law, seeds = UNLIKE[name], 6
        rows = 2_000 if "columns" in name else 20_000

        def gap(number: float) -> float:
            samples = [law.draw(np.random.default_rng([1, s]), rows, number) for s in range(seeds)]
            return sum(reldep.cka(x, z) - reldep.cka(x, y) for x, y, z in samples) / seeds

        low, high = law.bounds
        for _ in range(12):
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if gap(middle) > 0 else (low, middle)
        known[name] = [round(middle, 5), round(gap(middle), 5)]
        TIES.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return float(known[name][0])


# A data set, and the columns of the source and of both targets; a pattern may be several columns.
WORLDS = {
    "iris": ("iris", "petal length*", "sepal length*", "sepal width*"),
    "wine": ("wine", "alcohol", "color_intensity", "proline"),
    "diabetes": ("diabetes", "target", "bmi", "s5"),
    "tumours": ("breast_cancer", "worst concavity", "mean texture", "mean [ra][ar][de]*"),
    "digits": ("digits", "pixel_4_2", "pixel_4_3", "pixel_2_4"),
    "marriages": ("fair", "rate_marriage", "affairs", "yrs_married"),
    "elections": ("anes96", "selfLR", "ClinLR", "DoleLR"),
    "schools": ("star98", "LOWINC", "PERMINTE", "PERASIAN"),
    "insurance": ("randhie", "mdvis", "disea", "physlm"),
    "travel": ("modechoice", "gc", "invt", "hinc"),
    "births": ("fertility", "1980", "1960", "2010"),
    "mice": ("nutrimouse", "diet", "lipid *", "gene *"),
}


def data_set(name: str) -> Any:
    """Return a data set of scikit-learn, statsmodels or this package as a pandas frame."""
    if name == "nutrimouse":
        import pandas as pd

        mice = reldep.datasets.load_nutrimouse()
        blocks = (mice[one].to_pandas().add_prefix(f"{one} ") for one in ("lipid", "gene"))
        labels = pd.DataFrame({one: mice[one].to_pandas() for one in ("diet", "genotype")})
        return pd.concat([*blocks, labels], axis=1)
    import sklearn.datasets

    load = getattr(sklearn.datasets, f"load_{name}", None)
    if load is not None:
        return load(as_frame=True).frame
    import statsmodels.api

    return getattr(statsmodels.api.datasets, name).load_pandas().data


@cache
def world(name: str, most: int = 1_000) -> tuple[Array, Array, Array]:
    """Return source and targets of a real frame, complete rows only, at most this many."""
    file, *patterns = WORLDS[name]
    table = data_set(file)
    blocks = [[one for one in table if fnmatchcase(one, pattern)] for pattern in patterns]
    table = table[[one for block in blocks for one in block]].dropna()
    rows = np.random.default_rng(0).permutation(len(table))[:most]
    found = (table[block[0] if len(block) == 1 else block].to_numpy() for block in blocks)
    return tuple(values[rows] for values in found)


@cache
def population(name: str) -> tuple[float, float]:
    """Return the CKAs of a world: those of its rows, each drawn with the same probability."""
    kernels = []
    for values in world(name):
        if values.dtype.kind not in "fiub":
            K = (values[:, None] == values).astype(float)
        else:
            points = values.reshape(len(values), -1).astype(float)
            D = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
            K = np.exp(-D / D.mean())
        K = K - K.mean(axis=0)
        kernels.append(K - K.mean(axis=1, keepdims=True))
    x, y, z = kernels
    return tuple(float(np.vdot(x, K) / np.sqrt(np.vdot(x, x) * np.vdot(K, K))) for K in (y, z))


def from_world(name: str, rng: Generator, m: int) -> Sample:
    """Draw rows of a real frame with replacement."""
    frame = world(name)
    rows = rng.integers(len(frame[0]), size=m)
    return tuple(values[rows] for values in frame)


def autoregression(rng: Generator, m: int, rho: float) -> Array:
    """Draw an autoregression of variance 1."""
    steps = rng.normal(size=m + 500) * np.sqrt(1 - rho**2)
    return lfilter([1.0], [1.0, -rho], steps)[500:]


def clustered(rng: Generator, codes: Array, icc: float) -> Array:
    """Draw normal values of which clusters share a part of the variance."""
    shared = rng.normal(size=codes.max() + 1)[codes]
    return np.sqrt(icc) * shared + np.sqrt(1 - icc) * rng.normal(size=len(codes))


def long_memory(rng: Generator, m: int, d: float = 0.4) -> Array:
    """Draw fractional noise: correlations fall as a power of the lag."""
    k = np.arange(1, m + 500)
    weights = np.concatenate([[1.0], np.cumprod((k - 1 + d) / k)])
    drawn = np.convolve(rng.normal(size=2 * len(weights)), weights)[len(weights) : len(weights) + m]
    return drawn / np.sqrt(np.sum(weights**2))


def series(one: Callable[[Generator, int], Array], other: Any = None) -> Any:
    """Make y = x + e and z = x + f of series; `other` draws f where it is of another kind."""

    def draw(rng: Generator, m: int) -> Sample:
        x = one(rng, m)
        return x, x + one(rng, m), x + (other or one)(rng, m)

    return draw


def in_season(period: int, rho: float) -> Any:
    """Make three series with one season, a wave of variance 1, and memory of their own."""

    def draw(rng: Generator, m: int) -> Sample:
        phase = rng.uniform(0, 2 * np.pi)
        wave = np.sqrt(2) * np.sin(2 * np.pi * np.arange(m) / period + phase)
        return tuple(wave + autoregression(rng, m, rho) for _ in range(3))

    return draw


def trend(rng: Generator, m: int) -> Sample:
    line = np.linspace(-1.7, 1.7, m)
    return tuple(line + autoregression(rng, m, 0.6) for _ in range(3))


# A star marks laws on which the rule for slow series was chosen.
SERIES = {
    "AR(0.8) *": series(lambda r, m: autoregression(r, m, 0.8)),
    "AR(0.97) + noise *": series(lambda r, m: autoregression(r, m, 0.97) + 0.5 * normal(r, m)),
    "AR(0.9), one target white *": series(lambda r, m: autoregression(r, m, 0.9), normal),
    "AR(0.95), one target AR(0.3)": series(
        lambda r, m: autoregression(r, m, 0.95), lambda r, m: autoregression(r, m, 0.3)
    ),
    "mean of 8": series(lambda r, m: np.convolve(normal(r, m + 7), np.ones(8) / 8**0.5, "valid")),
    "long memory, d = 0.4": series(long_memory),
    "skewed AR(0.9)": series(lambda r, m: np.exp(autoregression(r, m, 0.9))),
    "random walk + noise": series(lambda r, m: np.cumsum(normal(r, m)) / 5 + normal(r, m)),
    "season of 12, AR(0.5)": in_season(12, 0.5),
    "season of 7, AR(0.8)": in_season(7, 0.8),
    "trend, AR(0.6)": trend,
}


def of_clusters(icc: tuple[float, float, float], skewed: bool = False) -> Any:
    """Make y = x + e and z = x + f with these intraclass correlations of x, e and f."""

    def draw(rng: Generator, codes: Array) -> Sample:
        x, e, f = (clustered(rng, codes, one) for one in icc)
        if skewed:
            x, e, f = np.exp(x), np.exp(e), np.exp(f)
        return x, x + e, x + f

    return draw


CLUSTERS = {
    "ICC 0.5": of_clusters((0.5, 0.5, 0.5)),
    "ICC 0.9": of_clusters((0.9, 0.9, 0.9)),
    "noise of one target shared": of_clusters((0.8, 0.9, 0.0)),
    "skewed, ICC 0.5": of_clusters((0.5, 0.5, 0.5), skewed=True),
}
