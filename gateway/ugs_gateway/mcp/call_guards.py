"""Retry keys and expected versions of tool calls, in the `_meta` of a request.

They are for the program that sends the call and not for its model: no schema of a tool grows by them, and the tools of
the seed keep their arguments. A tool that does not keep one refuses it, so nobody relies on what is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ugs.feature import Command
from ugs.ontology.api import Memory
from ugs.ontology.errors import InvalidArgument
from ugs.values import MAX_INT
from ugs.writer import Outcome
from ugs_gateway.mcp.tools.base import MemoryTool

RETRY_KEY, EXPECTED_VERSION = "ugs/idempotencyKey", "ugs/expectedVersion"


class CallGuards(Struct, frozen=True):
    """What a call asks to be safe: once only, and only at this version."""

    key: str | None = None
    expected_version: int | None = None


NO_GUARDS = CallGuards()


def parse_guards(tool: MemoryTool, meta: Mapping[str, Any] | None) -> CallGuards:
    """The guards of a call; refused if they have a wrong type or the tool does not keep them."""
    key, version = (meta or {}).get(RETRY_KEY), (meta or {}).get(EXPECTED_VERSION)
    if key is None and version is None:
        return NO_GUARDS
    if key is not None and not tool.hints.read_only:
        _check(tool, RETRY_KEY, tool.keeps_key, isinstance(key, str), "a text")
    if version is not None:
        is_version = isinstance(version, int) and not isinstance(version, bool) and 0 <= version <= MAX_INT
        _check(tool, EXPECTED_VERSION, tool.keeps_version, is_version, "a version, 0 for what must not exist")
    return CallGuards(None if tool.hints.read_only else key, version)


def _check(tool: MemoryTool, name: str, is_kept: bool, is_sound: bool, kind: str) -> None:
    if not is_kept:
        raise InvalidArgument(f"{tool.name} takes no {name}", tool=tool.name, argument=name)
    if not is_sound:
        raise InvalidArgument(f"{name} is {kind}", tool=tool.name, argument=name)


class GuardedMemory(Memory):
    """The memory of one call, whose one command is guarded."""

    def __init__(self, memory: Memory, guards: CallGuards) -> None:
        super().__init__(memory.system, memory.principal, memory.ontology)
        self.guards = guards

    async def do(self, command: Command, key: str | None = None) -> Outcome:
        version: Any = self.guards.expected_version
        guarded = command if version is None else replace(command, expected_version=version)
        return await super().do(guarded, key or self.guards.key)


def guard(memory: Memory, guards: CallGuards) -> Memory:
    """The memory that a tool is called with."""
    return memory if guards is NO_GUARDS else GuardedMemory(memory, guards)
