"""F13: one process per data folder, and a lock that dies with its holder."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.faults.children import child
from tests.faults.figures import Figures
from tests.faults.workers import hold_folder
from ugs.errors import StoreLocked
from ugs.graph.api import Graph
from ugs.system import System


async def test_f13_a_second_process_is_refused_and_a_dead_holder_is_no_obstacle(
    tmp_path: Path, figures: Figures
) -> None:
    url = f"file:{tmp_path}/data"
    with child(hold_folder, url) as holder:
        assert holder.tell() == "open"
        begun = time.monotonic()
        with pytest.raises(StoreLocked) as refused:
            await System.at_url(url).open()
        took = time.monotonic() - begun
        assert refused.value.code == "STORE_LOCKED"
        assert str(holder.process.pid) in str(refused.value)
        holder.kill()
    async with System.at_url(url) as system:
        assert await Graph(system).get("mine") is not None
    figures.add("F13 two processes", refused_after_ms=round(took * 1000), stale_locks_in_the_way=0)
    assert took < 1


async def test_f13_two_systems_of_one_process_do_not_share_a_folder(tmp_path: Path) -> None:
    url = f"file:{tmp_path}/data"
    async with System.at_url(url) as first:
        with pytest.raises(StoreLocked):
            await System.at_url(url).open()
        await Graph(first).add_node("still")
    async with System.at_url(url) as again:
        assert await Graph(again).get("still") is not None
