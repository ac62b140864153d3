"""The tables of facts on PostgreSQL are those of the specification, as the system catalogs show them."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio

from tests import servers
from tests.backends.older_facts import uuid
from ugs.connect import storage_for
from ugs.errors import SchemaMismatch
from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.facts.model import ENTITY_ALIASES, EVIDENCE, FACTS, NOTES, TABLES
from ugs.feature_registry import CATALOG
from ugs.reads.filters import Has
from ugs.system import System
from ugs.tables import Format
from ugs_backends.sql import open_sql

CREATED = "created_at timestamptz NOT NULL DEFAULT now()"
BOTH_TIMES = f"{CREATED}, updated_at timestamptz NOT NULL DEFAULT now()"
CASCADE = "ON DELETE CASCADE"
SPECIFIED = {
    "graph_entities": "entity_id uuid PRIMARY KEY, tenant_id text NOT NULL, project_id text NOT NULL, "
    f"canonical text NOT NULL, canonical_norm text NOT NULL, kind text NULL, {BOTH_TIMES}",
    "graph_entity_aliases": "alias_id uuid PRIMARY KEY, "
    f"entity_id uuid NOT NULL REFERENCES graph_entities(entity_id) {CASCADE}, "
    f"alias text NOT NULL, alias_norm text NOT NULL, {CREATED}",
    "graph_predicates": "predicate_id uuid PRIMARY KEY, scope_key text NOT NULL, tenant_id text NULL, "
    "project_id text NULL, canonical text NOT NULL, canonical_norm text NOT NULL, cardinality text NOT NULL, "
    f"status text NOT NULL, {BOTH_TIMES}",
    "graph_predicate_aliases": "alias_id uuid PRIMARY KEY, "
    f"predicate_id uuid NOT NULL REFERENCES graph_predicates(predicate_id) {CASCADE}, "
    f"scope_key text NOT NULL, alias text NOT NULL, alias_norm text NOT NULL, {CREATED}",
    "graph_facts": "fact_id uuid PRIMARY KEY, tenant_id text NOT NULL, project_id text NOT NULL, "
    "agent_id text NOT NULL, scope text NOT NULL, "
    "subject_entity_id uuid NOT NULL REFERENCES graph_entities(entity_id), predicate text NOT NULL, "
    "predicate_id uuid NULL REFERENCES graph_predicates(predicate_id), "
    "object_entity_id uuid NULL REFERENCES graph_entities(entity_id), object_value text NULL, "
    f"valid_from timestamptz NOT NULL, valid_to timestamptz NULL, {BOTH_TIMES}",
    "graph_fact_evidence": "evidence_id uuid PRIMARY KEY, "
    f"fact_id uuid NOT NULL REFERENCES graph_facts(fact_id) {CASCADE}, "
    f"note_id uuid NOT NULL REFERENCES memory_notes(note_id) {CASCADE}, {CREATED}",
    "graph_fact_supersessions": "supersession_id uuid PRIMARY KEY, tenant_id text NOT NULL, project_id text NOT NULL, "
    f"from_fact_id uuid NOT NULL REFERENCES graph_facts(fact_id) {CASCADE}, "
    f"to_fact_id uuid NOT NULL REFERENCES graph_facts(fact_id) {CASCADE}, "
    f"note_id uuid NOT NULL REFERENCES memory_notes(note_id) {CASCADE}, "
    f"effective_at timestamptz NOT NULL, {CREATED}",
}
"""The columns of the seven tables, as the specification writes them."""

INDEXES = {
    "graph_entities": ["UNIQUE (tenant_id, project_id, canonical_norm)"],
    "graph_entity_aliases": ["UNIQUE (entity_id, alias_norm)", "(alias_norm)"],
    "graph_facts": [
        "(tenant_id, project_id, subject_entity_id, predicate_id)",
        "(tenant_id, project_id, valid_to)",
        "(tenant_id, project_id, object_entity_id) WHERE object_entity_id IS NOT NULL",
    ],
    "graph_fact_evidence": ["UNIQUE (fact_id, note_id)", "(note_id)", "(fact_id)"],
}
UNIQUE_OPEN = {
    object: f"tenant_id, project_id, scope, subject_entity_id, predicate_id, {{}}{object} "
    f"WHERE valid_to IS NULL AND {object} IS NOT NULL AND "
    for object in ("object_entity_id", "object_value")
}
"""The specification's rules, in two parts: private facts of two agents are two facts."""
INDEXES["graph_facts"] += [
    "UNIQUE (" + text.format(part).replace(" WHERE", ") WHERE") + condition
    for text in UNIQUE_OPEN.values()
    for part, condition in (("", "NOT scope = 'agent_private'"), ("agent_id, ", "scope = 'agent_private'"))
]

