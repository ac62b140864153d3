"""Search by likeness: concepts by what they say, and concepts by the passages about them.

Which concepts a passage is about: content belongs to its node, or to both ends of its connection; a note belongs to
the entities of the facts it vouches for, which in the graph are the nodes these entities point at.
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
from ugs.graph.bodies import CONTENT_BODIES
from ugs.graph.model import EDGES
from ugs.programs.endpoints import Call
from ugs.programs.mapping import mapped_node
from ugs.programs.working import RawNode, WorkingGraph
from ugs.reads.near import ALIKE, Scored, least_score
from ugs.reads.where import EVERYTHING, Where, all_of, in_
from ugs.vectors.keeping import embed_texts
from ugs.vectors.model import CONTENT_VECTORS, ENTITY_VECTORS, NODE_VECTORS, NOTE_VECTORS, Embedded

USUAL_LIMIT = 10
MOST_FOUND = 1_000
"""Concepts that one search gives, those passed over by the offset included."""
Ranked = dict[str, int]
"""Ids of nodes in the view with the score of the best that speaks for them, best first."""


class Asked(Struct, frozen=True):
    """What a search asks for."""

    query: str
    least: int
    first: int
    limit: int
    ontology: str | None

    @classmethod
    def of(cls, call: Call, params: Mapping[str, Any]) -> Asked:
        limit, first = params.get("limit", USUAL_LIMIT), params.get("offset", 0)
        if limit < 0 or first < 0 or limit + first > MOST_FOUND:
            raise InvalidSyntax(f"limit and offset are not negative and at most {MOST_FOUND} together")
        similarity = params.get("min_similarity", call.vectors.embedder.related)
        if not -1 <= similarity <= 1:
            raise InvalidSyntax(f"min_similarity lies between -1 and 1, not {similarity}")
        return cls(params["query"], least_score(similarity), first, limit, params.get("ontology"))

    @property
    def end(self) -> int:
        return self.first + self.limit


Rank = Callable[[Call, Asked, int], Awaitable[tuple[Ranked, bool]]]
"""The best so many, as far as they go, and whether there may be more."""


async def search_concepts(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """Concepts whose texts are most like the query."""
    return await _found(call, Asked.of(call, params), _rank_concepts)


async def search_sources(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """Concepts of the passages that are most like the query."""
    return await _found(call, Asked.of(call, params), _rank_sources)


async def _found(call: Call, asked: Asked, rank: Rank) -> WorkingGraph:
    """Asks for more until enough concepts are left that exist, are seen, and belong to the ontology."""
    count = asked.end if asked.ontology is None else 4 * asked.end
    while True:
        ranked, more = await rank(call, asked, count)
        nodes = await _concepts(call, ranked, asked.ontology)
        if len(nodes) >= asked.end or not more:
            return WorkingGraph(nodes[asked.first : asked.end])
        count *= 4


async def _concepts(call: Call, ranked: Ranked, ontology: str | None) -> list[RawNode]:
    """The nodes behind a ranking, each concept once."""
    nodes = {node.id: node for node in await call.graph.nodes_by_id(list(ranked))}
    found: dict[str, RawNode] = {}
    for id, score in ranked.items():
        if id in nodes:
            concept = _with_similarity(nodes[id], score, call.ontologies)
            if ontology is None or concept.ontology == ontology:
                found.setdefault(concept.concept_id, concept)
    return list(found.values())


def _with_similarity(node: Node, score: int, ontologies: Mapping[str, str]) -> RawNode:
    concept = mapped_node(node, ontologies)
    concept.properties.setdefault("similarity", score / ALIKE)
    return concept


# ── rankings ─────────────────────────────────────────────────────────────────


async def _rank_concepts(call: Call, asked: Asked, count: int) -> tuple[Ranked, bool]:
    nodes = await _alike(call, asked, NODE_VECTORS, count) if call.view != "FACTS" else []
    visible = call.glasses.viewer.visible
    entities = await _alike(call, asked, ENTITY_VECTORS, count, visible) if call.view != "GRAPH" else []
    scored = [(one.row.id, one.score) for one in nodes] + [(f"entity/{one.row.id}", one.score) for one in entities]
    return _best(scored), len(nodes) == count or len(entities) == count


async def _rank_sources(call: Call, asked: Asked, count: int) -> tuple[Ranked, bool]:
    contents = await _alike(call, asked, CONTENT_VECTORS, count) if call.view != "FACTS" else []
    notes = await _alike(call, asked, NOTE_VECTORS, count, call.glasses.viewer.readable)
    told = await _told_by_contents(call, [one.row.id for one in contents])
    said = await _said_by_notes(call, [one.row.id for one in notes])
    scored = [(id, one.score) for one in contents for id in told.get(one.row.id, ())]
    scored += [(id, one.score) for one in notes for id in said.get(one.row.id, ())]
    return _best(scored), len(contents) == count or len(notes) == count


async def _alike(call: Call, asked: Asked, each: Embedded, count: int, where: Where = EVERYTHING) -> Sequence[Scored]:
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


async def _told_by_contents(call: Call, ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """For each content its node, or the ends of its edge."""
    if not ids:
        return {}
    wanted = sorted(set(ids))
    edges = {edge.id: (edge.source, edge.target) for edge in await call.session.find_many(EDGES, wanted)}
    bodies = await call.session.find_many(CONTENT_BODIES, wanted)
    return {body.id: edges.get(body.id, ()) if body.kind == "edge" else (body.id,) for body in bodies}


async def _said_by_notes(call: Call, ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """For each note the nodes of the view that stand for the entities of its facts."""
    found: dict[str, list[str]] = defaultdict(list)
    if not ids:
        return found
    evidence = await call.session.fetch(EVIDENCE, in_("note_id", sorted(set(ids))))
    holding = all_of(holds_at(call.glasses.moment), call.glasses.viewer.readable)
    where = all_of(in_("fact_id", sorted({one.fact_id for one in evidence})), holding)
    facts = {fact.fact_id: fact for fact in await call.session.fetch(FACTS, where)}
    shown = await _shown_as(call, {id for fact in facts.values() for id in _entities(fact)})
    for one in evidence:
        if one.fact_id in facts:
            found[one.note_id] += [node for id in _entities(facts[one.fact_id]) for node in shown[id]]
    return found


def _entities(fact: Any) -> list[str]:
    return [id for id in (fact.subject_entity_id, fact.object_entity_id) if id is not None]


async def _shown_as(call: Call, entities: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The ids under which the view shows entities: their own, the nodes they point at, or both."""
    ids = sorted(entities)
    shown: dict[str, list[str]] = {id: [f"entity/{id}"] if call.view != "GRAPH" else [] for id in ids}
    if call.view != "FACTS" and ids:
        for link in await call.session.find_many(ENTITY_NODES, ids):
            shown[link.entity_id].append(link.node_id)
    return shown
