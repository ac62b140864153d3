"""The actor system: makes addresses, delivers messages, and keeps actors from hurting each other.

Each node handles one message at a time, in the order of arrival. What the handlers want changed is stored as one
command under the condition that nobody else has changed their nodes meanwhile, also not from another process; otherwise
the message is handled again on the new state. Nobody waits for a mailbox while handling a message: what actors send
each other is handled at once, within the same delivery, so circles cannot lock up.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, WeakValueDictionary

from ugs.actors.addresses import Address, Answer, Message, as_message, without_addresses
from ugs.actors.delivering import Deliver, answer_in, answered_before, digest
from ugs.actors.errors import MessageFailed, NobodyThere, Refused
from ugs.actors.places import Places
from ugs.actors.properties import node_properties
from ugs.actors.reading import NodeReader
from ugs.actors.registry import behaviour_of
from ugs.actors.turn import Turn
from ugs.actors.work import Known, Work
from ugs.errors import (
    Conflict,
    DeadlineExceeded,
    EdgeNotFound,
    IdempotencyConflict,
    NodeNotFound,
    StorageIOError,
    UgsError,
    VersionConflict,
)
from ugs.identity import LOCAL, Context
from ugs.values import check_value

if TYPE_CHECKING:
    from ugs.system import System

log = logging.getLogger(__name__)

PATIENCE = 30.0
LONGEST_LINE = 1_000
MOST_WAITING = 20_000
TRIES = 20
OVERTAKEN = (VersionConflict, NodeNotFound, EdgeNotFound, IdempotencyConflict)
"""How a commit says that somebody else was faster."""
ACCIDENTS = (StorageIOError, Conflict, DeadlineExceeded)
"""Not the actor's answer: the caller should know, and may try again."""


class Overtaken(Exception):
    """The state that the handlers have seen is no longer there; carries what the commit said."""

    def __init__(self, cause: UgsError) -> None:
        super().__init__(cause.message)
        self.cause = cause


