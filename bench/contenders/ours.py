"""Our side: a system on a store, asked as a door would ask: by sessions, or by a plan and how to write its answer."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from bench import answers
from bench.contenders import Job
from bench.questions import DEPTH, FIRST_EDGES, LIST_LIMIT, SEARCH_LIMIT, SECOND_EDGES
from ugs.graph.model import EDGES, NODES
from ugs.graph.paths.shortest_path import shortest_path
from ugs.graph.text.search import search
from ugs.graph.traversal import traverse
from ugs.reads.filters import eq
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.reads.rendering import (
    Column,
    Items,
    PageTemplate,
    Piece,
    RelatedPage,
    RelatedRow,
    Rendering,
    RowTemplate,
    Text,
)
from ugs.system import System
from ugs.tables import Table

BY_AGE = (Order("seq"),)


def edges_of(limit: int, target: Read) -> Nested:
    """The first edges of a node, each with the node it leads to."""
    edges = Read(EDGES, order=BY_AGE, page=Page(limit=limit)).nested(target=Nested("target_node", target))
    return Nested("outgoing", edges)


TWO_HOPS = Read(NODES).nested(
    edges=edges_of(FIRST_EDGES, Read(NODES).nested(edges=edges_of(SECOND_EDGES, Read(NODES))))
)


def object_of(table: Table, fields: Mapping[str, str], *more: Piece) -> RowTemplate:
    """How a row is written: some of its fields, and what is related."""
    columns = [
        piece
        for number, (key, field) in enumerate(fields.items())
        for piece in (Text(f'{"," if number else ""}"{key}":'), Column(field))
    ]
    return RowTemplate(table, (Text("{"), *columns, *more, Text("}")))


NODE_KEYS = {"id": "id", "type": "type", "properties": "properties_text"}
EDGE_KEYS = {"id": "id", "type": "type", "weight": "weight", "properties": "properties_text"}


def node_with_edges(target: RowTemplate) -> RowTemplate:
    """A node, its edges, and for each of them what the body says of its target."""
    edge = object_of(EDGES, EDGE_KEYS, Text(',"target":'), RelatedRow("target", target))
    return object_of(NODES, NODE_KEYS, RelatedPage("edges", PageTemplate((Text(',"edges":['), Items(edge), Text("]")))))


_WHOLE = object_of(NODES, {**NODE_KEYS, "data": "data_text", "created": "created", "modified": "modified"})
WHOLE_NODE = Rendering(_WHOLE)
NODE_LIST = Rendering(PageTemplate((Text("["), Items(_WHOLE), Text("]"))))
NODE_AND_EDGES = Rendering(node_with_edges(node_with_edges(object_of(NODES, NODE_KEYS))))


class Ours:
    """A store of ours, opened already."""

    def __init__(self, name: str, system: System) -> None:
        self.name = name
        self.system = system
        self.nodes = system.storage.rows_in_memory(NODES)
        self.jobs: Mapping[str, Job] = {
            "point": self.point if self.nodes is None else self.point_at_hand,
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

    def point_at_hand(self, id: str) -> bytes:
        """From a store that has its rows in memory, where nobody need wait for one."""
        node = None if self.nodes is None else self.nodes.get(id)
        return b"null" if node is None else answers.node_answer(node)

    async def point(self, id: str) -> bytes:
        async with self.system.session() as session:
            node = await session.find(NODES, id)
        return b"null" if node is None else answers.node_answer(node)

    async def point_plan(self, id: str) -> bytes:
        return await self._text(Read(NODES, eq("id", id)), WHOLE_NODE)

    async def listing(self, type: str, after: str) -> bytes:
        return await self._text(Read(NODES, eq("type", type), page=Page(LIST_LIMIT, (after,))), NODE_LIST)

    async def two_hop(self, id: str) -> bytes:
        return await self._text(msgspec.structs.replace(TWO_HOPS, where=eq("id", id)), NODE_AND_EDGES)

    async def _text(self, plan: Read, rendering: Rendering) -> bytes:
        return await self.system.storage.render(plan, rendering, [])

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
