"""Golden numbers: what the program answers, at full precision, through public names only.

Most were recorded from version 0.2. `python tests/test_golden.py` writes the table anew,
which is right only if every number that moves is meant to move. Independent formulas for the same
numbers are in the tests of `stats` and `engine`; this table notices what none of them looks at.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reldep
from flattened import flat

STORED = Path(__file__).parent / "golden" / "numbers.json"
MEASURES, SIDES = ("cka", "hsic", "dcor"), ("two-sided", "greater", "less")
# Numbers of an answer that say how it was computed, or repeat another on a coarser scale.
NO_NUMBERS = {"alpha", "confidence_level", "kernels", "schema", "version", "cautions", "notes"}


def numbers_of_one_column(r, n):
    x = r.normal(size=n)
    found = {"x": x, "y": x + 0.8 * r.normal(size=n), "z": np.sin(2 * x) + 0.7 * r.normal(size=n)}
    found["u"], found["v"] = x**2 + r.normal(size=n), r.exponential(size=n)
    return found | {"by": np.array(["b", "a", "c"])[r.integers(0, 3, n)]}


def numbers_of_three_columns(r, n):
    x = r.normal(size=(n, 3)) * [1.0, 2.0, 0.5]
    y = x @ r.normal(size=(3, 3)) + 1.5 * r.normal(size=(n, 3))
    z = np.tanh(x[:, ::-1]) + 0.6 * r.normal(size=(n, 3))
    by = np.array(["a", "b"])[r.integers(0, 2, n)]
    return {"x": x, "y": y, "z": z, "u": np.abs(x) + r.normal(size=(n, 3)), "by": by}


def numbers_and_labels(r, n):
    sex, site = np.array(["f", "m"])[r.integers(0, 2, n)], r.choice(["n", "s", "w"], n)
    age = r.gamma(9, 5, n)
    score = 0.04 * age + (sex == "f") + r.normal(size=n)
    weight = 60 + 12 * (sex == "m") + 8 * r.normal(size=n)
    return {
        "x": pd.DataFrame({"age": age, "sex": sex}),
        "y": pd.DataFrame({"score": score, "site": site}),
        "z": pd.DataFrame({"weight": weight, "arm": r.choice(["drug", "none"], n)}),
        "u": site,
        "by": site,
    }


def texts(r, n):
    topics = [one.split() for one in ("rain wind cloud fog", "bread salt milk", "road rail ship")]
    topic = r.integers(0, 3, n)
    x = [" ".join(r.choice(topics[t], 7)) for t in topic]
    y = [" ".join(r.choice(topics[t], 7)) for t in np.where(r.random(n) < 0.7, topic, 0)]
    return {"x": x, "y": y, "z": topic + r.normal(size=n)}


def repeated_measures(r, n):
    subject = np.sort(r.integers(0, max(6, n // 5), n))
    own = r.normal(size=n)[subject]
    x = own + r.normal(size=n)
    y, z = x + r.normal(size=n), 0.7 * own + r.normal(size=n)
    labels = np.array([f"s{i}" for i in subject])
    return {"x": x, "y": y, "z": z, "u": r.normal(size=n) + own, "clusters": labels}


def series(r, n):
    walk = r.normal(size=(4, n))
    for t in range(1, n):
        walk[:, t] += 0.5 * walk[:, t - 1]
    return {"x": walk[0], "y": walk[0] + walk[1], "z": 0.5 * walk[0] + walk[2], "u": walk[3]}


def far_values_with_gaps(r, n):
    found = numbers_of_three_columns(r, n)
    for name in "xyzu":
        found[name] = np.where(r.random((n, 3)) < 0.02, np.nan, 1e6 + 1e3 * found[name])
    return found


MAKERS = {
    "one": numbers_of_one_column,
    "three": numbers_of_three_columns,
    "mixed": numbers_and_labels,
    "texts": texts,
    "subjects": repeated_measures,
    "series": series,
    "gaps": far_values_with_gaps,
}
KERNELS = {
    "gaussian 0.7": reldep.kernels.Gaussian(0.7),
    "laplace 1.3": reldep.kernels.Laplace(1.3),
    "cubic": reldep.kernels.Polynomial(degree=3),
    "sum": reldep.kernels.Gaussian() + reldep.kernels.Linear(),
    "product": reldep.kernels.Gaussian(1.5) * reldep.kernels.Laplace(2.0),
    "texts": {"source": "text", "first": "text", "second": "auto"},
    "spectrum": {"source": "spectrum", "first": "spectrum", "second": "auto"},
    "edit": {"source": "edit-distance", "first": "edit-distance", "second": "auto"},
}
WEIGHTS = {("x", "y"): 1.0, ("x", "z"): -0.5, ("y", "z"): -0.5}
ASK = {
    "compare": lambda d, **o: reldep.compare(d["x"], d["y"], d["z"], **o),
    "paper_test": lambda d, **o: reldep.paper_test(d["x"], d["y"], d["z"], **o),
    "sensitivity": lambda d, **o: reldep.sensitivity(d["x"], d["y"], d["z"], **o),
    "dependence": lambda d, **o: reldep.dependence(d["x"], d["y"], **o),
    "groups": lambda d, **o: reldep.groups(d["x"], d["y"], d["by"], **o),
    "contrast": lambda d, **o: reldep.contrast(variables(d, "xyz"), WEIGHTS, **o),
    "rank": lambda d, **o: reldep.rank(d["x"], variables(d, "yzuv"), **o),
    "matrix": lambda d, **o: reldep.matrix(variables(d, "xyzu"), **o),
    "scan": lambda d, **o: reldep.scan(variables(d, "xuv"), d["y"], d["z"], **o),
}


def variables(data, names):
    return {name: data[name] for name in names if name in data}


def cases():
    """Yield question, data, rows and options; each side and measure comes with every question."""
    sides = itertools.cycle(SIDES)
    for data, rows, measure in itertools.product(("one", "three"), (12, 40, 300), MEASURES):
        yield "compare", data, rows, {"measure": measure, "alternative": next(sides)}
        yield "dependence", data, rows, {"measure": measure}
    numeric = ("gaussian", "linear", "distance", "standardized", *list(KERNELS)[:5])
    for kernel, engine in itertools.product(numeric, ("auto", "tiled")):
        yield "compare", "three", 120, {"kernel": kernel, "engine": engine}
    for question, measure in itertools.product(("rank", "contrast", "matrix", "scan"), MEASURES):
        yield question, "one", 80, {"measure": measure}
    for question, measure in itertools.product(("groups", "sensitivity"), ("cka", "hsic")):
        yield question, "three", 150, {"measure": measure, "alternative": next(sides)}
    for question in ("compare", "rank", "dependence", "groups", "matrix"):
        yield question, "mixed", 90, {}
        yield question, "gaps", 90, {"missing": "drop"}
    for kernel in ("texts", "spectrum", "edit"):
        yield "compare", "texts", 60, {"kernel": kernel}
    for question in ("compare", "rank", "dependence", "matrix", "contrast"):
        yield question, "subjects", 150, {"clusters": "clusters"}
        yield question, "series", 150, {"max_lag": 3}
        yield question, "series", 150, {"max_lag": "auto"}
    for method, rows in itertools.product(("joint", "split"), (40, 200)):
        yield "paper_test", "three", rows, {"method": method, "alternative": next(sides)}
    yield "compare", "one", 200, {"variance": "fixed-kernel"}


def name_of(case):
    question, data, rows, options = case
    said = [f"{key}={value}" for key, value in options.items()]
    return " ".join([question, data, str(rows), *said])


def answer(case):
    """Return the numbers of an answer by their place in its JSON."""
    question, data, rows, options = case
    made = MAKERS[data](np.random.default_rng([2015, rows, *data.encode()]), rows)
    stands_for = {"clusters": made, "kernel": KERNELS}
    options = {key: stands_for.get(key, {}).get(value, value) for key, value in options.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = json.loads(ASK[question](made, **options).to_json())
    return dict(flat(found, NO_NUMBERS))


@pytest.mark.parametrize("case", list(cases()), ids=name_of)
def test_the_answer_is_the_golden_one(case):
    golden, now = json.loads(STORED.read_text())[name_of(case)], answer(case)
    assert set(now) == set(golden)
    off = {
        place: (value, now[place])
        for place, value in golden.items()
        if not math.isclose(value, now[place], rel_tol=1e-8, abs_tol=1e-12)
    }
    assert not off


if __name__ == "__main__":
    table = {name_of(case): answer(case) for case in cases()}
    STORED.write_text(json.dumps(table, indent=0) + "\n")
    sys.stdout.write(f"{len(table)} answers recorded\n")
