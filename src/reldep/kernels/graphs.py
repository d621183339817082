"""The kernel for graphs: neighbourhoods that two graphs have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from reldep.data.checks import check_count
from reldep.data.variables import Items, Sparse, Variable
from reldep.kernels.mapped import MappedKernel, count_matrix, unit_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scipy.sparse import csr_array


@dataclass(frozen=True)
class Graph:
    """An undirected graph: for each node its label and the positions of its neighbours."""

    labels: tuple[Any, ...]
    neighbours: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class WeisfeilerLehman(MappedKernel):
    """A kernel between graphs, by the neighbourhoods of up to `h` steps they share.

    Every node starts with its label. In each of `h` rounds a node's label is replaced by a name
    for the pair (its label, the labels of its neighbours). A graph is the counts of all labels
    of all rounds, which are explicit sparse features.

    It is not characteristic: some different graphs have the same neighbourhoods, for instance
    a ring of six nodes and two rings of three.

    Parameters
    ----------
    h : int, default 3
        The number of rounds; 0 counts the labels of the nodes only.
    node_label : str, default "label"
        The networkx node attribute that holds the label. Graphs in which no node has it start
        with equal labels, so that the first round counts degrees.
    normalize : bool, default True
        Scale the counts of each graph to length 1, so that the kernel does not see the size.

    Notes
    -----
    A graph is a networkx graph or a tuple ``(nodes, edges)`` or ``(nodes, edges, labels)``:
    nodes are any hashable objects, edges pairs of nodes, labels a mapping from node to label or
    a sequence in the order of the nodes. Parallel edges count once.

    References
    ----------
    Shervashidze et al. (2011), Weisfeiler-Lehman graph kernels, JMLR 12.

    Examples
    --------
    >>> from reldep.kernels import WeisfeilerLehman
    >>> path = ("abc", ["ab", "bc"])
    >>> triangle = ("abc", ["ab", "bc", "ca"])
    >>> WeisfeilerLehman(h=1, normalize=False)([path, triangle])
    array([[14., 12.],
           [12., 18.]])
    """

    h: int = 3
    node_label: str = "label"
    normalize: bool = True

    accepts: ClassVar[tuple[type[Variable], ...]] = (Items,)

    def __post_init__(self) -> None:
        check_count("h", self.h, at_least=0)

    @property
    def title(self) -> str:
        return f"WeisfeilerLehman(h={self.h})"

    @property
    def kernel_of_rows(self) -> Any:
        return "linear"

    def rows(self, variable: Variable) -> Sparse:
        items = variable.items  # type: ignore[attr-defined]
        graphs = [
            _read_graph(item, self.node_label, f"observation {row} of {variable.name}")
            for row, item in enumerate(items)
        ]
        counts = count_neighbourhoods(graphs, self.h)
        return Sparse(variable.name, unit_rows(counts) if self.normalize else counts)


def count_neighbourhoods(graphs: Sequence[Graph], h: int) -> csr_array:
    """Count the labels of rounds 0 to h in each graph."""
    from scipy.sparse import hstack

    sizes = [len(graph.labels) for graph in graphs]
    graph_of_node = np.repeat(np.arange(len(graphs)), sizes)
    starts = np.cumsum([0, *sizes])
    neighbours = [
        [node + int(start) for node in nodes]
        for graph, start in zip(graphs, starts, strict=False)
        for nodes in graph.neighbours
    ]
    codes = _numbered(label for graph in graphs for label in graph.labels)
    rounds = [count_matrix(graph_of_node, np.array(codes), len(graphs))]
    for _ in range(h):
        codes = _numbered(
            (code, *sorted(codes[node] for node in nodes))
            for code, nodes in zip(codes, neighbours, strict=True)
        )
        rounds.append(count_matrix(graph_of_node, np.array(codes), len(graphs)))
    return hstack(rounds, format="csr")


def _numbered(labels: Iterable[Any]) -> list[int]:
    """Give equal labels equal numbers, counted from 0."""
    number_of: dict[Any, int] = {}
    return [number_of.setdefault(label, len(number_of)) for label in labels]


def _read_graph(item: Any, node_label: str, place: str) -> Graph:
    if isinstance(item, (tuple, list)) and len(item) in (2, 3):
        nodes, edges = list(item[0]), list(item[1])
        labels = _listed_labels(item[2], nodes, place) if len(item) == 3 else [None] * len(nodes)
    elif hasattr(item, "nodes") and hasattr(item, "edges") and hasattr(item, "is_directed"):
        if item.is_directed():
            raise TypeError(f"{place} is a directed graph; pass graph.to_undirected().")
        nodes, edges = list(item.nodes), [edge[:2] for edge in item.edges]
        labels = _attribute_labels(item, node_label, place)
    else:
        raise TypeError(
            f"{place} is of type {type(item).__name__}; kernel WeisfeilerLehman takes networkx "
            "graphs or tuples (nodes, edges) or (nodes, edges, labels)."
        )
    if not nodes:
        raise ValueError(f"{place} is a graph without nodes; leave it out.")
    return Graph(tuple(labels), _neighbours(nodes, edges, place))


def _neighbours(nodes: list[Any], edges: Iterable[Any], place: str) -> tuple[tuple[int, ...], ...]:
    position = {node: i for i, node in enumerate(nodes)}
    if len(position) < len(nodes):
        raise ValueError(f"{place} names a node twice; nodes must be different.")
    found: list[set[int]] = [set() for _ in nodes]
    for edge in edges:
        try:
            first, second = (position[node] for node in edge)
        except (KeyError, ValueError, TypeError) as error:
            raise ValueError(
                f"{place} has the edge {edge!r}, which is not a pair of its nodes."
            ) from error
        found[first].add(second)
        found[second].add(first)
    return tuple(tuple(nodes) for nodes in found)


def _listed_labels(labels: Any, nodes: list[Any], place: str) -> list[Any]:
    """Read the labels of a tuple: by node, or in the order of the nodes."""
    if hasattr(labels, "keys"):
        lacking = [node for node in nodes if node not in labels]
        if lacking:
            raise ValueError(f"{place} has no label for node {lacking[0]!r}; label every node.")
        return [labels[node] for node in nodes]
    listed = list(labels)
    if len(listed) != len(nodes):
        raise ValueError(
            f"{place} has {len(listed)} labels for {len(nodes)} nodes; label every node."
        )
    return listed


def _attribute_labels(graph: Any, attribute: str, place: str) -> list[Any]:
    """Read the labels of a networkx graph: all nodes have the attribute, or none."""
    found = [data[attribute] for _, data in graph.nodes(data=True) if attribute in data]
    if found and len(found) < len(graph):
        raise ValueError(
            f"{place} has the attribute {attribute!r} on {len(found)} of its {len(graph)} nodes; "
            "label every node or none."
        )
    return found or [None] * len(graph)
