"""The command by which a delivery becomes durable: the changes of all its actors, and its answer.

The answer travels with the command, because only the decision knows the ids of new edges, and because a retry under the
same idempotency key must give the first answer again, although the actor would answer differently by now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from ugs.actors.addresses import Answer, Message
from ugs.errors import IdempotencyConflict
from ugs.feature import CommandWarning, Decision, Feature
from ugs.graph.batches import Batch, decide_all
from ugs.identity import Context
from ugs.log.idempotency import RETRIES, retry_key
from ugs.storage import Session
from ugs.unit_of_work import UnitOfWork
from ugs.values import from_text, to_text

ANSWER = "ANSWER"
"""The code of the warning that carries an answer."""


class Deliver(Batch, frozen=True):
    """Store the changes and the answer of a message."""

    node: str
    asked: str
    """A digest of the message: the same message under the same key is a retry."""
    answer: Answer


async def deliver(command: Deliver, uow: UnitOfWork) -> Decision:
    """Decide the changes as one batch, and put the new ids into the answer."""
    names, warnings = await decide_all(command.operations, uow)
    text = to_text({"asked": command.asked, "answer": with_ids(command.answer, names)})
    return Decision([], [*warnings, CommandWarning(ANSWER, text, command.node)])


def with_ids(value: Any, names: Mapping[str, str]) -> Any:
    """The value with temporary names replaced by ids."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [with_ids(item, names) for item in value]
    if isinstance(value, dict):
        return {key: with_ids(item, names) for key, item in value.items()}
    return value


def digest(id: str, message: Message) -> str:
    """A digest of a message without its id, to recognise a retry."""
    return sha256(to_text([id, message.type, message.payload]).encode()).hexdigest()


def answer_in(warnings: Iterable[CommandWarning], asked: str) -> Answer | None:
    """The answer among the warnings, if it belongs to this message."""
    for warning in warnings:
        if warning.code == ANSWER:
            found = from_text(warning.message)
            answer: Answer | None = found["answer"] if found["asked"] == asked else None
            return answer
    return None


async def answered_before(session: Session, command: Deliver, context: Context) -> Answer | None:
    """The answer that was given under the same key; a key used for something else is refused."""
    key = context.idempotency_key
    before = None if key is None else await session.find(RETRIES, retry_key(context.principal, key))
    if before is None:
        return None
    answer = answer_in(msgspec.convert(from_text(before.warnings), list[CommandWarning]), command.asked)
    if answer is None:
        raise IdempotencyConflict(key or "")
    return answer


ACTORS = Feature(name="actors", tables=(), reducers={}, deciders={Deliver: deliver})
