"""What a fitted kernel says of itself: its label, its bandwidth and the rule that chose it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calls import called
from reldep.data.objects import read_variable
from reldep.kernels import EditDistance, Haversine, TimeSeries
from reldep.kernels.choosing import as_kernel
from reldep.kernels.scale import score_of
from reldep.kernels.strings import median_edit_distance

RNG = np.random.default_rng(6)
X = RNG.normal(5.0, 100.0, (30, 2))
MEDIAN, MEAN = (
    of(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))[np.triu_indices(30, 1)])
    for of in (np.median, np.mean)
)
TABLE = pd.DataFrame({"a": 15 * X[:, 0], "b": X[:, 1], "sex": ["f", "m"] * 15})
ORDER = ["low", "mid", "high"]
LOW_HIGH = pd.Series(pd.Categorical(["low", "high", "mid"] * 5, ORDER, ordered=True))
PLACES = np.column_stack([RNG.uniform(-90, 90, 20), RNG.uniform(-180, 360, 20)])
SERIES = [[1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0], [0.5, -1.0], [2.0]]
POINTS = np.concatenate(SERIES)
STEP = np.median(np.abs(POINTS[:, None] - POINTS)[np.triu_indices(len(POINTS), 1)])
FLAT = np.zeros((6, 5))
FLAT[0, 0] = 3.0
DOCUMENTS = ["Running dogs run.", "The cat did not.", "Cats and dogs!", "A house, three mice"]
UNSPACED = ["我爱北京", "我爱上海", "北京上海", "hello world"]
PICTURES = RNG.normal(size=(6, 8, 10, 3))


def lengths(batch):
    return [[len(word)] for word in batch]


def fit(spec, data):
    """Return the description of a fit; its label comes first."""
    variable = read_variable(data, "v")
    return as_kernel(spec, variable).fit(variable).describe()


def label(spec, data):
    return fit(spec, data)["kernel"]


NOT_ZERO = "median of the non-zero distances"

# What is asked of a fit, and the answer; "..." stands for the rest of a label.
SAID = """
fit("rbf", X)["bandwidth"] == MEDIAN
fit("auto", X)["bandwidth"] == MEAN
fit(Gaussians("mean", 0.5), X)["bandwidth"] == MEAN / 2
fit(Laplace(), [0.0] * 4 + [2.0, 5.0])["bandwidth"] == 2.0
fit(Laplace(), [0.0] * 4 + [2.0, 5.0])["rule"] == "median"
fit(Laplace(factor=2), [0.0] * 6 + [2.0, 5.0])["bandwidth"] == 6.0
fit(Laplace(factor=2), [0.0] * 6 + [2.0, 5.0])["rule"] == "2 × " + NOT_ZERO
fit(Gaussian(0.5, 2.0), X)["rule"] == "2 × given"
list(fit(Gaussian(), X)) == ["kernel", "bandwidth", "rule", "columns"]
label("rbf", X) == "Gaussian(bandwidth=..."
label(Gaussians(2.0), X) == "Gaussians(bandwidth=2 × 0.25, 0.5, 1, 2, 4)"
label("standardized", TABLE) == "Standardized: Laplace(bandwidth=..."
label("standardized", TABLE).split(" * ")[1] == "Agreement(floor=0.5, 1 label column)"
label(Agreement(0.2), [["f", "x"], ["m", "y"]]) == "Agreement(floor=0.2, 2 label columns)"
label(Columns({"a": Gaussian()}, others="drop"), TABLE) == "Gaussian(bandwidth=..."
label("auto", LOW_HIGH) == "Ordered(low < mid < high): Gaussian(bandwidth=..."
label("auto", LOW_HIGH.cat.as_unordered()) == "Delta(3 categories)"
label("auto", pl.Series(LOW_HIGH.tolist(), dtype=pl.Enum(ORDER))) == "Delta(3 categories)"
label(Delta(), ["Zo\\u00eb", "Zoe\\u0308", "Ann", "Ann"]) == "Delta(2 categories)"
label(Haversine(500), PLACES) == "Haversine(bandwidth=500 km)"
fit(Haversine(), [[50.0, 8.0]] * 30 + PLACES[:4].tolist())["rule"] == NOT_ZERO
label(Images(4), PICTURES) == "Images(max_side=4), NHWC: Gaussian..."
label(Images(4), np.moveaxis(PICTURES, 3, 1)) == "Images(max_side=4), NCHW: Gaussian..."
label(Embedding(lengths, kernel=Linear()), ["a", "bc", "def"]) == "Embedding(lengths): Linear()"
label(Embedding(lengths, kernel="delta"), ["a", "bc"] * 2) == "Embedding(lengths): Delta(2 ..."
label(Spectrum((2, 5)), ["ACGTAC", "TTTTTTT"]) == "Spectrum(k=(2, 5)): Linear()"
fit(EditDistance(), ["", "a", "abc", ""])["bandwidth"] == 1.5
fit(EditDistance(factor=2.0), ["", "a", "abc", ""])["rule"] == "2 × median"
fit(EditDistance(), ["spam"] * 30 + ["spams", "span", "ham"])["rule"] == NOT_ZERO
fit(EditDistance(), ["spam"] * 30 + ["spams", "span", "ham"])["bandwidth"] == 1.0
fit(TimeSeries(factor=0.5), SERIES)["bandwidth"] == 0.5 * STEP * np.sqrt(2.5)
fit(TimeSeries(factor=0.5), SERIES)["rule"] == "0.5 × median"
label(TimeSeries(2), SERIES) == "TimeSeries(bandwidth=2)"
fit(TimeSeries(), FLAT)["rule"] == NOT_ZERO
fit(TimeSeries(), FLAT)["bandwidth"] == 3 * np.sqrt(5)
label(Text("English"), DOCUMENTS) == "Text(language='English'): Gaussian(bandwidth=1..."
label(Text(), UNSPACED) == "Text(), by pairs of characters in 3 texts without spaces: Gaussian..."
label("auto", Survival([1.0, 2, 3, 4], [1, 0, 1, 1])) == "LogRank(), 3 events in 4: Linear()"
repr(Survival([1.0, 2, 3, 4], [1, 0, 1, 1])) == "Survival(4 observations, 3 events)"
repr(Precomputed(np.eye(3))) == "Precomputed(3×3)"
label("chi2", np.abs(X)) == "chi2"
label(RBF(0.5), X) == str(RBF(0.5))
"""


@pytest.mark.parametrize("line", SAID.strip().splitlines())
def test_a_fit_says_what_it_is(line):
    from sklearn.gaussian_process.kernels import RBF

    found, expected = (called(side, {**globals(), "RBF": RBF}) for side in line.split(" == "))
    if isinstance(expected, str) and expected.endswith("..."):
        found, expected = found[: len(expected) - 3], expected[:-3]
    assert found == (expected if isinstance(expected, (str, list)) else pytest.approx(expected))


@pytest.mark.parametrize("n", [4, 7, 50])
def test_the_bandwidth_of_strings_is_the_exact_median_edit_distance(n):
    rng = np.random.default_rng(n)
    words = ["".join(rng.choice(list("ab"), rng.integers(1, 9))) for _ in range(n)]
    median = np.median(-np.log(EditDistance(bandwidth=1)(words))[np.triu_indices(n, 1)])
    assert fit(EditDistance(), words)["bandwidth"] == pytest.approx(median)
    assert median_edit_distance(words, rows_at_a_time=3).value == pytest.approx(median)


def test_the_median_over_many_points_is_repeatable_and_close():
    data = np.random.default_rng(1).normal(size=(40, 50))
    first, second = (fit(TimeSeries(), data)["bandwidth"] for _ in range(2))
    assert first == second
    # The median distance of two standard normal numbers is √2 · 0.6745.
    assert first == pytest.approx(np.sqrt(2) * 0.6745 * np.sqrt(50), rel=0.05)


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_the_bandwidth_of_places_follows_the_median_chord(factor):
    fitted, everything = Haversine(factor=factor).fit(PLACES), slice(None)
    [width] = fitted.bandwidths()
    chord, h = fitted.chord.value, 1e-6
    plain = score_of(fitted.chord, fitted.points)
    arcs = [np.log(np.arcsin(chord * (1 + s) / 2)) for s in (h, -h)]
    ratio = width.score(everything, everything) / plain(everything, everything)
    assert ratio == pytest.approx((arcs[0] - arcs[1]) / (2 * h), rel=1e-6)
    km = -500 * np.log(Haversine(500)(PLACES))[np.triu_indices(20, 1)]
    assert width.value == pytest.approx(factor * np.median(km), rel=1e-3)
    assert Haversine(bandwidth=500).fit(PLACES).bandwidths() == ()
