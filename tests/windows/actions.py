"""What is done in a process that believes to run on Windows; each deed gets a folder of its own, and fails by raising."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.windows import windows_simulation
from ugs.clock import utc
from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.temporal.zones import zone_info
from ugs.errors import StorageIOError, StoreLocked
from ugs.graph.api import Graph
from ugs.graph.content import NewContent
from ugs.support.atomic_file import replace
from ugs.system import System
from ugs_backends.memory.settings import parse_settings
from ugs_backends.sql.settings import SqliteSettings
from ugs_backends.sql.settings import parse_settings as sql_settings_from
from ugs_gateway.cli.interactive.interrupts import interrupting
from ugs_gateway.mirror import folders
from ugs_gateway.mirror.mirror import FileMirror
from ugs_gateway.tenants import place_of


def store(folder: Path) -> str:
    return f"file:{folder}/data"


async def keeps_everything(folder: Path) -> None:
    """Written, snapshotted twice, closed, opened: the same, and without a single carriage return."""
    async with System.at_url(store(folder)) as system:
        for number in range(3):
            await Graph(system).add_node(f"n{number}", properties={"text": "Zoë\n"})
            await system.snapshot()
        await Graph(system).add_edge("e", "n0", "n1")
        digest = await system.digest()
    async with System.at_url(store(folder)) as system:
        assert await system.digest() == digest and (await system.verify()).ok
    assert {path.name for path in (folder / "data").iterdir()} >= {"events.wal", "snapshot.json", "snapshot.json.prev"}
    assert not [path for path in (folder / "data").iterdir() if b"\r" in path.read_bytes()]


async def holds(folder: Path) -> None:
    """Open a store and keep it, until killed."""
    async with System.at_url(store(folder)) as system:
        await Graph(system).add_node("mine")
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.read)


async def is_refused(folder: Path) -> None:
    """A second process hears who was first."""
    with pytest.raises(StoreLocked, match="in use by process"):
        await System.at_url(store(folder)).open()


async def comes_after_the_dead(folder: Path) -> None:
    async with System.at_url(store(folder)) as system:
        assert await Graph(system).get("mine") is not None


# ── the files of the mirror ──────────────────────────────────────────────────


def registry(base: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((base / "_system" / "registry.json").read_bytes())["nodes"]
    return found


def files(base: Path) -> dict[str, str]:
    return {path.name: path.read_bytes().decode() for path in (base / "_content" / "nodes").iterdir()}


async def mirrors(folder: Path) -> None:
    """Files are written, replaced, deleted and made good, whatever the ids are."""
    async with System.at_url("memory:") as system:
        mirror, graph = FileMirror(folder, system), Graph(system)
        await mirror.repair()
        for id in ("mem_a_1", "user:alice", "Plan", "plan", "con"):
            await graph.add_node(id, content=NewContent(f"I am {id}\n"))
        await mirror.update()
        told = {Path(one["content"]["path"]).name: f"I am {id}\n" for id, one in registry(folder).items()}
        assert files(folder) == told and told.keys() == {
            "mem_a_1.md", "user=alice.md", "Plan+1.md", "plan.md", "con+0.md"
        }  # fmt: skip
        await graph.update("Plan", content=NewContent("new"))
        await graph.delete("con")
        await mirror.update()
        assert files(folder)["Plan+1.md"] == "new" and "con+0.md" not in files(folder)
        (folder / "_content" / "nodes" / "con+0.md").write_text("of one that is gone", "utf-8")
        (folder / "_content" / "nodes" / "README+0.md").write_text("not ours", "utf-8")
        (folder / "_content" / "nodes" / "plan.md").write_text("changed", "utf-8")
        assert await FileMirror(folder, system).repair() == 2
        assert files(folder).keys() == {"mem_a_1.md", "user=alice.md", "Plan+1.md", "plan.md", "README+0.md"}
        assert files(folder)["plan.md"] == "I am plan\n"
        assert not [name for name, text in files(folder).items() if "\r" in text]
        assert b"\r" not in (folder / "_system" / "registry.json").read_bytes()


async def follows_no_links(folder: Path) -> None:
    """Neither links nor junctions, neither for folders nor for files; and no name leads out of the folder."""
    base, outside = folder / "base", folder / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("precious", "utf-8")
    folders.replace(base, "_content/nodes/a.md", b"ours")
    nodes = base / "_content" / "nodes"
    for make in (os.symlink, windows_simulation.make_junction):
        os.replace(nodes, nodes.with_name("moved"))
        make(outside, nodes)
        for refused in (
            lambda: folders.names_in(base, folders.NODES),
            lambda: folders.read_file(base, "_content/nodes/a.md"),
            lambda: folders.replace(base, "_content/nodes/a.md", b"spoilt"),
            lambda: folders.remove_path(base, "_content/nodes/a.md"),
        ):
            with pytest.raises(OSError):
                refused()
        async with System.at_url("memory:") as system:
            with pytest.raises(StorageIOError):
                await FileMirror(base, system).repair()
        os.unlink(nodes)
        os.replace(nodes.with_name("moved"), nodes)
    os.symlink(outside / "a.md", nodes / "b.md")
    assert folders.read_file(base, "_content/nodes/b.md") is None
    folders.replace(base, "_content/nodes/b.md", b"a file of our own")
    assert folders.read_file(base, "_content/nodes/b.md") == b"a file of our own"
    for name in (r"..\..\..\outside\a.md", "a.md:stream", "C:a.md", "..", "nul", "con.md", "a.md ", "a.md."):
        assert folders.read_file(base, f"_content/nodes/{name}") is None
    assert {path.name: path.read_text("utf-8") for path in outside.iterdir()} == {"a.md": "precious"}


# ── the rest ─────────────────────────────────────────────────────────────────


async def stops_at_the_interrupt_key(folder: Path) -> None:
    """The work ends, the process goes on, and the key means again what it meant."""
    before, task = signal.getsignal(signal.SIGINT), asyncio.ensure_future(asyncio.sleep(60))
    asyncio.get_running_loop().call_later(0.1, signal.raise_signal, signal.SIGINT)
    with pytest.raises(asyncio.CancelledError), interrupting(task):
        await task
    assert signal.getsignal(signal.SIGINT) is before


async def waits_for_those_who_read(folder: Path) -> None:
    """A file that somebody has open is replaced as soon as it is free, or not at all."""
    old, new = folder / "old", folder / "new"
    for path in (old, new):
        path.write_text(path.name, "utf-8")
    reader = old.open("rb")
    asyncio.get_running_loop().call_later(0.1, reader.close)
    await asyncio.to_thread(replace, new, old)
    assert old.read_text("utf-8") == "new" and not new.exists()
    new.write_text("newer", "utf-8")
    with old.open("rb"), pytest.raises(PermissionError):
        replace(new, old)


async def reads_names(folder: Path) -> None:
    """Drives in URLs, tenants called like devices, zones in the wrong case, times before 1970."""
    for url in ("file:C:/data", "file:/C:/data", "file:///C:/data", "file://localhost/C:/data"):
        assert str(parse_settings(url).folder) == "C:/data"
    for url in ("sqlite:C:/my.db", "sqlite:///C:/my.db", "sqlite:////C:/my.db"):
        found = sql_settings_from(url)
        assert isinstance(found, SqliteSettings) and str(found.path) == "C:/my.db"
    assert place_of("acme") == "acme" and place_of("nul").startswith("h_")
    assert zone_info("Europe/Stockholm").key == "Europe/Stockholm"
    for zone in ("europe/stockholm", "NUL", "Europe"):
        with pytest.raises(CypherArgumentError):
            zone_info(zone)
    assert utc(-86_400.5) == datetime(1969, 12, 30, 23, 59, 59, 500_000, UTC)


ALONE = (
    keeps_everything,
    mirrors,
    follows_no_links,
    stops_at_the_interrupt_key,
    waits_for_those_who_read,
    reads_names,
)


async def everything_alone(folder: Path) -> None:
    """What needs no second process, one after another."""
    for deed in ALONE:
        (folder / deed.__name__).mkdir()
        await deed(folder / deed.__name__)
