"""Kernel values: those of a formula, of another program, of the same data written otherwise."""

from __future__ import annotations

import unicodedata
from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.spatial.distance import cdist
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.gaussian_process import kernels as processes
from sklearn.metrics import jaccard_score, pairwise

from calls import called
from reldep.data.objects import read_variable
from reldep.kernels import (
    Delta,
    EditDistance,
    Embedding,
    Gaussian,
    Laplace,
    Periodic,
    Spectrum,
    Standardized,
    Text,
)
from reldep.kernels.choosing import as_kernel
from reldep.kernels.documents import words

TREES = ["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig"]
RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(7, 3)), RNG.normal(size=(4, 3)) * 3.0
FAR = cdist(X, Y)
MEDIAN = np.median(cdist(X, X)[np.triu_indices(7, 1)])
COLUMN = RNG.normal(size=(12, 1)) + 3
GAPS = np.abs(COLUMN - COLUMN.T)
SUM_TIMES_LAPLACE = (np.exp(-(GAPS**2) / 2) + (COLUMN @ COLUMN.T + 1) ** 2) * np.exp(-GAPS)
POSITIVE = RNG.random((30, 3))
SHARES = RNG.dirichlet(np.ones(3), 20)
LOG_RATIOS = np.log(SHARES / stats.gmean(SHARES, axis=1)[:, None])
ALLELES = RNG.integers(0, 3, (15, 7))
ALLELES_APART = np.abs(ALLELES[:, None, :] - ALLELES[None]) / 2
WEIGHTS = np.arange(1.0, 8.0)
GRADES, ORDER = ["low", "high", "middle", "low", "high"], ("low", "middle", "high")
PLACED = np.array([0.0, 2.0, 1.0, 0.0, 2.0])
CELLS = [RNG.normal(i % 3, 1.0, (size, 2)) for i, size in enumerate(RNG.integers(1, 9, 12))]
VECTORS = np.concatenate(CELLS)
CELL_MEDIAN = np.median(cdist(VECTORS, VECTORS)[np.triu_indices(len(VECTORS), 1)])
HOURS, RADIANS = RNG.uniform(-30, 80, 25), RNG.uniform(0, 6, 15)
VON_MISES = np.exp((np.cos(RADIANS[:, None] - RADIANS) - 1) / 0.5**2)
PLACES = np.column_stack([RNG.uniform(-90, 90, 20), RNG.uniform(-180, 360, 20)])
KM = 6371.0088 * pairwise.haversine_distances(np.deg2rad(PLACES))
POLES = [[90.0, 0.0], [-90.0, 17.0], [0.0, 0.0], [0.0, 180.0]]
HALF_TURN = 6371.0088 * np.pi
PICTURES = RNG.integers(0, 256, (6, 5, 8, 3), dtype=np.uint8)
GREY, EITHER = PICTURES[..., 0], RNG.normal(size=(5, 3, 9, 4))
COUNTS = RNG.poisson(0.8, (12, 6)).astype(float)
MARKS = (COUNTS > 0).astype(float)
SETS = [set(np.flatnonzero(row).tolist()) for row in MARKS]
JACCARD = [[jaccard_score(a, b, zero_division=1.0) for b in MARKS] for a in MARKS]
BASKETS = [["tea", "milk"], ["milk", "rice"], ["rice", "rice"]]
LONG = sp.csr_array(COUNTS)
LONG.indices, LONG.indptr = LONG.indices.astype(np.int64), LONG.indptr.astype(np.int64)
DNA = ["".join(row) for row in RNG.choice(list("ACGT"), (8, 30))]
STRANDS = [*DNA, "ACGTAC", "TTTTTTT"]
TURNED = [s.translate(str.maketrans("ACGT", "TGCA"))[::-1] for s in STRANDS]
CHARACTERS = CountVectorizer(analyzer="char", ngram_range=(2, 5), lowercase=False)
SOUNDS, ZOES = ["abcab", "bca", "abab", "cc"], ["Zoë", "Zoé", "Zola"]
SAYINGS = [["the", "dog", "barks"], ["a", "dog", "barks"], ["the", "cat", "sleeps"]]
SERIES = [[1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0], [0.5, -1.0], [2.0]]
TABLE = RNG.normal(size=(5, 4))
TEXTS = ["one red apple", "two green apples", "red and green été", "one two three"]
NEWS = ["green red blue", "apple"]
FRAME = pl.DataFrame(
    {
        "age": RNG.normal(50, 10, 20),
        "weight": RNG.normal(7e4, 1e4, 20),
        "hour": RNG.uniform(0, 24, 20),
        "sex": ["f", "m"] * 10,
        "note": [f"{word} and {i}" for i, word in enumerate(["good day", "bad night"] * 10)],
    }
)
BY_COLUMN = {
    "age": "gaussian",
    "weight": "laplace",
    "hour": Periodic(24),
    "sex": Delta(),
    "note": Text(),
}
PARTS = {
    name: as_kernel(kernel, read_variable(FRAME[name], name))(FRAME[name])
    for name, kernel in BY_COLUMN.items()
}
TWO = FRAME[["age", "weight"]].to_numpy()
TWO_BY_SEX = TWO @ TWO.T * PARTS["sex"]
AND_LINEAR = PARTS["age"] * PARTS["sex"] + np.outer(FRAME["age"], FRAME["age"])
MIXED, OTHERS = (
    pd.DataFrame({"size": X[:, 0], "kind": list("abaabba")}),
    pd.DataFrame({"size": Y[:, 0], "kind": list("abcd")}),
)
SAME_KIND = np.equal.outer(MIXED["kind"].to_numpy(), OTHERS["kind"].to_numpy())
NEAR_SIZE = np.exp(-0.5 * (X[:, :1] - Y[:, 0]) ** 2)
LABELS = RNG.integers(0, 3, (2, 25))
PAIRED = [[f"a{i}", f"b{j}"] for i, j in LABELS.T]
AGREE = [np.equal.outer(own, own) for own in LABELS]
ENDS = RNG.exponential((1.0, 2.0), (40, 2)).T
LIFE, TIED = ((ends.min(0), ends[0] <= ends[1]) for ends in (ENDS, np.ceil(4 * ENDS)))
FORK = nx.DiGraph([(0, 1), (0, 2)])
# Round 0: four equal nodes each. Round 1, by degree: {1: 3, 3: 1} and {1: 2, 2: 2}.
BY_DEGREE = [[16 + 10, 16 + 6], [16 + 6, 16 + 8]]


