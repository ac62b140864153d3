"""The graph for the peers: tables of their own in the same PostgreSQL, nodes of their own in the same Neo4j, a file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import msgspec
from msgspec import Struct
from neo4j import AsyncGraphDatabase

from bench import data
from bench.sampler import Tell
from bench.stores import Loads, Store, ensure_loaded, load_events
from tests.servers import url_of
from ugs.connect import storage_for
from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.feature_registry import CATALOG
from ugs.system import System

TABLES = """
CREATE SCHEMA {schema};
CREATE TABLE {schema}.gnodes (
  id text PRIMARY KEY, type text NOT NULL, properties jsonb NOT NULL DEFAULT '{{}}', data jsonb NOT NULL DEFAULT '{{}}',
  created timestamptz NOT NULL DEFAULT now(), modified timestamptz NOT NULL DEFAULT now(),
  score float8 GENERATED ALWAYS AS ((properties->>'score')::float8) STORED);
CREATE FUNCTION {schema}.gnodes_label(node {schema}.gnodes) RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT node.properties->>'label' $$;
CREATE TABLE {schema}.gfacts (
  id text PRIMARY KEY, subject text NOT NULL, predicate text NOT NULL, object_value text NOT NULL,
  valid_from timestamptz NOT NULL);
CREATE TABLE {schema}.gevidences (
  id text PRIMARY KEY, fact_id text NOT NULL REFERENCES {schema}.gfacts(id), note text NOT NULL);
CREATE TABLE {schema}.gedges (
  id text PRIMARY KEY, from_id text NOT NULL, to_id text NOT NULL, type text NOT NULL,
  weight float8 NOT NULL DEFAULT 1, properties jsonb NOT NULL DEFAULT '{{}}');
"""
INDEXES = """
CREATE INDEX gnodes_type_id ON {schema}.gnodes (type, id);
CREATE INDEX gnodes_score ON {schema}.gnodes (type, score DESC, id);
CREATE INDEX gfacts_subject ON {schema}.gfacts (subject, valid_from DESC, id);
CREATE INDEX gevidences_fact ON {schema}.gevidences (fact_id, id);
CREATE INDEX gedges_from_id ON {schema}.gedges (from_id, id);
CREATE INDEX gedges_to_id ON {schema}.gedges (to_id, id);
ALTER TABLE {schema}.gedges ADD FOREIGN KEY (from_id) REFERENCES {schema}.gnodes(id);
ALTER TABLE {schema}.gedges ADD FOREIGN KEY (to_id) REFERENCES {schema}.gnodes(id);
"""


FACT_SUBJECTS, FACTS_PER_SUBJECT = 100, 5
FACT_EVENTS = 6_000
"""More events than the facts take."""
MAX_RATIO = 1.1
"""A store whose log is longer than this many times the graph's is loaded anew."""
OURS = {"postgresql": "?schema=bench_graphql_{}", "neo4j": "?namespace=benchgraphql{}&deadline=600"}


async def ensure_ours(store: Store, size: int, folder: Path, tell: Tell) -> str:
    """Where our store holds the graph, and hardly more: the peers' tables are rid of what was added to them, too."""
    if store.name not in OURS:
        url = store.url(folder, size)
        await ensure_loaded(store, url, size, Loads(folder), tell)
        return url
    url = url_of(store.name).partition("?")[0] + OURS[store.name].format(size)
    storage = storage_for(url)
    await storage.open(CATALOG)
    try:
        async with storage.session() as session:
            position = (await session.head()).position
        wanted = data.event_count(size)
        if not wanted <= position <= wanted * MAX_RATIO + FACT_EVENTS:
            await storage.wipe()
            await load_events(storage, size, lambda done: tell(f"loading {store.name}: {done.events:,} events"))
    finally:
        await storage.close()
    if store.name == "postgresql":
        await _ensure_facts(url)
        await _tidy(url.partition("?")[0], f"bench_graphql_{size}")
    return url


async def _tidy(url: str, schema: str) -> None:
    """Let nothing be left over for the server to do while it is measured."""
    connection = await asyncpg.connect(url)
    try:
        tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", schema)
        for (table,) in tables:
            await connection.execute(f'VACUUM ANALYZE {schema}."{table}"')
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()


class FactMade(Struct, frozen=True):
    """A fact about a subject, with the notes that say so."""

    subject: str
    predicate: str
    value: str
    valid_from: datetime
    notes: tuple[str, ...]


def _list_facts() -> Iterator[FactMade]:
    """A few facts about each of a hundred subjects, each said by two notes."""
    for subject in range(FACT_SUBJECTS):
        for number in range(FACTS_PER_SUBJECT):
            value = data.WORDS[subject * FACTS_PER_SUBJECT + number]
            notes = tuple(f"Note {name}: subject {subject} has the trait {value}" for name in "ab")
            when = datetime(2025, 1, 1 + number, tzinfo=UTC)
            yield FactMade(f"subject {subject}", f"trait {number}", value, when, notes)


