"""What tests of typed memory hold in their hands: the eighteen tools by name, as any door offers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ugs.graph.model import EDGES, NODES
from ugs.ontology.api import Memory
from ugs.ontology.definition import ConnectionType
from ugs_conformance.support.api_under_test import memory_of
from ugs_conformance.support.store_fixture import StoreUnderTest

GTD_NODES = ["Project", "Action", "Context", "Person"]
GTD_CONNECTIONS = [
    ConnectionType("NextAction", ("Project",), ("Action",)),
    ConnectionType("RequiresContext", ("Action",), ("Context",)),
    ConnectionType("WaitingFor", ("Action", "Project"), ("Person",), ("since", "follow_up_date")),
]


class Tools:
    """The tools over the Python API; names of the seed's examples stand for ids the server made."""

    def __init__(self, world: StoreUnderTest) -> None:
        self.world = world
        self.names: dict[str, str] = {}

    @property
    def memory(self) -> Memory:
        return memory_of(self.world.system)

    async def gtd(self) -> Memory:
        """A memory with the seed's ontology."""
        await self.memory.create_ontology(GTD_NODES, GTD_CONNECTIONS)
        return self.memory

    async def call(self, tool: str, args: Mapping[str, Any]) -> Any:
        """Call a tool with the arguments of a fixture."""
        given = {key: self.names.get(value, value) if isinstance(value, str) else value for key, value in args.items()}
        if tool == "create_ontology":
            given["connection_types"] = [msgspec.convert(type, ConnectionType) for type in given["connection_types"]]
        return await getattr(self.memory, tool)(**given)

    async def given(self, before: Mapping[str, Any]) -> None:
        """Bring about what a scenario starts from."""
        if before.get("ontology"):
            await self.call("create_ontology", before["ontology"])
        for node in before.get("nodes", ()):
            self.names[node["id"]] = await self.memory.create_node(
                node["type"], node.get("content", ""), "markdown", properties=node.get("properties")
            )
        for edge in before.get("connections", ()):
            self.names[edge["id"]] = await self.memory.create_connection(
                edge["type"], self.names[edge["from"]], self.names[edge["to"]]
            )

    def real(self, value: Any) -> Any:
        """An expectation with the ids that stand behind its names."""
        if isinstance(value, list):
            return [self.real(item) for item in value]
        return self.names.get(value, value) if isinstance(value, str) else value

    async def restart(self) -> Memory:
        """A memory in a new process on the same data; a store that forgets by nature stays open."""
        if self.world.storage.capabilities.durable:
            await self.world.restart()
        return self.memory

    async def registered(self) -> tuple[int, int]:
        """How many nodes and connections there are."""
        async with self.world.system.session() as session:
            return await session.count(NODES), await session.count(EDGES)
