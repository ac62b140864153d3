"""Our side: a system on a store, asked through sessions and plans as a door would ask."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from bench import answers
from bench.questions import DEPTH, FIRST_EDGES, LIST_LIMIT, SEARCH_LIMIT, SECOND_EDGES
from bench.sides import Job
from ugs.api import Graph
from ugs.graph.model import EDGES, NODES
from ugs.graph.paths import shortest_path
from ugs.graph.search import search
from ugs.graph.walk import traverse
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.reads.where import eq
from ugs.system import System

BY_AGE = (Order("seq"),)


def edges_of(limit: int, target: Read) -> Nested:
    """The first edges of a node, each with the node it leads to."""
    edges = Read(EDGES, order=BY_AGE, page=Page(limit=limit)).nested(target=Nested("target_node", target))
    return Nested("outgoing", edges)


TWO_HOPS = Read(NODES).nested(
    edges=edges_of(FIRST_EDGES, Read(NODES).nested(edges=edges_of(SECOND_EDGES, Read(NODES))))
)


class Ours:
    """A store of ours."""

    def __init__(self, name: str, system: System) -> None:
        self.name = name
        self.system = system
        self.graph = Graph(system)
        self.jobs: Mapping[str, Job] = {
            "point": self.point,
            "point_plan": self.point_plan,
            "listing": self.listing,
            "two_hop": self.two_hop,
            "search": self.search,
            "search_common": self.search,
            "traverse": self.traverse,
            "path": self.path,
        }

    async def close(self) -> None:
        await self.system.close()

    async def point(self, id: str) -> bytes:
        async with self.system.session() as session:
            node = await session.find(NODES, id)
        return b"null" if node is None else answers.node_answer(node)

    async def point_plan(self, id: str) -> bytes:
        rows = await self.system.read(Read(NODES, eq("id", id)))
        return answers.node_answer(rows.items[0].row) if rows.items else b"null"

    async def listing(self, type: str, after: str) -> bytes:
        rows = await self.system.read(Read(NODES, eq("type", type), page=Page(LIST_LIMIT, (after,))))
        return answers.nodes_answer(rows.rows)

    async def two_hop(self, id: str) -> bytes:
        rows = await self.system.read(msgspec.structs.replace(TWO_HOPS, where=eq("id", id)))
        return answers.nested_answer(rows)

    async def search(self, words: str) -> bytes:
        async with self.system.session() as session:
            hits = await search(session, words, limit=SEARCH_LIMIT)
        return answers.hits_answer(hits)

    async def traverse(self, id: str) -> bytes:
        async with self.system.session() as session:
            steps = await traverse(session, id, DEPTH)
        return answers.steps_answer(steps)

    async def path(self, start: str, goal: str) -> bytes:
        async with self.system.session() as session:
            path = await shortest_path(session, start, goal)
        return answers.path_answer(path)


async def open_ours(name: str, url: str) -> Ours:
    """Our side on the store that a URL names."""
    system = System.at_url(url)
    await system.open()
    return Ours(name, system)
