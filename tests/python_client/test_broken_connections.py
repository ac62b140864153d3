"""Connections that break: changes are done once, and subscriptions lose and double nothing."""

from __future__ import annotations

import asyncio

import pytest

from tests.gateway.processes import Gateway
from tests.python_client.broken_line import broken_line
from ugs_client import AsyncClient, Client, Unreachable

EVENTS, CUTS = 10_000, 20


def fill(gateway: Gateway, prefix: str) -> int:
    """Ten thousand events; gives the position before them."""
    with Client(gateway.url) as graph:
        start = graph.stats(fields="events")["events"]
        for part in range(10):
            ids = range(part * EVENTS // 10, (part + 1) * EVENTS // 10)
            graph.import_graph({"nodes": [{"id": f"{prefix}{n}"} for n in ids], "edges": []})
        return start


def test_twenty_disconnects_in_ten_thousand_events_lose_and_double_nothing(gateway: Gateway) -> None:
    start = fill(gateway, "sync")
    with broken_line(gateway.port) as line, Client(line.url) as graph:
        seen = list[int]()
        events = graph.watch_events(after_seq=start, fields="seq")
        for event in events:
            seen.append(event["seq"])
            if len(seen) % (EVENTS // CUTS) == 250:
                line.cut()
            if len(seen) == EVENTS:
                break
        events.close()
        assert line.cuts == CUTS
    assert seen == list(range(start + 1, start + EVENTS + 1))


async def test_the_same_with_asyncio(gateway: Gateway) -> None:
    start = fill(gateway, "async")
    with broken_line(gateway.port) as line:
        async with AsyncClient(line.url) as graph:
            seen = list[int]()
            events = graph.watch_events(after_seq=start, fields="seq")
            async for event in events:
                seen.append(event["seq"])
                if len(seen) % (EVENTS // CUTS) == 250:
                    line.cut()
                if len(seen) == EVENTS:
                    break
            await events.aclose()
        assert line.cuts == CUTS
    assert seen == list(range(start + 1, start + EVENTS + 1))


def test_events_that_happen_while_nobody_is_connected_are_heard(gateway: Gateway) -> None:
    with broken_line(gateway.port) as line, Client(line.url) as graph, Client(gateway.url) as writer:
        events = graph.watch_nodes_changed(
            filter={"type": "gap"}, after_seq=writer.stats()["events"], fields="elementId"
        )
        writer.add_node({"id": "gap0", "type": "gap"})
        heard = [next(events)["elementId"]]
        for number in range(1, 6):
            line.cut()
            writer.add_node({"id": f"other{number}"})
            writer.add_node({"id": f"gap{number}", "type": "gap"})
            heard.append(next(events)["elementId"])
        events.close()
    assert heard == [f"gap{number}" for number in range(6)]


def test_a_change_whose_answer_is_lost_is_done_once(gateway: Gateway) -> None:
    with broken_line(gateway.port) as line, Client(line.url) as graph:
        before = Client(gateway.url).stats(fields="events")["events"]
        for number in range(20):
            line.answers_to_drop = number % 3
            made = graph.add_node({"type": "once", "properties": {"number": number}})
            assert made["node"]["version"] == 1
        assert line.cuts == 19
        assert graph.stats(fields="events")["events"] == before + 20
        numbers = [node["properties"]["number"] for node in graph.iterate_graph_nodes(filter={"type": "once"})]
        assert sorted(numbers) == list(range(20))


async def test_many_changes_at_once_over_a_breaking_line_are_done_once(gateway: Gateway) -> None:
    with broken_line(gateway.port) as line:
        async with AsyncClient(line.url) as graph:

            async def add(number: int) -> None:
                if number % 10 == 5:
                    line.cut()
                await graph.add_node({"id": f"many{number}", "type": "many"})

            await asyncio.gather(*(add(number) for number in range(60)))
            found = [node async for node in graph.iterate_graph_nodes(filter={"type": "many"})]
    assert len(found) == 60 and {node["version"] for node in found} == {1}


def test_a_change_without_a_key_is_not_sent_twice(gateway: Gateway) -> None:
    with broken_line(gateway.port) as line, Client(line.url) as graph:
        line.answers_to_drop = 1
        with pytest.raises(Unreachable):
            graph.execute('mutation { addNode(input: {type: "keyless"}) { node { id } } }')
        assert len(list(graph.iterate_graph_nodes(filter={"type": "keyless"}))) == 1


def test_a_client_gives_up_after_its_attempts(gateway: Gateway) -> None:
    with broken_line(gateway.port) as line, Client(line.url) as graph:
        line.answers_to_drop = 1_000
        with pytest.raises(Unreachable):
            graph.stats()
        assert line.cuts == 6