async def _ensure_facts(url: str) -> None:
    """The same facts in our store."""
    async with System.at_url(url) as system:
        facts = Facts(system)
        if await facts.entity(f"subject {FACT_SUBJECTS - 1}") is not None:
            return
        for fact in _list_facts():
            await facts.add_fact(
                fact.subject,
                fact.predicate,
                fact.value,
                notes=[NoteRef(text=note) for note in fact.notes],
                valid_from=fact.valid_from.isoformat(),
            )


def text_of(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def graph_file(folder: Path, size: int) -> Path:
    """The graph as a file of JSON lines, nodes first; made when it is missing."""
    path = folder / f"graph-{size}.ndjson"
    if not path.exists():
        fresh = path.with_suffix(".new")
        with fresh.open("wb") as file:
            file.writelines(msgspec.json.encode(one) + b"\n" for one in _lines(size))
        fresh.rename(path)
    return path


def _lines(size: int) -> Iterator[dict[str, Any]]:
    for node in data.nodes(size):
        yield {
            "id": node.id,
            "type": node.type,
            "properties": node.properties,
            "data": node.data,
            "modified": node.created,
        }
    for edge in data.edges(size):
        yield {"id": edge.id, "from": edge.source, "to": edge.target, "type": edge.type, "weight": edge.weight}


async def load_tables(url: str, size: int) -> str:
    """The name of a schema with the graph in two tables, as somebody would lay it out for PostGraphile."""
    schema = f"bench_peers_{size}"
    connection = await asyncpg.connect(url)
    try:
        if await connection.fetchval("SELECT to_regclass($1)", f"{schema}.gfacts_subject") is None:
            await _fill(connection, schema, size)
        await connection.execute(f"DELETE FROM {schema}.gnodes WHERE id LIKE 'w%'")
    finally:
        await connection.close()
    await _tidy(url, schema)
    return schema


async def _fill(connection: Any, schema: str, size: int) -> None:
    await connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    await connection.execute(TABLES.format(schema=schema))
    nodes = (
        (node.id, node.type, text_of(node.properties), text_of(node.data), *[_moment(node.created)] * 2)
        for node in data.nodes(size)
    )
    columns = ("id", "type", "properties", "data", "created", "modified")
    await connection.copy_records_to_table("gnodes", schema_name=schema, records=nodes, columns=columns)
    edges = (
        (edge.id, edge.source, edge.target, edge.type, edge.weight, text_of(edge.properties))
        for edge in data.edges(size)
    )
    await connection.copy_records_to_table("gedges", schema_name=schema, records=edges)
    facts = list(_list_facts())
    records = [(f"f{n}", f.subject, f.predicate, f.value, f.valid_from) for n, f in enumerate(facts)]
    await connection.copy_records_to_table("gfacts", schema_name=schema, records=records)
    notes = ((f"v{n}-{m}", f"f{n}", note) for n, f in enumerate(facts) for m, note in enumerate(f.notes))
    await connection.copy_records_to_table("gevidences", schema_name=schema, records=notes)
    await connection.execute(INDEXES.format(schema=schema))


def _moment(millis: int) -> datetime:
    return datetime.fromtimestamp(millis / 1000, UTC)


def neo4j_address(url: str) -> tuple[str, str, str]:
    """Address, user and password in a store's URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port}", parts.username or "", parts.password or ""


async def load_neo4j(url: str, size: int) -> None:
    """Nodes labelled `PeerNode`, JSON as text, with the indexes a developer would make."""
    address, user, password = neo4j_address(url)
    async with AsyncGraphDatabase.driver(address, auth=(user, password)) as driver:
        counted = await driver.execute_query("MATCH (n:PeerNode) RETURN count(n) AS many")
        if counted.records[0]["many"] == size:
            return
        await driver.execute_query("CREATE CONSTRAINT peer_id IF NOT EXISTS FOR (n:PeerNode) REQUIRE n.id IS UNIQUE")
        await driver.execute_query("CREATE INDEX peer_type IF NOT EXISTS FOR (n:PeerNode) ON (n.type, n.id)")
        await _empty(driver)
        for some in data.chunks(_peer_nodes(size)):
            await driver.execute_query("UNWIND $some AS one CREATE (n:PeerNode) SET n = one", some=some)
        for some in data.chunks(_peer_edges(size)):
            await driver.execute_query(
                "UNWIND $some AS one MATCH (a:PeerNode {id: one.from}) MATCH (b:PeerNode {id: one.to}) "
                "CREATE (a)-[e:PEER_EDGE]->(b) SET e = one.own",
                some=some,
            )


async def _empty(driver: Any) -> None:
    many = 1
    while many:
        gone = await driver.execute_query(
            "MATCH (n:PeerNode) WITH n LIMIT 2000 DETACH DELETE n RETURN count(*) AS many"
        )
        many = gone.records[0]["many"]


def _peer_nodes(size: int) -> Iterator[dict[str, Any]]:
    for node in data.nodes(size):
        yield {
            "id": node.id,
            "type": node.type,
            "properties": text_of(node.properties),
            "data": text_of(node.data),
            "modified": float(node.created),
        }


def _peer_edges(size: int) -> Iterator[dict[str, Any]]:
    for edge in data.edges(size):
        own = {"id": edge.id, "type": edge.type, "weight": edge.weight}
        yield {"from": edge.source, "to": edge.target, "own": own}
