"""Anything by its global ids: however many are asked for, the store is asked once for each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.schema.conftest import Ask
from ugs import System
from ugs.storage import Session
from ugs_schema.graph.queries import MAX_GAP_EVENTS, merge_positions

NODES = "query($ids: [ID!]!) { nodes(ids: $ids) { id __typename } }"
QUESTIONS = frozenset({"find", "find_many", "fetch", "read", "events", "count", "group"})


class Overheard:
    """A real session whose questions are written down."""

    def __init__(self, session: Session, heard: list[str]) -> None:
        self._session, self._heard = session, heard

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._session, name)
        return self._told(name, method) if name in QUESTIONS else method

    def _told(self, name: str, method: Any) -> Any:
        def ask(about: Any, *more: Any, **named: Any) -> Any:
            self._heard.append(f"{name} {getattr(about, 'name', 'log')}")
            return method(about, *more, **named)

        return ask


@pytest.fixture
def heard(system: System, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the store is asked from now on."""
    found: list[str] = []
    real = system.storage.session

    @asynccontextmanager
    async def overheard(*, write: bool = False) -> AsyncIterator[Any]:
        async with real(write=write) as session:
            yield session if write else Overheard(session, found)

    monkeypatch.setattr(system.storage, "session", overheard)
    return found


async def remembered(ask: Ask) -> dict[str, list[str]]:
    """The global ids of several things of each kind."""
    found: dict[str, list[str]] = {kind: [] for kind in ("note", "fact", "entity", "predicate", "program", "ontology")}
    for at in range(4):
        note = (await ask('mutation { addNote(text: "said so", source: "mail") { note { id } } }'))["data"]["addNote"]
        found["note"].append(note["note"]["id"])
        done = await ask(
            """mutation($n: UUID!, $s: String!, $p: String!) {
                 addFact(input: {scope: "s", subject: {name: $s}, predicate: $p, objectValue: "x", notes: [{id: $n}]})
                 { fact { id predicateRef { id } subject { id } } } }""",
            n=note["note"]["id"].removeprefix("note/"), s=f"Subject {at}", p=f"says {at}",
        )  # fmt: skip
        fact = done["data"]["addFact"]["fact"]
        found["fact"].append(fact["id"])
        found["entity"].append(fact["subject"]["id"])
        found["predicate"].append(fact["predicateRef"]["id"])
        kept = await ask(
            "mutation($n: String!) { saveProgram(input: {name: $n, dsl: \"+ MATCH (n:person) RETURN n;\"}) { program { id } } }",
            n=f"program {at}",
        )  # fmt: skip
        found["program"].append(kept["data"]["saveProgram"]["program"]["id"])
        made = await ask(
            "mutation($n: String!) { createOntology(input: {name: $n}) { ontology { id } } }", n=f"ontology_{at}"
        )
        found["ontology"].append(made["data"]["createOntology"]["ontology"]["id"])
    return found


async def test_each_kind_is_asked_for_once(ask: Ask, heard: list[str]) -> None:
    found = await remembered(ask)
    for kind, asked in {**found, "": ["alice", "bob", "e1", "e2"]}.items():
        once, several = [], []
        for ids, questions in ((asked[:1], once), (asked, several)):
            heard.clear()
            answer = await ask(NODES, ids=ids)
            questions += heard
            assert [one["id"] for one in answer["data"]["nodes"]] == ids
        assert several == once, kind
        assert max(Counter(several).values()) == 1, kind


async def test_all_kinds_at_once_keep_their_places(ask: Ask, heard: list[str]) -> None:
    found = await remembered(ask)
    asked = [id for ids in zip(*found.values(), strict=True) for id in (*ids, "alice", "entity/none", "nobody", "x/y")]
    heard.clear()

    answer = await ask(NODES, ids=asked)

    known = {"alice", *(id for ids in found.values() for id in ids)}
    assert [one and one["id"] for one in answer["data"]["nodes"]] == [id if id in known else None for id in asked]
    assert max(Counter(heard).values()) == 1


async def test_events_that_stand_together_are_read_together(ask: Ask, heard: list[str]) -> None:
    log = (await ask("{ events(first: 10) { nodes { id } } }"))["data"]["events"]["nodes"]
    ids = [event["id"] for event in log][:5]
    heard.clear()

    answer = await ask(NODES, ids=[*ids, "event/evt_1_1", "event/none"])

    assert [one and one["id"] for one in answer["data"]["nodes"]] == [*ids, None, None]
    assert heard == ["events log"]


def test_long_gaps_are_not_read() -> None:
    assert merge_positions([7, 3, 5]) == [(3, 7)]
    assert merge_positions([1, 1 + MAX_GAP_EVENTS, 5_000]) == [(1, 1 + MAX_GAP_EVENTS), (5_000, 5_000)]
    assert merge_positions([]) == []


async def test_every_kind_is_found_at_a_place_in_time(ask: Ask, system: System) -> None:
    """Each from the position on at which it came to be, one by one and together."""
    before = system.bus.position
    found = await remembered(ask)
    ids = [*(some[0] for some in found.values()), "alice"]
    one = "query($id: ID!, $at: Position!) { node(id: $id, at: {position: $at}) { id } }"
    many = "query($ids: [ID!]!, $at: Position!) { nodes(ids: $ids, at: {position: $at}) { id } }"

    for at, expected in ((0, []), (before, ["alice"]), (system.bus.position, ids)):
        answer = await ask(many, ids=ids, at=at)
        assert [node["id"] for node in answer["data"]["nodes"] if node] == expected
        for id in ids:
            assert ((await ask(one, id=id, at=at))["data"]["node"] is not None) == (id in expected)
    event = (await ask("{ events(first: 1) { nodes { id seq } } }"))["data"]["events"]["nodes"][0]
    for at in (event["seq"] - 1, event["seq"]):
        assert ((await ask(one, id=event["id"], at=at))["data"]["node"] is None) == (at < event["seq"])
    refused = await ask(one, id="alice", at=system.bus.position + 1)
    assert refused["errors"][0]["extensions"]["code"] == "POSITION_NOT_FOUND"
