"""The vocabulary: one synthetic node for each relationship type and each predicate, with its statistics.

Their ids begin with `vocab:`, so they never equal a concept of W: read them with `+`, or test with `!`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ugs.cypher.values.entities import DEFAULT_TYPE
from ugs.facts.model import ACTIVE, FACTS, PREDICATES, Predicate
from ugs.facts.normalization import scope_keys
from ugs.facts.queries import holds_at
from ugs.graph.model import EDGES
from ugs.ontology.model import CONNECTION_TYPES
from ugs.programs.endpoints import Call
from ugs.programs.execution.working_graph import RawNode, WorkingGraph
from ugs.reads.filters import EVERYTHING, Where, all_of, in_

UNCLASSIFIED = "unclassified"
MAX_WORDS = 1_000


class Word(Struct):
    """A relationship type with its counts."""

    name: str
    status: str = UNCLASSIFIED
    count: int = 0
    category: str | None = None

    def to_raw_node(self) -> RawNode:
        told = {"epistemic_status": self.status, "count": self.count, "is_active": self.status == ACTIVE}
        properties = told if self.category is None else {**told, "category": self.category}
        return RawNode(f"vocab:{self.name}", self.name, properties=properties)


async def status(call: Call, params: Mapping[str, Any]) -> WorkingGraph:
    """The vocabulary by name; optionally one word, or those of a status."""
    words = await _words(call)
    name, wanted = params.get("relationship_type"), params.get("status_filter")
    kept = [
        word
        for word in sorted(words.values(), key=lambda word: word.name)
        if name in (None, word.name) and wanted in (None, word.status)
    ]
    return WorkingGraph([word.to_raw_node() for word in kept[:MAX_WORDS]])


async def _words(call: Call) -> dict[str, Word]:
    words: dict[str, Word] = {}
    for type, count in (await call.session.group(EDGES, "type")).items():
        words.setdefault(type or DEFAULT_TYPE, Word(type or DEFAULT_TYPE)).count += count
    for row in sorted(await call.session.fetch(CONNECTION_TYPES), key=lambda row: (row.position, row.place)):
        word = words.setdefault(row.name, Word(row.name))
        word.category = word.category or row.ontology
    counts = await _facts_by_predicate(call)
    # Nearest last, so that a project's own word decides about the status.
    for predicate in reversed(await _predicates(call)):
        word = words.setdefault(predicate.canonical, Word(predicate.canonical))
        word.status = predicate.status
        word.count += counts.get(predicate.predicate_id, 0)
    return words


async def _predicates(call: Call) -> list[Predicate]:
    """The predicates the caller may use, nearest scope first; an administrator sees those of all projects."""
    space = call.glasses.viewer.space
    keys = () if space is None else scope_keys(space)
    where: Where = EVERYTHING if space is None else in_("scope_key", keys)
    rows: list[Predicate] = await call.session.fetch(PREDICATES, where)
    return sorted(rows, key=lambda row: (keys.index(row.scope_key) if keys else 0, row.scope_key, row.predicate_id))


async def _facts_by_predicate(call: Call) -> Mapping[str, int]:
    where = all_of(holds_at(call.glasses.moment), call.glasses.viewer.readable)
    return await call.session.group(FACTS, "predicate_id", where)
