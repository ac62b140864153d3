"""What a comparison of a long range of the log holds counts as memory of its request and is free again afterwards."""

from __future__ import annotations

import pytest

from ugs.catalog import Rules
from ugs.errors import LimitExceeded
from ugs.feature_registry import CATALOG
from ugs.graph.batches import Batch
from ugs.graph.changes import list_changes
from ugs.graph.commands import AddNode
from ugs.identity import LOCAL
from ugs.support.budget import POOL, request_budget
from ugs.system import System


async def test_a_long_comparison_counts_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = CATALOG.rules
    assert isinstance(rules, Rules)
    async with System.at_url("memory:") as system:
        nodes = tuple(AddNode(id=f"n{n}") for n in range(5_000))
        for start in range(0, len(nodes), 500):
            await system.execute(Batch(operations=nodes[start : start + 500]))
        async with system.session() as session:
            end = (await session.head()).position

            async def compare() -> int:
                with request_budget(30):
                    page = await list_changes(session, rules, LOCAL.principal, 0, end, first=10)
                    assert POOL.reserved > 0
                    return len(page.changes)

            assert await compare() == 10 and POOL.reserved == 0
            monkeypatch.setattr(POOL, "max_bytes", 1 << 20)
            with pytest.raises(LimitExceeded):
                await compare()
            assert POOL.reserved == 0
