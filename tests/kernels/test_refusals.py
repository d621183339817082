"""What a kernel cannot take is refused in words that name the culprit and a way out."""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import reldep
import reldep.kernels as rk
from reldep import Survival
from reldep.data.objects import read_variable
from reldep.kernels import (
    Agreement,
    Angles,
    Bags,
    Columns,
    Composition,
    Delta,
    Distance,
    EditDistance,
    Embedding,
    Gaussian,
    Gaussians,
    Genotypes,
    Haversine,
    Images,
    Jaccard,
    LogRank,
    MinMax,
    Ordered,
    Periodic,
    Precomputed,
    Spectrum,
    Standardized,
    Text,
    TimeSeries,
    WeisfeilerLehman,
)
from reldep.kernels.choosing import as_kernel

X = np.random.default_rng(5).normal(size=(7, 3))
FRAME = pd.DataFrame({"age": X[:, 0], "size": X[:, 1], "sex": list("fmfmffm")})
COUNTS = np.arange(12.0).reshape(6, 2) % 5
PATHS = [nx.path_graph(3), nx.path_graph(4)]
HALF = nx.path_graph(3)
HALF.nodes[0]["label"] = "x"
ATOMS = [nx.path_graph(n) for n in (3, 4)]
for atoms in ATOMS:
    nx.set_node_attributes(atoms, "C", "atom")
LABELLED = [([0, 1], [], "ab"), ([0, 1], [(0, 1)])]
WAYS = nx.DiGraph([(0, 1)])
PLACES = np.array([[48.9, 2.4], [51.5, -0.1], [-33.9, 151.2]])
TURNED = pd.DataFrame(PLACES[:, ::-1], columns=["Longitude", "Latitude"])
PAIRS = (
    np.zeros((3, 2, 2, 2, 2)),
    np.zeros((3, 0, 2)),
    np.zeros((5, 3, 9, 4)),
    np.zeros((5, 8, 9, 7)),
)


def graphs(*items):
    return WeisfeilerLehman(), [nx.path_graph(3), *items, nx.path_graph(4)]


