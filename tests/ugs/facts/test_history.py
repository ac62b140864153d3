"""The life of a fact, told by its own events."""

from __future__ import annotations

from ugs import EventQuery, System
from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.facts.temporal.history import fact_after, is_reported
from ugs.storage import Session


async def test_events_tell_every_state_of_a_fact() -> None:
    async with System.at_url("memory:") as system:
        facts = Facts(system)
        done = await facts.add_fact("Alice", "is", "tall", notes=[NoteRef(text="said")])
        ended = await facts.invalidate_fact(done.fact.fact_id, "2999-01-01T00:00:00Z", "later")
        async with system.session() as session:
            assert isinstance(session, Session)
            events = await session.events(EventQuery(element=done.fact.fact_id))
        await facts.delete_fact(done.fact.fact_id)
        async with system.session() as session:
            all_events = await session.events(EventQuery(element=done.fact.fact_id))

    assert [fact_after(events[:n]) for n in range(4)] == [None, done.fact, done.fact, ended]
    assert fact_after(all_events) is None
    assert [is_reported(event, events[:n]) for n, event in enumerate(events)] == [True, False, True]
