"""The table of facts as earlier versions declared it: an open private fact was unique whatever its agent."""

from __future__ import annotations

from ugs.facts.model import FACTS, OPEN, SAME_FACT, Fact
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
    return Fact(id, "acme", "p1", agent, "agent_private", "e1", "is", "p-is", None, "shy", 1, None, 1, 1)
