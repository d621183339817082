"""WeisfeilerLehman: agreement with GraKeL, every form of input, every refusal."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest

from reldep.kernels import WeisfeilerLehman

# Number of nodes, edges, labels.
GRAPHS = [
    (4, [(0, 1), (1, 2), (2, 3)], "CCCO"),
    (4, [(0, 1), (1, 2), (2, 3), (3, 0)], "CCCO"),
    (5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], "CCNCO"),
    (3, [(0, 1), (1, 2)], "NCN"),
    (6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], "CCCCCC"),
    (6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], "CCCCCC"),
]

# Kernel matrices by GraKeL 0.1.11:
#   WeisfeilerLehman(n_iter=h, base_graph_kernel=VertexHistogram, normalize=False)
GRAKEL = {
    1: [
        [14, 13, 11, 3, 24, 24],
        [13, 16, 10, 3, 24, 24],
        [11, 10, 18, 5, 18, 18],
        [3, 3, 5, 10, 6, 6],
        [24, 24, 18, 6, 72, 72],
        [24, 24, 18, 6, 72, 72],
    ],
    3: [
        [22, 13, 11, 3, 24, 24],
        [13, 28, 10, 3, 24, 24],
        [11, 10, 32, 5, 18, 18],
        [3, 3, 5, 20, 6, 6],
        [24, 24, 18, 6, 144, 144],
        [24, 24, 18, 6, 144, 144],
    ],
}


def as_tuples():
    return [(list(range(n)), edges, list(labels)) for n, edges, labels in GRAPHS]


def as_networkx():
    found = []
    for n, edges, labels in GRAPHS:
        graph = nx.Graph()
        graph.add_nodes_from((i, {"label": labels[i]}) for i in range(n))
        graph.add_edges_from(edges)
        found.append(graph)
    return found


@pytest.mark.parametrize("make", [as_tuples, as_networkx])
@pytest.mark.parametrize("h", GRAKEL)
def test_values_are_those_of_grakel(h, make):
    values = WeisfeilerLehman(h, normalize=False)(make())
    np.testing.assert_array_equal(values, GRAKEL[h])
    sizes = np.sqrt(np.diag(GRAKEL[h]))
    np.testing.assert_allclose(WeisfeilerLehman(h)(make()), GRAKEL[h] / np.outer(sizes, sizes))


def test_all_ways_to_write_a_graph_are_the_same_graph():
    other = (["p", "q"], [("p", "q")])
    labelled = {"a": "x", "b": "y", "c": "x"}
    triangle = [
        (["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")], labelled),
        (["c", "b", "a"], [("a", "b"), ("b", "a"), ("b", "c"), ("c", "a")], ["x", "y", "x"]),
        (np.arange(3), np.array([[0, 1], [1, 2], [2, 0]]), ("x", "y", "x")),
        nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c"), ("c", "a")]),
    ]
    nx.set_node_attributes(triangle[3], labelled, "label")
    values = WeisfeilerLehman(2)([*triangle, (*other, ["x", "y"])])
    np.testing.assert_allclose(values[:4, :4], 1.0)
    assert values[0, 4] < 0.9


def atoms(graphs, attribute="atom"):
    for graph in graphs:
        labels = nx.get_node_attributes(graph, "label")
        nx.set_node_attributes(graph, labels, attribute)
        for node in graph:
            del graph.nodes[node]["label"]
    return graphs


def test_labels_may_have_another_name_or_be_ignored():
    graphs = atoms(as_networkx())
    named = WeisfeilerLehman(1, node_label="atom", normalize=False)(graphs)
    np.testing.assert_array_equal(named, GRAKEL[1])
    ignored = WeisfeilerLehman(1, node_label=None)(graphs)
    plain = [nx.Graph(graph.edges) for graph in graphs]
    np.testing.assert_allclose(ignored, WeisfeilerLehman(1)(plain))


def bonds():
    rng = np.random.default_rng(2)
    graphs = [nx.gnp_random_graph(8, 0.4, seed=seed) for seed in range(6)]
    for graph in graphs:
        nx.set_node_attributes(graph, {n: rng.choice(list("CNO")) for n in graph}, "label")
        kinds = {edge: int(rng.integers(1, 3)) for edge in graph.edges}
        nx.set_edge_attributes(graph, kinds, "bond")
    return graphs


def test_edge_labels_agree_with_the_hashes_of_networkx():
    """Equal neighbourhoods have equal hashes in networkx, which is an independent program."""
    graphs = bonds()
    h = 2
    hashes = [
        nx.weisfeiler_lehman_subgraph_hashes(
            graph, edge_attr="bond", node_attr="label", iterations=h
        )
        for graph in graphs
    ]
    counts = [
        Counter((i, x) for own in each.values() for i, x in enumerate(own)) for each in hashes
    ]
    labels = [Counter(nx.get_node_attributes(graph, "label").values()) for graph in graphs]
    expected = [
        [
            sum(a[key] * b[key] for key in a) + sum(p[key] * q[key] for key in p)
            for b, q in zip(counts, labels, strict=True)
        ]
        for a, p in zip(counts, labels, strict=True)
    ]
    kernel = WeisfeilerLehman(h, edge_label="bond", normalize=False)
    np.testing.assert_array_equal(kernel(graphs), expected)
    without = WeisfeilerLehman(h, normalize=False)(graphs)
    assert (without > kernel(graphs)).any()


def test_edge_labels_of_tuples_are_the_third_entry():
    single, double = [(0, 1, "-"), (1, 2, "-")], [(0, 1, "-"), (1, 2, "=")]
    nodes, labels = [0, 1, 2], "CCO"
    graphs = [(nodes, single, labels), (nodes, double, labels), (nodes, double[::-1], labels)]
    values = WeisfeilerLehman(1, edge_label="bond")(graphs)
    assert values[1, 2] == pytest.approx(1.0)
    assert values[0, 1] < 0.9
