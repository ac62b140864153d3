"""openCypher: one field that answers questions about the graph, the facts, or both."""

from __future__ import annotations

import time
from enum import Enum

import strawberry

from schema.context import Info
from schema.moments import At, moment_of
from schema.programs_types import Showing, WorkingGraph
from schema.scalars import Json
from ugs import cypher
from ugs.moments import At as KernelAt
from ugs.programs.mapping import Mapper, ontologies_of
from ugs.programs.operators import drop_dangling

MOST_ROWS = 10_000
"""Rows in one answer; a query that needs more is asked with SKIP and LIMIT."""
LIMITS = cypher.Limits(rows=MOST_ROWS)


@strawberry.enum(description="What a query looks at")
class CypherView(Enum):
    GRAPH = strawberry.enum_value("GRAPH", description="Nodes and edges")
    FACTS = strawberry.enum_value("FACTS", description="Entities, and the facts between them that hold at the instant")
    ALL = strawberry.enum_value("ALL", description="Both side by side")


@strawberry.type(description="One operator of a plan")
class CypherStep:
    operator: str = strawberry.field(description="What kind of step it is")
    details: str = strawberry.field(description="What it does, in the words of the query")
    depth: int = strawberry.field(description="How deep it is nested in another operator")
    rows: int | None = strawberry.field(description="How many rows left it; null when the query was not profiled")
    statement: str | None = strawberry.field(description="What the store is sent, when it is asked at once; else null")


@strawberry.type(description="The answer to an openCypher query")
class CypherResult:
    found: strawberry.Private[cypher.Result]
    at: strawberry.Private[KernelAt | None]
    columns: list[str] = strawberry.field(description="The names of the columns")
    rows: list[Json] = strawberry.field(
        description="Each row is a list in the order of the columns. A node is an object with `id`, `labels` and "
        "`properties`, a relationship one with `id`, `type`, `from`, `to` and `properties`, a path one with `nodes` "
        "and `relationships`; moments and durations are ISO 8601 texts"
    )
    truncated: bool = strawberry.field(description="Whether there are more rows than `limit`")
    plan: list[CypherStep] = strawberry.field(
        description="The operators, first to work first, when the query began with EXPLAIN or PROFILE; else empty"
    )
    explanation: str | None = strawberry.field(description="The plan as a table for people; null without a plan")
    duration_ms: float = strawberry.field(description="How long it took, in milliseconds")

    @strawberry.field(description="Nodes and relationships anywhere in the rows, each once; links between them only")
    async def graph(self, info: Info) -> WorkingGraph:
        async with info.context.system.session_at(self.at) as session:
            drawn = Mapper(await ontologies_of(session)).result(self.found.rows)
        drop_dangling(drawn)
        return Showing(info.context, self.at).graph(drawn)


@strawberry.type
class CypherQuery:
    @strawberry.field(
        description="The answer to an openCypher query that only reads; EXPLAIN before it shows the plan, "
        "PROFILE shows the plan with row counts"
    )
    async def cypher(
        self,
        info: Info,
        query: str,
        params: Json | None = None,
        limit: int | None = 1_000,
        view: CypherView = CypherView.GRAPH,
        at: At | None = None,
    ) -> CypherResult:
        began = time.perf_counter()
        found = await cypher.ask(
            info.context.system,
            query,
            params,  # type: ignore[arg-type]
            principal=info.context.principal,
            limit=limit,
            view=view.name,
            at=moment_of(at),
            limits=LIMITS,
        )
        return shown_result(found, moment_of(at), (time.perf_counter() - began) * 1_000)


def shown_result(found: cypher.Result, at: KernelAt | None, took: float) -> CypherResult:
    """An answer as GraphQL shows it."""
    return CypherResult(
        found=found,
        at=at,
        columns=list(found.columns),
        rows=[Json(row) for row in cypher.json_rows(found)],
        truncated=found.truncated,
        plan=[shown_step(step) for step in found.plan],
        explanation=cypher.as_table(found.plan) if found.plan else None,
        duration_ms=took,
    )


def shown_step(step: cypher.PlanStep) -> CypherStep:
    return CypherStep(
        operator=step.operator, details=step.details, depth=step.depth, rows=step.rows, statement=step.statement
    )
