"""Import and export of graphs as files: JSON, NDJSON, CSV, GraphML and Cypher scripts, all streamed.

A file holds nodes and edges with everything but times and versions, which only the event log has (`event_log`). The
content digest is equal for every format and every store that holds the same nodes and edges.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath

from ugs.errors import InvalidSyntax
from ugs.exchange.base import Format

MODULES = {
    "json": "json_document",
    "ndjson": "ndjson",
    "csv": "csv_format",
    "graphml": "graphml",
    "cypher": "cypher_script",
}
"""The module of each format; only the one in use is imported."""

LOG = "log"
SUFFIXES = {
    ".json": "json",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".csv": "csv",
    ".graphml": "graphml",
    ".xml": "graphml",
    ".cypher": "cypher",
    ".cql": "cypher",
    ".wal": LOG,
}
NAMES = (*MODULES, LOG)


def format_named(name: str) -> Format:
    """The format with this name."""
    if name not in MODULES:
        raise InvalidSyntax(f"there is no format {name!r}: it is {', '.join(NAMES)}")
    found: Format = import_module(f"ugs.exchange.{MODULES[name]}").FORMAT
    return found


def format_for(path: str) -> str:
    """The name of the format that belongs to a file name's suffix."""
    name = SUFFIXES.get(PurePath(path).suffix.lower())
    if name is None:
        raise InvalidSyntax(f"the name {path!r} tells no format: say --format {', '.join(NAMES)}")
    return name
