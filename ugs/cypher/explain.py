"""Plans in readable form: the output of EXPLAIN, and with row counts that of PROFILE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from ugs.cypher.engine.operators.base import Operator
from ugs.cypher.engine.planner.query_planner import QueryPlan

NO_STATEMENTS: Mapping[int, str] = {}


class PlanStep(Struct, frozen=True):
    """One operator of a plan; steps are listed in execution order."""

    operator: str
    details: str
    depth: int
    rows: int | None = None
    """Number of output rows, if the query was profiled."""
    statement: str | None = None
    """The statement sent to the store, for a pattern that is pushed down."""


def build_steps(
    parts: Sequence[QueryPlan], counts: dict[int, int] | None, statements: Mapping[int, str] = NO_STATEMENTS
) -> list[PlanStep]:
    """All operators of a query in execution order."""
    steps: list[PlanStep] = []
    for number, part in enumerate(parts):
        if len(parts) > 1:
            steps.append(PlanStep("Union", f"part {number + 1} of {len(parts)}", 0))
        steps += _steps(part.operators, int(len(parts) > 1), counts, statements)
    return steps


def _steps(
    operators: Sequence[Operator], depth: int, counts: dict[int, int] | None, statements: Mapping[int, str]
) -> Iterator[PlanStep]:
    for operator in operators:
        rows = None if counts is None else counts.get(id(operator), 0)
        yield PlanStep(operator.title, operator.describe(), depth, rows, statements.get(id(operator)))
        for inner in operator.inner():
            yield from _steps(inner, depth + 1, counts, statements)


def as_table(steps: Sequence[PlanStep]) -> str:
    """The plan as a text table, one line per operator, and one for each statement sent to the store."""
    names = ["  " * step.depth + step.operator for step in steps]
    profiled = any(step.rows is not None for step in steps)
    widest = max((len(name) for name in names), default=0)
    lines = []
    for step, name in zip(steps, names, strict=True):
        rows = "" if not profiled else f"{'' if step.rows is None else step.rows:>10}  "
        lines.append(f"{name:<{widest}}  {rows}{step.details}".rstrip())
        if step.statement is not None:
            lines.append(f"{'':<{widest}}  {step.statement}")
    return "\n".join(lines)