COLUMNS = """
SELECT column_name, udt_name, is_nullable, column_default FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position
"""
KEYS = """
SELECT a.attname, c.contype::text, c.confrelid::regclass::text, f.attname AS target, c.confdeltype::text, c.convalidated
FROM pg_constraint c
JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
LEFT JOIN pg_attribute f ON f.attrelid = c.confrelid AND f.attnum = c.confkey[1]
WHERE c.conrelid = $1::regclass AND c.contype IN ('p', 'f') AND cardinality(c.conkey) = 1
"""
DEFINITIONS = """
SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i WHERE i.indrelid = $1::regclass AND NOT i.indisprimary AND i.indisvalid
"""


@pytest_asyncio.fixture
async def store() -> AsyncIterator[tuple[str, asyncpg.Connection]]:
    schema = f"facts_{uuid4().hex[:12]}"
    server = servers.require("postgresql")
    url = f"{server}?schema={schema}"
    await _open(url)
    connection = await asyncpg.connect(server, server_settings={"search_path": schema})
    yield url, connection
    await connection.execute(f"DROP SCHEMA {schema} CASCADE")
    await connection.close()


async def _open(url: str) -> None:
    storage = storage_for(url)
    await storage.open(CATALOG)
    await storage.close()


async def read_columns(connection: asyncpg.Connection, table: str) -> str:
    """The columns of a table as DDL, from the system catalogs."""
    keys = {"p": " PRIMARY KEY"}
    told: dict[str, str] = {}
    for column, kind, target, remote, deletes, _ in await connection.fetch(KEYS, table):
        cascade = {"c": f" {CASCADE}", "a": ""}[deletes] if kind == "f" else ""
        told[column] = keys.get(kind) or f" REFERENCES {target}({remote}){cascade}"
    columns = []
    for name, kind, nullable, default in await connection.fetch(COLUMNS, table):
        primary = told.get(name) == keys["p"]
        null = "" if primary else " NULL" if nullable == "YES" else " NOT NULL"
        columns.append(f"{name} {kind}{null}{told.get(name, '')}{f' DEFAULT {default}' if default else ''}")
    return ", ".join(columns)


async def read_indexes(connection: asyncpg.Connection, table: str) -> set[str]:
    """The indexes of a table besides its key, in the specification's form."""
    found = set()
    for (text,) in await connection.fetch(DEFINITIONS, table):
        parts = re.fullmatch(r"CREATE (UNIQUE )?INDEX \S+ ON \S+ USING btree (\(.*?\))( WHERE (.*))?", text)
        assert parts is not None, text
        where = "" if parts[4] is None else " WHERE " + re.sub(r"[()]|::text", "", parts[4])
        found.add(f"{parts[1] or ''}{parts[2]}{where}".replace(" NULLS FIRST", ""))
    return found


async def check_tables(connection: asyncpg.Connection) -> None:
    for table, columns in SPECIFIED.items():
        assert await read_columns(connection, table) == columns
        assert await read_indexes(connection, table) >= {*INDEXES.get(table, [])}


@pytest.mark.clause(*(f"FACT-{number}" for number in (
    3, *range(5, 14), *range(16, 22), *range(24, 35), *range(41, 51), *range(53, 64), *range(65, 70), 79,
)))  # fmt: skip
async def test_the_tables_are_those_of_the_specification(store: tuple[str, asyncpg.Connection]) -> None:
    await check_tables(store[1])


def test_related_columns_have_one_type() -> None:
    for table in CATALOG:
        for relation in table.relations.values():
            other = CATALOG.target(relation)
            assert table.field(relation.local).format == other.field(relation.remote).format, (table, relation.name)
        for reference in table.references:
            key = CATALOG[reference.table].key
            assert table.field(reference.field).format == CATALOG[reference.table].field(key[0]).format


# ── the database guards what the tables say ──────────────────────────────────

