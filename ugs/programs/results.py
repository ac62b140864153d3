"""What running a program gives: the working graph, a log of its steps, and why it stopped when it did."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from ugs.programs.ast import Operator
from ugs.programs.working import WorkingGraph

EMPTY_RESULT = "assertion failed: empty result"
TIMED_OUT = "Program execution timed out"


class Size(Struct, frozen=True):
    """How much W holds."""

    nodes: int
    links: int


class StepLogEntry(Struct, frozen=True, omit_defaults=True):
    """One step that was done."""

    statement: int
    """The top-level statement, counted from 0."""
    path: str
    """Where the statement stands, such as `2.then.0`."""
    op: Operator
    operation_type: Literal["cypher", "api", "conditional"]
    nodes_affected: int
    links_affected: int
    w_size: Size
    duration_ms: float
    branch_taken: Literal["then", "else"] | None = None


class Abort(Struct, frozen=True, omit_defaults=True):
    """Why and where a program stopped; in a deck also in which program."""

    statement: int
    reason: str
    program: int | None = None


class Told(Struct, omit_defaults=True):
    """Anything that is shown as JSON with absent values left out."""

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


class ProgramResult(Told):
    """The end of one program."""

    result: WorkingGraph
    log: list[StepLogEntry]
    aborted: Abort | None = None


class BatchProgramResult(Told):
    """The end of a deck, with each program's own end."""

    result: WorkingGraph
    programs: list[ProgramResult]
    aborted: Abort | None = None
