"""The log as one principal may read it: what is not theirs shows its position and nothing else."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from ugs.bus import Interest
from ugs.errors import Forbidden
from ugs.events import Event
from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.feature_registry import FEATURES, OPEN_EVENTS, REDUCERS
from ugs.graph.api import Graph
from ugs.identity import Principal
from ugs.log.log_reader import HIDDEN, LogReader, hidden_at
from ugs.programs.api import Programs
from ugs.storage import EventQuery, Session
from ugs.system import System

ROOT = Path(__file__).resolve().parents[2]
WRITER = frozenset({"writer"})
OWNER = Principal("ann", WRITER, "acme", "p1", "a1")
COLLEAGUE = Principal("bob", WRITER, "acme", "p1", "a2")
OTHER_PROJECT = Principal("cem", WRITER, "acme", "p2", "a1")
OTHER_TENANT = Principal("dan", WRITER, "globex", "p1", "a1")
ADMIN = Principal("root", frozenset({"admin"}))
STRANGERS = (COLLEAGUE, OTHER_PROJECT, OTHER_TENANT)


@pytest.fixture(params=["memory", "file", "sqlite"])
async def system(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[System]:
    urls = {"memory": "memory:", "file": f"file:{tmp_path}/log", "sqlite": f"sqlite:///{tmp_path}/graph.db"}
    async with System.at_url(urls[request.param]) as system:
        yield system


async def tell(system: System, scope: str = "agent_private", value: str = "secret") -> str:
    """A fact of the owner, with its note."""
    told = await Facts(system, OWNER).add_fact(
        "Alice", "knows", value, scope=scope, notes=[NoteRef(text=f"{value} note", source=f"{value} source")]
    )
    return told.fact.fact_id


async def read(system: System, principal: Principal, query: EventQuery | None = None) -> list[Event]:
    return (await LogReader(system, principal).page(query or EventQuery())).events


def is_silent(events: Sequence[Event]) -> bool:
    return not any("secret" in repr(event) for event in events)


async def test_a_hidden_event_shows_its_position_and_nothing_else(system: System) -> None:
    await Graph(system, OWNER).add_node(id="n")
    await tell(system)
    whole = await read(system, ADMIN)
    assert await read(system, OWNER) == whole
    for stranger in STRANGERS:
        seen = await read(system, stranger)
        assert [event.position for event in seen] == [event.position for event in whole], "no gaps"
        assert seen[0] == whole[0] and is_silent(seen)
        hidden = [event for event in seen if event.type == HIDDEN]
        assert hidden and all(event == hidden_at(event.position) for event in hidden)
    kinds = {event.type for event in await read(system, COLLEAGUE)}
    assert {"EntityUpserted", "PredicateRegistered"} <= kinds, "names are for the whole project"
    assert {event.type for event in await read(system, OTHER_PROJECT)} == {"NodeAdded", HIDDEN}


async def test_a_page_that_holds_all_that_there_is_says_so(system: System) -> None:
    for id in ("a", "b", "c"):
        await Graph(system, OWNER).add_node(id=id)
    for limit, more in ((2, True), (3, False), (4, False)):
        for query in (EventQuery(limit=limit), EventQuery(limit=limit, types=frozenset({"NodeAdded"}))):
            page = await LogReader(system, OWNER).page(query)
            assert (len(page.events), page.has_more) == (min(limit, 3), more)


async def test_a_batch_is_shown_only_where_all_of_it_is_visible(system: System) -> None:
    """The id of a batch is that of its first event, and its size counts hidden ones."""
    await tell(system)
    await tell(system, value="secret too")
    whole = await read(system, ADMIN)
    batches = [[event for event in whole if event.tx and event.tx.id == id] for id in {e.tx.id for e in whole if e.tx}]
    assert len(batches) == 2 and all(len(batch) > 1 for batch in batches)
    seen = [event for event in await read(system, COLLEAGUE) if event.type != HIDDEN]
    assert seen and all(event.tx is None for event in seen)
    for number in range(len(whole)):
        limit = EventQuery(after=number, limit=2)
        assert await read(system, OWNER, limit) == whole[number : number + 2], "a page may begin within a batch"
        assert all(event.tx is None for event in await read(system, COLLEAGUE, limit))
    named = EventQuery(types=frozenset({"EntityUpserted", "FactAdded"}))
    assert all(event.tx is None for event in await read(system, COLLEAGUE, named))
    assert [event.tx is None for event in await LogReader(system, COLLEAGUE).show(whole)] == [True] * len(whole)
    assert await LogReader(system, OWNER).show(whole) == whole
    async with aclosing(LogReader(system, COLLEAGUE).follow(0)) as stream:
        followed = [await anext(stream) for _ in whole]
    assert all(event.tx is None for event in followed)
    async with aclosing(LogReader(system, OWNER).follow(0)) as stream:
        assert [await anext(stream) for _ in whole] == whole


async def test_what_was_deleted_stays_hidden(system: System) -> None:
    facts, id = Facts(system, OWNER), await tell(system)
    await facts.invalidate_fact(id, reason="secret reason")
    note = (await facts.why(id)).notes[0].note_id
    await facts.delete_note(note)
    await facts.delete_fact(id)
    await facts.delete_entity((await facts.entity("Alice")).entity_id)  # type: ignore[union-attr]
    whole = await read(system, ADMIN)
    assert await read(system, OWNER) == whole
    for stranger in STRANGERS:
        seen = await read(system, stranger)
        assert is_silent(seen) and not any(id in repr(event) or note in repr(event) for event in seen)
    assert [event.type for event in await read(system, OTHER_TENANT)] == [HIDDEN] * len(whole)
    assert "EntityDeleted" in {event.type for event in await read(system, COLLEAGUE)}


async def test_a_question_that_names_a_type_or_an_element_leaves_hidden_events_out(system: System) -> None:
    id = await tell(system)
    await tell(system, "project_shared", "plain")
    for query in (EventQuery(types=frozenset({"FactAdded"})), EventQuery(element=id)):
        assert is_silent(await read(system, COLLEAGUE, query))
        assert HIDDEN not in {event.type for event in await read(system, COLLEAGUE, query)}
        assert await read(system, OTHER_TENANT, query) == []
    assert len(await read(system, COLLEAGUE, EventQuery(types=frozenset({"FactAdded"})))) == 1
    assert await LogReader(system, COLLEAGUE).newest(5, types=frozenset({"NoteAdded"})) != []
    assert await LogReader(system, COLLEAGUE).newest(5, id if id[0].isalpha() else "x") == []


async def test_pages_go_on_behind_hidden_events(system: System) -> None:
    for number in range(7):
        await tell(system, "agent_private" if number % 3 else "project_shared", f"secret{number}")
    log, wanted = LogReader(system, COLLEAGUE), frozenset({"FactAdded"})
    after, found = 0, []
    for _ in range(9):
        page = await log.page(EventQuery(after=after, limit=1, types=wanted))
        found += page.events
        after = page.reached
        if not page.has_more:
            break
    assert [event.payload["object_value"] for event in found] == ["secret0", "secret3", "secret6"]
    newest = await log.newest(2, types=wanted)
    assert [event.payload["object_value"] for event in newest] == ["secret3", "secret6"]
    unnamed = await log.page(EventQuery(limit=3))
    assert (len(unnamed.events), unnamed.has_more, unnamed.reached) == (3, True, 3)


async def test_who_follows_the_log_hears_of_hidden_positions_only(system: System) -> None:
    await tell(system)
    whole = await read(system, ADMIN)

    async def heard(principal: Principal, interest: Interest | None = None) -> list[Event]:
        found: list[Event] = []
        follow = LogReader(system, principal).follow(0, interest or Interest())
        async with aclosing(follow) as events:  # type: ignore[type-var]
            try:
                async with asyncio.timeout(0.5):
                    async for event in events:
                        found.append(event)
            except TimeoutError:
                return found
        return found

    assert await heard(OWNER) == whole
    for stranger in STRANGERS:
        seen = await heard(stranger)
        assert seen == await read(system, stranger) and is_silent(seen)
    assert await heard(COLLEAGUE, Interest(types=frozenset({"FactAdded", "NoteAdded"}))) == []


async def test_somebody_elses_program_is_hidden(system: System) -> None:
    tree = {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}]}
    programs = Programs(system, OWNER)
    row = await programs.save(tree, "secret name")
    await programs.update(row.id, name="secret too")
    await programs.delete(row.id)
    await Programs(system, ADMIN).save(tree, "for all", system=True)
    assert [event.type for event in await read(system, COLLEAGUE)] == [HIDDEN] * 3 + ["ProgramStored"]
    assert [event.type for event in await read(system, OWNER)] == [
        "ProgramStored",
        "ProgramUpdated",
        "ProgramDeleted",
        "ProgramStored",
    ]


async def test_a_log_without_private_events_is_not_looked_into(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        await Graph(system, OWNER).add_node(id=f"n{number}")

    async def refuse(session: Session, events: Sequence[Event]) -> list[object]:
        raise AssertionError("asked who may see what everybody may")

    monkeypatch.setattr("ugs.log.log_reader.audiences_of", refuse)
    assert len(await read(system, OTHER_TENANT)) == 20


async def test_a_page_of_private_events_costs_a_few_statements(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        id = await tell(system, value=f"secret{number}")
        if number % 2:
            await Facts(system, OWNER).delete_fact(id)
    asked: list[str] = []
    async with system.session() as session:
        kind = type(session)
        for name in ("find_many", "events", "find", "fetch"):
            plain = getattr(kind, name)

            def counted(
                self: object, *given: object, name: str = name, plain: object = plain, **more: object
            ) -> object:
                asked.append(name)
                return plain(self, *given, **more)  # type: ignore[operator]

            monkeypatch.setattr(kind, name, counted)
    assert is_silent(await read(system, COLLEAGUE))
    assert asked.count("events") <= 2 and asked.count("find_many") <= 4 and len(asked) <= 10, asked


OWN_LOGS = {"keys", "webhooks"}
"""Features whose events are in a log of their own, which nobody reads by any interface."""


def test_every_feature_says_who_may_see_its_events() -> None:
    for feature in FEATURES:
        closed = set(feature.reducers) - feature.open_events
        assert not closed or feature.audiences is not None or feature.name in OWN_LOGS, feature.name
    assert set(REDUCERS) > OPEN_EVENTS


KNOWN = {
    "schema/ugs_schema/graph/subscriptions.py": "the element as an event left it, of graph events only",
    "schema/ugs_schema/facts/queries.py": "the life of a fact, shown to those who may see it",
    "gateway/ugs_gateway/graphql/ontology_endpoint.py": "names of ontologies that grew",
    "gateway/ugs_gateway/mirror/mirror.py": "files of the graph on the machine itself",
    "gateway/ugs_gateway/cli/clients/local.py": "the owner of a store at the command line",
}
"""Where the log is read past the reader, and why nothing of it leaves."""


def test_events_leave_by_the_reader_only() -> None:
    past = re.compile(r"session\.events\(|past\.events\(|\.subscribe\(|\.bus\.follow|storage\.log")
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("schema", "gateway")
        for path in (ROOT / folder).rglob("*.py")
        if past.search(path.read_text("utf-8")) and "operations.subscribe" not in path.read_text("utf-8")
    }
    assert found == KNOWN.keys()


async def test_agents_do_not_touch_each_others_private_facts(system: System) -> None:
    await Facts(system, ADMIN).register_predicate(
        "lives in", "tenant_project", "active", "single", tenant="acme", project="p1"
    )
    for agent, value in ((OWNER, "secret street"), (COLLEAGUE, "elsewhere")):
        said = NoteRef(text=f"it is {value}")
        told = await Facts(system, agent).add_fact("Bo", "lives in", value, scope="agent_private", notes=[said])
        assert told.created and told.superseded == [] and not any("secret" in repr(one) for one in told.warnings)
    for agent, value in ((OWNER, "secret street"), (COLLEAGUE, "elsewhere")):
        assert [one.object_value for one in await Facts(system, agent).active_facts("Bo", "agent_private")] == [value]
    # Saying what somebody else holds privately tells nothing about their fact.
    guess = await Facts(system, COLLEAGUE).add_fact(
        "Bo", "lives in", "secret street", scope="agent_private", notes=[NoteRef(text="a guess")]
    )
    assert guess.created and guess.fact.agent_id == COLLEAGUE.agent


async def test_a_preview_of_a_merge_shows_no_private_facts_of_others(system: System) -> None:
    facts = Facts(system, OWNER)
    await facts.add_fact("Bob", "knows", "secret", scope="agent_private", notes=[NoteRef(text="secret note")])
    await facts.add_fact("Rob", "knows", "secret", scope="agent_private", notes=[NoteRef(text="secret note")])
    ids = [(await facts.entity(name)).entity_id for name in ("Bob", "Rob")]  # type: ignore[union-attr]
    assert (await facts.preview_merge(*ids)).folded
    plan = await Facts(system, COLLEAGUE).preview_merge(*ids)
    assert (plan.moved, plan.folded, plan.conflicts) == ([], [], [])


async def test_users_of_equal_names_in_tenants_that_share_a_graph_are_two(system: System) -> None:
    tree = {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}]}
    ours, theirs = (Principal("ann", WRITER, tenant, shares_graph=True) for tenant in ("acme", "globex"))
    row = await Programs(system, ours).save(tree, "secret name")
    assert [one.id for one in await Programs(system, ours).list()] == [row.id]
    assert await Programs(system, theirs).list() == []
    assert is_silent(await read(system, theirs))
    with pytest.raises(Forbidden):
        await Programs(system, theirs).get(row.id)


def test_no_two_users_have_one_account() -> None:
    places = [("default", "a/b/c"), ("a", "b/c"), ("a/b", "c"), ("a%2Fb", "c"), ("default", "c"), ("c", "c")]
    accounts = {Principal(user, tenant=tenant, shares_graph=True).account for tenant, user in places}
    assert len(accounts) == len(places)
    assert Principal("ann", tenant="acme").account == "ann", "with a graph of their own, names are enough"
