"""Limits on the size of a program, and its size, both computed from the syntax tree alone."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ugs.programs.ast import ConditionalOp, Statement


class Bounds(Struct, frozen=True):
    """The limits of a program."""

    operations: int = 100
    depth: int = 3
    """How deep conditionals may nest."""
    path: int = 6
    """How many relationships one variable-length pattern may span."""
    seconds: float = 60.0
    """For a whole program, or a whole deck."""
    deck: int = 10
    nodes: int = 100_000
    """How many nodes, and how many links, the working graph may hold."""
    lenient_api_params: bool = False
    """Accept an api operation without `params`, with a warning."""
    any_is_concept: bool = False
    """Let `:Concept` in a query match every node, whatever its type."""


BOUNDS = Bounds()


def operation_count(statements: Sequence[Statement]) -> int:
    """The largest number of operations that can run: a conditional counts as its longer branch."""
    return sum(_operations_of(statement) for statement in statements)


def _operations_of(statement: Statement) -> int:
    operation = statement.operation
    if isinstance(operation, ConditionalOp):
        return max(operation_count(branch) for branch in operation.branches.values())
    return 1


def nesting_depth(statements: Sequence[Statement]) -> int:
    """The number of conditionals around the innermost statement."""
    return max((_depth_of(statement) for statement in statements), default=0)


def _depth_of(statement: Statement) -> int:
    operation = statement.operation
    if not isinstance(operation, ConditionalOp):
        return 0
    return 1 + max(nesting_depth(branch) for branch in operation.branches.values())
