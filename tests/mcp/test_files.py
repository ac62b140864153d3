"""The files of a base path: there, true, and never half done."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client

from conformance.world import fixture
from gateway.mcp.files import FileMirror
from gateway.mcp.server import build_server
from tests.mcp.talking import Talk, over_stdio
from ugs.errors import StorageIOError
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
        mirror = FileMirror(tmp_path, memory)
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
        mirror = FileMirror(tmp_path, memory)
        await mirror.repair()
        await memory.create_ontology(["Project"])
        id = await memory.create_node("Project", "text", "markdown")
        orphan = tmp_path / "_content" / "nodes" / "mem_abc_def.md"
        for stray in (orphan, orphan.with_name(".draft-1"), orphan.with_name("README")):
            stray.write_text("stray")
        (tmp_path / "_system" / "registry.json").write_text("{half")
        await FileMirror(tmp_path, memory).repair()
        assert files(tmp_path) == {f"_content/nodes/{id}.md", "_content/nodes/README"}
        assert registry(tmp_path)["nodes"].keys() == {id}


@pytest.mark.clause("ONT-195")
async def test_a_folder_of_another_program_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "_system").mkdir()
    (tmp_path / "_system" / "registry.json").write_text("{}")
    async with System.at_url("memory:") as system:
        with pytest.raises(StorageIOError, match="another program"):
            await FileMirror(tmp_path, Memory(system)).repair()
