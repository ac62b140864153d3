"""Seed 004: parts of content are found wherever they stand, whatever index a store keeps for them."""

from __future__ import annotations

from random import Random

from conformance.plugin import clause
from conformance.remembering import Tools
from conformance.world import World
from ugs.api import Graph
from ugs.graph.content import NewContent
from ugs.ontology.api import Memory

LETTERS = "aaAbB\"'%_\\ \n\r\tßẞéÉİıſK\u0345日本\ufb03\ufffd\ufffe\uffff\ue000\U0001f600\U00010400"
COUNT = 60


def text(chance: Random, longest: int = 30) -> str:
    return "".join(chance.choices(LETTERS, k=chance.randrange(longest)))


def needles(texts: dict[str, str], chance: Random) -> list[str]:
    """Parts of what is there, in capitals or not, and others."""
    found = ["", "a", "aa", "aaa", "%_\\", "ffi"]
    for said in list(texts.values())[::3]:
        start = chance.randrange(10)
        part = said[start : start + chance.randrange(1, 8)]
        found += [part, part.swapcase(), text(chance, 5), said + "a"]
    return found


async def compare(memory: Memory, texts: dict[str, str], chance: Random) -> None:
    """Every search against what Python finds in the same texts, oldest first."""
    for part in needles(texts, chance):
        wanted = [id for id, said in texts.items() if part.casefold() in said.casefold()]
        assert await memory.search_content(part) == wanted, part
        assert await memory.search_content(part, limit=2) == wanted[:2], part
        actions = [id for id in wanted if int(id[1:]) % 2]
        assert await memory.search_content(part, "Action") == actions, part


@clause("ONT-86", "ONT-87", "ONT-88", "ONT-89")
async def test_parts_of_content_are_found_as_they_stand(world: World) -> None:
    chance, graph, tools = Random(86), Graph(world.system), Tools(world)
    texts = {f"n{n:03}": text(chance) for n in range(COUNT)}
    nodes = [
        {"id": id, "type": "Action" if int(id[1:]) % 2 else "Project", "content": said} for id, said in texts.items()
    ]
    picture = {"id": "picture", "content": {"body": "YWFh", "format": "png", "encoding": "base64"}}
    await graph.import_graph({"nodes": [*nodes, picture, {"id": "silent"}]})
    await compare(tools.memory, texts, chance)
    for id in list(texts)[::5]:
        texts[id] = text(chance)
        await graph.update(id, content=NewContent(texts[id], "text"))
    for id in list(texts)[1::7]:
        del texts[id]
        await graph.delete(id)
    await compare(tools.memory, texts, chance)
    await compare(await tools.restart(), texts, chance)