ENTITY, OTHER, PREDICATE, NOTE, FACT, LATER = (uuid(name) for name in ("e", "o", "p", "n", "f", "l"))
FILL = f"""
INSERT INTO graph_entities (entity_id, tenant_id, project_id, canonical, canonical_norm)
VALUES ('{ENTITY}', 't', 'p', 'E', 'e'), ('{OTHER}', 't', 'p', 'O', 'o');
INSERT INTO graph_entity_aliases (alias_id, entity_id, alias, alias_norm) VALUES ('{uuid("a")}', '{ENTITY}', 'A', 'a');
INSERT INTO graph_predicates (predicate_id, scope_key, canonical, canonical_norm, cardinality, status)
VALUES ('{PREDICATE}', 't:p', 'is', 'is', 'single', 'active');
INSERT INTO graph_predicate_aliases (alias_id, predicate_id, scope_key, alias, alias_norm)
VALUES ('{uuid("b")}', '{PREDICATE}', 't:p', 'is', 'is');
INSERT INTO memory_notes (note_id, tenant_id, project_id, agent_id, scope, text)
VALUES ('{NOTE}', 't', 'p', 'a', 's', 'E is x');
INSERT INTO graph_facts (fact_id, tenant_id, project_id, agent_id, scope, subject_entity_id, predicate, predicate_id,
  object_value, valid_from, valid_to) VALUES
  ('{FACT}', 't', 'p', 'a', 's', '{ENTITY}', 'is', '{PREDICATE}', 'x', '2024-01-01Z', '2025-01-01Z'),
  ('{LATER}', 't', 'p', 'a', 's', '{ENTITY}', 'is', '{PREDICATE}', 'y', '2025-01-01Z', NULL);
INSERT INTO graph_fact_evidence (evidence_id, fact_id, note_id) VALUES ('{uuid("v")}', '{FACT}', '{NOTE}');
INSERT INTO graph_fact_supersessions (supersession_id, tenant_id, project_id, from_fact_id, to_fact_id, note_id, effective_at)
VALUES ('{uuid("s")}', 't', 'p', '{FACT}', '{LATER}', '{NOTE}', '2025-01-01Z');
"""


async def count_rows(connection: asyncpg.Connection, *tables: str) -> list[int]:
    return [await connection.fetchval(f"SELECT count(*) FROM {table}") for table in tables]


@pytest.mark.clause("FACT-17", "FACT-32", "FACT-59", "FACT-60", "FACT-67", "FACT-68")
async def test_rows_go_with_the_row_that_they_refer_to(store: tuple[str, asyncpg.Connection]) -> None:
    _, connection = store
    links = ("graph_fact_evidence", "graph_fact_supersessions")
    for deleted, left in (
        (f"memory_notes WHERE note_id = '{NOTE}'", [0, 0]),
        (f"graph_facts WHERE fact_id = '{LATER}'", [1, 0]),
        (f"graph_facts WHERE fact_id = '{FACT}'", [0, 0]),
    ):
        rolled_back = connection.transaction()
        await rolled_back.start()
        await connection.execute(FILL)
        assert await count_rows(connection, *links) == [1, 1]
        await connection.execute(f"DELETE FROM {deleted}")
        assert await count_rows(connection, *links) == left
        await rolled_back.rollback()
    await connection.execute(FILL)
    await connection.execute("DELETE FROM graph_facts")
    await connection.execute("DELETE FROM graph_entities")
    await connection.execute("DELETE FROM graph_predicates")
    assert await count_rows(connection, "graph_entity_aliases", "graph_predicate_aliases") == [0, 0]


@pytest.mark.clause("FACT-43", "FACT-45", "FACT-46", "FACT-59", "FACT-60")
async def test_a_reference_to_nothing_is_refused(store: tuple[str, asyncpg.Connection]) -> None:
    _, connection = store
    await connection.execute(FILL)
    for statement in (
        f"UPDATE graph_facts SET subject_entity_id = '{uuid('x')}'",
        f"UPDATE graph_facts SET predicate_id = '{uuid('x')}'",
        f"UPDATE graph_facts SET object_value = NULL, object_entity_id = '{uuid('x')}' WHERE fact_id = '{FACT}'",
        f"UPDATE graph_fact_evidence SET note_id = '{uuid('x')}'",
        f"DELETE FROM graph_entities WHERE entity_id = '{ENTITY}'",
        f"DELETE FROM graph_predicates WHERE predicate_id = '{PREDICATE}'",
    ):
        with pytest.raises(asyncpg.ForeignKeyViolationError):
            await connection.execute(statement)


@pytest.mark.clause("FACT-56", "FACT-57", "FACT-79")
async def test_an_open_duplicate_is_refused_by_the_database(store: tuple[str, asyncpg.Connection]) -> None:
    _, connection = store
    await connection.execute(FILL)
    copy = (
        "INSERT INTO graph_facts SELECT $1, tenant_id, project_id, $2, $3, subject_entity_id, predicate, predicate_id, "
        "object_entity_id, object_value, valid_from, valid_to FROM graph_facts WHERE fact_id = $4"
    )
    for change in ("SELECT 1", f"UPDATE graph_facts SET object_value = NULL, object_entity_id = '{OTHER}'"):
        await connection.execute(change)
        for scope, other_agent_too in (("s", True), ("agent_private", False)):
            await connection.execute("UPDATE graph_facts SET scope = $1", scope)
            with pytest.raises(asyncpg.UniqueViolationError):
                await connection.execute(copy, uuid("1"), "a", scope, LATER)
            if other_agent_too:
                with pytest.raises(asyncpg.UniqueViolationError):
                    await connection.execute(copy, uuid("1"), "b", scope, LATER)
            closed = uuid4()
            await connection.execute(copy, closed, "a", scope, FACT)  # it has an end
            await connection.execute("DELETE FROM graph_facts WHERE fact_id = $1", closed)