def martingales(time, event, width):
    """The definition, one observation and one event time after the other."""
    times = np.unique(time[event])
    jumps = np.array([(event & (time == t)).sum() / (time >= t).sum() for t in times])
    alive = np.cumprod(1 - jumps)
    u = 1 - (np.concatenate([[1.0], alive[:-1]]) + alive) / 2
    events = event[:, None] & (time[:, None] == times)
    steps = events - (time[:, None] >= times) * jumps
    return steps @ np.exp(-0.5 * (np.subtract.outer(u, u) / width) ** 2) @ steps.T


def mean_values(bags, width):
    return np.array(
        [[np.exp(-0.5 * cdist(a, b, "sqeuclidean") / width**2).mean() for b in bags] for a in bags]
    )


def overlap(rows):
    shared = np.minimum(rows[:, None], rows[None]).sum(axis=2)
    either = np.maximum(rows[:, None], rows[None]).sum(axis=2)
    return np.where(either > 0, shared / np.where(either > 0, either, 1), 1.0)


def counted(data, k, key=lambda run: run):
    """Products of the counts of runs of length k."""
    counts = [Counter(key(s[i : i + k]) for i in range(len(s) - k + 1)) for s in data]
    return np.array([[sum(a[w] * b[w] for w in a) for b in counts] for a in counts])


