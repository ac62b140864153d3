"""Sort keys are looked up by an index, one look-up for each row that meets the filter."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ugs import Graph, System
from ugs.graph.model import NODES
from ugs.reads.filters import eq
from ugs.reads.plan import Order, Page, Read
from ugs.reads.sort_keys import SortKey


async def test_sqlite_looks_up_each_sort_key_by_the_key_of_the_side_table(tmp_path: Path) -> None:
    order = (Order(SortKey("properties_text", "rank").name, descending=True),)
    plan = Read(NODES.counting([order[0].field]), eq("type", "task"), order, Page(limit=3))
    async with System.at_url(f"sqlite:///{tmp_path / 'plan.db'}") as system:
        await Graph(system).load_demo()
        async with system.session() as session:
            statements = session.explain_read(plan)
    assert len(statements) == 1
    connection = sqlite3.connect(tmp_path / "plan.db")
    try:
        parameters = ["task"] * statements[0].count("?")
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statements[0]}", parameters)]
    finally:
        connection.close()
    look_ups = [step for step in steps if step.startswith("SEARCH x1")]
    assert look_ups and all("PRIMARY KEY" in step for step in look_ups), steps
    assert not any(step.startswith("SCAN x") for step in steps), steps
