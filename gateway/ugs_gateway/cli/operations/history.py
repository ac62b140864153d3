"""Events and past states (seed §6.4, §7.4)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from ugs.errors import InvalidSyntax
from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_whole_number
from ugs_gateway.cli.input.target import parse_place
from ugs_gateway.cli.operations.traversal import number_or_default
from ugs_gateway.cli.output.results import Answer


async def history(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """The last events, oldest first: 20, or any number you say; with --element those about one id."""
    last = await number_or_default(arguments, "N", client, "history_limit")
    return Answer("events", await client.history(last, arguments.options.get("element")))


async def versions(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Every state that a node or an edge has had."""
    return Answer("versions", await client.versions(arguments.words["id"]))


async def diff(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """What was added, changed and removed between two places in time: positions, or times with their zone.

    Nodes and edges, facts, entities, notes, predicates and ontologies.

    Without a second one, up to now. With --element the change of one id.
    """
    start, text = parse_place(arguments.words["from"], "from"), arguments.get("to")
    end = None if text is None else parse_place(text, "to")
    found = await client.changes(start, end, arguments.options.get("element"))
    shown = [
        {"id": one["id"], "element": one["element"], "change": one["kind"], "fields": ", ".join(one["fields"])}
        for one in found
    ]
    return Answer("rows", found, shown)


async def undo(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Reverse events by new ones: the events at these positions, all or none.

    With --transaction the whole batch that has the event, with --after everything behind the position. --preview shows
    what would change and what stands in the way, and changes nothing. With --key a retry happens once.
    """
    positions = [parse_whole_number(word, "position") for word in (arguments.words["position"], *arguments.rest)]
    chosen = [name for name in ("transaction", "after") if arguments.flag(name)]
    if len(chosen) > 1 or (chosen and len(positions) > 1):
        raise InvalidSyntax("--transaction and --after take one position, and exclude each other")
    selection = chosen[0] if chosen else "events"
    done = await client.undo(selection, positions, arguments.flag("preview"), arguments.options.get("key"))
    return Answer("success", done.value, warnings=tuple(done.warnings))


async def resolve(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """What an address such as `@(alice)` or `@(alice:2)` leads to; one that leads nowhere stays itself."""
    value = await client.resolve(arguments.words["address"])
    return Answer("element" if isinstance(value, dict) else "success", value)


async def watch(arguments: ParsedArguments, client: GraphClient) -> AsyncGenerator[Answer, None]:
    """Events as they happen, one line each, until you stop it or --count events have come."""
    left = arguments.number("count")
    if left == 0:
        return
    async with aclosing(client.follow(arguments.number("after"))) as events:
        async for event in events:
            yield Answer("event", event)
            left = None if left is None else left - 1
            if left == 0:
                return
