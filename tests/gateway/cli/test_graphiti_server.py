"""Graphiti's graph imported from the server that holds it: what comes, and that it comes once."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest
from neo4j import Driver, GraphDatabase

from tests import servers
from tests.gateway.cli.conftest import Ugs
from ugs.errors import InvalidSyntax
from ugs_gateway.cli.input.graphiti_server import parse_source

GRAPH = """
CREATE (ann:Entity:Person {uuid: 'n1', name: 'Ann', group_id: $group, summary: 's', created_at: datetime()}),
       (rome:Entity:City {uuid: 'n2', name: 'Rome', group_id: $group, created_at: datetime()}),
       (bern:Entity {uuid: 'n3', name: 'Bern', group_id: $group, created_at: datetime()}),
       (zoe:Entity:Person {uuid: 'n4', name: 'Zoe', group_id: $group, created_at: datetime()}),
       (talk:Episodic {uuid: 'p1', name: 'talk', content: 'Ann told Zoe that she moved to Rome.', group_id: $group,
                       source: 'message', valid_at: datetime('2026-01-02T10:00:00Z'), created_at: datetime()}),
       (:Episodic {uuid: 'p2', name: 'empty', content: ' ', group_id: $group}),
       (talk)-[:MENTIONS {uuid: 'm1', group_id: $group}]->(ann), (talk)-[:MENTIONS {uuid: 'm2', group_id: $group}]->(zoe),
       (ann)-[:RELATES_TO {uuid: 'e1', name: 'LIVES_IN', fact: 'Ann lived in Bern', group_id: $group, episodes: [],
                           created_at: datetime('2026-01-02T10:00:00Z'), expired_at: datetime('2026-01-02T10:00:01Z'),
                           valid_at: datetime('2020-01-01T00:00:00+01:00'),
                           invalid_at: datetime('2026-01-01T00:00:00.123456789Z')}]->(bern),
       (ann)-[:RELATES_TO {uuid: 'e2', name: 'LIVES_IN', fact: 'Ann lives in Rome', group_id: $group, episodes: ['p1'],
                           created_at: datetime('2026-01-02T10:00:00Z'),
                           valid_at: datetime('2026-01-01T00:00:00.123456789Z')}]->(rome),
       (ann)-[:RELATES_TO {uuid: 'e3', name: 'KNOWS', fact: 'Ann knows Zoe', group_id: $group,
                           created_at: localdatetime('2026-01-02T10:00:00')}]->(zoe),
       (ann)-[:RELATES_TO {uuid: 'e4', fact: 'no name', group_id: $group}]->(zoe),
       (:Entity {uuid: 'o1', name: 'Stranger', group_id: $other})
         -[:RELATES_TO {uuid: 'o2', name: 'KNOWS', fact: 'Stranger knows Nobody', group_id: $other}]->
         (:Entity {uuid: 'o3', name: 'Nobody', group_id: $other})
"""


def address(url: str, group: str) -> str:
    """The server's URL with a group, and without the options of a store."""
    return urlunsplit(urlsplit(url)._replace(query=f"group={group}"))


@pytest.fixture
def driver() -> Iterator[Driver]:
    source = parse_source(address(servers.require("neo4j"), "x"))
    auth = None if source.user is None else (source.user, source.password)
    with GraphDatabase.driver(source.uri, auth=auth) as opened:
        yield opened


@pytest.fixture
def group(driver: Driver) -> Iterator[str]:
    """A group of its own with the graph, which is gone afterwards."""
    name = uuid4().hex
    driver.execute_query(GRAPH, group=name, other=f"{name}-other")
    yield name
    driver.execute_query("MATCH (n) WHERE n.group_id STARTS WITH $group DETACH DELETE n", group=name)


def facts(ugs: Ugs, *words: str) -> dict[tuple[str, str], tuple[Any, Any]]:
    found = ugs("facts", *words).value
    return {(one["predicate"], one["object"]): (one["valid_from"], one["valid_to"]) for one in found}


def test_episodes_mentions_and_edges_come_with_their_times_and_come_once(ugs: Ugs, group: str, driver: Driver) -> None:
    url = address(servers.require("neo4j"), group)
    done = ugs("ingest", url, "--format", "graphiti").value
    assert (done["rows"], done["notes"], done["created"], done["refused"]) == (6, 4, 3, 2)
    assert [row["at"] for row in done["refusals"]] == ["episodes[1]", "edges[3]"]

    turn = "2026-01-01T00:00:00.123456Z"
    assert facts(ugs, "Ann", "--all") == {
        ("lives in", "Bern"): ("2019-12-31T23:00:00Z", turn),
        ("lives in", "Rome"): (turn, None),
        ("knows", "Zoe"): ("2026-01-02T10:00:00Z", None),
    }
    assert facts(ugs, "Zoe") == {}
    assert ugs("facts", "Stranger").value["error"]["code"] == "ENTITY_NOT_FOUND"
    found = ugs("recall", "who told Zoe about Rome", "--kind", "note").value["items"]
    assert "Ann told Zoe that she moved to Rome." in [item["text"] for item in found]

    before = ugs("verify").value["events"]
    again = ugs("ingest", url, "--format", "graphiti").value
    assert (again["notes"], again["created"], ugs("verify").value["events"]) == (0, 0, before)

    driver.execute_query(
        "MATCH (a:Entity {uuid: 'n4', group_id: $group}), (b:Entity {uuid: 'n2', group_id: $group}) "
        "CREATE (a)-[:RELATES_TO {uuid: 'e5', name: 'VISITS', fact: 'Zoe visits Rome', group_id: $group, "
        "created_at: datetime(), valid_at: datetime('2026-02-01T00:00:00Z')}]->(b)",
        group=group,
    )
    grown = ugs("ingest", url, "--format", "graphiti").value
    assert (grown["notes"], grown["created"]) == (1, 1)
    assert facts(ugs, "Zoe") == {("visits", "Rome"): ("2026-02-01T00:00:00Z", None)}


def test_no_answer_shows_the_password(ugs: Ugs, group: str) -> None:
    url = address(servers.require("neo4j"), group)
    source = parse_source(url)
    done = ugs("ingest", url, "--format", "graphiti")
    assert done.value["file"] == str(source)
    wrong = url.replace(f":{source.password}@", ":s3cret-word@") if source.password else f"{url}&x=s3cret-word"
    refused = ugs("ingest", wrong, "--format", "graphiti")
    assert refused.code != 0 and refused.value["error"]["code"] in ("E005", "E007")
    assert "s3cret-word" not in refused.out + refused.err + json.dumps(refused.value)


def test_a_server_that_does_not_answer_is_said_and_makes_no_facts(ugs: Ugs) -> None:
    done = ugs("ingest", "bolt://neo4j:s3cret-word@127.0.0.1:1/", "--format", "graphiti")
    assert done.code != 0 and done.value["error"]["code"] == "E007"
    assert "bolt://127.0.0.1:1" in done.value["error"]["message"]
    assert "s3cret-word" not in done.out + done.err
    assert not Path("data").exists()


@pytest.mark.parametrize(
    "url", ["neo4j://", "neo4j://a:s3cret@h:port/", "neo4j://h/?x=1", "neo4j://h/#x", "neo4j://[h/", "neo4j://h:99999"]
)
def test_an_address_that_is_none_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(InvalidSyntax) as refused:
        parse_source(url)
    assert "s3cret" not in refused.value.message
