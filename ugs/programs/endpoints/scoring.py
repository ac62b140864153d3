"""Grounding and diversity scores of concepts whose properties do not state them (C-93).

* `evidence_count`: the relationships that have evidence: an edge with content or a property `evidence`, a fact with
  a note. `grounding_strength` is their share of all relationships, 0 without any.
* `diversity_score`: one minus the mean pairwise similarity of the neighbouring concepts; 0 with fewer than two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ugs.cypher.graph_views import own_id
from ugs.cypher.values.entities import Node, Relationship
from ugs.facts.model import EVIDENCE
from ugs.ontology.model import CONTENTS
from ugs.programs.endpoints import Call
from ugs.reads.filters import in_
from ugs.reads.vector_search import ALIKE, Vector, unpack
from ugs.vectors.index_maintenance import embed_texts
from ugs.vectors.texts import node_text

Scores = Mapping[str, Any]


async def score_nodes(
    call: Call, nodes: Sequence[Node], *, diversity: bool = False, grounding: bool = False
) -> dict[str, Scores]:
    """The scores of each node, by its id."""
    if not nodes or not (diversity or grounding):
        return {}
    ids = [node.id for node in nodes]
    links = {
        link.id: link for outgoing in (True, False) for link in await call.graph.relationships(ids, outgoing, None)
    }
    touching = _by_end(links.values(), ids)
    found: dict[str, dict[str, Any]] = {id: {} for id in ids}
    if grounding:
        vouched = await _with_evidence(call, links.values())
        for id in ids:
            found[id] |= _grounding(touching[id], vouched)
    if diversity:
        vectors = await _vectors_of_ends(call, links.values())
        for id in ids:
            found[id]["diversity_score"] = _diversity(id, touching[id], vectors)
    return dict(found)


def _by_end(links: Iterable[Relationship], ids: Collection[str]) -> dict[str, list[Relationship]]:
    touching: dict[str, list[Relationship]] = defaultdict(list)
    for link in links:
        for end in {link.start, link.end}.intersection(ids):
            touching[end].append(link)
    return touching


async def _with_evidence(call: Call, links: Collection[Relationship]) -> set[str]:
    """The ids of relationships that have evidence."""
    facts = {own: link.id for link in links if (own := own_id(link.id, "fact"))}
    edges = [link.id for link in links if link.id not in facts.values()]
    told = await call.session.fetch(CONTENTS, in_("id", sorted(edges))) if edges else []
    notes = await call.session.fetch(EVIDENCE, in_("fact_id", sorted(facts))) if facts else []
    stated = {link.id for link in links if link.properties.get("evidence")}
    return stated | {content.id for content in told} | {facts[note.fact_id] for note in notes}


def _grounding(links: Collection[Relationship], vouched: Collection[str]) -> Scores:
    count = sum(link.id in vouched for link in links)
    return {"evidence_count": count, "grounding_strength": round(count / len(links), 6) if links else 0.0}


async def _vectors_of_ends(call: Call, links: Iterable[Relationship]) -> dict[str, Vector]:
    ends = sorted({end for link in links for end in (link.start, link.end)})
    nodes = await call.graph.nodes_by_id(ends)
    texts = [node_text(node.id, node.labels, node.properties) for node in nodes]
    made = await embed_texts(call.vectors.embedder, texts)
    return {node.id: vector for node, vector in zip(nodes, made, strict=True) if vector is not None}


def _diversity(id: str, links: Iterable[Relationship], vectors: Mapping[str, Vector]) -> float:
    """Computed from the length of the vector sum, whose square contains all pairwise products: linear in the
    neighbours.
    """
    others = {end for link in links for end in (link.start, link.end) if end != id and end in vectors}
    count = len(others)
    if count < 2:
        return 0.0
    total = [sum(parts) for parts in zip(*(unpack(vectors[other]) for other in others), strict=True)]
    pairs: float = sum(part * part for part in total) - count * ALIKE
    return round(1 - pairs / (count * (count - 1) * ALIKE), 6)