# Kernel, data, and the words of the ValueError.
VALUES = [
    (Gaussian(1e-60), np.arange(9.0), "every kernel value is 0 or 1; pass one nearer"),
    (Distance() * Gaussian(), X, "is not a kernel; multiply by Laplace"),
    (Columns({"age": Distance(), "size": Gaussian()}, others="drop"), FRAME, "is not a kernel"),
    (Precomputed(np.eye(3)), X, "matrix for v has 3 rows for 7 observations; pass one row and"),
    (Precomputed(np.ones((7, 7))), X, "constant off its diagonal; leave it out"),
    ("chi2", [[1.0], [-1.0], [0.0]], "v has the value -1; kernel 'chi2' takes 0 or more"),
    ("laplacain", X, r"`kernel='laplacain'` is not known \(did you mean 'laplac"),
    # Columns, shares, genotypes, orders, bags.
    (Columns({"agee": "auto"}), FRAME, r"names 'agee', which is not a column \(did you mean 'ag"),
    (Columns({"age": "auto"}), FRAME, "no kernel for 'size', 'sex' of v; name one, or pass oth"),
    (Columns({"one": "auto"}), pd.DataFrame({"one": np.ones(5)}), "one is constant"),
    (Composition(), [[1.0, 0.0], [1.0, 2.0]], "1 zeros, .*Composition"),
    (Composition(), [[1.0, -1.0], [1.0, 2.0]], "has the value -1; kernel Composition"),
    (Composition(), [1.0, 2.0], "one column; a composition has two"),
    (Genotypes(), [[0.5, 1], [1, 2]], "v has 0.5; Genotypes takes 0, 1, 2"),
    (Genotypes([1.0]), COUNTS % 3, r"shape \(1,\); pass one"),
    (Ordered(["a"]), ["a", "b"], "has 'b', not in the order"),
    (
        Bags(),
        [np.zeros((2, 2)), np.zeros((2, 3))],
        "vector of v differ, from 2 to 3; make",
    ),
    (Bags(), [[], [1.0]], r"has shape \(0,\); pass a sequence"),
    (Bags(), [[1.0], [np.nan, 1.0]], "NaN or infinite"),
    # Circles and spheres.
    (Periodic(7), np.arange(5.0) * 7, "all 5 observations of v look the same"),
    (Angles("vectors"), X[:, 0], "v has one column; for angles"),
    (Angles("vectors"), [[1.0, 1.0], [0.0, 0.0], [2.0, 1.0]], "row 1 of v is the zero vector"),
    (Haversine(), X[:, 0], "v has 1 columns; pass latitude"),
    (Haversine(), [[100.0, 2.0], [1.0, 2.0]], "latitudes up to 100"),
    (Haversine(), [[1.0, 2.0], [1.0, 400.0]], "longitudes up to 400"),
    (Haversine(), PLACES[:, ::-1], "latitudes up to 151"),
    (Haversine(), TURNED, "v has longitude first; pass latitude, then"),
    (Haversine(), [[1.0, 2.0]] * 3, "v is constant"),
    # Series, strings, texts.
    (TimeSeries(), [[1.0, 2.0], [], [3.0]], r"observation 1 of v has shape \(0,\); pass a seq"),
    (TimeSeries(), [[1.0], [1.0, np.nan], [2.0]], "observation 1 of v has NaN or infinite values"),
    (TimeSeries(), [np.ones((3, 2)), np.ones((3, 1))], "numbers per time of v differ, from 1 to 2"),
    (TimeSeries(), np.ones((3, 2, 2, 2)), r"observation 0 of v has shape \(2, 2, 2\)"),
    (TimeSeries(), np.ones((4, 3)), "all 4 series of v are the same"),
    (TimeSeries(), [[1.0], [1.0, 1.0], [1.0]], "distances that the median bandwidth is taken of"),
    (Spectrum(2), ["ab", "", ""], "an empty string in rows 1, 2"),
    (Spectrum(3), ["abc", "ab"], "shorter than k=3 in row 1"),
    (Spectrum(2), [b"ACCA", b"AC\xff", b"GA"], "observation 1 of v is bytes that are not UTF-8"),
    (Spectrum(2), ["aba", "aba"], "all 2 observations of v look"),
    (Spectrum(2, reverse_complement=True), ["ACG", "AXG"], "'X', which is not a nucleotide"),
    (EditDistance(), ["a", "a"], "v is constant"),
    (Text(), ["good dog", "", "cat"], "an empty string in row 1"),
    (Text(), ["good dog", "12 3", "cat"], "a text without words in row 1; fill in or leave out"),
    (Text("sv"), ["samma ord"] * 3 + ["ord"], "'sv' documents: every stem .* more than 50% of"),
    (Text(max_document_frequency=1), ["ox"] * 4, "look the same"),
    (Text(kernel="gausian"), ["an ox", "a cow", "one ox"], "did you mean 'gaussian'"),
    # Sets, counts, graphs, pictures, lifetimes.
    (Jaccard(), COUNTS, r"other than 0 and 1; .* use MinMax\(\)"),
    (Jaccard(), [[1, 2], [2, 3]], r"pass \[set\(row\) for row in rows\]"),
    (Jaccard(), [{1}, {1}, {1}], "v is constant"),
    (MinMax(), COUNTS - 1, "has the value -1; kernel MinMax"),
    (MinMax(), [{"a": 1}, {"a": np.nan}], "NaN or infinite"),
    (MinMax(), [{"a": 1}, {"a": 1}], "v is constant"),
    (*graphs(nx.Graph()), "observation 1 of v is a graph without nodes; leave it out"),
    (*graphs(([], [])), "observation 1 of v is a graph without nodes"),
    (*graphs(([0, 1], [(0, 2)])), r"has the edge \(0, 2\); pass pairs of its no"),
    (*graphs(([0, 1], [(0, 1, 1)])), r"has the edge \(0, 1, 1\)"),
    (*graphs(([0, 1], [7])), "has the edge 7"),
    (*graphs(([0, 0], [])), "names a node twice"),
    (*graphs(([0, 1], [], ["a"])), "has 1 labels for 2 nodes; label each"),
    (*graphs(([0, 1], [], {0: "a"})), "no label for node 1"),
    (*graphs(HALF), "'label' on 1 of 3 nodes"),
    (WeisfeilerLehman(), [nx.path_graph(3)] * 3, r"kernel WeisfeilerLehman\(\) all 3 observ"),
    (WeisfeilerLehman(), ATOMS, r"attribute 'label' \(there is 'atom'\); name one as node_label"),
    (WeisfeilerLehman(node_label="atom"), PATHS, "no node of v has the attribute 'atom'"),
    (WeisfeilerLehman(), LABELLED, "observation 1 of v has no node labels and others have; label"),
    (WeisfeilerLehman(edge_label="bond"), PATHS, r"no attribute 'bond' on the edge \(0, 1\)"),
    (Images(), PAIRS[0], r"shape \(3, 2, 2, 2, 2\) and type float64"),
    (Images(), PAIRS[1], r"shape \(3, 0, 2\)"),
    (Images(), PAIRS[2], r"two sides that may be channels; pass Images\(layout="),
    (Images(), PAIRS[3], "no sides that may be channels"),
    (
        Images(),
        [np.zeros((2, 2)), np.zeros((3, 2))],
        r"v differ, from \(2, 2\) to \(3",
    ),
    (LogRank(), Survival([1, 2], [0, 0]), "no events: all 2 times are"),
    # Functions of the user.
    (lambda a, b: a[:, :1], X, r"kernel function for v returned shape \(7, 1\) for 7 and 7 rows"),
    (lambda a, b: np.nan * a @ b.T, X, "returned NaN or infinite values; return finite"),
    (lambda a, b: a @ b.T + a[:, :1], X, "function for v is not symmetric"),
    (lambda a, b: 1j * a @ b.T, X, "returned values of type complex128; return real"),
    (lambda a, b: {}[len(a)], X, "kernel function for v failed: 7"),
    (Embedding(lambda batch: 1 / 0), X, r"the embedding failed: division by zero"),
    (Embedding(lambda batch: np.zeros((1, 3))), X, r"shape \(1, 3\) for a batch of 7 observations"),
    (Embedding(lambda batch: 1.0), X, r"returned shape \(\)"),
    (Embedding(lambda batch: np.zeros((7, 0))), X, r"returned shape \(7, 0\)"),
    (Embedding(lambda b: b[:, : len(b)], 2), X, "vectors of the embedding differ, from 1 to 2"),
    (Embedding(lambda batch: [[np.nan]] * 7), X, "turned v into NaN .*: 7 NaN in rows 0, 1, 2"),
    (Embedding(lambda batch: np.ones((7, 2))), X, "all 7 observations of v look the same"),
]
# Kernel, data, and the words of the TypeError.
TYPES = [
    (
        Gaussian(),
        ["a", "b"],
        "kernel Gaussian cannot be used for v, which contains labels .*; it t",
    ),
    (Gaussian, X, r"kernel=Gaussian is a class; pass Gaussian\(\)"),
    (3, X, "kernel for v is of type int; pass a name"),
    (Delta(), FRAME, r"v has numbers next to labels; pass Gaussian\(\) \* Delta"),
    (Standardized(), list("abab"), "which contains labels"),
    (
        Columns({("age", "sex"): "auto"}, others="drop"),
        FRAME,
        "'sex' contains labels; give it a ker",
    ),
    (Columns({"sex": Gaussian()}, others="drop"), FRAME, "kernel Gaussian cannot be used for sex"),
    (Columns({"age": "auto"}), np.eye(4), "v has no column names; pass a data frame"),
    (Columns({"age": 3}, others="drop"), FRAME, "kernel for age is"),
    (Columns({"sex": "delta"}), FRAME["sex"], "kernel Columns cannot be used for v.*takes columns"),
    (Ordered(), ["a", "b"], "v has no order; pass Ordered"),
    (Bags(), [["a"], ["b", "c"]], "not numbers"),
    (Angles("degrees"), ["N", "S"], "which contains labels"),
    (TimeSeries(), [[1.0], "ab", [2.0]], "observation 1 of v is of type str; pass a sequence of"),
    (TimeSeries(), [[1.0], ["ab", "c"], [2.0]], "observation 1 of v has values that are not num"),
    (TimeSeries(), ["a", "b"], "it takes numbers, other objects"),
    (Spectrum(), ["abc", 3, "abd"], "observation 1 of v is of type int; kernel Spectrum takes str"),
    (Spectrum(), np.arange(5.0), "numbers; it takes labels"),
    (Spectrum(1, reverse_complement=True), [["A", "C"], ["G"]], "tokens; leave reverse_complement"),
    (EditDistance(), [1.5, "a"], "observation 0 of v is of type float; kernel EditDistance takes"),
    (Text(), ["good dog", None, 7, "cat"], "observation 1 of v is of type NoneType; kernel Text"),
    (Text(), np.arange(4.0), "v, which contains numbers; it takes"),
    (
        Jaccard(),
        [{1}, "ab", {2}],
        "observation 1 of v is of type str; kernel Jaccard takes sets, on",
    ),
    (Jaccard(), [[[1]], [[2], [3]]], "of v must be strings, numbers or tuples: .*list"),
    (Jaccard(), ["a", "b", "a"], "v contains single labels"),
    (Jaccard(), pd.DataFrame({"a": ["x", "y"], "b": [0, 1]}), "labels next to numbers"),
    (MinMax(), [{"a": 1}, {2}], "takes mappings from element to"),
    (*graphs(WAYS), r"is directed; pass .*directed=True"),
    (*graphs("graph"), "observation 1 of v is of type str; pass networkx"),
    (WeisfeilerLehman(directed=True), [WAYS, *PATHS], r"is undirected; pass .*directed=False"),
    (LogRank(), [{1}, {2}], r"is of type set; kernel LogRank takes lifetimes as in Survival\(time"),
]


