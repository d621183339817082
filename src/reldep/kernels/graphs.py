"""The kernel for graphs, by the neighbourhoods that two graphs share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reldep.arguments import check_count
from reldep.data.variables import Items, Sparse, SparseArray, Variable
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import wrong_type
from reldep.kernels.mapped import MappedKernel, count_matrix, unit_rows
from reldep.words import composed


@dataclass(frozen=True)
class Graph:
    """A graph by the positions of its nodes.

    Attributes
    ----------
    labels : tuple
        The label of every node; None where the graph has none.
    links : tuple of tuple
        For every node, its neighbours: pairs (kind of link, position).
    """

    labels: tuple[Any, ...] | None
    links: tuple[tuple[tuple[Any, int], ...], ...]


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
    node_label : str or None, default "label"
        The networkx node attribute with the label. Graphs whose nodes have no attributes
        at all start with equal labels, so that the first round counts degrees. None does so for
        all graphs; otherwise an attribute that is missing is an error.
    normalize : bool, default True
        Scale the counts of each graph to length 1, so that the kernel does not see the size.
    edge_label : str or None, default None
        The networkx edge attribute with the kind of an edge. None takes all edges as
        equal.
    directed : bool, default False
        Whether edges lead one way: then a node's predecessors and successors count separately.

    Notes
    -----
    A graph is a networkx graph or a tuple ``(nodes, edges)`` or ``(nodes, edges, labels)``:
    nodes are any hashable objects, edges pairs of nodes (with `edge_label`, triples of two nodes
    and a label), labels a mapping from node to label or a sequence in the order of the nodes.
    Parallel edges count once.

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
    node_label: str | None = "label"
    normalize: bool = True
    edge_label: str | None = None
    directed: bool = False

    accepts = (Items,)

    def __post_init__(self) -> None:
        check_count("h", self.h, at_least=0)

    def rows(self, variable: Variable) -> Sparse:
        items = variable.items  # type: ignore[attr-defined]
        graphs = [
            self._read(item, f"observation {row} of {variable.name}")
            for row, item in enumerate(items)
        ]
        self._check_labels(graphs, items, variable.name)
        counts = count_neighbourhoods(graphs, self.h)
        return Sparse(variable.name, unit_rows(counts) if self.normalize else counts)

    def _read(self, item: Any, place: str) -> Graph:
        edges: list[Any]
        if isinstance(item, (tuple, list)) and len(item) in (2, 3):
            nodes, edges = list(item[0]), list(item[1])
            labels = _listed_labels(item[2], nodes, place) if len(item) == 3 else None
            if self.edge_label is None:
                edges = [(*edge, None) if hasattr(edge, "__len__") else edge for edge in edges]
        elif _is_networkx(item):
            self._check_direction(item, place)
            nodes = list(item.nodes)
            data = item.edges(data=True)
            edges = [(a, b, self._kind_of_edge(given, a, b, place)) for a, b, given in data]
            labels = None
            if self.node_label is not None:
                labels = _attribute_labels(item, self.node_label, place)
        else:
            way_out = "pass networkx graphs or tuples (nodes, edges) or (nodes, edges, labels)."
            raise wrong_type(place, item, way_out)
        if not nodes:
            raise InputError(f"{place} is a graph without nodes; leave it out.")
        links = _links(nodes, edges, place, directed=self.directed)
        return Graph(None if labels is None else tuple(labels), links)

    def _check_direction(self, graph: Any, place: str) -> None:
        found = graph.is_directed()
        if found != self.directed:
            kind = "directed" if found else "undirected"
            raise InputTypeError(f"{place} is {kind}; pass WeisfeilerLehman(directed={found}).")

    def _kind_of_edge(self, given: Any, first: Any, second: Any, place: str) -> Any:
        if self.edge_label is None:
            return None
        if self.edge_label not in given:
            raise InputError(
                f"{place} has no attribute {self.edge_label!r} on the edge ({first!r}, "
                f"{second!r}){_known(given)}; label every edge, or leave edge_label out."
            )
        return given[self.edge_label]

    def _check_labels(self, graphs: Sequence[Graph], items: Sequence[Any], name: str) -> None:
        """Raise if only some graphs have labels, or none has the attribute that was named."""
        without = [row for row, graph in enumerate(graphs) if graph.labels is None]
        if without and len(without) < len(graphs):
            raise InputError(
                f"observation {without[0]} of {name} has no node labels and others have; label all "
                "graphs, or pass node_label=None to ignore labels."
            )
        if not without or self.node_label is None:
            return
        attributes = {
            str(key): None
            for item in items
            if _is_networkx(item)
            for _, data in item.nodes(data=True)
            for key in data
        }
        if attributes or self.node_label != "label":
            raise InputError(
                f"no node of {name} has the attribute {self.node_label!r}{_known(attributes)}; "
                "name one as node_label, or pass node_label=None to look at the edges only."
            )


def _is_networkx(item: Any) -> bool:
    return all(hasattr(item, name) for name in ("nodes", "edges", "is_directed"))


def _known(attributes: Any) -> str:
    """Return the attributes that exist, as a clause of a message."""
    listed = ", ".join(repr(str(key)) for key in list(attributes)[:5])
    return f" (there is {listed})" if listed else ""


def count_neighbourhoods(graphs: Sequence[Graph], h: int) -> SparseArray:
    """Return the counts of the labels of rounds 0 to h in each graph."""
    from scipy.sparse import hstack

    sizes = [len(graph.links) for graph in graphs]
    graph_of_node = np.repeat(np.arange(len(graphs)), sizes)
    starts = np.cumsum([0, *sizes])
    kinds = iter(_numbered(kind for graph in graphs for own in graph.links for kind, _ in own))
    links = [
        [(next(kinds), node + int(start)) for _, node in own]
        for graph, start in zip(graphs, starts, strict=False)
        for own in graph.links
    ]
    codes = _numbered(
        label for graph in graphs for label in graph.labels or [None] * len(graph.links)
    )
    rounds = [count_matrix(graph_of_node, np.array(codes), len(graphs))]
    for _ in range(h):
        codes = _numbered(
            (code, *sorted((kind, codes[node]) for kind, node in own))
            for code, own in zip(codes, links, strict=True)
        )
        rounds.append(count_matrix(graph_of_node, np.array(codes), len(graphs)))
    return hstack(rounds, format="csr")


def _numbered(labels: Iterable[Any]) -> list[int]:
    """Return a number for each label, equal for equal labels, from 0."""
    number_of: dict[Any, int] = {}
    return [number_of.setdefault(composed(label), len(number_of)) for label in labels]


def _links(
    nodes: list[Any], edges: Iterable[Any], place: str, *, directed: bool
) -> tuple[tuple[tuple[Any, int], ...], ...]:
    """Return the links of every node; a directed edge differs by the end it is seen from."""
    position = {node: i for i, node in enumerate(nodes)}
    if len(position) < len(nodes):
        raise InputError(f"{place} names a node twice; nodes must be different.")
    found: list[set[tuple[Any, int]]] = [set() for _ in nodes]
    for edge in edges:
        try:
            a, b, kind = edge
            first, second = position[a], position[b]
        except (KeyError, ValueError, TypeError) as error:
            shown = edge[:-1] if isinstance(edge, tuple) and edge[-1] is None else edge
            raise InputError(
                f"{place} has the edge {shown!r}; pass pairs of its nodes, or triples (node, node, "
                "label) with edge_label."
            ) from error
        found[first].add(((kind, "out") if directed else kind, second))
        found[second].add(((kind, "in") if directed else kind, first))
    return tuple(tuple(own) for own in found)


def _listed_labels(labels: Any, nodes: list[Any], place: str) -> list[Any]:
    """Read the labels of a tuple: a mapping by node, or a sequence in the order of the nodes."""
    if hasattr(labels, "keys"):
        lacking = [node for node in nodes if node not in labels]
        if lacking:
            raise InputError(f"{place} has no label for node {lacking[0]!r}; label every node.")
        return [labels[node] for node in nodes]
    listed = list(labels)
    if len(listed) != len(nodes):
        raise InputError(f"{place} has {len(listed)} labels for {len(nodes)} nodes; label each.")
    return listed


def _attribute_labels(graph: Any, attribute: str, place: str) -> list[Any] | None:
    """Read the labels of a networkx graph: all nodes have the attribute, or none."""
    found = [data[attribute] for _, data in graph.nodes(data=True) if attribute in data]
    if found and len(found) < len(graph):
        some = f"{len(found)} of {len(graph)} nodes"
        raise InputError(f"{place} has {attribute!r} on {some}; label all or none.")
    return found or None
