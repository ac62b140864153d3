"""Concepts by id: a batch, one with its outgoing relationships, one with its neighbourhood.

All three read through the program's graph view, so in the facts view a concept is an entity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ugs.cypher.engine.view import Condition, GraphView, Wanted
from ugs.cypher.values.entities import Node, Relationship
from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.programs.endpoints import Call
from ugs.programs.endpoints.scoring import score_nodes
from ugs.programs.execution.graph_mapper import concept_id_of, map_link, map_node
from ugs.programs.execution.working_graph import WorkingGraph
from ugs.programs.validation.limits import BOUNDS
from ugs.reads.filters import Op

DEFAULT_DEPTH = 2
MAX_RELATED = 10_000
Known = Mapping[str, Node]
"""Nodes by node id."""


async def batch(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """The existing concepts in the requested order; with details, also grounding and diversity."""
    asked = _texts(params["concept_ids"])
    found = await find_concepts(call.graph, asked)
    nodes = [found[id] for id in asked if id in found]
    detailed = params.get("include_details", False)
    return await _to_working_graph(call, nodes, (), nodes if detailed else (), diversity=True, grounding=True)


async def details(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """A concept, its outgoing relationships, and their targets."""
    id = params["concept_id"]
    concept = (await find_concepts(call.graph, [id])).get(id)
    if concept is None:
        return WorkingGraph()
    links = await call.graph.relationships([concept.id], True, None)
    targets = await call.graph.nodes_by_id(_unknown_ends(links, {concept.id}))
    return await _to_working_graph(
        call,
        [concept, *_in_order(links, targets)],
        links,
        [concept],
        diversity=params.get("include_diversity", False),
        grounding=params.get("include_grounding", False),
    )


async def related(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """All nodes within some steps of a concept in either direction, and every relationship among them."""
    id, types = params["concept_id"], params.get("relationship_types")
    wanted = None if types is None else _texts(types)
    concept = (await find_concepts(call.graph, [id])).get(id)
    if concept is None:
        return WorkingGraph()
    around = await _neighbourhood(call.graph, concept, _depth(params), wanted)
    if len(around) == 1:
        return WorkingGraph()
    links = await call.graph.relationships(list(around), True, wanted)
    return await _to_working_graph(call, list(around.values()), links)


def _depth(params: Mapping[str, Any]) -> int:
    depth: int = params.get("max_depth", DEFAULT_DEPTH)
    if not 1 <= depth <= BOUNDS.path:
        raise InvalidSyntax(f"max_depth lies between 1 and {BOUNDS.path}, not {depth}")
    return depth


def _texts(given: Sequence[Any]) -> list[str]:
    """The distinct texts of a list; other values can be neither id nor type and are dropped."""
    return list(dict.fromkeys(one for one in given if isinstance(one, str)))


async def find_concepts(graph: GraphView, ids: Collection[str]) -> dict[str, Node]:
    """The nodes of these concept ids: by the property `concept_id`, or by node id where a node has none."""
    if not ids:
        return {}
    named = await graph.nodes(Wanted((), (Condition("concept_id", Op.IN, list(ids)),)))
    both = {node.id: node for node in [*named, *await graph.nodes_by_id(ids)]}
    found: dict[str, Node] = {}
    for _, node in sorted(both.items()):
        found.setdefault(concept_id_of(node), node)
    return {id: node for id, node in found.items() if id in ids}


async def _neighbourhood(graph: GraphView, start: Node, depth: int, types: Sequence[str] | None) -> dict[str, Node]:
    """Nodes within some steps, nearest first, each level in the order of its relationships."""
    known, frontier = {start.id: start}, [start.id]
    for _ in range(depth):
        links = [link for outgoing in (True, False) for link in await graph.relationships(frontier, outgoing, types)]
        reached = _in_order(links, await graph.nodes_by_id(_unknown_ends(links, known)))
        known |= {node.id: node for node in reached}
        frontier = [node.id for node in reached]
        if len(known) > MAX_RELATED:
            raise LimitExceeded(f"more than {MAX_RELATED} concepts lie around it: go less far", limit=MAX_RELATED)
        if not frontier:
            break
    return known


def _unknown_ends(links: Iterable[Relationship], known: Collection[str]) -> list[str]:
    """The ends of relationships that are not known yet, each once."""
    return [id for id in dict.fromkeys(end for link in links for end in (link.start, link.end)) if id not in known]


def _in_order(links: Iterable[Relationship], nodes: Iterable[Node]) -> list[Node]:
    """Nodes in the order in which relationships name them; missing ends are left out."""
    found = {node.id: node for node in nodes}
    return [found[id] for id in _unknown_ends(links, ()) if id in found]


async def _to_working_graph(
    call: Call,
    nodes: Sequence[Node],
    links: Iterable[Relationship] = (),
    detailed: Sequence[Node] = (),
    *,
    diversity: bool = False,
    grounding: bool = False,
) -> WorkingGraph:
    """The working graph of nodes and the relationships among them, some nodes with scores."""
    more = await score_nodes(call, detailed, diversity=diversity, grounding=grounding)
    for node in detailed:
        for key, value in more.get(node.id, {}).items():
            node.properties.setdefault(key, value)
    known = {node.id: concept_id_of(node) for node in nodes}
    return WorkingGraph(
        [map_node(node, call.ontologies) for node in nodes],
        [map_link(link, known) for link in links if link.start in known and link.end in known],
    )