def either_strand(run):
    return min(run, run.translate(str.maketrans("ACGT", "TGCA"))[::-1])


def gram(rows):
    rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    return rows @ rows.T


def alignments(n, m):
    """All ways through a grid by steps right, down or both."""
    if n == 0 and m == 0:
        yield [(0, 0)]
        return
    for i, j in ((n - 1, m), (n, m - 1), (n - 1, m - 1)):
        if i >= 0 and j >= 0:
            for path in alignments(i, j):
                yield [*path, (n, m)]


def aligned(series, sigma):
    def total(x, y):
        kappa = np.exp(-np.square(np.subtract.outer(x, y)) / (2 * sigma**2))
        paths = alignments(len(x) - 1, len(y) - 1)
        return sum(np.prod([(kappa / (2 - kappa))[cell] for cell in path]) for path in paths)

    sums = np.array([[total(x, y) for y in series] for x in series])
    return sums / np.sqrt(np.outer(np.diag(sums), np.diag(sums)))


def stemmed(texts):
    import snowballstemmer

    stem = snowballstemmer.stemmer("english").stemWord
    vectorizer = TfidfVectorizer(analyzer=lambda t: [stem(w) for w in words(t)], max_df=0.5)
    return vectorizer.fit_transform(texts).toarray()


def weighted_by_the_first(first, second):
    vectorizer = TfidfVectorizer(token_pattern=r"[^\W\d_]{2,}", max_df=0.5)  # noqa: S106
    rows = vectorizer.fit_transform(first)
    return (rows @ vectorizer.transform(second).T).toarray()


def of(spec, data):
    variable = read_variable(data, "v")
    return as_kernel(spec, variable).fit(variable)(slice(None), slice(None))


