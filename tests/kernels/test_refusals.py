"""What a kernel cannot take is refused in words that name the culprit and a way out."""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import reldep
from calls import refused
from reldep.data.objects import read_variable
from reldep.kernels import (
    Distance,
    EditDistance,
    Gaussian,
    Gaussians,
    MinMax,
    Periodic,
    Text,
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


def fit(spec, data):
    variable = read_variable(data, "v")
    return as_kernel(spec, variable).fit(variable)(slice(None), slice(None))


# A call, and what the ValueError or the TypeError says. Three dots stand for anything.
VALUES = r"""
fit(Gaussian(1e-60), np.arange(9.0)) -> every kernel value is 0 or 1; pass one nearer
fit(Distance() * Gaussian(), X) -> is not a kernel; multiply by Laplace
fit(Columns({"age": Distance(), "size": Gaussian()}, others="drop"), FRAME) -> is not a kernel
fit(Precomputed(np.eye(3)), X) -> matrix for v has 3 rows for 7 observations; pass one row and
fit(Precomputed(np.ones((7, 7))), X) -> constant off its diagonal; leave it out
fit("chi2", [[1.0], [-1.0], [0.0]]) -> v has the value -1; kernel 'chi2' takes 0 or more
fit("laplacain", X) -> `kernel='laplacain'` is not known (did you mean 'laplac
fit(Columns({"agee": "auto"}), FRAME) -> names 'agee', which is not a column (did you mean 'ag
fit(Columns({"age": "auto"}), FRAME) -> no kernel for 'size', 'sex' of v; name one, or pass oth
fit(Columns({"one": "auto"}), pd.DataFrame({"one": np.ones(5)})) -> one is constant
fit(Composition(), [[1.0, 0.0], [1.0, 2.0]]) -> 1 zeros, … Composition
fit(Composition(), [1.0, 2.0]) -> one column; a composition has two
fit(Genotypes(), [[0.5, 1], [1, 2]]) -> v has 0.5; Genotypes takes 0, 1, 2
fit(Genotypes([1.0]), COUNTS % 3) -> shape (1,); pass one
fit(Ordered(["a"]), ["a", "b"]) -> has 'b', not in the order
fit(Bags(), [np.zeros((2, 2)), np.zeros((2, 3))]) -> vector of v differ, from 2 to 3; make
fit(Periodic(7), np.arange(5.0) * 7) -> all 5 observations of v look the same
fit(Angles("vectors"), X[:, 0]) -> v has one column; for angles
fit(Angles("vectors"), [[1.0, 1.0], [0.0, 0.0], [2.0, 1.0]]) -> row 1 of v is the zero vector
fit(Haversine(), X[:, 0]) -> v has 1 columns; pass latitude
fit(Haversine(), [[100.0, 2.0], [1.0, 2.0]]) -> latitudes up to 100
fit(Haversine(), TURNED) -> v has longitude first; pass latitude, then
fit(Haversine(), [[1.0, 2.0]] * 3) -> v is constant
fit(TimeSeries(), [[1.0, 2.0], [], [3.0]]) -> observation 1 of v has shape (0,); pass a seq
fit(TimeSeries(), [[1.0], [1.0, np.nan], [2.0]]) -> observation 1 of v has NaN or infinite values
fit(TimeSeries(), [np.ones((3, 2)), np.ones((3, 1))]) -> numbers per time of v differ, from 1 to 2
fit(TimeSeries(), np.ones((4, 3))) -> all 4 series of v are the same
fit(TimeSeries(), [[1.0], [1.0, 1.0], [1.0]]) -> distances that the median bandwidth is taken of
fit(Spectrum(2), ["ab", "", ""]) -> an empty string in rows 1, 2
fit(Spectrum(3), ["abc", "ab"]) -> shorter than k=3 in row 1
fit(Spectrum(2), [b"ACCA", b"AC\xff", b"GA"]) -> observation 1 of v is bytes that are not UTF-8
fit(Spectrum(2, reverse_complement=True), ["ACG", "AXG"]) -> 'X', which is not a nucleotide
fit(EditDistance(), ["a", "a"]) -> v is constant
fit(Text(), ["good dog", "12 3", "cat"]) -> a text without words in row 1; fill in or leave out
fit(Text("sv"), ["samma ord"] * 3 + ["ord"]) -> 'sv' documents: every stem … more than 50% of
fit(Jaccard(), COUNTS) -> other than 0 and 1; … use MinMax()
fit(Jaccard(), [[1, 2], [2, 3]]) -> pass [set(row) for row in rows]
fit(MinMax(), [{"a": 1}, {"a": np.nan}]) -> NaN or infinite
fit(*graphs(nx.Graph())) -> observation 1 of v is a graph without nodes; leave it out
fit(*graphs(([0, 1], [(0, 2)]))) -> has the edge (0, 2); pass pairs of its no
fit(*graphs(([0, 1], [7]))) -> has the edge 7
fit(*graphs(([0, 0], []))) -> names a node twice
fit(*graphs(([0, 1], [], ["a"]))) -> has 1 labels for 2 nodes; label each
fit(*graphs(([0, 1], [], {0: "a"}))) -> no label for node 1
fit(*graphs(HALF)) -> 'label' on 1 of 3 nodes
fit(WeisfeilerLehman(), [nx.path_graph(3)] * 3) -> kernel WeisfeilerLehman() all 3 observ
fit(WeisfeilerLehman(), ATOMS) -> attribute 'label' (there is 'atom'); name one as node_label
fit(WeisfeilerLehman(node_label="atom"), PATHS) -> no node of v has the attribute 'atom'
fit(WeisfeilerLehman(), LABELLED) -> observation 1 of v has no node labels and others have; label
fit(WeisfeilerLehman(edge_label="bond"), PATHS) -> no attribute 'bond' on the edge (0, 1)
fit(Images(), PAIRS[0]) -> shape (3, 2, 2, 2, 2) and type float64
fit(Images(), PAIRS[1]) -> shape (3, 0, 2)
fit(Images(), PAIRS[2]) -> two sides that may be channels; pass Images(layout=
fit(Images(), PAIRS[3]) -> no sides that may be channels
fit(Images(), [np.zeros((2, 2)), np.zeros((3, 2))]) -> v differ, from (2, 2) to (3
fit(LogRank(), Survival([1, 2], [0, 0])) -> no events: all 2 times are
fit(lambda a, b: a[:, :1], X) -> kernel function for v returned shape (7, 1) for 7 and 7 rows
fit(lambda a, b: np.nan * a @ b.T, X) -> returned NaN or infinite values; return finite
fit(lambda a, b: a @ b.T + a[:, :1], X) -> function for v is not symmetric
fit(lambda a, b: 1j * a @ b.T, X) -> returned values of type complex128; return real
fit(lambda a, b: {}[len(a)], X) -> kernel function for v failed: 7
fit(Embedding(lambda batch: 1 / 0), X) -> the embedding failed: division by zero
fit(Embedding(lambda batch: np.zeros((1, 3))), X) -> shape (1, 3) for a batch of 7 observations
fit(Embedding(lambda b: b[:, : len(b)], 2), X) -> vectors of the embedding differ, from 1 to 2
fit(Embedding(lambda batch: [[np.nan]] * 7), X) -> turned v into NaN … : 7 NaN in rows 0, 1, 2
Gaussians(factors=()) -> `factors=()`; pass a tuple of positive
Gaussians(factors=(1.0, -1.0)) -> `factors=-1.0`; pass a positive n
Agreement(1.0) -> pass a number from 0 to below 1
Columns({"a": "auto"}, combine="times") -> combine='times'
Periodic(0) -> `period=0`; pass a positive number
Angles("degree") -> `unit='degree'` … did you mean 'degrees'
Spectrum(0) -> `k=0`; pass a whole number, at least 1
Spectrum((3, 2)) -> `k=2`; pass a whole number, at least 3
Spectrum((1, 2, 3)) -> `k=(1, 2, 3)`; pass a whole number, or
Text("englsh") -> 'englsh', … (did you mean 'english'?); pass None
Text("xx") -> language is 'xx', for which there is no stemmer; pass
Text(max_document_frequency=2) -> `max_document_frequency=2`; pass a
Images(0) -> `max_side=0`; pass a whole number, at least 1
Survival([1, 2], [1]) -> time has 2 entries and event 1
Survival([1, -2], [1, 0]) -> time is -2 in row 1; pass times since
Survival([1, 2], [1, 2]) -> values are 1, 2 … `event_value=2`
Survival([1, 2], ["A", 1]) -> event is 'A' in row 0, which can be
check_kernel(Delta(), "aabb", n_sample=3) -> n_sample=3
Gaussian()(X, X[:, :2]) -> X has 3 columns and Y 2; pass the same
Gaussian()([1.0, np.nan]) -> X has 1 NaN … fill in
Precomputed(np.eye(7))(X, X) -> has no values of other observations
Precomputed(np.eye(3))(X) -> has 3 rows for 7 observations
Precomputed(1.0 - np.eye(3)) -> distances; … pass Precomputed(-D)
"""
TYPES = r"""
fit(Gaussian(), ["a", "b"]) -> kernel Gaussian cannot be used for v, which contains labels … ; it t
fit(Gaussian, X) -> kernel=Gaussian is a class; pass Gaussian()
fit(3, X) -> kernel for v is of type int; pass a name
fit(Delta(), FRAME) -> v has numbers next to labels; pass Gaussian() * Delta
fit(Columns({("age", "sex"): "auto"}, others="drop"), FRAME) -> 'sex' contains labels; give it a ker
fit(Columns({"age": "auto"}), np.eye(4)) -> v has no column names; pass a data frame
fit(Columns({"age": 3}, others="drop"), FRAME) -> kernel for age is
fit(Columns({"sex": "delta"}), FRAME["sex"]) -> kernel Columns cannot be used for v … takes columns
fit(Ordered(), ["a", "b"]) -> v has no order; pass Ordered
fit(TimeSeries(), [[1.0], "ab", [2.0]]) -> observation 1 of v is of type str; pass a sequence of
fit(TimeSeries(), [[1.0], ["ab", "c"], [2.0]]) -> observation 1 of v has values that are not num
fit(TimeSeries(), ["a", "b"]) -> it takes numbers, other objects
fit(Spectrum(), ["abc", 3, "abd"]) -> observation 1 of v is of type int; kernel Spectrum takes str
fit(Spectrum(1, reverse_complement=True), [["A", "C"], ["G"]]) -> tokens; leave reverse_complement
fit(EditDistance(), [1.5, "a"]) -> observation 0 of v is of type float; kernel EditDistance takes
fit(Text(), ["good dog", None, 7, "cat"]) -> observation 1 of v is of type NoneType; kernel Text
fit(Jaccard(), [{1}, "ab", {2}]) -> observation 1 of v is of type str; kernel Jaccard takes sets, on
fit(Jaccard(), [[[1]], [[2], [3]]]) -> of v must be strings, numbers or tuples: … list
fit(Jaccard(), ["a", "b", "a"]) -> v contains single labels
fit(Jaccard(), pd.DataFrame({"a": ["x", "y"], "b": [0, 1]})) -> labels next to numbers
fit(MinMax(), [{"a": 1}, {2}]) -> takes mappings from element to
fit(*graphs(WAYS)) -> is directed; pass … directed=True
fit(*graphs("graph")) -> observation 1 of v is of type str; pass networkx
fit(WeisfeilerLehman(directed=True), [WAYS, *PATHS]) -> is undirected; pass … directed=False
fit(LogRank(), [{1}, {2}]) -> is of type set; kernel LogRank takes lifetimes as in Survival(time
Gaussian() + 1 -> unsupported
Gaussian() * "delta" -> multiply
Columns({}) -> kernels must name at least one column
Spectrum(1.5) -> `k=1.5`; pass a whole number
Embedding("network") -> function is of type str; pass a function of a
Delta()(X, ["a"]) -> X contains numbers and Y labels
"""


@pytest.mark.parametrize("line", [*VALUES.strip().splitlines(), *TYPES.strip().splitlines()])
def test_what_a_kernel_cannot_take_is_refused_in_words(line):
    # The words of TypeErrors have no room for their kind.
    refused(line.replace("-> ", "-> TypeError: ") if line in TYPES else line, globals())


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
    with pytest.raises(ImportError, match=words):
        fit(kernel, data)


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
