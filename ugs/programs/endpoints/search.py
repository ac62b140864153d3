"""Similarity search for concepts: by their own texts, and by the passages about them.

Content is about its node, or about both ends of its connection. A note is about the entities of the facts it supports,
which in the graph view are the nodes linked to these entities.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ugs.cypher.values.entities import Node
from ugs.errors import InvalidSyntax
from ugs.facts.model import ENTITY_NODES, EVIDENCE, FACTS
from ugs.facts.queries import holds_at
from ugs.graph.model import EDGES
from ugs.graph.text.content_bodies import CONTENT_BODIES
from ugs.programs.endpoints import Call
from ugs.programs.execution.graph_mapper import map_node
from ugs.programs.execution.working_graph import RawNode, WorkingGraph
from ugs.reads.filters import EVERYTHING, Where, all_of, in_
from ugs.reads.vector_search import ALIKE, Scored, least_score
from ugs.vectors.index_maintenance import embed_texts
from ugs.vectors.model import CONTENT_VECTORS, ENTITY_VECTORS, NODE_VECTORS, NOTE_VECTORS, EmbeddedTable

DEFAULT_LIMIT = 10
MAX_CONCEPTS = 1_000
"""Concepts per search, including those skipped by the offset."""
Ranked = dict[str, int]
"""Node ids of the view with their best score, best first."""


class SearchRequest(Struct, frozen=True):
    """The parameters of a search."""

    query: str
    least: int
    first: int
    limit: int
    ontology: str | None

    @classmethod
    def of(cls, call: Call, params: Mapping[str, Any]) -> SearchRequest:
        limit, first = params.get("limit", DEFAULT_LIMIT), params.get("offset", 0)
        if limit < 0 or first < 0 or limit + first > MAX_CONCEPTS:
            raise InvalidSyntax(f"limit and offset are not negative and at most {MAX_CONCEPTS} together")
        similarity = params.get("min_similarity", call.vectors.embedder.related)
        if not -1 <= similarity <= 1:
            raise InvalidSyntax(f"min_similarity lies between -1 and 1, not {similarity}")
        return cls(params["query"], least_score(similarity), first, limit, params.get("ontology"))

    @property
    def end(self) -> int:
        return self.first + self.limit


Rank = Callable[[Call, SearchRequest, int], Awaitable[tuple[Ranked, bool]]]
"""Returns the best `count` ids, and whether there may be more."""


async def search_concepts(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """Concepts whose texts are most similar to the query."""
    return await _search(call, SearchRequest.of(call, params), _rank_concepts)


async def search_sources(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """Concepts of the passages that are most similar to the query."""
    return await _search(call, SearchRequest.of(call, params), _rank_sources)


async def _search(call: Call, asked: SearchRequest, rank: Rank) -> WorkingGraph:
    """Rank repeatedly with a larger count until enough concepts exist, are visible, and belong to the ontology."""
    count = asked.end if asked.ontology is None else 4 * asked.end
    while True:
        ranked, more = await rank(call, asked, count)
        nodes = await _concepts(call, ranked, asked.ontology)
        if len(nodes) >= asked.end or not more:
            return WorkingGraph(nodes[asked.first : asked.end])
        count *= 4


async def _concepts(call: Call, ranked: Ranked, ontology: str | None) -> list[RawNode]:
    """The nodes of a ranking, each concept once."""
    nodes = {node.id: node for node in await call.graph.nodes_by_id(list(ranked))}
    found: dict[str, RawNode] = {}
    for id, score in ranked.items():
        if id in nodes:
            concept = _with_similarity(nodes[id], score, call.ontologies)
            if ontology is None or concept.ontology == ontology:
                found.setdefault(concept.concept_id, concept)
    return list(found.values())


def _with_similarity(node: Node, score: int, ontologies: Mapping[str, str]) -> RawNode:
    concept = map_node(node, ontologies)
    concept.properties.setdefault("similarity", score / ALIKE)
    return concept


# ── rankings ─────────────────────────────────────────────────────────────────


async def _rank_concepts(call: Call, asked: SearchRequest, count: int) -> tuple[Ranked, bool]:
    nodes = await _nearest(call, asked, NODE_VECTORS, count) if call.view != "FACTS" else []
    visible = call.glasses.viewer.visible
    entities = await _nearest(call, asked, ENTITY_VECTORS, count, visible) if call.view != "GRAPH" else []
    scored = [(one.row.id, one.score) for one in nodes] + [(f"entity/{one.row.id}", one.score) for one in entities]
    return _best(scored), len(nodes) == count or len(entities) == count


async def _rank_sources(call: Call, asked: SearchRequest, count: int) -> tuple[Ranked, bool]:
    contents = await _nearest(call, asked, CONTENT_VECTORS, count) if call.view != "FACTS" else []
    notes = await _nearest(call, asked, NOTE_VECTORS, count, call.glasses.viewer.readable)
    told = await _nodes_of_contents(call, [one.row.id for one in contents])
    said = await _nodes_of_notes(call, [one.row.id for one in notes])
    scored = [(id, one.score) for one in contents for id in told.get(one.row.id, ())]
    scored += [(id, one.score) for one in notes for id in said.get(one.row.id, ())]
    return _best(scored), len(contents) == count or len(notes) == count


async def _nearest(
    call: Call, asked: SearchRequest, each: EmbeddedTable, count: int, where: Where = EVERYTHING
) -> Sequence[Scored]:
    (vector,) = await embed_texts(call.vectors.embedder, [asked.query])
    if vector is None or not count:
        return []
    return await call.vectors.likeness(call.session).search(each, vector, count, asked.least, where)


def _best(scored: Iterable[tuple[str, int]]) -> Ranked:
    """Each id with its best score, by score, then by id."""
    ranked: Ranked = {}
    for id, score in sorted(scored, key=lambda one: (-one[1], one[0])):
        ranked.setdefault(id, score)
    return ranked


# ── what passages are about ──────────────────────────────────────────────────


async def _nodes_of_contents(call: Call, ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """For each content its node, or the ends of its edge."""
    if not ids:
        return {}
    wanted = sorted(set(ids))
    edges = {edge.id: (edge.source, edge.target) for edge in await call.session.find_many(EDGES, wanted)}
    bodies = await call.session.find_many(CONTENT_BODIES, wanted)
    return {body.id: edges.get(body.id, ()) if body.kind == "edge" else (body.id,) for body in bodies}


async def _nodes_of_notes(call: Call, ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """For each note the nodes of the view that stand for the entities of its facts."""
    found: dict[str, list[str]] = defaultdict(list)
    if not ids:
        return found
    evidence = await call.session.fetch(EVIDENCE, in_("note_id", sorted(set(ids))))
    holding = all_of(holds_at(call.glasses.moment), call.glasses.viewer.readable)
    where = all_of(in_("fact_id", sorted({one.fact_id for one in evidence})), holding)
    facts = {fact.fact_id: fact for fact in await call.session.fetch(FACTS, where)}
    shown = await _view_ids(call, {id for fact in facts.values() for id in _entities(fact)})
    for one in evidence:
        if one.fact_id in facts:
            found[one.note_id] += [node for id in _entities(facts[one.fact_id]) for node in shown[id]]
    return found


def _entities(fact: Any) -> list[str]:
    return [id for id in (fact.subject_entity_id, fact.object_entity_id) if id is not None]


async def _view_ids(call: Call, entities: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The ids under which the view shows entities: their own, the linked nodes, or both."""
    ids = sorted(entities)
    shown: dict[str, list[str]] = {id: [f"entity/{id}"] if call.view != "GRAPH" else [] for id in ids}
    if call.view != "FACTS" and ids:
        for link in await call.session.find_many(ENTITY_NODES, ids):
            shown[link.entity_id].append(link.node_id)
    return shown
