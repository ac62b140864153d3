"""Facts per second: `python -m bench.facts [--facts 1M]`.

Notes with three relations become facts; then, over many facts, what holds about a subject now and as of an instant,
each beside the same work with the raw driver on the same tables. With `--graphiti PYTHON` also beside Graphiti's reads
on the same Neo4j; the interpreter must have `graphiti-core`, no model is needed.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import msgspec

from bench.contenders.facts_by_hand import BY_HAND, SCOPE, FactsByHand
from bench.features import Figure, empty_url, measure_rate, parser, report
from bench.results import parse_size, size_name
from bench.stores import STORES
from ugs.changes import TableWrites
from ugs.facts.api import Facts
from ugs.facts.commands.ingestion import NoteToIngest, Object, Stated
from ugs.facts.model import ENTITIES, FACTS, Entity, Fact
from ugs.system import System

FACTS_PER_SUBJECT = 10
"""So many facts has a subject, one after another; only the last one is open."""
DAY = 86_400_000_000
START = 1_735_689_600_000_000
"""The first of January 2025, in microseconds."""
CHUNK = 5_000
CALLERS = (1, 64)
GRAPHITI = Path(__file__).parent / "peers" / "graphiti_reads.py"


def subject_rows(number: int, predicate_id: str) -> tuple[Entity, list[Fact]]:
    """A subject that changed its job every ten days."""
    entity = str(UUID(int=number + 1))
    facts = [
        Fact(
            fact_id=str(UUID(int=(number + 1) * FACTS_PER_SUBJECT + at | 1 << 120)),
            tenant_id="default",
            project_id="default",
            agent_id="default",
            scope=SCOPE,
            subject_entity_id=entity,
            predicate="works at",
            predicate_id=predicate_id,
            object_entity_id=None,
            object_value=f"firm {(number + at) % 1_000}",
            valid_from=START + at * 10 * DAY,
            valid_to=None if at == FACTS_PER_SUBJECT - 1 else START + (at + 1) * 10 * DAY,
            created_at=START,
            updated_at=START,
        )
        for at in range(FACTS_PER_SUBJECT)
    ]
    return Entity(entity, "default", "default", f"Person {number}", f"person {number}", None, START, START), facts


async def load(system: System, facts: int) -> None:
    """Bring so many facts into the tables; the log is not what is measured here."""
    done = await Facts(system).register_predicate("works at", status="active", cardinality="single")
    numbers = range(facts // FACTS_PER_SUBJECT)
    for first in range(0, len(numbers), CHUNK // FACTS_PER_SUBJECT):
        rows = [
            subject_rows(n, done.predicate.predicate_id) for n in numbers[first : first + CHUNK // FACTS_PER_SUBJECT]
        ]
        writes = {
            ENTITIES: TableWrites(inserts=[entity for entity, _ in rows]),
            FACTS: TableWrites(inserts=[fact for _, held in rows for fact in held]),
        }
        async with system.storage.session(write=True) as session:
            await session.append((), writes)


class Asked:
    """Subjects and instants in random order, the same for everybody."""

    def __init__(self, facts: int) -> None:
        self._random, self._subjects = Random(1), facts // FACTS_PER_SUBJECT

    def subject(self) -> str:
        return f"Person {self._random.randrange(self._subjects)}"

    def instant(self) -> int:
        return START + self._random.randrange(FACTS_PER_SUBJECT * 10 * DAY)


@asynccontextmanager
async def open_rivals(store: str, url: str) -> AsyncIterator[FactsByHand | None]:
    side = await BY_HAND[store].open(url) if store in BY_HAND else None
    try:
        yield side
    finally:
        if side is not None:
            await side.close()


async def check_same(ours: Facts, theirs: FactsByHand, asked: Asked) -> None:
    """Both must give the same answers before anybody is measured."""
    for _ in range(20):
        subject, instant = asked.subject(), asked.instant()
        found = [fact.object_value for fact in await ours.active_facts(subject, valid_at=instant)]
        assert found == await theirs.holding(subject, instant), (subject, instant)
        assert len(found) == 1


async def measure(store: str, facts: int, seconds: float) -> list[Figure]:
    """Everything on one store."""
    figures = []
    with empty_url(store) as url:
        async with System.at_url(url) as system:
            await system.storage.wipe()
            await load(system, facts)
            async with open_rivals(store, url) as by_hand:
                figures += await measure_reads(store, system, by_hand, facts, seconds)
                figures += await measure_ingestion(store, system, by_hand, seconds)
            await system.storage.wipe()
    return figures


async def measure_reads(
    store: str, system: System, by_hand: FactsByHand | None, facts: int, seconds: float
) -> list[Figure]:
    ours, asked, figures = Facts(system), Asked(facts), []
    now = START + FACTS_PER_SUBJECT * 10 * DAY

    async def holds_now(_: int) -> None:
        await ours.active_facts(asked.subject())

    async def held_then(_: int) -> None:
        await ours.active_facts(asked.subject(), valid_at=asked.instant())

    async def now_by_hand(_: int) -> None:
        assert by_hand is not None
        await by_hand.holding(asked.subject(), now)

    async def then_by_hand(_: int) -> None:
        assert by_hand is not None
        await by_hand.holding(asked.subject(), asked.instant())

    if by_hand is not None:
        await check_same(ours, by_hand, asked)
    for work, mine, theirs in (("holds now", holds_now, now_by_hand), ("held then (as of)", held_then, then_by_hand)):
        name = f"{work}, {size_name(facts)} facts"
        for callers in CALLERS:
            figures.append(await measure_rate(store, name, "ours", callers, seconds, mine))
            if by_hand is not None:
                figures.append(await measure_rate(store, name, by_hand.name, callers, seconds, theirs))
    return figures


async def measure_ingestion(store: str, system: System, by_hand: FactsByHand | None, seconds: float) -> list[Figure]:
    ours, numbers, figures = Facts(system), count(), []
    predicate = (await ours.register_predicate("knows")).predicate.predicate_id

    def make_statement() -> tuple[str, str, list[str]]:
        n = next(numbers)
        subject, objects = f"Ann {n}", [f"Bob {n % 997}", f"Cid {n % 991}", f"Dan {n}"]
        return f"{subject} knows {', '.join(objects)}", subject, objects

    async def ingest(_: int) -> None:
        text, subject, objects = make_statement()
        relations = tuple(Stated(subject, "knows", Object(entity=name)) for name in objects)
        await ours.ingest(NoteToIngest(text=text, relations=relations))

    async def ingest_by_hand(_: int) -> None:
        assert by_hand is not None
        await by_hand.ingest(*make_statement(), predicate)

    for callers in CALLERS:
        figures.append(await measure_rate(store, "notes with 3 relations", "ours", callers, seconds, ingest))
        if by_hand is not None:
            figures.append(
                await measure_rate(store, "notes with 3 relations", by_hand.name, callers, seconds, ingest_by_hand)
            )
    return figures


def graphiti(python: str, facts: int, seconds: float) -> list[Figure]:
    """Graphiti's reads of the same facts on the same server, in its own interpreter."""
    with empty_url("neo4j") as url:
        server = [str(pid) for pid in STORES["neo4j"].process_ids()]
        command = [python, str(GRAPHITI), url.partition("?")[0], str(facts), str(seconds), *server]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = msgspec.json.decode(done.stdout)
    name = f"{size_name(facts)} facts"
    return [
        Figure("neo4j", f"{one['work']}, {name}", "graphiti", one["callers"], one["rate"], one["cpu_us"], 0.0)
        for one in found
    ]


async def run(stores: list[str], facts: int, seconds: float) -> list[Figure]:
    return [figure for store in stores for figure in await measure(store, facts, seconds)]


def main(arguments: list[str] | None = None) -> None:
    options = parser("facts", "facts beside raw drivers")
    options.add_argument("--facts", type=parse_size, default=100_000, help="how many facts to read among")
    options.add_argument("--graphiti", metavar="PYTHON", help="an interpreter that has graphiti-core")
    asked = options.parse_args(arguments)
    figures = asyncio.run(run(asked.stores.split(","), asked.facts, asked.seconds))
    if asked.graphiti:
        figures += graphiti(asked.graphiti, asked.facts, asked.seconds)
    report(figures, asked.output)


if __name__ == "__main__":
    main()
