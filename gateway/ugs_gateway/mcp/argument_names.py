"""Argument names in error messages: those of the called tool, not those of GraphQL or of the kernel."""

from __future__ import annotations

import re

from ugs_gateway.mcp.tools.base import Json, MemoryTool

CAMEL_CASE = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b")
NAME_DETAILS = ("field", "argument")
"""Details that name an argument."""
RENAMED = {"add_node_type": {"name": "type_name"}, "add_connection_type": {"name": "type_name"}}


def rename_arguments(tool: MemoryTool, message: str, details: Json) -> tuple[str, Json]:
    """Message and details of an error with the tool's own argument names."""
    own = frozenset(tool.takes.__struct_fields__)

    def renamed(found: re.Match[str]) -> str:
        name = re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", found[0])
        return name if name in own else found[0]

    aliases = RENAMED.get(tool.name, {})
    told = {
        key: aliases.get(value, CAMEL_CASE.sub(renamed, value))
        if key in NAME_DETAILS and isinstance(value, str)
        else value
        for key, value in details.items()
    }
    return CAMEL_CASE.sub(renamed, message), told
