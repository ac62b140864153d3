"""Lists in the order of a property read the index of properties; nothing sorts or reads all rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg

from tests import servers
from ugs import Graph, System
from ugs.graph.model import NODES
from ugs.reads.filters import EVERYTHING, Op, Property, Where, eq
from ugs.reads.plan import Order, Page, Read
from ugs.reads.sort_keys import FIRST, LAST, SortKey

ROWS, LIMIT = 3_000, 10
"""Of the nodes, one in ten has no rank, and all have one of three types."""
SOME: dict[str, Where] = {
    "all": EVERYTHING,
    "of a type": eq("type", "task"),
    "with the property": Property("properties_text", "rank", Op.EXISTS),
    "above": Property("properties_text", "rank", Op.GT, 7),
}
ORDERS = [(descending, missing) for descending in (False, True) for missing in (FIRST, LAST)]


def plan_of(where: Where, descending: bool, missing: str, after: tuple[Any, ...] | None = None) -> Read:
    order = (Order(SortKey("properties_text", "rank", missing).name, descending),)
    return Read(NODES.counting([order[0].field]), where, order, Page(limit=LIMIT, after=after))


async def fill(system: System) -> None:
    types = ("task", "note", "person")
    nodes = [
        {"id": f"n{i}", "type": types[i % 3], "properties": {"rank": i * 7919 % ROWS} if i % 10 else {}}
        for i in range(ROWS)
    ]
    await Graph(system).import_graph({"nodes": nodes, "edges": []})
    await system.storage.analyze()


async def list_statements(system: System) -> list[tuple[str, list[Any]]]:
    """The statements of all pages, with their parameters."""
    select = system.storage.shape.select  # type: ignore[attr-defined]
    return [
        select().fetch(plan.table, plan.where, plan.order, plan.page)
        for where in SOME.values()
        for way in ORDERS
        for plan in (plan_of(where, *way), plan_of(where, *way, after=("n1", "n5")))
    ]


async def test_sqlite_enters_the_index_of_properties(tmp_path: Path) -> None:
    async with System.at_url(f"sqlite:///{tmp_path / 'plan.db'}") as system:
        await fill(system)
        statements = await list_statements(system)
    connection = sqlite3.connect(tmp_path / "plan.db")
    try:
        for text, values in statements:
            steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
            walked = [step for step in steps if "nodes__properties_by_head" in step]
            assert any(step.startswith("SEARCH v") for step in walked), (text, steps)
            scans = [step for step in steps if step.startswith("SCAN") and "INDEX" not in step]
            assert {step.split()[1] for step in scans} <= {"f", "g", "p", "t"}, (text, steps)
    finally:
        connection.close()


async def test_postgresql_sorts_no_more_than_a_page() -> None:
    url = servers.require("postgresql").partition("?")[0] + "?schema=sort_key_plans"
    async with System.at_url(url) as system:
        await system.storage.wipe()
        await fill(system)
        statements = await list_statements(system)
    connection = await asyncpg.connect(url.partition("?")[0])
    try:
        await connection.execute("SET search_path = sort_key_plans")
        for text, values in statements:
            ((explained,),) = await connection.fetch(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", *values)
            nodes = list(walk(json.loads(explained)[0]["Plan"]))
            sorted_rows = [child["Actual Rows"] for node in nodes if "Sort" in node["Node Type"]
                           for child in node["Plans"]]  # fmt: skip
            assert max(sorted_rows, default=0) <= 3 * LIMIT, (text, nodes)
    finally:
        await connection.close()


async def test_an_sqlite_store_written_before_gets_the_index_it_lacks(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    async with System.at_url(url) as system:
        await Graph(system).add_node("a", None, {"rank": 1})
    connection = sqlite3.connect(tmp_path / "old.db")
    described = json.loads(connection.execute("SELECT value FROM ugs_meta WHERE key = 'catalog'").fetchone()[0])
    for table in described.values():
        table["indexes"] = {name: text for name, text in table["indexes"].items() if not name.endswith("_by_head")}
    for side in ("nodes__properties", "edges__properties"):
        connection.execute(f"DROP INDEX {side}_by_head")
        connection.execute(f'CREATE INDEX {side}_by_value ON {side} ("key", "value", "id")')
    connection.execute("UPDATE ugs_meta SET value = ? WHERE key = 'catalog'", [json.dumps(described)])
    connection.commit()

    async with System.at_url(url) as system:
        await Graph(system).add_node("b", None, {"rank": 0})
        plan = plan_of(EVERYTHING, False, LAST)
        assert [row.id for row in (await system.read(plan)).rows][:2] == ["b", "a"]

    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    connection.close()
    assert "nodes__properties_by_head" in names and "nodes__properties_by_value" not in names


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node of a plan and all below it."""
    yield node
    for child in node.get("Plans", ()):
        yield from walk(child)
