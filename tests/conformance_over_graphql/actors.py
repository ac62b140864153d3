"""Actors as in the Python API, through GraphQL over HTTP: messages, nodes, edges and tasks are GraphQL's.

Addresses exist only inside a process, so making actors and talking to an address stay Python's.
"""

from __future__ import annotations

from typing import Any

from tests.conformance_over_graphql.client import Door, else_python
from tests.conformance_over_graphql.graph import EDGE_ONLY, NODE_ONLY, DoorGraph, at_in, edge_in, node_in
from ugs.actors.addresses import Answer, Message
from ugs.actors.api import ActorGraph, to_node_properties
from ugs.actors.errors import NoActor
from ugs.actors.runtime.transaction import link_of
from ugs.feature import Command
from ugs.graph.model import EDGES, Edge, Node
from ugs.identity import LOCAL, Principal
from ugs.log.at import At
from ugs.system import System
from ugs.writer import Outcome


class DoorActorGraph(ActorGraph):
    """Every operation about actors that GraphQL has goes through it."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal) -> None:
        super().__init__(system, principal)
        self.door = Door(system, principal)
        self.plain = DoorGraph(system, principal)

    async def _do(self, command: Command) -> Outcome:
        """Commands of the plain graph, through its own face."""
        done = await self.plain.do(command)
        rows = {(EDGES.name, edge.id): edge for edge in done.elements if isinstance(edge, Edge)}
        return Outcome(done.events, done.warnings, False, rows)

    async def _found(self, call: str, kinds: str, **given: Any) -> Any:
        fragments = (NODE_ONLY if "...N" in call else "") + (EDGE_ONLY if "...E" in call else "")
        return (await self.door.ask(f"query({kinds}) {{ found: {call} }} {fragments}", **given))["found"]

    @else_python(ActorGraph)
    async def deliver(self, id: str, message: Message, *, key: str | None = None) -> Answer:
        document = """mutation($i: SendMessageInput!) {
          done: sendMessage(input: $i) { success error payload node { id } } }"""
        asked = {"nodeId": id, "type": message.type, "payload": message.payload, "idempotencyKey": key}
        done = (await self.door.ask(document, i=asked))["done"]
        answer: Answer = done["payload"]
        assert done["success"] is answer["success"] and done["error"] == answer.get("error")
        assert done["node"] is None or done["node"]["id"] == id
        return answer

    # ── reading ──────────────────────────────────────────────────────────────

    async def _find(self, id: str, at: At | None = None) -> Node | None:
        found = await self._found("graphNode(id: $id, at: $at) { ...N }", "$id: ID!, $at: At", id=str(id), at=at_in(at))
        return None if found is None else node_in(found)

    async def get_node_ids(self, at: At | None = None) -> list[str]:
        return [node.id for node in await self._nodes(at)]

    async def _nodes(self, at: At | None) -> list[Node]:
        call = "graphNodes(orderBy: [{field: ID}], first: 9999, at: $at) { nodes { ...N } }"
        return [node_in(one) for one in (await self._found(call, "$at: At", at=at_in(at)))["nodes"]]

    async def get_edges_from(self, id: str, at: At | None = None) -> list[dict[str, Any]]:
        return await self._links({"from": id}, at)

    async def get_edges_to(self, id: str, at: At | None = None) -> list[dict[str, Any]]:
        return await self._links({"to": id}, at)

    async def get_all_edges(self, id: str, at: At | None = None) -> list[dict[str, Any]]:
        return await self._links({"touching": id}, at)

    async def _links(self, filter: dict[str, Any] | None, at: At | None) -> list[dict[str, Any]]:
        call = "graphEdges(filter: $f, orderBy: [{field: CREATED}], first: 9999, at: $at) { nodes { ...E } }"
        found = await self._found(call, "$f: EdgeFilter, $at: At", f=filter, at=at_in(at))
        return [link_of(edge_in(one)).as_json() for one in found["nodes"]]

    async def get_child_tasks(self, id: str, at: At | None = None) -> list[str]:
        return await self._tasks("childTasks", id, at)

    async def get_dependencies(self, id: str, at: At | None = None) -> list[str]:
        return await self._tasks("dependencies", id, at)

    async def _tasks(self, name: str, id: str, at: At | None) -> list[str]:
        """GraphQL shows the tasks that exist, and refuses one that does not; Python finds none around that one."""
        named = await (super().get_child_tasks if name == "childTasks" else super().get_dependencies)(id, at)
        there = [one for one in named if await self._find(one, at) is not None]
        try:
            found = await self._found(f"{name}(id: $id, at: $at) {{ id }}", "$id: ID!, $at: At", id=id, at=at_in(at))
        except NoActor:
            found = []
        assert [one["id"] for one in found] == there
        return named

    async def dump(self, at: At | None = None) -> dict[str, list[dict[str, Any]]]:
        return {
            "nodes": [to_node_properties(node) for node in await self._nodes(at)],
            "edges": await self._links(None, at),
        }
