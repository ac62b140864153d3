"""What a person finds who opens the database file: the seed's tables, columns and rules."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ugs import System

COLUMNS = {
    "graph_entities": "entity_id tenant_id project_id canonical canonical_norm kind created_at updated_at",
    "graph_entity_aliases": "alias_id entity_id alias alias_norm created_at",
    "graph_predicates": "predicate_id scope_key tenant_id project_id canonical canonical_norm cardinality status"
    " created_at updated_at",
    "graph_predicate_aliases": "alias_id predicate_id scope_key alias alias_norm created_at",
    "graph_facts": "fact_id tenant_id project_id agent_id scope subject_entity_id predicate predicate_id"
    " object_entity_id object_value valid_from valid_to created_at updated_at",
    "graph_fact_evidence": "evidence_id fact_id note_id created_at",
    "graph_fact_supersessions": "supersession_id tenant_id project_id from_fact_id to_fact_id note_id effective_at"
    " created_at",
}
NULLABLE = {
    "graph_entities": {"kind"},
    "graph_predicates": {"tenant_id", "project_id"},
    "graph_facts": {"predicate_id", "object_entity_id", "object_value", "valid_to"},
}


@pytest.fixture
async def database(tmp_path: Path) -> sqlite3.Connection:
    path = tmp_path / "facts.db"
    async with System.at_url(f"sqlite:///{path}"):
        pass
    return sqlite3.connect(path)


@pytest.mark.parametrize("table", COLUMNS)
@pytest.mark.clause("FACT-3", "FACT-5", "FACT-16", "FACT-24", "FACT-31", "FACT-41", "FACT-58", "FACT-65")
async def test_the_columns_are_the_seeds(database: sqlite3.Connection, table: str) -> None:
    found = database.execute(f"PRAGMA table_info({table})").fetchall()
    names = [name for _, name, *_ in found]
    assert names == COLUMNS[table].split()
    assert {name for _, name, _, required, *_ in found if not required} == NULLABLE.get(table, set())
    assert [name for _, name, *_, key in found if key] == names[:1]


@pytest.mark.clause("FACT-13", "FACT-20", "FACT-53", "FACT-54", "FACT-55", "FACT-56", "FACT-57", "FACT-62", "FACT-63")
async def test_uniqueness_is_the_databases_own_business(database: sqlite3.Connection) -> None:
    rules = dict(database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '%UNIQUE%'"))
    for name in ("graph_facts_open_entity", "graph_facts_open_value"):
        assert '"valid_to" IS NULL' in rules[name] and "WHERE" in rules[name] and '"agent_id"' not in rules[name]
    for name in ("graph_facts_open_private_entity", "graph_facts_open_private_value"):
        assert '"valid_to" IS NULL' in rules[name] and '"agent_id"' in rules[name]
    assert {"graph_entities_name", "graph_entity_aliases_name", "graph_fact_evidence_once"} <= rules.keys()
    indexed = [
        sql for (sql,) in database.execute("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")
    ]
    [by_object] = [sql for sql in indexed if '("tenant_id", "project_id", "object_entity_id")' in sql]
    assert by_object.endswith('WHERE "object_entity_id" IS NOT NULL')
    for column in ("subject_entity_id", "valid_to", "object_entity_id"):
        assert any('ON "graph_facts" ("tenant_id"' in sql and f'"{column}"' in sql for sql in indexed)


ROW = {
    "tenant_id": "t",
    "project_id": "p",
    "agent_id": "a",
    "scope": "s",
    "subject_entity_id": "e",
    "predicate": "is",
    "object_value": "x",
    "valid_from": 5,
    "created_at": 1,
    "updated_at": 1,
}


@pytest.mark.clause("FACT-51", "FACT-52")
@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"object_value": None}, "graph_facts_one_object"),
        ({"object_entity_id": "e"}, "graph_facts_one_object"),
        ({"valid_to": 5}, "graph_facts_window"),
        ({"valid_to": 4}, "graph_facts_window"),
        ({"valid_to": 6}, None),
        ({"object_value": None, "object_entity_id": "e"}, None),
    ],
)
async def test_the_database_checks_the_rows_of_facts(
    database: sqlite3.Connection, changed: dict[str, object], rule: str | None
) -> None:
    row = {"fact_id": "f", **ROW, **changed}
    insert = f"INSERT INTO graph_facts ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
    if rule is None:
        database.execute(insert, list(row.values()))
        return
    with pytest.raises(sqlite3.IntegrityError, match=rule):
        database.execute(insert, list(row.values()))


@pytest.mark.clause("FACT-28", "FACT-29")
@pytest.mark.parametrize("column", ["cardinality", "status"])
async def test_the_database_checks_the_words_of_predicates(database: sqlite3.Connection, column: str) -> None:
    row = dict.fromkeys(COLUMNS["graph_predicates"].split(), "x") | {"cardinality": "single", "status": "active"}
    insert = f"INSERT INTO graph_predicates ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
    with pytest.raises(sqlite3.IntegrityError, match=f"graph_predicates_{column}"):
        database.execute(insert, list({**row, column: "else"}.values()))
    database.execute(insert, list(row.values()))
