"""The root field `cypher`: openCypher queries over the graph, the facts, or both."""

from __future__ import annotations

import time
from enum import Enum

import strawberry

from ugs import cypher
from ugs.cypher import api as cypher_api
from ugs.errors import AnswerTooLarge
from ugs.log.at import At as KernelAt
from ugs.programs.execution.graph_mapper import Mapper, map_rows, ontologies_of
from ugs.programs.execution.operators import drop_dangling
from ugs_schema.compiler.graphql_executor import BUDGET
from ugs_schema.context import Info
from ugs_schema.graph.time_travel import At, parse_at
from ugs_schema.programs.types import ResultMapper, WorkingGraph
from ugs_schema.scalars import Json

MAX_ROWS = 10_000
"""The most rows of one answer; larger results are read with SKIP and LIMIT."""
LIMITS = cypher.Limits(rows=MAX_ROWS)


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
    statement: str | None = strawberry.field(
        description="What the store is sent, when it is asked at once; else null, and for admins only"
    )


@strawberry.type(description="A remark about a query that does not change its answer")
class CypherNotification:
    code: str = strawberry.field(
        description="OPTION_IGNORED, HINT_IGNORED, DEPRECATED, CARTESIAN_PRODUCT or ID_PROPERTY"
    )
    message: str = strawberry.field(description="The remark")
    line: int = strawberry.field(description="The line of the query, from 1")
    column: int = strawberry.field(description="The column of the query, from 1")


@strawberry.type(description="The answer to an openCypher query")
class CypherResult:
    result: strawberry.Private[cypher.Result]
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
    notifications: list[CypherNotification] = strawberry.field(
        description="Remarks: ignored options and hints, deprecated syntax, cartesian products, properties named id"
    )

    @strawberry.field(description="Nodes and relationships anywhere in the rows, each once; links between them only")
    async def graph(self, info: Info) -> WorkingGraph:
        async with info.context.system.session_at(self.at) as session:
            mapper = Mapper(await ontologies_of(session))
        drawn = await map_rows(self.result, mapper.to_working_graph)
        drop_dangling(drawn)
        return ResultMapper(info.context, self.at).graph(drawn)


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
        result = await cypher_api.ask(
            info.context.system,
            query,
            params,  # type: ignore[arg-type]
            principal=info.context.principal,
            limit=limit,
            view=view.name,
            at=parse_at(at),
            limits=LIMITS,
        )
        return await to_graphql_result(result, parse_at(at), (time.perf_counter() - began) * 1_000)


async def to_graphql_result(result: cypher.Result, at: KernelAt | None, duration_ms: float) -> CypherResult:
    """The GraphQL object of a query result."""
    budget = BUDGET.get()
    try:
        rows = await cypher_api.encode_rows(result, budget.left)
    except AnswerTooLarge:
        budget.check(budget.left + 1)
        raise
    return CypherResult(
        result=result,
        at=at,
        columns=list(result.columns),
        rows=[Json(row) for row in rows],
        truncated=result.truncated,
        plan=[to_graphql_step(step) for step in result.plan],
        explanation=cypher.as_table(result.plan) if result.plan else None,
        duration_ms=duration_ms,
        notifications=[to_graphql_notification(one) for one in result.notifications],
    )


def to_graphql_notification(notification: cypher.Notification) -> CypherNotification:
    return CypherNotification(
        code=notification.code,
        message=notification.message,
        line=notification.line,
        column=notification.column,
    )


def to_graphql_step(step: cypher.PlanStep) -> CypherStep:
    return CypherStep(
        operator=step.operator, details=step.details, depth=step.depth, rows=step.rows, statement=step.statement
    )