@pytest.mark.parametrize(
    ("kernel", "data", "error", "words"),
    [(*case[:2], ValueError, case[2]) for case in VALUES]
    + [(*case[:2], TypeError, case[2]) for case in TYPES],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_data_that_a_kernel_cannot_take_are_refused(kernel, data, error, words):
    variable = read_variable(data, "v")
    with pytest.raises(error, match=words):
        as_kernel(kernel, variable).fit(variable)(slice(None), slice(None))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Gaussians(factors=()), ValueError, r"`factors=\(\)`; pass a tuple of positive"),
        (lambda: Gaussians(factors=(1.0, -1.0)), ValueError, "`factors=-1.0`; pass a positive n"),
        (lambda: Gaussians("largest"), ValueError, "is not known; pass one of"),
        (lambda: Gaussian() + 1, TypeError, "unsupported"),
        (lambda: Gaussian() * "delta", TypeError, "unsupported|multiply"),
        (lambda: Agreement(1.0), ValueError, "pass a number from 0 to below 1"),
        (lambda: Agreement("half"), ValueError, "pass a number from 0 to below 1"),
        (lambda: Columns({}), TypeError, "kernels must name at least one column"),
        (lambda: Columns([Gaussian()]), TypeError, "kernels must name at least one column"),
        (lambda: Columns({"a": "auto"}, combine="times"), ValueError, "combine='times'"),
        (lambda: Columns({"a": "auto"}, others="keep"), ValueError, "others='keep'"),
        (lambda: Composition(zero=-1), ValueError, "zero=-1"),
        (lambda: Bags(-1.0), ValueError, "bandwidth=-1"),
        (lambda: Periodic(0), ValueError, "`period=0`; pass a positive number"),
        (lambda: Periodic("day"), TypeError, "`period='day'`; pass a positive number"),
        (lambda: Periodic(24, bandwidth=0), ValueError, "bandwidth=0"),
        (lambda: Angles("degree"), ValueError, r"`unit='degree'` .*did you mean 'degrees'"),
        (lambda: Angles("radians", factor=-1), ValueError, "factor=-1"),
        (lambda: Haversine(bandwidth=-5), ValueError, "bandwidth=-5"),
        (lambda: Spectrum(0), ValueError, "`k=0`; pass a whole number, at least 1"),
        (lambda: Spectrum(1.5), TypeError, "`k=1.5`; pass a whole number"),
        (lambda: Spectrum(True), TypeError, "k=True"),
        (lambda: Spectrum((3, 2)), ValueError, "`k=2`; pass a whole number, at least 3"),
        (lambda: Spectrum((1, 2, 3)), ValueError, r"`k=\(1, 2, 3\)`; pass a whole number, or"),
        (lambda: EditDistance("mean"), ValueError, "`bandwidth='mean'` is not known"),
        (
            lambda: Text("englsh"),
            ValueError,
            r"'englsh', .*\(did you mean 'english'\?\); pass None",
        ),
        (lambda: Text("xx"), ValueError, "language is 'xx', for which there is no stemmer; pass"),
        (lambda: Text(max_document_frequency=2), ValueError, "`max_document_frequency=2`; pass a"),
        (lambda: WeisfeilerLehman(-1), ValueError, "`h=-1`; pass a whole number, at least 0"),
        (lambda: Images(0), ValueError, "`max_side=0`; pass a whole number, at least 1"),
        (lambda: Images(layout="CHW"), ValueError, "`layout='CHW'` is not known"),
        (lambda: Embedding("network"), TypeError, "function is of type str; pass a function of a"),
        (lambda: Embedding(len, batch_size=0), ValueError, "batch_size=0"),
        (lambda: Survival([1, 2], [1]), ValueError, "time has 2 entries and event 1"),
        (lambda: Survival([1, -2], [1, 0]), ValueError, "time is -2 in row 1; pass times since"),
        (lambda: Survival([1, 2], [1, 2]), ValueError, "values are 1, 2.*`event_value=2`"),
        (lambda: Survival([1, 2], ["A", 1]), ValueError, "event is .A. in row 0, which can be"),
        (lambda: LogRank(0), ValueError, "width=0"),
        (
            lambda: rk.check_kernel(Delta(), "aabb", n_sample=3),
            ValueError,
            "n_sample=3",
        ),
        (lambda: Gaussian()(X, X[:, :2]), ValueError, "X has 3 columns and Y 2; pass the same"),
        (lambda: Delta()(X, ["a"]), TypeError, "X contains numbers and Y labels"),
        (lambda: Gaussian()([1.0, np.nan]), ValueError, "X has 1 NaN .* fill in"),
        (lambda: Precomputed(np.eye(7))(X, X), ValueError, "has no values of other observations"),
        (lambda: Precomputed(np.eye(3))(X), ValueError, "has 3 rows for 7 observations"),
        (lambda: Precomputed(1.0 - np.eye(3)), ValueError, r"distances; .* pass Precomputed\(-D\)"),
    ],
)
def test_arguments_that_make_no_kernel_are_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("kernel", "data", "module", "words"),
    [
        (
            EditDistance(),
            ["ab", "cd", "ef"],
            "rapidfuzz.process",
            r"rapidfuzz .*'reldep\[strings\]'",
        ),
        (MinMax(), sp.csr_array(COUNTS), "sklearn.metrics.pairwise", r"'reldep\[features\]'"),
        ("chi2", COUNTS, "sklearn.metrics.pairwise", r"kernel 'chi2' needs scikit-learn"),
        (Text(), ["an ox", "a cow"], "sklearn.feature_extraction.text", r"'reldep\[text\]'"),
        (Text(), ["an ox", "a cow"], "snowballstemmer", r"needs snowballstemmer .*pip install"),
    ],
)
def test_without_its_package_a_kernel_names_the_extra(kernel, data, module, words, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    variable = read_variable(data, "v")
    with pytest.raises(ImportError, match=words):
        as_kernel(kernel, variable).fit(variable)(slice(None), slice(None))


@pytest.mark.parametrize("engine", ["dense", "tiled", "blocks", "auto"])
def test_every_engine_raises_what_a_function_of_the_user_does_in_words(engine):
    x = np.random.default_rng(0).normal(size=40)

    def fails(A, B):
        raise KeyError("secret")

    with pytest.raises(ValueError, match="kernel function for x failed: "):
        reldep.cka(x, x**2, kernel=(fails, "auto"), engine=engine)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(np.float32(0.5)),
        Gaussians(np.float32(1)),
        Distance(np.float32(1)),
        Periodic(np.float32(3)),
    ],
    ids=str,
)
def test_numbers_of_single_precision_are_numbers(kernel):
    x = np.random.default_rng(0).normal(size=40)
    assert np.isfinite(reldep.cka(x, x**2, kernel=(kernel, "gaussian")))
