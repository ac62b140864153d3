"""The graph of seed 003 in Python: nodes under string ids, the actors behind them, and edges between them.

The seed's names in snake case. Everything is stored by ordinary commands, so what actors do is durable, versioned and
part of the history, on every store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ugs.actors.actor_system import ActorSystem
from ugs.actors.addresses import Address, Answer, Message
from ugs.actors.errors import MessageFailed, NoActor
from ugs.actors.properties import READ_ONLY_PROPERTIES, kernel_properties, node_properties
from ugs.actors.runtime.transaction import link_of
from ugs.actors.types import task_relations
from ugs.errors import EdgeNotFound, InvalidSyntax, NodeNotFound
from ugs.feature import Command
from ugs.graph.batches import ImportGraph
from ugs.graph.commands import AddEdge, AddNode, Delete, SetEdgeCounter, Update
from ugs.graph.events import GENERATED
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.traversal import BY_SEQUENCE, Direction, touching
from ugs.identity import LOCAL, Context, Principal, is_identifier
from ugs.reads.filters import EVERYTHING, Where

if TYPE_CHECKING:
    from ugs.log.at import At
    from ugs.system import System
    from ugs.writer import Outcome

Factory = Callable[[Mapping[str, Any], ActorSystem], Address]
"""Makes the actor of a node from its properties."""


def make_actor(properties: Mapping[str, Any], system: ActorSystem) -> Address:
    """The usual factory: the type decides how the actor behaves."""
    return system.spawn(properties)


class ActorGraph:
    """Nodes and edges of one system as actors see them, on behalf of one principal."""

    def __init__(self, system: System, principal: Principal = LOCAL.principal) -> None:
        self.system = system
        self.principal = principal
        self.actors = ActorSystem.of(system)

    def get_system(self) -> ActorSystem:
        """The actor system, which factories need."""
        return self.actors

    async def _do(self, command: Command) -> Outcome:
        return await self.system.execute(command, Context(self.principal))

    # ── nodes ────────────────────────────────────────────────────────────────

    async def register_node(self, id: str, address: Address, properties: Mapping[str, Any]) -> None:
        """Let an actor stand for a new node; E001 when the id is taken."""
        if address not in self.actors or address._node is not None:
            raise InvalidSyntax(f"{address!r} is not a free address of this system", id=id)
        await self._do(AddNode(id=id, type=properties.get("type"), properties=kernel_properties(id, properties)))
        self.actors.bind(id, address)
        address._last = {**properties, "id": id}

    async def get_node(self, id: str) -> Address | None:
        """The address of a node; its actor is made when nobody has asked for it since the start."""
        node = await self._find(id)
        if node is None:
            return None
        address = self.actors.bound(id)
        if address is None:
            address = self.actors.spawn(to_node_properties(node))
            self.actors.bind(id, address)
        return address

    async def _find(self, id: str, at: At | None = None) -> Node | None:
        if not is_identifier(id):
            return None
        async with self.system.session_at(at) as session:
            node: Node | None = await session.find(NODES, id)
        return node

    async def get_node_properties(self, id: str, at: At | None = None) -> dict[str, Any] | None:
        """What is kept about a node, without asking its actor; None without one."""
        node = await self._find(id, at)
        return None if node is None else to_node_properties(node)

    async def get_node_ids(self, at: At | None = None) -> list[str]:
        async with self.system.session_at(at) as session:
            return [node.id for node in await session.fetch(NODES)]

    async def update_node(self, id: str, properties: Mapping[str, Any]) -> None:
        """Set properties without a message; id, type and createdAt stay."""
        given = {key: value for key, value in properties.items() if key not in READ_ONLY_PROPERTIES}
        await self._do(Update(id=id, kind="node", properties=given))

    async def remove_node(self, id: str) -> bool:
        """Remove a node with its edges; False when there is none. Who holds its address can still talk to the actor."""
        node = await self._find(id)
        if node is None:
            return False
        try:
            await self._do(Delete(id=id, kind="node"))
        except NodeNotFound:
            return False
        self.actors.release(id, to_node_properties(node))
        return True

    # ── messages ─────────────────────────────────────────────────────────────

    async def send(
        self, id: str, type: str, payload: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Answer:
        """Ask the actor of a node, and raise MESSAGE_FAILED with its words when it refuses."""
        answer = await self.deliver(id, Message(type, payload or {}), key=key)
        if answer.get("success") is False:
            raise MessageFailed(id, type, answer)
        return answer

    async def deliver(self, id: str, message: Message, *, key: str | None = None) -> Answer:
        """Ask the actor of a node; a refusal is an answer like any other."""
        if not is_identifier(id):
            raise NoActor(id)
        return await self.actors.deliver(id, message, Context(self.principal, key))

    # ── edges ────────────────────────────────────────────────────────────────

    async def add_edge(
        self, from_id: str, to_id: str, type: str | None, properties: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Add an edge `edge_<n>`; its nodes need not exist."""
        done = await self._do(AddEdge(source=from_id, target=to_id, type=type, properties=dict(properties or {})))
        return next(_edge_json(row) for row in done.rows.values() if isinstance(row, Edge))

    async def remove_edge(self, id: str, to_id: str | None = None, type: str | None = None) -> bool:
        """Remove the edge with this id, or the oldest one from a node to another of a type; False without one."""
        if to_id is not None:
            fitting = [e for e in await self.get_edges_from(id) if (e["toId"], e["type"]) == (to_id, type)]
            if not fitting:
                return False
            id = fitting[0]["id"]
        try:
            await self._do(Delete(id=id, kind="edge"))
        except EdgeNotFound:
            return False
        return True

    async def get_edges_from(self, id: str, at: At | None = None) -> list[dict[str, Any]]:
        return await self._edges(touching([id], Direction.OUTGOING), at)

    async def get_edges_to(self, id: str, at: At | None = None) -> list[dict[str, Any]]:
        return await self._edges(touching([id], Direction.INCOMING), at)

    async def get_all_edges(self, id: str, at: At | None = None) -> list[dict[str, Any]]:
        return await self._edges(touching([id], Direction.BOTH), at)

    async def _edges(self, where: Where, at: At | None = None) -> list[dict[str, Any]]:
        async with self.system.session_at(at) as session:
            return [_edge_json(edge) for edge in await session.fetch(EDGES, where, BY_SEQUENCE)]

    async def set_edge_counter(self, value: int) -> None:
        """The next edge gets a number above this one; the counter never falls."""
        await self._do(SetEdgeCounter(value=value))

    # ── tasks ────────────────────────────────────────────────────────────────

    async def get_child_tasks(self, id: str, at: At | None = None) -> list[str]:
        """Tasks with a `spawned_by` edge to this one."""
        async with self.system.session_at(at) as session:
            return await task_relations.child_ids(session, id)

    async def get_dependencies(self, id: str, at: At | None = None) -> list[str]:
        """Tasks that this one has a `depends_on` edge to."""
        async with self.system.session_at(at) as session:
            return await task_relations.dependency_ids(session, id)

    # ── keeping ──────────────────────────────────────────────────────────────

    async def dump(self, at: At | None = None) -> dict[str, list[dict[str, Any]]]:
        """Nodes and edges as JSON. Addresses live only as long as the process."""
        async with self.system.session_at(at) as session:
            nodes = [to_node_properties(node) for node in await session.fetch(NODES)]
            edges = [_edge_json(edge) for edge in await session.fetch(EDGES, EVERYTHING, BY_SEQUENCE)]
        return {"nodes": nodes, "edges": edges}

    async def restore(self, dump: Mapping[str, Any], factory: Factory = make_actor) -> dict[str, Address]:
        """Add what a dump holds, all of it or nothing, with an actor for each node; edges keep their ids."""
        made = {properties["id"]: factory(properties, self.actors) for properties in dump["nodes"]}
        nodes = [
            {"id": p["id"], "type": p.get("type"), "properties": kernel_properties(p["id"], p)} for p in dump["nodes"]
        ]
        edges = [
            {**{key: e[key] for key in ("id", "type", "properties") if key in e}, "from": e["fromId"], "to": e["toId"]}
            for e in dump["edges"]
        ]
        await self._do(ImportGraph(nodes=tuple(nodes), edges=tuple(edges)))
        await self.set_edge_counter(max((number_of(edge["id"]) for edge in dump["edges"]), default=0))
        for id, address in made.items():
            self.actors.bind(id, address)
        return made


def to_node_properties(node: Node) -> dict[str, Any]:
    """A node as NodeProperties."""
    return node_properties(node.id, node.type, node.properties, node.created)


def number_of(edge_id: str) -> int:
    """The number in a generated id; 0 in any other."""
    found = GENERATED.fullmatch(edge_id)
    return int(found[2]) if found else 0


def _edge_json(edge: Edge) -> dict[str, Any]:
    return link_of(edge).as_json()
