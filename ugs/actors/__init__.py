"""Seed 003: nodes that answer messages. These names are what an actor type of one's own needs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ugs.actors.addresses import Address, Answer, Message
    from ugs.actors.behaviour import Payload, handles
    from ugs.actors.errors import MessageFailed, Refused
    from ugs.actors.standard import Actor
    from ugs.actors.turn import Turn

_HOMES = {
    "Actor": "standard",
    "Address": "addresses",
    "Answer": "addresses",
    "Message": "addresses",
    "MessageFailed": "errors",
    "Payload": "behaviour",
    "Refused": "errors",
    "Turn": "turn",
    "handles": "behaviour",
}

__all__ = ["Actor", "Address", "Answer", "Message", "MessageFailed", "Payload", "Refused", "Turn", "handles"]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: every start of the kernel passes through here, few ever send a message."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ugs.actors' has no attribute {name!r}")
    return getattr(import_module(f"ugs.actors.{_HOMES[name]}"), name)
