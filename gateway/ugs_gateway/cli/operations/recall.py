"""What the memory holds about a question."""

from __future__ import annotations

from datetime import UTC

from ugs_gateway.cli.clients import GraphClient, RecallQuestion
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.operations.queries import parse_moment
from ugs_gateway.cli.output.results import Answer

KINDS = ("fact", "note", "passage", "node")


async def recall(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Facts that hold, notes, passages and nodes that answer a question, best first.

    All items together have at most --budget tokens (2000), and there are at most --limit of them (20). --as-of asks for
    the facts that held at a time; --scope and --kind (fact, note, passage, node) narrow the items.
    """
    options = arguments.options
    moment = parse_moment(options["as-of"], "--as-of").astimezone(UTC) if "as-of" in options else None
    found = await client.recall(
        RecallQuestion(
            query=" ".join([arguments.words["question"], *arguments.rest]),
            budget=arguments.number("budget"),
            limit=arguments.number("limit"),
            as_of=None if moment is None else moment.isoformat().replace("+00:00", "Z"),
            scopes=[options["scope"]] if "scope" in options else None,
            kinds=[parse_choice(options["kind"], KINDS, "kind")] if "kind" in options else None,
        )
    )
    left = {"code": "OMITTED", "message": f"{found['omitted']} more items match: raise --budget or --limit"}
    rows = [{key: item[key] for key in ("kind", "text", "why", "id")} for item in found["items"]]
    return Answer("rows", found, rows, (left,) if found["omitted"] else ())
