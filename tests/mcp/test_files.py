"""The files of a base path: there, true, and never half done."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client

from conformance.world import fixture
from gateway.mcp.server import build_server
from gateway.mirror import folders
from gateway.mirror.mirror import FileMirror
from tests.mcp.talking import UGS, Talk, over_stdio
from ugs.api import Graph
from ugs.errors import StorageIOError
from ugs.graph.content import NewContent
from ugs.identity import Scope
from ugs.ontology.api import Memory
from ugs.system import System

GTD = fixture("ont_ontology")


def registry(base: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((base / "_system" / "registry.json").read_text("utf-8"))
    return found


def files(base: Path) -> set[str]:
    return {str(path.relative_to(base)) for path in (base / "_content").rglob("*") if path.is_file()}


@pytest.mark.clause("ONT-6", "ONT-9", "ONT-16", "ONT-31", "ONT-48", "ONT-50", "ONT-64", "ONT-95", "ONT-170", "ONT-171")
@pytest.mark.clause("ONT-172", "ONT-174", "ONT-177", "ONT-181", "ONT-182", "ONT-183", "ONT-185", "ONT-186", "ONT-167")
async def test_the_files_follow_every_call_and_a_restart(tmp_path: Path) -> None:
    async with over_stdio(tmp_path) as talk:
        await talk("create_ontology", **GTD)
        assert yaml.safe_load((tmp_path / "_system" / "ontology.yaml").read_text("utf-8")) == GTD
        project = (await talk("create_node", type="Project", content="# Küche", format="markdown"))["node_id"]
        picture = (await talk("create_node", type="Action", content="iVBO", encoding="base64", format="png"))["node_id"]
        edge = await talk(
            "create_connection", type="NextAction", from_node_id=project, to_node_id=picture, content="why"
        )
        paths = {f"_content/nodes/{project}.md", f"_content/nodes/{picture}.png"}
        notes = f"_content/connections/{edge['connection_id']}.md"
        assert files(tmp_path) == {*paths, notes}
        assert (tmp_path / f"_content/nodes/{project}.md").read_text("utf-8") == "# Küche"
        assert (tmp_path / f"_content/nodes/{picture}.png").read_bytes() == b"\x89PN"
        found = registry(tmp_path)
        assert found["nodes"].keys() == {project, picture}
        assert found["nodes"][project]["content"]["path"] in paths
        told = found["connections"][edge["connection_id"]]
        assert (told["from"], told["to"], told["content"]["path"]) == (project, picture, notes)
        await talk("update_node", node_id=project, content="{}", encoding="utf-8", format="json")
        assert (tmp_path / f"_content/nodes/{project}.json").read_text("utf-8") == "{}"
    async with over_stdio(tmp_path) as talk:
        assert registry(tmp_path)["nodes"][project]["content"]["format"] == "json"
        await talk("delete_node", node_id=project)
        assert files(tmp_path) == {f"_content/nodes/{picture}.png"}
        assert registry(tmp_path) == {"nodes": {picture: registry(tmp_path)["nodes"][picture]}, "connections": {}}


@pytest.mark.clause("ONT-140", "ONT-141", "ONT-142", "ONT-166", "ONT-168", "ONT-195", "ONT-41", "ONT-46")
async def test_a_disk_that_takes_no_content_leaves_no_trace(tmp_path: Path) -> None:
    async with System.at_url("memory:") as system:
        memory = Memory(system)
        mirror = FileMirror(tmp_path, system)
        await mirror.repair()
        async with Client(build_server(lambda context: memory, mirror=mirror)) as client:
            talk = Talk(client)
            await talk("create_ontology", **GTD)
            before = registry(tmp_path)
            (tmp_path / "_content" / "nodes").rmdir()
            (tmp_path / "_content" / "nodes").write_text("not a folder")
            refusal = await talk.refused("create_node", type="Project", content="x", format="markdown")
            assert refusal["code"] == "FILE_CREATION_FAILED"
            assert await talk("query_nodes") == {"node_ids": []}
            os.remove(tmp_path / "_content" / "nodes")
            assert registry(tmp_path) == before
            assert (await talk.refused("create_node", type="Epic", content="x", format="markdown"))["code"]


@pytest.mark.clause("ONT-142", "ONT-167", "ONT-169", "ONT-195")
async def test_what_a_crash_leaves_behind_is_repaired(tmp_path: Path) -> None:
    async with System.at_url("memory:") as system:
        memory = Memory(system)
        mirror = FileMirror(tmp_path, system)
        await mirror.repair()
        await memory.create_ontology(["Project"])
        id = await memory.create_node("Project", "text", "markdown")
        orphan = tmp_path / "_content" / "nodes" / "mem_abc_def.md"
        for stray in (orphan, orphan.with_name(".draft-1"), orphan.with_name("README")):
            stray.write_text("stray")
        (tmp_path / "_system" / "registry.json").write_text("{half")
        await FileMirror(tmp_path, system).repair()
        assert files(tmp_path) == {f"_content/nodes/{id}.md", "_content/nodes/README"}
        assert registry(tmp_path)["nodes"].keys() == {id}


GIVEN = {
    "nodes": {
        "mem_a_1": {
            "id": "mem_a_1", "type": "Project", "created": "2025-10-31T10:00:00Z", "modified": "2025-10-31T15:30:00Z",
            "properties": {"status": "active"}, "content": {"path": "_content/nodes/mem_a_1.md", "format": "markdown"},
        },
        "mem_b_2": {
            "id": "mem_b_2", "type": "Action", "created": "2025-10-31T10:00:00.250Z", "modified": "2025-10-31T10:00:01Z",
            "properties": {}, "content": {"path": "_content/nodes/mem_b_2.bin", "format": "png"},
        },
    },
    "connections": {
        "conn_c_3": {
            "id": "conn_c_3", "type": "NextAction", "from": "mem_a_1", "to": "mem_b_2", "created": "2025-10-31T10:15:00Z",
            "modified": "2025-10-31T10:15:00Z", "properties": {"p": 1},
            "content": {"path": "_content/connections/conn_c_3.md", "format": "markdown"},
        }
    },
}  # fmt: skip


def foreign(base: Path, told: dict[str, Any] = GIVEN) -> None:
    """A folder as another program of the seed would leave it."""
    for folder in (folders.SYSTEM, folders.NODES, folders.CONNECTIONS):
        (base / folder).mkdir(parents=True)
    (base / folders.REGISTRY).write_text(json.dumps(told))
    (base / folders.ONTOLOGY).write_text(yaml.safe_dump(GTD))
    (base / "_content/nodes/mem_a_1.md").write_text("# K\u00fcche")
    (base / "_content/nodes/mem_b_2.bin").write_bytes(b"\x89PNG\x00")
    (base / "_content/connections/conn_c_3.md").write_text("why")


@pytest.mark.clause("ONT-195", "ONT-181", "ONT-182", "ONT-183")
async def test_a_folder_that_another_program_kept_is_taken_over(tmp_path: Path) -> None:
    foreign(tmp_path)
    async with over_stdio(tmp_path) as talk:
        assert await talk("get_ontology") == GTD
        node = await talk("get_node", node_id="mem_a_1")
        assert (node["created"], node["modified"]) == ("2025-10-31T10:00:00.000Z", "2025-10-31T15:30:00.000Z")
        assert await talk("get_node_content", node_id="mem_a_1") == {"content": "# K\u00fcche"}
        assert await talk("get_node_content", node_id="mem_b_2") == {"content": "iVBORwA="}
        edge = await talk("get_connection", connection_id="conn_c_3")
        assert (edge["from_node_id"], edge["properties"], edge["has_content"]) == ("mem_a_1", {"p": 1}, True)
        assert files(tmp_path) == {
            "_content/nodes/mem_a_1.md",
            "_content/nodes/mem_b_2.png",
            "_content/connections/conn_c_3.md",
        }
        await talk("update_node", node_id="mem_a_1", properties={"status": "done"})
    assert json.loads((tmp_path / "_system/registry.taken-over.json").read_text()) == GIVEN
    async with over_stdio(tmp_path) as talk:
        assert (await talk("get_node", node_id="mem_a_1"))["properties"] == {"status": "done"}


def everything(base: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in base.rglob("*") if path.is_file()}


def broken(**changes: Any) -> dict[str, Any]:
    told = json.loads(json.dumps(GIVEN))
    told["nodes"]["mem_a_1"].update(changes)
    return dict(told)


@pytest.mark.clause("ONT-195")
@pytest.mark.parametrize(
    "told",
    [
        {"nodes": []},
        broken(created="yesterday"),
        broken(created="2026-01-01T00:00:00Z"),
        broken(properties={"tags": ["a"]}),
        broken(content={"path": "../../etc/passwd", "format": "text"}),
        broken(content={"path": "_content/nodes/missing.md", "format": "text"}),
        broken(id="not an id"),
        {**GIVEN, "connections": {"c": {**GIVEN["connections"]["conn_c_3"], "to": "nobody"}}},
    ],
    ids=range(8),
)
async def test_a_folder_that_cannot_be_taken_over_is_left_alone(tmp_path: Path, told: dict[str, Any]) -> None:
    foreign(tmp_path, told)
    before = everything(tmp_path)
    async with System.at_url("memory:") as system:
        with pytest.raises(StorageIOError, match="left alone"):
            async with FileMirror(tmp_path, system).following():
                pass
        assert system.bus.position == 0
    assert everything(tmp_path) == before


@pytest.mark.clause("ONT-16", "ONT-170")
async def test_the_mirror_follows_any_door(tmp_path: Path) -> None:
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        async with FileMirror(tmp_path, system).following() as mirror:
            await graph.add_node("user:a", "Thing", {"n": 1}, content=NewContent("text", "text"))
            await graph.add_edge("e", "user:a", "later")
            await settled(mirror)
            assert registry(tmp_path)["connections"] == {} and files(tmp_path) == {"_content/nodes/user:a.txt"}
            await graph.add_node("later")
            await settled(mirror)
            assert registry(tmp_path)["connections"].keys() == {"e"}
            await graph.update("user:a", content=NewContent("{}", "json"))
            await graph.delete("later")
            await settled(mirror)
            assert registry(tmp_path)["connections"] == {} and files(tmp_path) == {"_content/nodes/user:a.json"}
            await graph.import_graph({"nodes": [{"id": f"n{n}", "content": str(n)} for n in range(1_200)]})
            await graph.clear_scope(Scope.USER)
            await settled(mirror)
            assert len(registry(tmp_path)["nodes"]) == len(files(tmp_path)) == 1_200
        fresh = FileMirror(tmp_path, system)
        assert await fresh.repair() == 0
        (tmp_path / "_content/nodes/n7.md").write_text("changed by hand")
        (tmp_path / "_content/nodes/user:a.json").write_text("left by a crash")
        (tmp_path / "_content/nodes/notes.md").write_text("mine")
        os.remove(tmp_path / "_content/nodes/n8.md")
        assert await fresh.repair() == 3
        assert (tmp_path / "_content/nodes/n7.md").read_text() == "7"
        assert len(files(tmp_path)) == 1_201


async def settled(mirror: FileMirror) -> None:
    for _ in range(1_000):
        if mirror.position >= mirror.system.bus.position:
            return
        await asyncio.sleep(0.01)


@pytest.mark.clause("ONT-41")
async def test_links_that_somebody_planted_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    base = tmp_path / "base"
    async with System.at_url("memory:") as system:
        async with FileMirror(base, system).following() as mirror:
            (base / "_content/nodes/a.md").symlink_to(outside / "secret")
            await Graph(system).add_node("a", content=NewContent("harmless"))
            await mirror.update()
            assert (outside / "secret").read_text() == "secret"
            assert (base / "_content/nodes/a.md").read_text() == "harmless"
            assert folders.read(base, "_content/nodes/missing.md") is None
            (base / "_content/nodes/b.md").symlink_to(outside / "secret")
            assert folders.read(base, "_content/nodes/b.md") is None
        (base / "_content/nodes").rename(base / "old")
        (base / "_content/nodes").symlink_to(outside)
        for begin in (FileMirror(base, system).repair, FileMirror(base, system).following().__aenter__):
            with pytest.raises(StorageIOError, match="cannot be made good"):
                await begin()
        assert [path.name for path in outside.iterdir()] == ["secret"]


@pytest.mark.clause("ONT-59", "ONT-10", "ONT-195")
async def test_content_is_replaced_at_once(tmp_path: Path) -> None:
    """Whoever reads a file sees what was said before or what is said now, and nothing between."""
    async with System.at_url("memory:") as system:
        await Graph(system).add_node("a", content=NewContent("0" * 300_000))
        async with FileMirror(tmp_path, system).following() as mirror:
            file, seen = tmp_path / "_content/nodes/a.md", set()

            def look() -> None:
                while len(seen) < 20 and mirror.position < 60:
                    text = file.read_text()
                    assert text == text[0] * 300_000
                    seen.add(text[0])

            looking = asyncio.create_task(asyncio.to_thread(look))
            for number in range(1, 60):
                await Graph(system).update("a", content=NewContent(chr(48 + number) * 300_000))
                await mirror.update()
            await looking
            assert len(seen) > 2


@pytest.mark.clause("ONT-16")
async def test_the_files_of_any_store_are_made_on_demand(tmp_path: Path) -> None:
    url, base = f"sqlite:///{tmp_path}/memory.db", tmp_path / "base"
    async with System.at_url(url) as system:
        await Memory(system).create_ontology(["Project"])
        id = await Memory(system).create_node("Project", "# Kitchen", "markdown")
    for changed in (3, 0):
        done = await asyncio.create_subprocess_exec(
            UGS, "mirror", str(base), "--store", url, stdout=asyncio.subprocess.PIPE
        )
        told, _ = await done.communicate()
        assert done.returncode == 0 and json.loads(told)["changed"] == changed
    assert files(base) == {f"_content/nodes/{id}.md"} and registry(base)["nodes"].keys() == {id}
