"""Concepts by their ids: some at once, one with where it leads, one with what lies around it.

All three see the graph through the view of the program, so in the facts a concept is an entity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ugs.cypher.engine.view import Condition, GraphView, Wanted
from ugs.cypher.values.entities import Node, Relationship
from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.programs.bounds import BOUNDS
from ugs.programs.endpoints import Call
from ugs.programs.endpoints.judging import judged
from ugs.programs.mapping import concept_id_of, mapped_link, mapped_node
from ugs.programs.working import WorkingGraph
from ugs.reads.where import Op

USUAL_DEPTH = 2
MOST_AROUND = 10_000
Known = Mapping[str, Node]
"""Nodes by their own ids."""


async def batch(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """The concepts that exist, in the order asked for; with details, also how grounded and how diverse they are."""
    asked = _texts(params["concept_ids"])
    found = await concepts_called(call.graph, asked)
    nodes = [found[id] for id in asked if id in found]
    detailed = params.get("include_details", False)
    return await _shown(call, nodes, (), nodes if detailed else (), diversity=True, grounding=True)


async def details(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """The concept, the relationships that leave it, and where they lead."""
    id = params["concept_id"]
    concept = (await concepts_called(call.graph, [id])).get(id)
    if concept is None:
        return WorkingGraph()
    links = await call.graph.relationships([concept.id], True, None)
    targets = await call.graph.nodes_by_id(_others(links, {concept.id}))
    return await _shown(
        call,
        [concept, *_in_order(links, targets)],
        links,
        [concept],
        diversity=params.get("include_diversity", False),
        grounding=params.get("include_grounding", False),
    )


async def related(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """What lies within some steps of a concept in either direction, and every relationship among it."""
    id, types = params["concept_id"], params.get("relationship_types")
    wanted = None if types is None else _texts(types)
    concept = (await concepts_called(call.graph, [id])).get(id)
    if concept is None:
        return WorkingGraph()
    around = await _around(call.graph, concept, _depth(params), wanted)
    if len(around) == 1:
        return WorkingGraph()
    links = await call.graph.relationships(list(around), True, wanted)
    return await _shown(call, list(around.values()), links)


def _depth(params: Mapping[str, Any]) -> int:
    depth: int = params.get("max_depth", USUAL_DEPTH)
    if not 1 <= depth <= BOUNDS.path:
        raise InvalidSyntax(f"max_depth lies between 1 and {BOUNDS.path}, not {depth}")
    return depth


def _texts(given: Sequence[Any]) -> list[str]:
    """The texts of a list, each once; nothing else can be an id or a type."""
    return list(dict.fromkeys(one for one in given if isinstance(one, str)))


async def concepts_called(graph: GraphView, ids: Collection[str]) -> dict[str, Node]:
    """The nodes behind concept ids: those that call themselves so, and those that are called so by the graph."""
    if not ids:
        return {}
    named = await graph.nodes(Wanted((), (Condition("concept_id", Op.IN, list(ids)),)))
    both = {node.id: node for node in [*named, *await graph.nodes_by_id(ids)]}
    found: dict[str, Node] = {}
    for _, node in sorted(both.items()):
        found.setdefault(concept_id_of(node), node)
    return {id: node for id, node in found.items() if id in ids}


async def _around(graph: GraphView, start: Node, depth: int, types: Sequence[str] | None) -> dict[str, Node]:
    """Nodes within some steps, nearest first, each level in the order of its relationships."""
    known, frontier = {start.id: start}, [start.id]
    for _ in range(depth):
        links = [link for outgoing in (True, False) for link in await graph.relationships(frontier, outgoing, types)]
        reached = _in_order(links, await graph.nodes_by_id(_others(links, known)))
        known |= {node.id: node for node in reached}
        frontier = [node.id for node in reached]
        if len(known) > MOST_AROUND:
            raise LimitExceeded(f"more than {MOST_AROUND} concepts lie around it: go less far", limit=MOST_AROUND)
        if not frontier:
            break
    return known


def _others(links: Iterable[Relationship], known: Collection[str]) -> list[str]:
    """The ends of relationships that are not known yet, each once."""
    return [id for id in dict.fromkeys(end for link in links for end in (link.start, link.end)) if id not in known]


def _in_order(links: Iterable[Relationship], nodes: Iterable[Node]) -> list[Node]:
    """Nodes in the order in which relationships mention them; ends that do not exist are left out."""
    found = {node.id: node for node in nodes}
    return [found[id] for id in _others(links, ()) if id in found]


async def _shown(
    call: Call,
    nodes: Sequence[Node],
    links: Iterable[Relationship] = (),
    detailed: Sequence[Node] = (),
    *,
    diversity: bool = False,
    grounding: bool = False,
) -> WorkingGraph:
    """Nodes and the relationships among them as W has them, some nodes with what is known about them."""
    more = await judged(call, detailed, diversity=diversity, grounding=grounding)
    for node in detailed:
        for key, value in more.get(node.id, {}).items():
            node.properties.setdefault(key, value)
    known = {node.id: concept_id_of(node) for node in nodes}
    return WorkingGraph(
        [mapped_node(node, call.ontologies) for node in nodes],
        [mapped_link(link, known) for link in links if link.start in known and link.end in known],
    )