# Values, and what they are to be.
EQUAL = """
Gaussian(2.0)(X, Y) == np.exp(-(FAR**2) / 8)
Gaussian()(X, Y) == np.exp(-(FAR**2) / (2 * MEDIAN**2))
Laplace(factor=2.0)(X, Y) == np.exp(-FAR / (2 * MEDIAN))
Distance(1.5)(X, Y) == -(FAR**1.5)
Linear()(X, Y) == X @ Y.T
Polynomial(3, 2.0, 0.5)(X, Y) == (0.5 * X @ Y.T + 2.0) ** 3
Standardized(Gaussian(1.0))(X, Y) == np.exp(-0.5 * cdist(X / X.std(0), Y / X.std(0)) ** 2)
(Gaussian(2.0) + Linear())(X, Y) == np.exp(-(FAR**2) / 8) + X @ Y.T
(Gaussian(2.0) * Laplace(1.0))(X, Y) == np.exp(-(FAR**2) / 8 - FAR)
FunctionKernel(lambda a, b: a @ b.T + 1)(X, Y) == X @ Y.T + 1
Embedding(lambda rows: rows[:, :2], kernel="linear")(X, Y) == X[:, :2] @ Y[:, :2].T
Gaussians(1.5, 0.5)(X, Y) == sum(Gaussian(0.75 * f)(X, Y) for f in (0.25, 0.5, 1, 2, 4))
((Gaussian(1.0) + Polynomial(2)) * Laplace(1.0))(COLUMN) == SUM_TIMES_LAPLACE

(Gaussian(1.0) * Delta())(MIXED, OTHERS) == NEAR_SIZE * SAME_KIND
Columns({"size": Gaussian(1.0), "kind": "delta"})(MIXED, OTHERS) == NEAR_SIZE * SAME_KIND
Columns({"kind": "delta"}, others="drop")(MIXED, OTHERS) == SAME_KIND
of("auto", MIXED) == Laplace("mean")(MIXED["size"]) * (0.5 + 0.5 * Delta()(MIXED["kind"]))
Delta()(["b", "a"], ["a", "c"]) == [[0, 0], [1, 0]]
Distance()(["b", "a"], ["a", "c"]) == [[-1, -1], [0, -1]]
Agreement(0.2)(PAIRED) == 0.2 + 0.2 * (AGREE[0] + 1.0 * AGREE[1]) + 0.4 * (AGREE[0] & AGREE[1])

Columns(BY_COLUMN)(FRAME) == np.prod([*PARTS.values()], 0)
Columns(BY_COLUMN)(FRAME.to_pandas()) == Columns(BY_COLUMN)(FRAME)
Columns(BY_COLUMN, combine="sum")(FRAME) == np.sum([*PARTS.values()], 0)
Columns({("age", "weight"): Linear(), "sex": Delta()}, "product", "drop")(FRAME) == TWO_BY_SEX
(Columns({"age": "gaussian", "sex": Delta()}) + Linear())(FRAME[["age", "sex"]]) == AND_LINEAR
Standardized()(TWO * [1.0, 0.00220462] + [0.0, 3.0]) == Standardized()(TWO)
Standardized("laplace")(TWO) == Laplace()(TWO / TWO.std(axis=0))
Standardized()(np.column_stack([FRAME["age"], np.full(20, 0.1)])) == PARTS["age"]
of("standardized", TWO) == Laplace("mean")(TWO / TWO.std(axis=0))

Composition("linear")(SHARES) == gram(LOG_RATIOS)
Composition()(SHARES) == Gaussian()(LOG_RATIOS)
Composition("linear", 0.1)([*SHARES, [0.0, 1, 1]]) == Composition("linear")([*SHARES, [0.2, 1, 1]])
Genotypes()(ALLELES) == 1 - ALLELES_APART.mean(axis=2)
Genotypes(WEIGHTS)(ALLELES) == 1 - np.average(ALLELES_APART, axis=2, weights=WEIGHTS)
Ordered(ORDER)(GRADES) == Gaussian()(PLACED)
Ordered(ORDER, Linear())(GRADES) == np.outer(PLACED, PLACED)

Periodic(24, bandwidth=0.8)(HOURS) == ExpSineSquared(0.8, 24)(HOURS[:, None])
Angles("degrees", bandwidth=0.5)(np.rad2deg(RADIANS)) == VON_MISES
Angles("radians", bandwidth=0.5)(RADIANS) == VON_MISES
Angles("vectors", 0.5)(3 * np.column_stack([np.cos(RADIANS), np.sin(RADIANS)])) == VON_MISES
Angles("radians", 1)(X[:, :2]) == Angles("radians", 1)(X[:, 0]) * Angles("radians", 1)(X[:, 1])
Haversine(bandwidth=3000)(PLACES) == np.exp(-KM / 3000)
Haversine(100.0)([[0.0, 0.0]], [[0.0, 0.0]]) == [[1.0]]
-1000 * np.log(Haversine(1000)(POLES))[0] == HALF_TURN * np.array([0, 1, 0.5, 0.5])
-1000 * np.log(Haversine(1000)(POLES))[3] == HALF_TURN * np.array([0.5, 0.5, 1, 0])

Images(8)(PICTURES) == Gaussian()(PICTURES.reshape(6, -1) * 1.0)
Images(4)(list(GREY)) == Images(4)(GREY)
Images(4)(np.moveaxis(PICTURES, 3, 1)) == Images(4)(PICTURES)
Images(None, "linear", "NCHW")(EITHER) == Images(None, "linear", "NHWC")(np.moveaxis(EITHER, 1, 3))

Jaccard()(SETS) == JACCARD
Jaccard()([{1, 2}], [{2, 3}]) == [[1 / 3]]
Jaccard()([sorted(s) * 2 for s in SETS]) == Jaccard()(SETS)
Jaccard()(MARKS) == Jaccard()(SETS)
Jaccard()(pd.DataFrame(MARKS > 0).add_prefix("has ")) == Jaccard()(SETS)
Jaccard()(BASKETS) == Jaccard()(list(map(set, BASKETS)))
Jaccard()([set(), set(), {1}, {1, 2}])[0] == [1, 1, 0, 0]
MinMax()(COUNTS) == overlap(COUNTS)
MinMax()(sp.csr_array(COUNTS)) == overlap(COUNTS)
MinMax()(LONG) == overlap(COUNTS)
MinMax()([Counter({j: n for j, n in enumerate(row) if n}) for row in COUNTS]) == overlap(COUNTS)
Bags(1.5, "linear")(CELLS) == mean_values(CELLS, 1.5)
Bags(kernel="linear")(CELLS, CELLS[:3]) == mean_values(CELLS, CELL_MEDIAN)[:, :3]
Bags(1.0)([pd.DataFrame(bag[:, :1]) for bag in CELLS]) == Bags(1.0)([bag[:, 0] for bag in CELLS])

Spectrum(2)(["ABABABA", "ABA", "ABABABABA", "BBBB"])[0] == [1, 1, 1, 0]
Spectrum((2, 5), normalize=False)(DNA) == gram(CHARACTERS.fit_transform(DNA))
Spectrum(2, False, True)(STRANDS) == counted(STRANDS, 2, either_strand)
Spectrum(3, True, True)(STRANDS, TURNED) == Spectrum(3, True, True)(STRANDS)
Spectrum(2, ignore_case=True)(["acgT", "ACGT", "ttGA"]) == Spectrum(2)(["ACGT", "ACGT", "TTGA"])
Spectrum(2, False)([list(s) for s in SOUNDS]) == Spectrum(2, False)(SOUNDS)
Spectrum(2, False)(SAYINGS) == [[2, 1, 0], [1, 2, 0], [0, 0, 2]]
-np.log(EditDistance(1.0)(["", "a", "abc", ""]))[0] == [0, 1, 3, 0]
EditDistance(1.0)(["ab"], ["ac"]) == [[np.exp(-1)]]
EditDistance(1.0)([s.encode() for s in ZOES]) == EditDistance(1.0)(ZOES)
EditDistance(1.0)(["Zo\u00eb"], ["Zoe\u0308", "Zoe"]) == [[1, np.exp(-1)]]
Spectrum(1)(["Zo\u00eb"], ["Zoe\u0308", "Zoe"]) == [[1, 2 / 3]]
Delta()(["Zo\u00eb"], ["Zoe\u0308", "Zoe"]) == [[1, 0]]
Text(kernel="linear")(TEXTS) == weighted_by_the_first(TEXTS, TEXTS)
Text(kernel="linear")(TEXTS, NEWS) == weighted_by_the_first(TEXTS, NEWS)
Text("en", kernel="linear")(TEXTS) == gram(stemmed(TEXTS))
Text("english", Gaussian(0.5))(TEXTS) == np.exp(-2 * cdist(stemmed(TEXTS), stemmed(TEXTS)) ** 2)

TimeSeries(bandwidth=2)(SERIES) == aligned(SERIES, 2.0)
TimeSeries(3)(TABLE.tolist()) == TimeSeries(3)(TABLE)
TimeSeries(2)(list(map(pd.Series, SERIES))) == TimeSeries(2)(SERIES)
TimeSeries(2)(list(map(pd.DataFrame, SERIES))) == TimeSeries(2)(SERIES)
LogRank(0.1)(Survival(*LIFE)) == martingales(*LIFE, 0.1)
LogRank()(Survival(*TIED)) == martingales(*TIED, 0.25)
LogRank()(Survival(*LIFE), Survival(*(v[:7] for v in LIFE))) == LogRank()(Survival(*LIFE))[:, :7]
WeisfeilerLehman(1, normalize=False)([nx.star_graph(3), nx.path_graph(4)]) == BY_DEGREE
WeisfeilerLehman(1, "label", False, None, True)([FORK, FORK.reverse()]) == [[9 + 5, 9], [9, 9 + 5]]

of("chi2", POSITIVE) == pairwise_kernels(POSITIVE, metric="chi2")
of("laplacian", POSITIVE) == pairwise_kernels(POSITIVE, metric="laplacian")
of("cosine", sp.csr_array(POSITIVE)) == of("cosine", POSITIVE)
of(2.0 * Matern(0.7, nu=1.5), POSITIVE) == (2.0 * Matern(0.7, nu=1.5))(POSITIVE, POSITIVE)
of(DotProduct() + RBF(), POSITIVE) == (DotProduct() + RBF())(POSITIVE, POSITIVE)
"""