class ActorSystem:
    """All actors on one system in this process."""

    def __init__(self, system: System, timeout: float = PATIENCE, longest_line: int = LONGEST_LINE) -> None:
        self.system = system
        self.timeout = timeout
        self._reader = NodeReader(system)
        self._mailboxes = Places(longest_line, MOST_WAITING)
        self._turns = Places()
        self._made: WeakSet[Address] = WeakSet()
        self._bound: WeakValueDictionary[str, Address] = WeakValueDictionary()

    @staticmethod
    def of(system: System) -> ActorSystem:
        """The one actor system that all doors of a system share."""
        found = system.companions.get(ActorSystem)
        if not isinstance(found, ActorSystem):
            found = system.companions[ActorSystem] = ActorSystem(system)
        return found

    # ── addresses ────────────────────────────────────────────────────────────

    def spawn(self, properties: Mapping[str, Any]) -> Address:
        """A new actor that no node stands for yet."""
        address = Address(self, dict(properties))
        self._made.add(address)
        return address

    def bind(self, id: str, address: Address) -> None:
        """Let an address speak for a node from now on."""
        address._node = id
        self._bound[id] = address

    def bound(self, id: str) -> Address | None:
        """The address of a node, as far as somebody holds one."""
        return self._bound.get(id)

    def release(self, id: str, last: Mapping[str, Any]) -> None:
        """The node is gone; its actor stays for those who hold its address, with what it last knew."""
        address = self._bound.pop(id, None)
        if address is not None:
            address._node, address._last = None, dict(last)

    def __contains__(self, address: object) -> bool:
        return isinstance(address, Address) and address in self._made

    # ── messages ─────────────────────────────────────────────────────────────

    async def send(self, address: Address, message: Message | Mapping[str, Any], context: Context = LOCAL) -> Answer:
        """Deliver a message to an address; an address of somebody else's is answered, not obeyed."""
        if address not in self:
            return {"success": False, "error": f"Actor not found: {address!r}"}
        asked = as_message(message)
        if address._node is not None:
            try:
                return await self.deliver(address._node, asked, context)
            except NobodyThere:
                self.release(address._node, address._last)
        return await self._answer_alone(address, asked, context)

    async def _answer_alone(self, address: Address, message: Message, context: Context) -> Answer:
        """What an actor without a node can still say."""
        own = {key: value for key, value in address._last.items() if key not in ("id", "type")}
        node = Known(str(address._last.get("id", "")), address._last.get("type"), own)
        turn = Turn(node, message, context.principal, Work(self.system, self._reader), self._pass_on)
        return await self._said(turn, self._handled(turn))

    async def deliver(self, id: str, message: Message, context: Context = LOCAL) -> Answer:
        """Deliver a message to a node and wait until what came of it is durable."""
        message = Message(message.type, without_addresses(message.payload), message.id)
        check_value(message.payload, "payload")
        async with self._mailboxes.hold(id):
            seen = {id}
            for tried in range(TRIES):
                work = Work(self.system, self._reader)
                async with self._turns.hold_all(seen):
                    try:
                        return await self._delivered(id, message, context, work)
                    except Overtaken as overtaken:
                        if tried and not isinstance(overtaken.cause, VersionConflict):
                            return refusal(overtaken.cause)
                seen.update(work.taken)
                # Only another process can be in the way more than once; meeting it again is a matter of luck.
                await asyncio.sleep(random.random() * 0.002 * tried)
        raise Conflict(f"{id} is being changed from elsewhere all the time. Send the message again.", id=id)

    async def _delivered(self, id: str, message: Message, context: Context, work: Work) -> Answer:
        asked = Deliver(operations=(), node=id, asked=digest(id, message), answer={})
        before = await self._answered_before(asked, context)
        if before is not None:
            return before
        node = await work.take(id)
        if node is None:
            raise NobodyThere(id)
        turn = Turn(node, message, context.principal, work, self._pass_on)
        return await self._said(turn, self._stored(turn, asked, context, work))

    async def _answered_before(self, asked: Deliver, context: Context) -> Answer | None:
        if context.idempotency_key is None:
            return None
        async with self.system.session() as session:
            return await answered_before(session, asked, context)

    async def _stored(self, turn: Turn, asked: Deliver, context: Context, work: Work) -> Answer:
        answer = await self._handled(turn)
        operations = work.operations()
        if operations:
            command = Deliver(operations=tuple(operations), node=asked.node, asked=asked.asked, answer=answer)
            try:
                outcome = await self.system.execute(command, context)
            except OVERTAKEN as error:
                raise Overtaken(error) from error
            answer = answer_in(outcome.warnings, asked.asked) or answer
        for node in work.taken.values():
            self._remember(node)
        return answer

    def _remember(self, node: Known) -> None:
        """Keep what an actor last knew for those who hold its address."""
        address = self._bound.get(node.id)
        if address is None:
            return
        created = None if node.before is None else node.before.created
        address._last = node_properties(node.id, node.type, node.properties, created)
        if node.gone:
            self.release(node.id, address._last)

    async def _handled(self, turn: Turn) -> Answer:
        """Let the handler work, for a while."""
        patience = asyncio.timeout(self.timeout if turn.depth == 0 else None)
        try:
            async with patience:
                return await behaviour_of(turn.type).receive(turn)
        except TimeoutError as error:
            if not patience.expired():
                raise
            raise DeadlineExceeded(
                f"{turn.message.type} to {turn.id} took longer than {self.timeout:g} seconds; nothing was changed",
                id=turn.id,
                type=turn.message.type,
            ) from error

    async def _said(self, turn: Turn, handling: Awaitable[Answer]) -> Answer:
        """The answer, also when it is a refusal; accidents of the store are raised as what they are."""
        try:
            return await handling
        except Refused as refused:
            return refused.answer
        except (Overtaken, *ACCIDENTS):
            raise
        except UgsError as error:
            return refusal(error)
        except Exception:
            log.exception("the actor of %s failed on %s", turn.id, turn.message.type)
            return {"success": False, "error": f"The actor of {turn.id} failed on {turn.message.type}"}

    async def _pass_on(self, id: str, message: Message, sender: Turn) -> Answer:
        """A message from an actor: handled at once, its changes taken back when it is refused."""
        work = sender._work
        mark = work.mark()
        node = await work.take(id)
        if node is None:
            raise Refused(f"Node not found: {id}")
        turn = Turn(node, message, sender.principal, work, self._pass_on, sender.depth + 1)
        try:
            return await self._handled(turn)
        except Exception as error:
            work.back_to(mark)
            if isinstance(error, Refused):
                raise MessageFailed(id, message.type, error.answer) from error
            raise


def refusal(error: UgsError) -> Answer:
    """A coded error as an actor's answer."""
    return {"success": False, "error": error.message, "code": error.code}
