"""GraphProgram (seed 002): bounded query programs over the graph, checked, stored and run."""

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
