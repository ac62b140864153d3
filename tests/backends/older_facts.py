"""The table of facts as earlier versions declared it: an open private fact was unique whatever its agent."""

from __future__ import annotations

from uuid import UUID

from ugs.facts.model import ENTITIES, FACTS, OPEN, PREDICATES, SAME_FACT, Entity, Fact, Predicate
from ugs.reads.filters import Compare, Op, all_of
from ugs.tables import Table, Unique

TABLE = Table(
    FACTS.name,
    Fact,
    FACTS.fields,
    FACTS.key,
    unique=[
        Unique(f"graph_facts_open_{name}", (*SAME_FACT, field), all_of(OPEN, Compare(field, Op.EXISTS)))
        for name, field in (("entity", "object_entity_id"), ("value", "object_value"))
    ],
    indexes=FACTS.indexes,
)


def private(id: str, agent: str) -> Fact:
    """An open private fact of an agent, equal but for these two."""
    return Fact(uuid(id), "acme", "p1", agent, "agent_private", uuid("e"), "is", uuid("p"), None, "shy", 1, None, 1, 1)


def uuid(name: str) -> str:
    """A UUID that shows a short name."""
    return str(UUID(bytes=name.encode().rjust(16, b"\0")))


OTHERS = {
    ENTITIES: Entity(uuid("e"), "acme", "p1", "e", "e", None, 1, 1),
    PREDICATES: Predicate(uuid("p"), "acme:p1", "acme", "p1", "is", "is", "multi", "active", 1, 1),
}
"""The rows that these facts refer to."""
