"""GraphProgram (seed 002): bounded query programs over the graph, validated, stored and executed; `api` has `Programs`.

Names are imported on first use: opening a store needs the tables, not the query engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ugs.programs.ast import GraphProgram
    from ugs.programs.blocks import blocks_of, compile_blocks
    from ugs.programs.builtin_programs import load_builtin_programs
    from ugs.programs.execution.results import BatchProgramResult, ProgramResult, StepLogEntry
    from ugs.programs.execution.working_graph import RawLink, RawNode, WorkingGraph
    from ugs.programs.migration import from_exploration, is_exploration
    from ugs.programs.model import ProgramRow
    from ugs.programs.text import parse_program, parse_text, print_text
    from ugs.programs.validation.json_schema import JSON_SCHEMA
    from ugs.programs.validation.limits import BOUNDS, Bounds, nesting_depth, operation_count
    from ugs.programs.validation.result import ValidationIssue, ValidationResult
    from ugs.programs.validation.validator import validate

_HOMES = {
    "GraphProgram": "ast",
    "blocks_of": "blocks",
    "compile_blocks": "blocks",
    "BOUNDS": "validation.limits",
    "Bounds": "validation.limits",
    "nesting_depth": "validation.limits",
    "operation_count": "validation.limits",
    "ValidationIssue": "validation.result",
    "ValidationResult": "validation.result",
    "JSON_SCHEMA": "validation.json_schema",
    "load_builtin_programs": "builtin_programs",
    "from_exploration": "migration",
    "is_exploration": "migration",
    "ProgramRow": "model",
    "BatchProgramResult": "execution.results",
    "ProgramResult": "execution.results",
    "StepLogEntry": "execution.results",
    "parse_program": "text",
    "parse_text": "text",
    "print_text": "text",
    "validate": "validation.validator",
    "RawLink": "execution.working_graph",
    "RawNode": "execution.working_graph",
    "WorkingGraph": "execution.working_graph",
}

__all__ = [
    "BOUNDS",
    "JSON_SCHEMA",
    "BatchProgramResult",
    "Bounds",
    "GraphProgram",
    "ProgramResult",
    "ProgramRow",
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
    "load_builtin_programs",
    "nesting_depth",
    "operation_count",
    "parse_program",
    "parse_text",
    "print_text",
    "validate",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ugs.programs' has no attribute {name!r}")
    return getattr(import_module(f"ugs.programs.{_HOMES[name]}"), name)
