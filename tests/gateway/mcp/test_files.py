"""The files of a base path: there, true, and never half done."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client

from tests.gateway.mcp.client import UGS, Talk, over_stdio
from ugs.errors import StorageIOError
from ugs.graph.api import Graph
from ugs.graph.content import NewContent
from ugs.identity import Scope
from ugs.ontology.api import Memory
from ugs.system import System
from ugs_conformance.support.store_fixture import fixture
from ugs_gateway.mcp.server import build_server
from ugs_gateway.mirror import folders
from ugs_gateway.mirror.mirror import FileMirror

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


@pytest.mark.clause("ONT-183", "ONT-184", "ONT-185")
async def test_the_registry_says_all_about_connections(tmp_path: Path) -> None:
    async with System.at_url("memory:") as system:
        memory = Memory(system)
        mirror = FileMirror(tmp_path, system)
        await mirror.repair()
        async with Client(build_server(lambda context: memory, mirror=mirror)) as client:
            talk = Talk(client)
            await talk("create_ontology", **GTD)
            ends = [
                (await talk("create_node", type=type, content="x", format="markdown"))["node_id"]
                for type in ("Project", "Action")
            ]
            connect = {"type": "NextAction", "from_node_id": ends[0], "to_node_id": ends[1]}
            bare = (await talk("create_connection", **connect))["connection_id"]
            told = (await talk("create_connection", **connect, properties={"n": 1, "s": "é"}, content="why"))[
                "connection_id"
            ]
            await asyncio.sleep(0.01)
            await talk("update_connection", connection_id=told, properties={"n": 2, "b": True})
            seen = {id: await talk("get_connection", connection_id=id) for id in (bare, told)}
            assert seen[told]["modified"] > seen[told]["created"]
            notes = {"path": f"_content/connections/{told}.md", "format": "markdown", "encoding": "utf-8"}
            assert registry(tmp_path)["connections"] == {
                id: {
                    "id": id,
                    "type": "NextAction",
                    "from": ends[0],
                    "to": ends[1],
                    "created": one["created"],
                    "modified": one["modified"],
                    "properties": {} if id == bare else {"n": 2, "s": "é", "b": True},
                    **({} if id == bare else {"content": notes}),
                }
                for id, one in seen.items()
            }


@pytest.mark.clause("ONT-140", "ONT-141", "ONT-142", "ONT-166", "ONT-168", "ONT-195", "ONT-41", "ONT-46", "ONT-49")
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
            (tmp_path / "_content" / "nodes").mkdir()
            ends = [
                (await talk("create_node", type=type, content="x", format="markdown"))["node_id"]
                for type in ("Project", "Action")
            ]
            before = registry(tmp_path)
            (tmp_path / "_content" / "connections").rmdir()
            (tmp_path / "_content" / "connections").write_text("not a folder")
            link = {"type": "NextAction", "from_node_id": ends[0], "to_node_id": ends[1]}
            assert (await talk.refused("create_connection", **link, content="x"))["code"] == "FILE_CREATION_FAILED"
            assert await talk("query_connections") == {"connection_ids": []}
            node = {"type": "Project", "content": "x", "format": "markdown"}
            for properties in (["a"], "text", 7):
                assert (await talk.refused("create_node", **node, properties=properties))["code"] == "INVALID_ARGUMENT"
            os.remove(tmp_path / "_content" / "connections")
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
            assert folders.read_file(base, "_content/nodes/missing.md") is None
            (base / "_content/nodes/b.md").symlink_to(outside / "secret")
            assert folders.read_file(base, "_content/nodes/b.md") is None
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


async def test_ids_too_long_for_a_file_name_have_files_of_their_own(tmp_path: Path) -> None:
    long = "n" * 256
    ids = [long, "n" * 255 + "m", "user:" + "u" * 251, "short"]
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        async with FileMirror(tmp_path, system).following() as mirror:
            for id in ids:
                await graph.add_node(id, content=NewContent(id, "text"))
                await mirror.update()
            told = {id: one["content"]["path"] for id, one in registry(tmp_path)["nodes"].items()}
            assert told.keys() == set(ids) and files(tmp_path) == set(told.values())
            assert {id: (tmp_path / path).read_text() for id, path in told.items()} == {id: id for id in ids}
            assert told["short"] == "_content/nodes/short.txt"
            await graph.update(long, content=NewContent("{}", "json"))
            await mirror.update()
            assert len(files(tmp_path)) == len(ids)
        before, restarted = files(tmp_path), FileMirror(tmp_path, system)
        await restarted.repair()
        assert files(tmp_path) == before and await FileMirror(tmp_path, system).repair() == 0
        await graph.delete(long)
        await restarted.repair()
        assert files(tmp_path) == {told[id] for id in ids if id != long}


async def test_a_file_that_cannot_be_written_stops_no_other_and_no_change(tmp_path: Path) -> None:
    async with System.at_url("memory:") as system:
        memory = Memory(system)
        await memory.create_ontology(["Thing"])
        mirror = FileMirror(tmp_path, system)
        await mirror.repair()
        in_the_way = tmp_path / "_content/nodes/bad.txt"
        (in_the_way / "inside").mkdir(parents=True)
        await Graph(system).add_node("bad", "Thing", content=NewContent("bad", "text"))
        await Graph(system).add_node("good", "Thing", content=NewContent("good", "text"))
        async with Client(build_server(lambda context: memory, mirror=mirror)) as client:
            id = (await Talk(client)("create_node", type="Thing", content="x", format="text"))["node_id"]
        found = registry(tmp_path)["nodes"]
        assert found.keys() == {"bad", "good", id} and "content" not in found["bad"]
        assert (tmp_path / "_content/nodes/good.txt").read_text() == "good"
        async with FileMirror(tmp_path, system).following() as restarted:
            assert "content" not in registry(tmp_path)["nodes"]["bad"]
            (in_the_way / "inside").rmdir()
            in_the_way.rmdir()
            await restarted.update(again=True)
            assert in_the_way.read_text() == "bad"
            assert registry(tmp_path)["nodes"]["bad"]["content"]["path"] == "_content/nodes/bad.txt"


async def test_a_stored_change_is_no_error_because_the_files_are_behind(tmp_path: Path) -> None:
    async with System.at_url("memory:") as system:
        memory = Memory(system)
        mirror = FileMirror(tmp_path, system)
        await memory.create_ontology(["Thing"])
        await mirror.repair()
        (tmp_path / "_system/registry.json").unlink()
        (tmp_path / "_system/registry.json/inside").mkdir(parents=True)
        async with Client(build_server(lambda context: memory, mirror=mirror)) as client:
            id = (await Talk(client)("create_node", type="Thing", content="x", format="text"))["node_id"]
        assert await memory.query_nodes() == [id]
        async with FileMirror(tmp_path, system).following() as restarted:
            (tmp_path / "_system/registry.json/inside").rmdir()
            (tmp_path / "_system/registry.json").rmdir()
            await restarted.repair()
            assert registry(tmp_path)["nodes"].keys() == {id}
