"""Memories of other programs as notes to ingest: one module per family of formats. The only I/O is reading the file.

An importer yields a `SourceNote` for each row it understands and a `RefusedRow` for each it does not. Notes carry the
id of their origin as their source, so that the same export imported again says nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ugs.facts.importers import conversations, graphiti, markdown, mcp_memory, mem0
from ugs.facts.importers.base import RefusedRow, Row, SourceNote

Importer = Callable[[Path], Iterator[Row]]

IMPORTERS: dict[str, Importer] = {
    "mcp-memory": mcp_memory.read,
    "mem0": mem0.read,
    "graphiti": graphiti.read,
    "markdown": markdown.read,
    "chatgpt": conversations.read_chatgpt,
    "claude": conversations.read_claude,
}
"""The formats by name; each reads a file, `markdown` a folder or a file."""

__all__ = ["IMPORTERS", "Importer", "RefusedRow", "Row", "SourceNote"]
