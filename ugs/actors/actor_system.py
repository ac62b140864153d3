"""The actor system: creates addresses, delivers messages, and isolates concurrent deliveries.

Each node handles one message at a time, in the order of arrival. The changes of its handlers are stored as one
command, on condition that no other process or delivery has changed their nodes since they were read; otherwise the
message is handled again on the new state. Messages between actors are handled synchronously within the same delivery,
without waiting for a mailbox, so cyclic messages cannot deadlock.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, WeakValueDictionary

from ugs.actors.addresses import Address, Answer, Message, as_message, strip_addresses
from ugs.actors.commands import Deliver, answer_in, answered_before, digest
from ugs.actors.errors import MessageFailed, NoActor, Refused
from ugs.actors.properties import node_properties
from ugs.actors.registry import behaviour_of
from ugs.actors.runtime.mailboxes import KeyedQueues
from ugs.actors.runtime.message_context import MessageContext
from ugs.actors.runtime.node_loader import NodeReader
from ugs.actors.runtime.transaction import NodeState, Transaction
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

ANSWER_TIMEOUT_SECONDS = 30.0
MAX_QUEUE_LENGTH = 1_000
MAX_WAITING = 20_000
MAX_ATTEMPTS = 20
CONFLICT_ERRORS = (VersionConflict, NodeNotFound, EdgeNotFound, IdempotencyConflict)
"""Errors of a commit that lost against a concurrent change; the delivery is tried again."""
RETRYABLE_ERRORS = (StorageIOError, Conflict, DeadlineExceeded)
"""Errors of the store; raised to the caller, who may try again, rather than answered by the actor."""


class ConcurrentChange(Exception):
    """The state that the handlers read has changed; carries the error of the commit."""

    def __init__(self, cause: UgsError) -> None:
        super().__init__(cause.message)
        self.cause = cause


class ActorSystem:
    """All actors on one system in this process."""

    def __init__(
        self, system: System, timeout: float = ANSWER_TIMEOUT_SECONDS, max_queue_length: int = MAX_QUEUE_LENGTH
    ) -> None:
        self.system = system
        self.timeout = timeout
        self._reader = NodeReader(system.storage)
        self._mailboxes = KeyedQueues(max_queue_length, MAX_WAITING)
        self._locks = KeyedQueues()
        self._made: WeakSet[Address] = WeakSet()
        self._bound: WeakValueDictionary[str, Address] = WeakValueDictionary()

    @staticmethod
    def of(system: System) -> ActorSystem:
        """The one actor system that all interfaces of a system share."""
        found = system.companions.get(ActorSystem)
        if not isinstance(found, ActorSystem):
            found = system.companions[ActorSystem] = ActorSystem(system)
        return found

    # ── addresses ────────────────────────────────────────────────────────────

    def spawn(self, properties: Mapping[str, Any]) -> Address:
        """Create an actor that has no node yet."""
        address = Address(self, dict(properties))
        self._made.add(address)
        return address

    def bind(self, id: str, address: Address) -> None:
        """Bind an address to a node."""
        address._node = id
        self._bound[id] = address

    def bound(self, id: str) -> Address | None:
        """The address bound to a node; None if no live address exists."""
        return self._bound.get(id)

    def release(self, id: str, last: Mapping[str, Any]) -> None:
        """Unbind the address of a deleted node; it keeps the last known properties."""
        address = self._bound.pop(id, None)
        if address is not None:
            address._node, address._last = None, dict(last)

    def __contains__(self, address: object) -> bool:
        return isinstance(address, Address) and address in self._made

    # ── messages ─────────────────────────────────────────────────────────────

    async def send(self, address: Address, message: Message | Mapping[str, Any], context: Context = LOCAL) -> Answer:
        """Deliver a message to an address; the address of another actor system is answered with a refusal."""
        if address not in self:
            return {"success": False, "error": f"Actor not found: {address!r}"}
        asked = as_message(message)
        if address._node is not None:
            try:
                return await self.deliver(address._node, asked, context)
            except NoActor:
                self.release(address._node, address._last)
        return await self._answer_ephemeral(address, asked, context)

    async def _answer_ephemeral(self, address: Address, message: Message, context: Context) -> Answer:
        """Handle a message to an actor without a node; nothing is stored."""
        own = {key: value for key, value in address._last.items() if key not in ("id", "type")}
        node = NodeState(str(address._last.get("id", "")), address._last.get("type"), own)
        handling = MessageContext(
            node, message, context.principal, Transaction(self.system.storage, self._reader), self._send_nested
        )
        return await self._log_failures(handling, self._handle(handling))

    async def deliver(self, id: str, message: Message, context: Context = LOCAL) -> Answer:
        """Deliver a message to a node and wait until its changes are durable."""
        message = Message(message.type, strip_addresses(message.payload), message.id)
        check_value(message.payload, "payload")
        async with self._mailboxes.acquire(id):
            seen = {id}
            for tried in range(MAX_ATTEMPTS):
                work = Transaction(self.system.storage, self._reader)
                async with self._locks.acquire_all(seen):
                    try:
                        return await self._deliver_once(id, message, context, work)
                    except ConcurrentChange as conflict:
                        if tried and not isinstance(conflict.cause, VersionConflict):
                            return refusal(conflict.cause)
                seen.update(work.taken)
                # Only another process can conflict more than once; a random delay makes another conflict unlikely.
                await asyncio.sleep(random.random() * 0.002 * tried)
        raise Conflict(f"{id} is being changed from elsewhere all the time. Send the message again.", id=id)

    async def _deliver_once(self, id: str, message: Message, context: Context, work: Transaction) -> Answer:
        asked = Deliver(operations=(), node=id, asked=digest(id, message), answer={})
        before = await self._answered_before(asked, context)
        if before is not None:
            return before
        node = await work.take(id)
        if node is None:
            raise NoActor(id)
        handling = MessageContext(node, message, context.principal, work, self._send_nested)
        return await self._log_failures(handling, self._handle_and_store(handling, asked, context, work))

    async def _answered_before(self, asked: Deliver, context: Context) -> Answer | None:
        if context.idempotency_key is None:
            return None
        async with self.system.session() as session:
            return await answered_before(session, asked, context)

    async def _handle_and_store(
        self, handling: MessageContext, asked: Deliver, context: Context, work: Transaction
    ) -> Answer:
        answer = await self._handle(handling)
        operations = work.operations()
        if operations:
            command = Deliver(operations=tuple(operations), node=asked.node, asked=asked.asked, answer=answer)
            try:
                outcome = await self.system.execute(command, context)
            except CONFLICT_ERRORS as error:
                raise ConcurrentChange(error) from error
            answer = answer_in(outcome.warnings, asked.asked) or answer
        for node in work.taken.values():
            self._remember(node)
        return answer

    def _remember(self, node: NodeState) -> None:
        """Keep the last known properties at the bound address."""
        address = self._bound.get(node.id)
        if address is None:
            return
        created = None if node.before is None else node.before.created
        address._last = node_properties(node.id, node.type, node.properties, created)
        if node.gone:
            self.release(node.id, address._last)

    async def _handle(self, handling: MessageContext) -> Answer:
        """Run the handler, limited by the timeout of the delivery."""
        timeout = asyncio.timeout(self.timeout if handling.depth == 0 else None)
        try:
            async with timeout:
                return await behaviour_of(handling.type).receive(handling)
        except TimeoutError as error:
            if not timeout.expired():
                raise
            raise DeadlineExceeded(
                f"{handling.message.type} to {handling.id} took longer than {self.timeout:g} seconds; "
                "nothing was changed",
                id=handling.id,
                type=handling.message.type,
            ) from error

    async def _log_failures(self, handling: MessageContext, answer: Awaitable[Answer]) -> Answer:
        """The answer, or the refusal as an answer; retryable errors are raised, unexpected ones logged."""
        try:
            return await answer
        except Refused as refused:
            return refused.answer
        except (ConcurrentChange, *RETRYABLE_ERRORS):
            raise
        except UgsError as error:
            return refusal(error)
        except Exception:
            log.exception("the actor of %s failed on %s", handling.id, handling.message.type)
            return {"success": False, "error": f"The actor of {handling.id} failed on {handling.message.type}"}

    async def _send_nested(self, id: str, message: Message, sender: MessageContext) -> Answer:
        """Handle a message from an actor synchronously; its changes are rolled back if it is refused."""
        work = sender._work
        mark = work.mark()
        node = await work.take(id)
        if node is None:
            raise Refused(f"Node not found: {id}")
        handling = MessageContext(node, message, sender.principal, work, self._send_nested, sender.depth + 1)
        try:
            return await self._handle(handling)
        except Exception as error:
            work.roll_back_to(mark)
            if isinstance(error, Refused):
                raise MessageFailed(id, message.type, error.answer) from error
            raise


def refusal(error: UgsError) -> Answer:
    """A coded error as an actor's answer."""
    return {"success": False, "error": error.message, "code": error.code}
