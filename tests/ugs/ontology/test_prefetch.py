"""However many elements come with content, a store is asked about all of it at once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ugs.feature_registry import CATALOG
from ugs.graph.api import Graph
from ugs.graph.batches import Batch
from ugs.graph.commands import AddNode, Update
from ugs.graph.content import NewContent
from ugs.log.replay import copy_log
from ugs.ontology.api import Memory
from ugs.system import System
from ugs_backends.sql.native_session import NativeSession

TABLES = ("contents", "content_bodies")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often single rows of a table were asked for."""
    counts: Counter[str] = Counter()
    find = NativeSession.find

    async def counting(self: NativeSession, table: Any, key: Any) -> Any:
        counts[table.name] += 1
        return await find(self, table, key)

    monkeypatch.setattr(NativeSession, "find", counting)
    return counts


async def test_content_is_never_asked_for_one_by_one(tmp_path: Path, asked: Counter[str]) -> None:
    async with (
        System.at_url(f"sqlite:///{tmp_path}/a.db") as system,
        System.at_url(f"sqlite:///{tmp_path}/b.db") as other,
    ):
        graph, memory = Graph(system), Memory(system)
        await graph.import_graph({"nodes": [{"id": f"n{n}", "content": str(n)} for n in range(50)]})
        await graph.do(Batch(operations=tuple(AddNode(id=f"b{n}", content=NewContent("x")) for n in range(50))))
        await graph.do(Batch(operations=tuple(Update(id=f"b{n}", content=NewContent("y")) for n in range(50))))
        await memory.create_ontology(["Thing"])
        await memory.create_node("Thing", "z", "text")
        await copy_log(system.storage, other.storage, CATALOG)
        assert {table: asked[table] for table in TABLES} == {"contents": 0, "content_bodies": 0}
        assert await other.digest() == await system.digest()
        assert await Memory(other).get_node_content("b7") == "y" and asked["content_bodies"] == 1
