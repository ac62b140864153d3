"""The result of a program: the working graph, the log of its steps, and the reason if it was aborted."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from ugs.programs.ast import Operator
from ugs.programs.execution.working_graph import WorkingGraph

EMPTY_RESULT = "assertion failed: empty result"
TIMED_OUT = "Program execution timed out"


class Size(Struct, frozen=True):
    """The number of nodes and links of W."""

    nodes: int
    links: int


class StepLogEntry(Struct, frozen=True, omit_defaults=True):
    """One executed step."""

    statement: int
    """The top-level statement, counted from 0."""
    path: str
    """The path of the statement, such as `2.then.0`."""
    op: Operator
    operation_type: Literal["cypher", "api", "conditional"]
    nodes_affected: int
    links_affected: int
    w_size: Size
    duration_ms: float
    branch_taken: Literal["then", "else"] | None = None


class Abort(Struct, frozen=True, omit_defaults=True):
    """Why and where a program was aborted; in a deck also in which program."""

    statement: int
    reason: str
    program: int | None = None


class StepDone(Struct, frozen=True):
    """One executed step with the working graph it left, where that was asked for."""

    entry: StepLogEntry
    graph: WorkingGraph | None = None


class JsonResult(Struct, omit_defaults=True):
    """Base of results that are rendered as JSON without absent values."""

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


class ProgramResult(JsonResult):
    """The result of one program."""

    result: WorkingGraph
    log: list[StepLogEntry]
    aborted: Abort | None = None


class BatchProgramResult(JsonResult):
    """The result of a deck, with the result of each program."""

    result: WorkingGraph
    programs: list[ProgramResult]
    aborted: Abort | None = None