# ── stores of an earlier version ─────────────────────────────────────────────


async def make_old(connection: asyncpg.Connection) -> None:
    """Texts and integers without references, and a record that says so."""
    for table, column, name in await connection.fetch(
        "SELECT conrelid::regclass::text, a.attname, conname FROM pg_constraint c JOIN pg_attribute a "
        "ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] "
        "WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"
    ):
        assert name == f"{table}_{column}_fkey"
        await connection.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    record = json.loads(await connection.fetchval("SELECT value FROM ugs_meta WHERE key = 'catalog'"))
    conversions = {Format.UUID: 'text COLLATE "C" USING {}::text',
                   Format.INSTANT: "int8 USING (extract(epoch FROM {}) * 1000000)::int8"}  # fmt: skip
    for table in TABLES:
        described: dict[str, Any] = record[table.name]
        described.pop("references", None)
        formatted = [field for field in table.fields if field.format is not None]
        for field in formatted:
            described["columns"][field.stored_as][0] = field.kind.value
            await connection.execute(f"ALTER TABLE {table.name} ALTER COLUMN {field.stored_as} DROP DEFAULT")
        for name in (table.name, *described["sides"]):
            parts = formatted if name == table.name else [field for field in formatted if field.name in table.key]
            changes = (
                f"ALTER COLUMN {field.stored_as} TYPE {conversions[field.format].format(field.stored_as)}"
                for field in parts
                if field.format is not None
            )
            await connection.execute(f"ALTER TABLE {name} {', '.join(changes)}")
    await connection.execute("UPDATE ugs_meta SET value = $1 WHERE key = 'catalog'", json.dumps(record))
    await connection.execute("UPDATE ugs_meta SET value = '2' WHERE key = 'layout'")


async def tell_state(url: str) -> tuple[Any, ...]:
    async with System(open_sql(url)) as system, system.session() as session:
        rows = {table.name: await session.fetch(table) for table in TABLES}
        return rows, await session.fetch(NOTES, Has("move")), await system.digest()


async def fill(url: str) -> None:
    async with System(open_sql(url)) as system:
        facts = Facts(system)
        await facts.register_predicate("lives in", status="active", cardinality="single")
        note = NoteRef(text="Ann moves a lot.")
        for year, city in ((2020, "Paris"), (2021, "Rome"), (1955, "Oslo")):
            await facts.add_fact("Ann", "lives in", city, notes=[note], valid_from=f"{year}-01-01T00:00:00.000001Z")
        await facts.add_fact("Ann", "knows", object="Bob", notes=[note], valid_from="0001-01-01T00:00:00Z")
        await facts.add_fact("Ann", "plans", "a trip", notes=[note], valid_from="9999-12-31T23:59:59.999999Z")


async def test_a_store_of_the_layout_before_is_converted_when_it_is_opened(
    store: tuple[str, asyncpg.Connection],
) -> None:
    url, connection = store
    await fill(url)
    before = await tell_state(url)
    assert all(before[0][table.name] for table in (FACTS, EVIDENCE, NOTES))
    await make_old(connection)
    assert (await read_columns(connection, "graph_facts")).startswith("fact_id text PRIMARY KEY")

    assert await tell_state(url) == before
    await check_tables(connection)
    assert all([row["convalidated"] for table in SPECIFIED for row in await connection.fetch(KEYS, table)])
    assert await connection.fetchval("SELECT value FROM ugs_meta WHERE key = 'layout'") == "3"


async def test_an_older_store_with_a_reference_to_nothing_is_opened_and_guarded_from_then_on(
    store: tuple[str, asyncpg.Connection],
) -> None:
    url, connection = store
    await make_old(connection)
    alias = "INSERT INTO graph_entity_aliases VALUES ($1, $2, 'A', $3, $4)"
    await connection.execute(alias, uuid("a"), uuid("x"), "a", 1)
    await _open(url)
    assert await count_rows(connection, ENTITY_ALIASES.name) == [1]
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await connection.execute(alias.replace("$4", "now()"), uuid("b"), uuid("x"), "b")


async def test_an_older_store_whose_ids_are_no_uuids_is_refused_and_left_alone(
    store: tuple[str, asyncpg.Connection],
) -> None:
    url, connection = store
    await make_old(connection)
    await connection.execute("INSERT INTO graph_entity_aliases VALUES ('alias', 'entity', 'A', 'a', 1)")
    with pytest.raises(SchemaMismatch, match=r"graph_entity_aliases.alias_id holds 'alias', which is no uuid"):
        await _open(url)
    assert (await read_columns(connection, "graph_facts")).startswith("fact_id text PRIMARY KEY")
    assert await connection.fetchval("SELECT value FROM ugs_meta WHERE key = 'layout'") == "2"
