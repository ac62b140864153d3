"""What tests of facts hold in their hands: the store under test with a memory on it, and short ways to say things."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ugs.facts.api import FactResult
from ugs.facts.model import EVIDENCE, FACTS, SUPERSESSIONS, Entity, Evidence, Fact, Predicate, Supersession
from ugs.facts.resolution import EntityRef
from ugs.facts.temporal.instants import instant_of, instant_text
from ugs.identity import Principal
from ugs.reads.filters import EVERYTHING, Where
from ugs.tables import Table
from ugs_conformance.support.api_under_test import facts_of
from ugs_conformance.support.store_fixture import StoreUnderTest

ALICE = Principal("ann", frozenset(), "tenant-a", "project-b", "agent-c")
STRANGER = Principal("eve", frozenset(), "tenant-x", "project-b", "agent-c")


def day(number: int, month: int = 1) -> str:
    """A day of January 2026."""
    return f"2026-{month:02}-{number:02}T00:00:00Z"


class Know:
    """The facts of one project in the store under test."""

    def __init__(self, world: StoreUnderTest, principal: Principal = ALICE) -> None:
        self.world = world
        self.facts = facts_of(world.system, principal)
        self.admin = facts_of(world.system)
        self.set_clock(day(10))

    def set_clock(self, moment: str) -> None:
        self.world.clock.moment = instant_of(moment) // 1_000

    async def note(self, text: str = "somebody said so") -> str:
        return (await self.facts.add_note(text)).note_id

    async def say(
        self, subject: str | Entity | EntityRef, predicate: str, value: str | None = None, **more: Any
    ) -> FactResult:
        """Assert a fact with a note of its own, unless notes are given."""
        notes = more.pop("notes", None)
        if notes is None:
            notes = [await self.note()]
        return await self.facts.add_fact(subject, predicate, value, notes=notes, **more)

    async def predicate(self, alias: str, status: str = "active", cardinality: str = "single") -> Predicate:
        """A predicate with these settings."""
        return (await self.facts.register_predicate(alias, status=status, cardinality=cardinality)).predicate

    async def rows(self, table: Table, where: Where = EVERYTHING) -> list[Any]:
        async with self.world.system.session() as session:
            return await session.fetch(table, where)

    async def all_facts(self) -> list[Fact]:
        return sorted(await self.rows(FACTS), key=lambda fact: fact.valid_from)

    async def evidence(self) -> list[Evidence]:
        return await self.rows(EVIDENCE)

    async def supersessions(self) -> list[Supersession]:
        return await self.rows(SUPERSESSIONS)

    async def values(self, subject: str | Entity, moment: str | None = None, **more: Any) -> list[str]:
        """What holds about a subject at an instant, as sorted values."""
        facts = await self.facts.active_facts(subject, valid_at=moment, **more)
        return sorted(fact.object_value or "" for fact in facts)


def validity_of(fact: Fact) -> tuple[str, str | None]:
    """When a fact holds, as text."""
    return instant_text(fact.valid_from), None if fact.valid_to is None else instant_text(fact.valid_to)


def ids(facts: Iterable[Fact]) -> list[str]:
    return [fact.fact_id for fact in facts]
