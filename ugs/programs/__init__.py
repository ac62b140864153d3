"""GraphProgram (seed 002): bounded query programs over the graph, checked, stored and run.

The names are loaded when they are first used: a store that only opens needs the tables, not the query engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ugs.programs.api import DeckEntry, Programs
    from ugs.programs.ast import GraphProgram
    from ugs.programs.blocks import blocks_of, compile_blocks
    from ugs.programs.bounds import BOUNDS, Bounds, nesting_depth, operation_count
    from ugs.programs.issues import ValidationIssue, ValidationResult
    from ugs.programs.json_schema import JSON_SCHEMA
    from ugs.programs.library import ready_made
    from ugs.programs.migration import from_exploration, is_exploration
    from ugs.programs.model import ProgramRow
    from ugs.programs.results import BatchProgramResult, ProgramResult, StepLogEntry
    from ugs.programs.text import parse_program, parse_text, print_text
    from ugs.programs.validating import validate
    from ugs.programs.working import RawLink, RawNode, WorkingGraph

_HOMES = {
    "DeckEntry": "api",
    "Programs": "api",
    "GraphProgram": "ast",
    "blocks_of": "blocks",
    "compile_blocks": "blocks",
    "BOUNDS": "bounds",
    "Bounds": "bounds",
    "nesting_depth": "bounds",
    "operation_count": "bounds",
    "ValidationIssue": "issues",
    "ValidationResult": "issues",
    "JSON_SCHEMA": "json_schema",
    "ready_made": "library",
    "from_exploration": "migration",
    "is_exploration": "migration",
    "ProgramRow": "model",
    "BatchProgramResult": "results",
    "ProgramResult": "results",
    "StepLogEntry": "results",
    "parse_program": "text",
    "parse_text": "text",
    "print_text": "text",
    "validate": "validating",
    "RawLink": "working",
    "RawNode": "working",
    "WorkingGraph": "working",
}

__all__ = [
    "BOUNDS",
    "JSON_SCHEMA",
    "BatchProgramResult",
    "Bounds",
    "DeckEntry",
    "GraphProgram",
    "ProgramResult",
    "ProgramRow",
    "Programs",
    "RawLink",
    "RawNode",
    "StepLogEntry",
    "ValidationIssue",
    "ValidationResult",
    "WorkingGraph",
    "blocks_of",
    "compile_blocks",
    "from_exploration",
    "is_exploration",
    "nesting_depth",
    "operation_count",
    "parse_program",
    "parse_text",
    "print_text",
    "ready_made",
    "validate",
]


def __getattr__(name: str) -> Any:
    """A public name, loaded now."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ugs.programs' has no attribute {name!r}")
    return getattr(import_module(f"ugs.programs.{_HOMES[name]}"), name)
