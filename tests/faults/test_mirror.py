"""The file mirror under kill -9: whatever moment it comes, no entry without its file, and after a start no file astray."""

from __future__ import annotations

import asyncio
import json
import time
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

import pytest

from tests.faults.children import child
from tests.faults.figures import Figures
from ugs.ontology.api import Memory
from ugs.ontology.definition import ConnectionType
from ugs.ontology.errors import OntologyNotFound
from ugs.system import System
from ugs_gateway.mirror.mirror import FileMirror

CYCLES = {"quick": 12, "full": 500}
LONGEST_LIFE = 0.120


def work_until_killed(pipe: Connection, base: str, life: int) -> None:
    """A server's life: nodes with content, new formats, connections, deletions, types, one after another."""
    asyncio.run(_work(pipe, Path(base), Random(life)))


async def _work(pipe: Connection, base: Path, chance: Random) -> None:
    async with System.at_url(f"file:{base}/_system?fsync=off") as system:
        memory = Memory(system)
        async with FileMirror(base, system).following() as mirror:
            await _begin(memory)
            pipe.send("ready")
            nodes = await memory.query_nodes()
            for number in range(100_000):
                nodes = await _step(memory, nodes, number, chance)
                await mirror.update()


async def _begin(memory: Memory) -> None:
    try:
        await memory.get_ontology()
    except OntologyNotFound:
        await memory.create_ontology(["Thing"], [ConnectionType("Near", ("Thing",), ("Thing",))])


async def _step(memory: Memory, nodes: list[str], number: int, chance: Random) -> list[str]:
    turn = chance.random()
    if turn < 0.45 or len(nodes) < 3:
        return [*nodes, await memory.create_node("Thing", "x" * chance.randrange(2_000), "text")]
    one, other = chance.sample(nodes, 2)
    if turn < 0.6:
        format = chance.choice(["text", "markdown", "json"])
        await memory.update_node(one, content=f"new {number}", encoding="utf-8", format=format)
    elif turn < 0.8:
        await memory.create_connection("Near", one, other, content="notes")
    elif turn < 0.97:
        await memory.delete_node(one)
        return [node for node in nodes if node != one]
    else:
        await memory.add_node_type(f"Type{memory.system.bus.position}")
    return nodes


def named_files(base: Path) -> set[str]:
    """The files that the registry names; it is valid at every moment."""
    path = base / "_system/registry.json"
    if not path.exists():
        return set()
    told = json.loads(path.read_text("utf-8"))
    for edge in told["connections"].values():
        assert edge["from"] in told["nodes"] and edge["to"] in told["nodes"]
    return {one["content"]["path"] for kind in told.values() for one in kind.values() if "content" in one}


def present_files(base: Path) -> set[str]:
    return {str(path.relative_to(base)) for path in (base / "_content").rglob("*") if path.is_file()}


async def repaired(base: Path) -> None:
    async with System.at_url(f"file:{base}/_system?fsync=off") as system:
        mirror = FileMirror(base, system)
        await mirror.repair()
        assert await mirror.repair() == 0


@pytest.mark.clause("ONT-141", "ONT-142", "ONT-167", "ONT-169", "ONT-170", "ONT-173")
def test_no_kill_leaves_an_entry_without_its_file(tmp_path: Path, tier: str, chance: Random, figures: Figures) -> None:
    dangling = astray = 0
    for cycle in range(CYCLES[tier]):
        with child(work_until_killed, str(tmp_path), cycle) as process:
            assert process.tell() == "ready"
            time.sleep(chance.uniform(0, LONGEST_LIFE))
            process.kill()
        dangling += len(named_files(tmp_path) - present_files(tmp_path))
        if cycle % 4 == 3 or tier == "full":
            asyncio.run(repaired(tmp_path))
            astray += len(named_files(tmp_path) ^ present_files(tmp_path))
    figures.add("mirror", cycles=CYCLES[tier], dangling=dangling, astray=astray)
    assert dangling == astray == 0