@pytest.mark.parametrize("claim", [line for line in EQUAL.splitlines() if line])
def test_values_are_those_claimed(claim):
    names = vars(processes) | vars(pairwise) | globals()
    found, expected = (called(side, names) for side in claim.split(" == "))
    # Embeddings of bags have half of the digits: they are roots of products.
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-7 if "Bags" in claim else 1e-10)


@pytest.mark.parametrize("k", [1, 2, 4, 40])
def test_strings_of_any_alphabet_and_length_are_counted(k):
    rng = np.random.default_rng(k)
    data = ["".join(map(chr, rng.integers(32, 50_000, 60))) for _ in range(6)]
    data[1] = data[0][:50] + data[1]
    data = ["abcabcab" * 8, *(unicodedata.normalize("NFC", string) for string in data)]
    np.testing.assert_array_equal(Spectrum(k, normalize=False)(data), counted(data, k))


@pytest.mark.parametrize(
    ("kernel", "draw"),
    [
        (Gaussian(), lambda r: r.normal(size=(80, 2))),
        (Laplace("mean"), lambda r: r.normal(size=80)),
        (Standardized(Laplace("mean")), lambda r: r.normal(size=(80, 3)) * 9),
        (Gaussian() * Laplace("mean"), lambda r: r.normal(size=(80, 2))),
        (Delta(), lambda r: r.choice(["a", "b", "c"], 80)),
        (Spectrum(2), lambda r: ["".join(r.choice(list("ACGT"), 9)) for _ in range(80)]),
        (
            Text(),
            lambda r: [" ".join(r.choice(TREES, 3)) for _ in range(80)],
        ),
        (EditDistance(), lambda r: ["".join(r.choice(list("ab"), 7)) for _ in range(80)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_frozen_kernel_gives_other_rows_the_parameters_of_its_own(kernel, draw):
    rng, everything = np.random.default_rng(3), slice(None)
    first, second = (read_variable(draw(rng), name) for name in "xy")
    frozen = kernel.frozen(first)
    assert np.allclose(frozen.between(first, second), kernel.between(first, second))
    # Between rows of the second sample there is nothing left for them to decide.
    own = frozen.fit(second)(everything, everything)
    assert np.allclose(own, frozen.between(second, second))
    if isinstance(kernel, (Gaussian, Laplace)):
        width = kernel.fit(first).describe()["bandwidth"]
        assert np.allclose(own, type(kernel)(width).fit(second)(everything, everything))


@pytest.mark.parametrize(
    ("data", "function"),
    [
        (PICTURES, lambda a: a.reshape(len(a), -1)[:, :7]),
        ([{1, 2}, {3}, set(), {4, 5, 6}, {1}], lambda batch: [[len(s), sum(s)] for s in batch]),
        (["one", "three", "five", "seven", "one"], lambda batch: [len(word) for word in batch]),
        (np.arange(10.0).reshape(5, 2), np.square),
        (sp.csr_array(np.eye(5)), lambda rows: rows.toarray()),
    ],
)
def test_embeddings_are_made_in_batches(data, function):
    sizes = []

    def noted(batch):
        sizes.append(batch.shape[0] if hasattr(batch, "shape") else len(batch))
        return function(batch)

    values = Embedding(noted, batch_size=2)(data)
    assert sizes[:2] == [2, 2]
    assert sum(sizes) == len(values)
    vectors = np.asarray(function(data if hasattr(data, "shape") else list(data)), dtype=float)
    np.testing.assert_allclose(values, Gaussian()(vectors.reshape(len(values), -1)))
