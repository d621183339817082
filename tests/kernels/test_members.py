"""What every fitted kernel offers: values, a selection, features, a program, bandwidths."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import reldep
from brute_force import centred
from calls import called
from reldep import Survival
from reldep.data.objects import read_variable
from reldep.kernels import Delta, Gaussian, Laplace, Precomputed, Standardized
from reldep.kernels.choosing import as_kernel
from reldep.kernels.distances import EQUAL, FIRST, GAUSSIAN, LAPLACE, ROOT, TIMES

M = 14
WORDS = ("tea", "milk", "rice", "bread", "salt", "egg", "apple", "fish")
rng = np.random.default_rng(11)
POINTS = rng.normal(size=(M, 3)) * (1.0, 2.0, 5.0)
WIDE = rng.normal(size=(M, 30))
COLUMN = rng.gamma(2.0, size=M)
CODES = np.arange(M) % 3
COUNTS = rng.poisson(1.5, (M, 5))
SPARSE = sp.csr_array(COUNTS.astype(float))
PLACES = np.column_stack([rng.uniform(-80, 80, M), rng.uniform(-170, 170, M)])
STRINGS = ["".join(rng.choice(list("ACGT"), rng.integers(4, 9))) for _ in range(M)]
TEXTS = [" ".join(rng.choice(WORDS, rng.integers(1, 6))) for _ in range(M)]
SETS = [set(rng.choice(WORDS, rng.integers(1, 6))) for _ in range(M)]
COUNTERS = [Counter(rng.choice(WORDS, 6).tolist()) for _ in range(M)]
GRAPHS = [nx.gnp_random_graph(int(rng.integers(3, 8)), 0.4, seed=i) for i in range(M)]
SERIES = [rng.normal(size=(rng.integers(1, 7), 2)) for _ in range(M)]
PICTURES = rng.integers(0, 256, (M, 6, 5), dtype=np.uint8)
LABELS = [f"c{code}" for code in CODES]
FRAME = pd.DataFrame({"age": COLUMN, "bmi": POINTS[:, 1], "sex": LABELS, "site": LABELS[::-1]})
LIFETIMES = Survival(COLUMN, np.arange(M) % 3 > 0)


def apart(x, power=1.0):
    x = np.asarray(x, float).reshape(M, -1)
    return (np.square(x[:, None] - x[None]).sum(-1)) ** (0.5 * power)


def products(a, b):
    return a @ b.T


SAME = (CODES[:, None] == CODES).astype(float)
AGREE = 0.5 + 0.5 * SAME

# Name: kernel of data.
LINES = """
gaussian: Gaussian(1.7) of POINTS
gaussian median: Gaussian() of POINTS
gaussian mean, wide: Gaussian("mean") of WIDE
laplace: Laplace(1.7) of WIDE
laplace mean: Laplace("mean") of POINTS
laplace mean, column: Laplace("mean") of COLUMN
laplace median, tiny: Laplace() of 1e-200 * POINTS
laplace sparse: Laplace("mean") of SPARSE
distance: Distance() of POINTS
squared distance: Distance(2) of POINTS
root distance: Distance(0.5) of POINTS
gaussians: Gaussians("mean") of POINTS
linear: Linear() of POINTS
linear sparse: Linear() of SPARSE
linear labels: Linear() of LABELS
polynomial: Polynomial(3) of POINTS
polynomial sparse: Polynomial(2, 0.5, 2.0) of SPARSE
delta: Delta() of LABELS
agreement: Agreement() of LABELS
agreement of two: Agreement() of FRAME[["sex", "site"]]
product: Laplace(2.0) * Agreement() of FRAME[["age", "sex"]]
auto, mixed: "auto" of FRAME
auto, one label: "auto" of FRAME[["age", "bmi", "sex"]]
sum: Laplace() + Delta() of FRAME[["age", "sex"]]
sum in a product: (Gaussian(1.0) + Polynomial(2)) * Laplace(1.0) of POINTS
sum with distance: Distance() + Delta() of FRAME[["age", "sex"]]
sum times labels: Gaussians("mean") * Delta() of FRAME[["age", "sex"]]
labels times sum: Delta() * Gaussians() of FRAME[["age", "sex"]]
columns: Columns({"age": Laplace("mean"), "sex": "delta"}, others="drop") of FRAME
standardized: Standardized(Laplace("mean")) of POINTS
standardized word: "standardized" of POINTS
composition: Composition() of np.abs(POINTS) + 0.1
genotypes: Genotypes() of np.minimum(COUNTS, 2)
ordered: Ordered(["c0", "c1", "c2"]) of LABELS
text: Text() of TEXTS
text, cosine: Text(kernel="linear") of TEXTS
spectrum: Spectrum(2) of STRINGS
edits: EditDistance() of STRINGS
graphs: WeisfeilerLehman(2) of GRAPHS
series: TimeSeries() of SERIES
sets: Jaccard() of SETS
counters: MinMax() of COUNTERS
counts: MinMax() of COUNTS
bags: Bags() of SERIES
images: Images(3) of PICTURES
embedding: Embedding(lambda x: x**2, kernel="laplace") of POINTS
periodic: Periodic(24.0) of POINTS
angles: Angles("degrees") of 40 * POINTS
haversine: Haversine() of PLACES
lifetimes: LogRank() of LIFETIMES
precomputed: Precomputed(AGREE) of COLUMN
function: products of POINTS
function of items: lambda a, b: np.ones((len(a), len(b))) of SERIES
scikit: "laplacian" of COUNTS
"""
KERNELS = {}
for line in LINES.strip().splitlines():
    name, rest = line.split(": ", 1)
    KERNELS[name] = [called(part, globals()) for part in rest.split(" of ")]

PROGRAMS = [
    *("gaussian", "gaussian median", "gaussian mean, wide", "laplace", "laplace mean"),
    *("laplace mean, column", "laplace median, tiny", "distance", "squared distance", "gaussians"),
    *("delta", "agreement", "product", "auto, one label", "sum", "sum with distance"),
    *("sum times labels", "labels times sum", "columns", "standardized", "ordered", "periodic"),
]
FEATURES = [
    *("linear", "linear sparse", "linear labels", "polynomial", "polynomial sparse", "delta"),
    *("agreement", "agreement of two", "genotypes", "text, cosine", "spectrum", "graphs"),
    "lifetimes",
]
ALL = slice(None)


def fitted(name):
    kernel, data = KERNELS[name]
    variable = read_variable(data, "v")
    return as_kernel(kernel, variable).fit(variable)


def close(found, expected, digits=1e-10):
    np.testing.assert_allclose(found, expected, rtol=0, atol=digits * np.abs(expected).max())


def by_numpy(program):
    """Evaluate a program as its definition reads."""
    values = None
    for factor in program:
        s = apart(factor.points, 2)
        value = {
            GAUSSIAN: lambda s=s, c=factor.scale: 2.0 ** (c * s),
            LAPLACE: lambda s=s, c=factor.scale: 2.0 ** (c * np.sqrt(s)),
            ROOT: lambda s=s, c=factor.scale: c * np.sqrt(s),
            EQUAL: lambda s=s, c=factor.scale: np.where(s == 0, 1.0, c),
        }[factor.function]()
        if factor.how == FIRST:
            values = value
        else:
            values = values * value if factor.how == TIMES else values + value
    return values


@pytest.mark.parametrize("name", KERNELS)
def test_evaluation_is_that_of_the_sample_with_itself_and_the_fit_up_to_row_effects(name):
    kernel, data = KERNELS[name]
    kernel = as_kernel(kernel, read_variable(data, "v"))
    once = kernel(data)
    np.testing.assert_allclose(once, once.T, rtol=1e-12, atol=1e-13)
    close(centred(fitted(name)(ALL, ALL)), centred(once), 1e-9)
    if not isinstance(kernel, Precomputed):
        close(kernel(data, data), once, 1e-9)


@pytest.mark.parametrize("name", KERNELS)
def test_blocks_and_selections_are_parts_of_the_whole(name):
    kernel = fitted(name)
    assert kernel.label == kernel.describe()["kernel"] != ""
    whole = kernel(ALL, ALL)
    rows, cols = np.array([3, 0, 9, 3]), np.array([5, 2])
    close(kernel(rows, cols), whole[np.ix_(rows, cols)])
    close(kernel(slice(2, 7), cols), whole[2:7, cols])
    some = kernel.take(rows)
    assert len(some) == 4
    close(some(ALL, slice(0, 3)), whole[np.ix_(rows, rows[:3])])
    close(some.take(np.array([2, 1]))(ALL, ALL), whole[np.ix_([9, 0], [9, 0])])
    block = kernel(rows, cols)
    block.fill(np.nan)
    np.testing.assert_array_equal(kernel(ALL, ALL), whole)


@pytest.mark.parametrize("name", KERNELS)
def test_programs_evaluate_to_the_kernel(name):
    kernel = fitted(name)
    assert (kernel.program() is not None) or name not in PROGRAMS
    for one in (kernel, *(part for b in kernel.bandwidths() for part in (b.slope, b.score))):
        if one.program() is not None:
            close(centred(by_numpy(one.program())), centred(one(ALL, ALL)))
    if kernel.program() is not None:
        taken = kernel.take(np.arange(M)[::-1]).program()
        close(centred(by_numpy(taken))[::-1, ::-1], centred(kernel(ALL, ALL)))


@pytest.mark.parametrize("name", KERNELS)
def test_features_multiply_to_the_kernel(name):
    kernel = fitted(name)
    phi = kernel.features()
    assert (phi is not None) or name not in FEATURES
    if phi is not None:
        gram = phi @ phi.T
        gram = gram.toarray() if sp.issparse(gram) else gram
        close(centred(gram), centred(kernel(ALL, ALL)))
        some = kernel.take(np.array([4, 1])).features()
        some, expected = (t.toarray() if sp.issparse(t) else t for t in (some, phi[[4, 1]]))
        np.testing.assert_array_equal(some, expected)


FOLLOWED = [
    *("gaussian median", "gaussian mean, wide", "laplace mean", "laplace mean, column"),
    *("laplace median, tiny", "laplace sparse", "standardized", "text", "periodic", "haversine"),
    *("gaussians", "embedding", "images"),
]


@pytest.mark.parametrize("name", FOLLOWED)
def test_slopes_are_derivatives_in_the_logarithm_of_the_bandwidth(name):
    kernel = fitted(name)
    widths = [b for b in kernel.bandwidths() if b.rule != "standard deviation"]
    h = 1e-5
    more, less = (kernel.scaled(np.exp(sign * h))(ALL, ALL) for sign in (1, -1))
    slope = sum(width.slope(ALL, ALL) for width in widths)
    close(slope, (more - less) / (2 * h), 1e-8)
    assert kernel.describe()["bandwidth"] in [width.value for width in widths]


def test_slopes_of_products_and_sums_are_those_of_their_parts():
    x, codes = COLUMN, LABELS
    part = Laplace("mean").fit(x)
    [alone] = part.bandwidths()
    [times] = fitted("columns").bandwidths()
    close(times.slope(ALL, ALL), alone.slope(ALL, ALL) * Delta().fit(codes)(ALL, ALL))
    [plus] = fitted("sum").bandwidths()
    [alone] = Laplace().fit(x).bandwidths()
    close(plus.slope(ALL, ALL), alone.slope(ALL, ALL))


def row_means(kernel):
    values = kernel(ALL, ALL)
    np.fill_diagonal(values, 0.0)
    return values.sum(1) / (len(kernel) - 1)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("rule", ["mean", "median"])
def test_leverages_predict_the_bandwidth_without_each_observation(rule, columns):
    x = np.random.default_rng(3).normal(size=(400, columns))
    kernel = Laplace(rule).fit(x)
    [width] = kernel.bandwidths()
    leverage = width.leverage(row_means(width.score))
    assert width.value == kernel.describe()["bandwidth"]
    without = [Laplace(rule).fit(np.delete(x, i, 0)) for i in range(60)]
    moved = 399 * np.log([width.value / one.describe()["bandwidth"] for one in without])
    scatter = np.std(moved - leverage[:60]) / np.std(moved)
    assert scatter < (0.02 if rule == "mean" else 0.15)


@pytest.mark.parametrize("inner", [Laplace("mean"), Gaussian(1.5), Gaussian("mean")], ids=str)
def test_deviations_of_standardized_columns_are_followed(inner):
    widths = Standardized(inner).fit(POINTS).bandwidths()[-3:]
    assert [width.rule for width in widths] == ["standard deviation"] * 3
    # To stretch one standardised column is to shrink its deviation; the scale follows.
    h, z = 1e-5, (POINTS - POINTS.mean(0)) / POINTS.std(0)
    for column, width in enumerate(widths):
        stretch = np.where(np.arange(3) == column, np.exp(-h), 1.0)
        ends = [inner.fit(z * s)(ALL, ALL) for s in (stretch, 1 / stretch)]
        close(width.slope(ALL, ALL), (ends[0] - ends[1]) / (2 * h), 1e-6)


# Not positive semi-definite by design, or by the function of the user.
INDEFINITE = ("edits", "function of items")


@pytest.mark.parametrize("name", [name for name in KERNELS if name not in INDEFINITE])
def test_kernels_are_positive_semi_definite_once_centred(name):
    matrix = fitted(name)(ALL, ALL)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12, atol=1e-14)
    centre = np.eye(M) - 1 / M
    smallest = np.linalg.eigvalsh(centre @ matrix @ centre).min()
    assert smallest > -1e-9 * np.abs(matrix).max() * M


@pytest.mark.parametrize("name", [*FOLLOWED, "edits", "series"])
def test_bandwidths_of_all_kinds_can_be_varied(name):
    before = fitted(name)
    after = before.scaled(2.0)
    assert after.describe()["bandwidth"] == pytest.approx(2 * before.describe()["bandwidth"])
    assert after.describe()["rule"] == f"2 × {before.describe()['rule']}"
    off_diagonal = ~np.eye(M, dtype=bool)
    assert after(ALL, ALL)[off_diagonal].mean() > before(ALL, ALL)[off_diagonal].mean()


@pytest.mark.filterwarnings("ignore::reldep.exceptions.ReldepWarning")
@pytest.mark.parametrize("name", KERNELS)
def test_all_engines_agree(name):
    kernel, data = KERNELS[name]
    if name == "function of items":
        return
    y = np.random.default_rng(6).normal(size=M)
    variables, kernels = {"x": data, "y": y}, {"x": kernel, "y": "linear"}
    engines = ["dense", "tiled"] + ["features"] * (name in FEATURES)
    found = [
        reldep.influence(variables, [("x", "y")], kernel=kernels, engine=engine).values
        for engine in engines
    ]
    for values in found[1:]:
        close(values, found[0], 1e-8)


CHARACTERISTIC = """
Gaussian() Laplace() Delta() Distance() Jaccard() MinMax() Periodic(7) Haversine() Gaussians()
Angles("radians") Standardized() Images(max_side=None) Gaussian()*Delta() Composition()
Columns({"a":"auto","b":Delta()}) Columns({"a":Gaussian()},combine="sum")
"""
NOT = """
Linear() Polynomial() Distance(2) Gaussian()+Delta() Gaussian()*Linear() Text() Composition(zero=1)
Spectrum() EditDistance() WeisfeilerLehman() Images() Embedding(len) TimeSeries()
Standardized("linear") Images(max_side=None,kernel="linear") Precomputed(np.eye(3))
Columns({"a":products})
Columns({"a":Gaussian(),"b":Delta()},combine="sum")
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [*((one, True) for one in CHARACTERISTIC.split()), *((one, False) for one in NOT.split())],
)
def test_which_kernels_are_characteristic(call, expected):
    assert called(call, globals()).is_characteristic == expected
