"""Who may see an event: a feature that says nothing about its events leaves them to administrators."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ugs import System, feature_registry
from ugs.graph.api import Graph
from ugs.identity import Principal
from ugs.storage import EventQuery

ROLES = ("reader", "writer", "admin")


async def test_events_of_a_feature_without_audiences_are_for_administrators(monkeypatch: pytest.MonkeyPatch) -> None:
    features = [replace(one, audiences=None, open_events=frozenset()) for one in feature_registry.FEATURES]
    async with System.at_url("memory:") as system:
        await Graph(system).add_node("a")
        async with system.session() as session:
            events = await session.events(EventQuery())
            (usual,) = await feature_registry.audiences_of(session, events)
            monkeypatch.setattr(feature_registry, "FEATURES", features)
            monkeypatch.setattr(feature_registry, "OPEN_EVENTS", frozenset())
            (closed,) = await feature_registry.audiences_of(session, events)
            assert await feature_registry.audiences_of(session, []) == []

    people = [Principal("p", frozenset({role})) for role in ROLES]
    assert [usual(person) for person in people] == [True, True, True]
    assert [closed(person) for person in people] == [False, False, True]
