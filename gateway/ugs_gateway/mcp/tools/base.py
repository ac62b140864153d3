"""The definition of a tool: name, argument and result types, function, and hints for clients."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from ugs.ontology.api import Memory
from ugs_gateway.mcp.inputs import Arguments

Json = dict[str, Any]


def retry_key_of(memory: Memory) -> str | None:
    """The retry key of the call, for tools that change something beside typed memory."""
    key: str | None = getattr(getattr(memory, "guards", None), "key", None)
    return key


class Hints(Struct, frozen=True):
    """Hints that a client may show its user before a call."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False


READS = Hints(read_only=True, idempotent=True)
ADDS = Hints()
CHANGES = Hints(destructive=True, idempotent=True)


class MemoryTool(Struct, frozen=True):
    """One tool."""

    name: str
    title: str
    description: str
    takes: type[Arguments]
    answers: Json
    hints: Hints
    call: Callable[[Memory, Any], Awaitable[Json]]
    reads: Callable[[Any], bool] | None = None
    """For a tool that changes something with some arguments only: whether it just reads with these."""

    own_text: Callable[[Any], bool] | None = None
    """For a tool that runs queries or programs: whether these arguments bring one along, instead of naming a stored
    one."""

    keeps_key: bool = False
    """A call may have a retry key, since the tool changes everything by one command (`mcp.call_guards`)."""
    keeps_version: bool = False
    """A call may expect a version of the element that it changes."""
    meta: Json | None = None
    """What clients are told beside the schema, such as the page that shows its answers."""

    def runs_own_text(self, arguments: Any) -> bool:
        return self.own_text is not None and self.own_text(arguments)

    def only_reads(self, arguments: Any) -> bool:
        return self.hints.read_only or (self.reads is not None and self.reads(arguments))
