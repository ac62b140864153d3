"""Actors (seed 003): nodes that answer messages.

The public names for custom actor types; they are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ugs.actors.addresses import Address, Answer, Message
    from ugs.actors.behaviour import Payload, handles
    from ugs.actors.errors import MessageFailed, Refused
    from ugs.actors.runtime.message_context import MessageContext
    from ugs.actors.types.standard_messages import Actor

_MODULES = {
    "Actor": "types.standard_messages",
    "Address": "addresses",
    "Answer": "addresses",
    "Message": "addresses",
    "MessageFailed": "errors",
    "Payload": "behaviour",
    "Refused": "errors",
    "MessageContext": "runtime.message_context",
    "handles": "behaviour",
}

__all__ = ["Actor", "Address", "Answer", "Message", "MessageContext", "MessageFailed", "Payload", "Refused", "handles"]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: the kernel imports this package at every start, few processes use it."""
    if name not in _MODULES:
        raise AttributeError(f"module 'ugs.actors' has no attribute {name!r}")
    return getattr(import_module(f"ugs.actors.{_MODULES[name]}"), name)
