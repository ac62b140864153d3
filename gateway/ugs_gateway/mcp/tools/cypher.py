"""The tool of the profile `extended` that executes openCypher."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from ugs import cypher
from ugs.cypher import api as cypher_api
from ugs.ontology.api import Memory
from ugs_gateway.mcp import inputs, outputs
from ugs_gateway.mcp.tools.base import READS, Json, MemoryTool

MAX_ROWS = 10_000
LIMITS = cypher.Limits(rows=MAX_ROWS)


class Cypher(inputs.Arguments, frozen=True):
    query: Annotated[str, Meta(description="openCypher that only reads, such as MATCH (a:Action) RETURN a LIMIT 10")]
    params: Annotated[dict[str, Any], Meta(description="The values of its $parameters")] | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_ROWS, description="So many rows are enough")] = 100
    view: Annotated[
        str, Meta(description="What it looks at", extra_json_schema={"enum": ["GRAPH", "FACTS", "ALL"]})
    ] = "GRAPH"


async def run_cypher(memory: Memory, arguments: Cypher) -> Json:
    found = await cypher_api.ask(
        memory.system,
        arguments.query,
        arguments.params,
        principal=memory.principal,
        limit=arguments.limit,
        view=arguments.view,
        limits=LIMITS,
    )
    rows = await cypher_api.render_rows(found)
    notifications = [f"{one.code}: {one.placed_message}" for one in found.notifications]
    return {
        "columns": list(found.columns),
        "rows": rows,
        "truncated": found.truncated,
        "notifications": notifications,
    }


CYPHER_TOOLS = (
    MemoryTool(
        "cypher",
        "Ask in openCypher",
        "The answer to an openCypher query over nodes and connections, facts, or both. It changes nothing.",
        Cypher,
        outputs.record(
            {
                "columns": outputs.TEXTS,
                "rows": {"type": "array", "items": {"type": "array"}},
                "truncated": outputs.FLAG,
                "notifications": outputs.TEXTS,
            }
        ),
        READS,
        run_cypher,
        own_text=lambda given: True,
    ),
)
