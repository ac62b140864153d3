"""Extraction of facts from notes: a durable queue, each note once, and nothing believed that the note does not say."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.errors import InvalidSyntax
from ugs.extraction.api import Extractions
from ugs.extraction.commands import Claim, FinishExtraction, PostponeExtraction
from ugs.extraction.model import DONE, EXTRACTIONS, FAILED, WAITING
from ugs.facts.api import Facts
from ugs.facts.errors import InvalidFact
from ugs.identity import Principal
from ugs.log.log_reader import HIDDEN, LogReader
from ugs.storage import EventQuery
from ugs_conformance.support.event_loop import run_on_loop
from ugs_conformance.support.facts_kit import ALICE, Know
from ugs_conformance.support.store_fixture import StoreUnderTest

NOTE = "Alice moved to Rome in May. She prefers green tea."
MOVED = Claim("Alice", "moved to", "Rome", "Alice moved to Rome", is_entity=True)


@pytest.fixture
def know(world: StoreUnderTest) -> Know:
    return Know(world)


@pytest.fixture
def queue(world: StoreUnderTest) -> Extractions:
    return Extractions(world.system, ALICE)


async def finish(know: Know, note_id: str, *claims: Claim) -> dict[str, list[dict[str, Any]]]:
    """What the log says of the end of an extraction."""
    command = FinishExtraction(note_id=note_id, extractor="test", claims=claims)
    done = await know.world.system.execute(command)
    (event,) = [event for event in done.events if event.type == "ExtractionFinished"]
    return {name: list(event.payload[name]) for name in ("facts", "refused")}


@run_on_loop
async def test_a_note_waits_until_its_facts_are_kept_once(know: Know, queue: Extractions) -> None:
    note = await queue.remember(NOTE, "mail")
    assert [row.note_id for row in await queue.listed(WAITING)] == [note.note_id]
    assert (await finish(know, note.note_id, MOVED))["facts"][0]["quote"] == [0, len("Alice moved to Rome")]
    again = await know.world.system.execute(FinishExtraction(note_id=note.note_id, extractor="test", claims=(MOVED,)))
    assert again.events == []
    (fact,) = await know.all_facts()
    (evidence,) = await know.evidence()
    assert (fact.predicate, evidence.note_id) == ("moved to", note.note_id)
    row = await queue.state(note.note_id)
    assert row is not None and (row.state, row.attempts) == (DONE, 1)
    assert await queue.listed(WAITING) == []


@pytest.mark.parametrize(
    ("claim", "path"),
    [
        (Claim("Alice", "moved to", "Oslo", "Alice moved to Oslo"), "facts[0].quote"),
        (Claim("Alice", "moved to", "Oslo", "Alice moved to Rome"), "facts[0].object"),
        (Claim("Bob", "moved to", "Rome", "Alice moved to Rome"), "facts[0].subject"),
        (Claim("Alice", "prefers", "tea", "in May"), "facts[0].quote"),
        (Claim("Alice", "moved to", "Rom", "Alice moved to Rome"), "facts[0].object"),
        (Claim("Alice", " ", "Rome", "Alice moved to Rome"), "facts[0].predicate"),
        (Claim("", "", "", ""), "facts[0].quote"),
        (Claim("Alice", "moved to", "Rome", "Alice moved to Rome", valid_from="May"), "facts[0].valid_from"),
        (
            Claim("Alice", "a", "Rome", "Alice moved to Rome", False, "2026-05-02T00:00:00Z", "2026-05-01T00:00:00Z"),
            "facts[0].valid_to",
        ),
    ],
)
@run_on_loop
async def test_what_the_note_does_not_say_is_refused_by_its_path(
    know: Know, queue: Extractions, claim: Claim, path: str
) -> None:
    note = await queue.remember(NOTE)
    told = await finish(know, note.note_id, claim, MOVED)
    assert [one["path"] for one in told["refused"]] == [path]
    assert [fact.predicate for fact in await know.all_facts()] == ["moved to"]


@run_on_loop
async def test_a_failed_try_is_due_later_and_the_eighth_is_the_last(know: Know, queue: Extractions) -> None:
    note = await queue.remember(NOTE)
    pauses = []
    for _ in range(8):
        row = await queue.state(note.note_id)
        assert row is not None and row.state == WAITING
        done = await know.world.system.execute(PostponeExtraction(note_id=note.note_id, error="busy"))
        pauses.append(done.events[0].payload.get("due_at", 0) - done.events[0].timestamp)
    assert pauses[:4] == [5_000, 10_000, 20_000, 40_000] and max(pauses) <= 3_600_000
    (row,) = await queue.listed(FAILED)
    assert (row.attempts, row.error) == (8, "busy")
    assert (await know.world.system.execute(PostponeExtraction(note_id=note.note_id, error="busy"))).events == []


@run_on_loop
async def test_a_note_that_is_forgotten_leaves_the_queue(know: Know, queue: Extractions) -> None:
    note = await queue.remember(NOTE)
    await Facts(know.world.system, ALICE).delete_note(note.note_id)
    assert await know.rows(EXTRACTIONS) == []
    done = await know.world.system.execute(FinishExtraction(note_id=note.note_id, extractor="test", claims=(MOVED,)))
    assert done.events == [] and await know.all_facts() == []


@run_on_loop
async def test_a_bad_note_changes_nothing(know: Know, queue: Extractions) -> None:
    with pytest.raises((InvalidFact, InvalidSyntax)):
        await queue.remember(" ")
    assert await know.rows(EXTRACTIONS) == []


@run_on_loop
async def test_a_private_note_and_its_extraction_are_its_agents_own(know: Know) -> None:
    system = know.world.system
    ann, bob = (Principal(name, frozenset({"writer"}), agent=name) for name in ("ann", "bob"))
    note = await Extractions(system, ann).remember(NOTE, scope="agent_private")
    await finish(know, note.note_id, MOVED)
    assert await Extractions(system, bob).state(note.note_id) is None
    assert await Extractions(system, ann).state(note.note_id) is not None
    (fact,) = await know.all_facts()
    assert (fact.agent_id, fact.scope) == ("ann", "agent_private")
    query = EventQuery(types=frozenset({"ExtractionRequested", "ExtractionFinished"}))
    for reader, sees in ((ann, 2), (bob, 0)):
        page = await LogReader(system, reader).page(query)
        assert len([event for event in page.events if event.type != HIDDEN]) == sees
