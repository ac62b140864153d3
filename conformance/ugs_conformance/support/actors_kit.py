"""What tests of actors hold in their hands: the graph of seed 003, its scripts, and behaviours made for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ugs.actors import Actor, Answer, MessageContext, Refused, handles
from ugs.actors.addresses import Address
from ugs.actors.api import make_actor
from ugs.actors.errors import MessageFailed
from ugs.actors.registry import behaviours
from ugs.storage import Session
from ugs_conformance.support.api_under_test import actors_of
from ugs_conformance.support.store_fixture import StoreUnderTest


class Acting:
    """Actors over the world's store."""

    def __init__(self, world: StoreUnderTest) -> None:
        self.world = world
        self.graph = actors_of(world.system)

    async def register(self, id: str, type: str, **properties: Any) -> Address:
        """A node with its actor, as the seed's examples make them."""
        given = {"id": id, "type": type, **properties}
        address = make_actor(given, self.graph.get_system())
        await self.graph.register_node(id, address, given)
        return address

    async def task(self, id: str, **properties: Any) -> Address:
        return await self.register(id, "task", **{"state": "created", "goal": f"Do {id}", **properties})

    async def refusal_of(self, id: str, type: str, payload: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What an actor says to a message that it refuses; nothing may have changed."""
        before = await self.world.lines()
        with pytest.raises(MessageFailed) as failed:
            await self.graph.send(id, type, payload)
        assert await self.world.lines() == before
        answer: dict[str, Any] = failed.value.details["response"]  # type: ignore[assignment]
        assert answer["success"] is False and failed.value.message == answer["error"]
        return answer

    async def state(self, id: str) -> Any:
        properties = await self.graph.get_node_properties(id)
        assert properties is not None
        return properties.get("state")

    # ── the seed's scripts ───────────────────────────────────────────────────

    async def do(self, step: Mapping[str, Any]) -> Any:
        """One step of `act_scripts`."""
        graph = self.graph
        match step["do"]:
            case "registerNode":
                return await self.register(step["id"], step["props"]["type"], **_without(step["props"], "id", "type"))
            case "addEdge":
                return await graph.add_edge(step["from"], step["to"], step["type"], step.get("properties"))
            case "send":
                return await graph.send(step["id"], step["type"], step["payload"])
            case "removeEdge":
                return await graph.remove_edge(step["id"])
            case "dump":
                return await graph.dump()
        calls: dict[str, Callable[[str], Awaitable[Any]]] = {
            "getNodeProperties": graph.get_node_properties,
            "getEdgesFrom": graph.get_edges_from,
            "getEdgesTo": graph.get_edges_to,
            "getAllEdges": graph.get_all_edges,
            "getChildTasks": graph.get_child_tasks,
            "removeNode": graph.remove_node,
        }
        return await (graph.get_node_ids() if step["do"] == "getNodeIds" else calls[step["do"]](step["id"]))


def _without(given: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key not in keys}


def includes(found: Any, wanted: Any) -> bool:
    """Whether an answer has at least what was wanted."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(found.get(key) == value for key, value in wanted.items())
    return bool(found == wanted)


class Trial(Actor):
    """A type for tests: writes down what it gets, passes messages on, fails and hangs."""

    def __init__(self) -> None:
        self.running = 0
        self.most = 0

    @handles("note")
    async def note(self, context: MessageContext, payload: dict[str, Any]) -> Answer:
        context.update(seen=[*context.properties.get("seen", []), payload["n"]])
        return {"count": len(context.properties["seen"])}

    @handles("slow")
    async def slow(self, context: MessageContext, payload: dict[str, Any]) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.001)
        self.running -= 1
        await self.note(context, payload)

    @handles("pass")
    async def passed(self, context: MessageContext, payload: dict[str, Any]) -> Answer:
        """Along a list of ids, noting at each."""
        await self.note(context, payload)
        to, *rest = payload["to"] or [None]
        return {} if to is None else await context.send(to, "pass", {**payload, "to": rest})

    @handles("round")
    async def round(self, context: MessageContext, payload: dict[str, Any]) -> Answer:
        """For ever, from one to the other."""
        context.update(rounds=context.properties.get("rounds", 0) + 1)
        return await context.send(payload["to"], "round", {"to": context.id})

    @handles("try")
    async def tried(self, context: MessageContext, payload: dict[str, Any]) -> Answer:
        """Ask somebody who refuses, and go on."""
        context.update(tried=True)
        try:
            await context.send(payload["to"], payload["ask"])
        except MessageFailed as failed:
            return {"said": failed.message}
        return {}

    @handles("refuse")
    async def refuse(self, context: MessageContext, payload: dict[str, Any]) -> None:
        context.update(refused=True)
        context.link("nowhere", "references")
        context.create("task", {"goal": "never"})
        raise Refused("No.", because="of reasons")

    @handles("decline")
    async def decline(self, context: MessageContext, payload: dict[str, Any]) -> Answer:
        context.update(declined=True)
        return {"success": False, "why": "not today"}

    @handles("fail")
    async def fail(self, context: MessageContext, payload: dict[str, Any]) -> None:
        context.update(failed=True)
        raise RuntimeError("a secret of the implementation")

    @handles("hang")
    async def hang(self, context: MessageContext, payload: dict[str, Any]) -> None:
        context.update(hung=True)
        await asyncio.Event().wait()

    @handles("odd")
    async def odd(self, context: MessageContext, payload: dict[str, Any]) -> Answer:
        context.update(odd=True)
        return {"what": object()}

    @handles("tell")
    async def tell(self, context: MessageContext, payload: dict[str, Any]) -> Answer:
        return {"told": payload}


def try_out(patch: pytest.MonkeyPatch) -> Trial:
    """Let nodes of type `trial` behave so for a while."""
    made = Trial()
    patch.setitem(behaviours(), "trial", made)
    return made


class Counted:
    """How much is read from the store."""

    def __init__(self) -> None:
        self.rows = 0


class _Reading:
    """A session that counts the rows it gives."""

    def __init__(self, session: Session, counted: Counted) -> None:
        self._session, self._counted = session, counted

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._session, name)
        if name not in ("fetch", "find", "find_many", "events"):
            return found

        async def called(*given: Any, **named: Any) -> Any:
            rows = await found(*given, **named)
            self._counted.rows += len(rows) if isinstance(rows, list) else 1
            return rows

        return called


@asynccontextmanager
async def count_rows_read(world: StoreUnderTest, patch: pytest.MonkeyPatch) -> AsyncIterator[Counted]:
    """Count the rows that are read meanwhile."""
    counted, real = Counted(), world.storage.session

    @asynccontextmanager
    async def session(*, write: bool = False) -> AsyncIterator[Any]:
        async with real(write=write) as opened:
            yield _Reading(opened, counted)

    with patch.context() as patched:
        patched.setattr(world.storage, "session", session)
        yield counted
