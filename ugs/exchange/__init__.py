"""Graphs as files: JSON, NDJSON, CSV, GraphML and Cypher scripts, written and read as a stream.

A file holds nodes and edges with everything but their times and versions, which belong to a log (`event_log` moves
that). The content digest is the same for every format and every store that holds the same nodes and edges.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import PurePath

from ugs.errors import InvalidSyntax
from ugs.exchange.items import Format

MODULES = {
    "json": "json_document",
    "ndjson": "ndjson",
    "csv": "csv_rows",
    "graphml": "graphml",
    "cypher": "cypher_script",
}
"""Where each format lives; only the one that is used is loaded."""

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
    """The format of a name."""
    if name not in MODULES:
        raise InvalidSyntax(f"there is no format {name!r}: it is {', '.join(NAMES)}")
    found: Format = import_module(f"ugs.exchange.{MODULES[name]}").FORMAT
    return found


def format_for(path: str) -> str:
    """The name of the format that a file's name tells."""
    name = SUFFIXES.get(PurePath(path).suffix.lower())
    if name is None:
        raise InvalidSyntax(f"the name {path!r} tells no format: say --format {', '.join(NAMES)}")
    return name
