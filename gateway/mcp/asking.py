"""The further tool of the profile `extended` that answers openCypher."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from gateway.mcp import inputs, outputs
from gateway.mcp.tool import READS, Json, MemoryTool
from ugs import cypher
from ugs.ontology.api import Memory

MOST_ROWS = 10_000
LIMITS = cypher.Limits(rows=MOST_ROWS)


class Cypher(inputs.Arguments, frozen=True):
    query: Annotated[str, Meta(description="openCypher that only reads, such as MATCH (a:Action) RETURN a LIMIT 10")]
    params: Annotated[dict[str, Any], Meta(description="The values of its $parameters")] | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS, description="So many rows are enough")] = 100
    view: Annotated[
        str, Meta(description="What it looks at", extra_json_schema={"enum": ["GRAPH", "FACTS", "ALL"]})
    ] = "GRAPH"


async def ask(memory: Memory, given: Cypher) -> Json:
    found = await cypher.ask(
        memory.system,
        given.query,
        given.params,
        principal=memory.principal,
        limit=given.limit,
        view=given.view,
        limits=LIMITS,
    )
    return {"columns": list(found.columns), "rows": cypher.json_rows(found), "truncated": found.truncated}


ASKING = (
    MemoryTool(
        "cypher",
        "Ask in openCypher",
        "The answer to an openCypher query over nodes and connections, facts, or both. It changes nothing.",
        Cypher,
        outputs.record(
            {"columns": outputs.TEXTS, "rows": {"type": "array", "items": {"type": "array"}}, "truncated": outputs.FLAG}
        ),
        READS,
        ask,
    ),
)
