"""Errors of messages; a refusal by the actor itself is an answer rather than an error."""

from __future__ import annotations

from typing import Any

from ugs.errors import LimitExceeded, NodeNotFound, UgsError


class Refused(Exception):
    """Raised by a handler: the message is answered with `success: false`, this error, and nothing is changed."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.answer: dict[str, Any] = {**more, "success": False, "error": error}


class NoActor(NodeNotFound):
    """No node, so no actor, has the id (with the message of seed 003)."""

    def __init__(self, id: str) -> None:
        UgsError.__init__(self, f"Node not found: {id}", id=id)


class MessageFailed(UgsError):
    """The actor answered that it did not do what the message asked; nothing was changed."""

    code = "MESSAGE_FAILED"
    summary = "The actor refused the message"

    def __init__(self, id: str, type: str, answer: dict[str, Any]) -> None:
        super().__init__(str(answer.get("error") or "Actor message failed"), id=id, type=type, response=answer)


class MailboxFull(LimitExceeded):
    """The queue of this actor, or of all together, is full."""

    code = "MAILBOX_FULL"
    summary = "Too many messages wait"
    retryable = True

    def __init__(self, reason: str, id: str) -> None:
        super().__init__(f"{reason}. Send again when some are done.", id=id)
