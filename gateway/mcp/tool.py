"""What a tool is: its names, what it takes and answers, what it does, and what a client may tell its user before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from gateway.mcp.inputs import Arguments
from ugs.ontology.api import Memory

Json = dict[str, Any]


class Hints(Struct, frozen=True):
    """What a client may tell its user before calling."""

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

    def only_reads(self, given: Any) -> bool:
        return self.hints.read_only or (self.reads is not None and self.reads(given))
