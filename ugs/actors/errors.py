"""What can go wrong with messages; what an actor itself refuses is its answer, not an accident."""

from __future__ import annotations

from typing import Any

from ugs.errors import LimitExceeded, NodeNotFound, UgsError


class Refused(Exception):
    """Raised by a handler: the message is answered with `success: false`, these words, and nothing is changed."""

    def __init__(self, error: str, **more: Any) -> None:
        super().__init__(error)
        self.answer: dict[str, Any] = {**more, "success": False, "error": error}


class NobodyThere(NodeNotFound):
    """No node, so no actor, has the id (seed 003 in its own words)."""

    def __init__(self, id: str) -> None:
        UgsError.__init__(self, f"Node not found: {id}", id=id)


class MessageFailed(UgsError):
    """The actor answered that it did not do what the message asked; nothing was changed."""

    code = "MESSAGE_FAILED"
    summary = "The actor refused the message"

    def __init__(self, id: str, type: str, answer: dict[str, Any]) -> None:
        super().__init__(str(answer.get("error") or "Actor message failed"), id=id, type=type, response=answer)


class MailboxFull(LimitExceeded):
    """As many messages wait already as may wait, for this actor or for all."""

    code = "MAILBOX_FULL"
    summary = "Too many messages wait"
    retryable = True

    def __init__(self, reason: str, id: str) -> None:
        super().__init__(f"{reason}. Send again when some are done.", id=id)
