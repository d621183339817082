"""WeisfeilerLehman: agreement with GraKeL, every form of input, every refusal."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from reldep.data.objects import read_variable
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


def matrix(kernel, data):
    return kernel.fit(read_variable(data, "v")).matrix()


@pytest.mark.parametrize("make", [as_tuples, as_networkx])
@pytest.mark.parametrize("h", GRAKEL)
def test_values_are_those_of_grakel(h, make):
    values = matrix(WeisfeilerLehman(h, normalize=False), make())
    np.testing.assert_array_equal(values, GRAKEL[h])
    sizes = np.sqrt(np.diag(GRAKEL[h]))
    np.testing.assert_allclose(
        matrix(WeisfeilerLehman(h), make()), GRAKEL[h] / np.outer(sizes, sizes)
    )


def test_no_rounds_count_the_labels_of_the_nodes():
    values = matrix(WeisfeilerLehman(0, normalize=False), as_tuples())
    assert values[0].tolist() == [10, 10, 10, 3, 18, 18]


def test_one_ring_of_six_and_two_rings_of_three_look_the_same():
    values = matrix(WeisfeilerLehman(5), as_tuples())
    assert values[4, 5] == pytest.approx(1.0)


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
    values = matrix(WeisfeilerLehman(2), [*triangle, (*other, ["x", "y"])])
    np.testing.assert_allclose(values[:4, :4], 1.0)
    assert values[0, 4] < 0.9


def test_unlabelled_graphs_start_with_equal_labels():
    star, path = nx.star_graph(3), nx.path_graph(4)
    values = matrix(WeisfeilerLehman(1, normalize=False), [star, path])
    # Round 0: four equal nodes each. Round 1, by degree: {1: 3, 3: 1} and {1: 2, 2: 2}.
    np.testing.assert_array_equal(values, [[16 + 10, 16 + 6], [16 + 6, 16 + 8]])


def half_labelled():
    graph = nx.path_graph(3)
    graph.nodes[0]["label"] = "x"
    return graph


@pytest.mark.parametrize(
    ("graph", "error", "message"),
    [
        (nx.Graph(), ValueError, "observation 1 of v is a graph without nodes; leave it out"),
        (([], []), ValueError, "observation 1 of v is a graph without nodes"),
        (nx.DiGraph([(0, 1)]), TypeError, r"directed graph; pass graph\.to_undirected\(\)"),
        (
            "graph",
            TypeError,
            "observation 1 of v is of type str; kernel WeisfeilerLehman takes net",
        ),
        (([0, 1], [(0, 2)]), ValueError, r"has the edge \(0, 2\), which is not a pair of its no"),
        (([0, 1], [(0, 1, 1)]), ValueError, r"has the edge \(0, 1, 1\)"),
        (([0, 1], [7]), ValueError, "has the edge 7"),
        (([0, 0], []), ValueError, "names a node twice"),
        (([0, 1], [], ["a"]), ValueError, "has 1 labels for 2 nodes; label every node"),
        (([0, 1], [], {0: "a"}), ValueError, "no label for node 1"),
        (half_labelled(), ValueError, "attribute 'label' on 1 of its 3 nodes"),
    ],
)
def test_bad_graphs_say_which_and_how_to_go_on(graph, error, message):
    with pytest.raises(error, match=message):
        matrix(WeisfeilerLehman(), [nx.path_graph(3), graph, nx.path_graph(4)])


def test_the_number_of_rounds_is_a_whole_number():
    with pytest.raises(ValueError, match="h=-1; pass a whole number, at least 0"):
        WeisfeilerLehman(-1)


def test_equal_graphs_only_are_refused():
    with pytest.raises(ValueError, match=r"to kernel WeisfeilerLehman\(h=3\) all 3 observations"):
        matrix(WeisfeilerLehman(), [nx.path_graph(3)] * 3)
