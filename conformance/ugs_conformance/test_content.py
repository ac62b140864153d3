"""Content through the doors of the plain graph: given, changed, taken away, reverted, exported and imported."""

from __future__ import annotations

import base64

import pytest

from ugs.errors import InvalidArgument, InvalidEncoding, InvalidSyntax
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.graph.content import NewContent
from ugs.log.at import At
from ugs_conformance.support.memory_kit import Tools
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest

PICTURE = NewContent(base64.b64encode(b"\x89PNG").decode(), "png", "base64")


@pytest.fixture
def tools(world: StoreUnderTest) -> Tools:
    return Tools(world)


@clause("ONT-30", "ONT-50", "ONT-191")
async def test_plain_nodes_and_edges_can_say_something(tools: Tools, world: StoreUnderTest) -> None:
    memory, graph = tools.memory, world.graph
    await graph.add_node("a", "Thing", {"n": 1}, content=NewContent("# Küche", "markdown"))
    await graph.do(Batch(operations=(AddNode(id="b"), AddEdge(id="e", source="a", target="b", content=PICTURE))))
    assert (await memory.get_node("a"))["content_format"] == "markdown"
    assert await memory.get_node_content("a") == "# Küche" and await memory.search_content("KÜCHE") == ["a"]
    assert (await memory.get_connection("e"))["has_content"]
    await graph.update("a", content=NewContent("bath", "text"))
    assert await memory.get_node_content("a") == "bath" and await memory.search_content("küche") == []
    await graph.update("a", {"n": 2})
    await graph.update("a", content=None)
    assert await memory.get_node_content("a") == "" and await memory.search_content("bath") == []
    assert await memory.get_node_content("a", At(position=1)) == "# Küche"
    for bad, error in (
        (NewContent("x", "text", "latin-1"), InvalidEncoding),
        (NewContent("!", "png", "base64"), InvalidEncoding),
        (NewContent("a\x00", "text"), InvalidEncoding),
        (NewContent("x", "f" * 257), InvalidArgument),
    ):
        async with world.refuses(error):
            await graph.add_node("c", content=bad)
        async with world.refuses(error):
            await graph.update("a", content=bad)
    assert (await world.system.verify()).ok


@clause("ONT-191", "UGS-66")
async def test_going_back_brings_the_content_back(tools: Tools, world: StoreUnderTest) -> None:
    memory, graph = tools.memory, world.graph
    await graph.add_node("a", content=NewContent("first", "markdown"))
    await memory.update_node("a", format="notes")
    await graph.update("a", {"n": 1}, content=PICTURE)
    await graph.update("a", content=None)
    for version, body, format in ((1, "first", "markdown"), (3, PICTURE.body, "png"), (2, "first", "notes")):
        await graph.revert("a", version)
        assert await memory.get_node_content("a") == body
        assert (await memory.get_node("a"))["content_format"] == format
    await graph.revert("a", 4)
    assert await memory.get_node_content("a") == ""
    await graph.delete("a")
    await graph.revert("a", 3)
    assert await memory.get_node_content("a") == PICTURE.body
    unchanged = await graph.revert("a", (await graph.get("a")).version)  # type: ignore[union-attr]
    assert unchanged.events == []
    assert (await world.system.verify()).ok


@clause("ONT-191")
async def test_an_export_holds_the_content_and_an_import_gives_it_back(tools: Tools, world: StoreUnderTest) -> None:
    memory, graph = tools.memory, world.graph
    await graph.add_node("a", content=NewContent("text é", "markdown"))
    await graph.add_node("user:b", content=PICTURE)
    await graph.do(AddEdge(id="e", source="a", target="user:b", content=NewContent("why")))
    await graph.add_node("bare")
    exported = await graph.export_graph()
    contents = {one["id"]: one.get("content") for one in (*exported["nodes"], *exported["edges"])}
    assert contents["a"] == {"format": "markdown", "encoding": "utf-8", "body": "text é"}
    assert contents["bare"] is None and contents["user:b"]["encoding"] == "base64"
    await graph.delete("a")
    await graph.import_graph(exported, on_conflict="replace")
    assert await graph.export_graph() == exported
    assert await memory.get_node_content("a") == "text é" and (await memory.get_connection("e"))["has_content"]
    await graph.import_graph({"nodes": [{"id": "plain", "content": "only text"}]})
    assert (await memory.get_node("plain"))["content_format"] == "markdown"
    async with world.refuses(InvalidSyntax):
        await graph.import_graph({"nodes": [{"id": "wrong", "content": {"format": "x"}}]})
