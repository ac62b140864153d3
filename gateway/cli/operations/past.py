"""What happened, and what was (seed §6.4, §7.4)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from gateway.cli.answers import Answer
from gateway.cli.operations.walking import number_or_usual
from gateway.cli.ports import Port
from gateway.cli.usage import Asked

MOST_EVENTS = 500
"""Events that a gateway tells at once; `watch --after N` tells all."""


async def history(asked: Asked, port: Port) -> Answer:
    """The last events, oldest first: 20, or as many as you say; with --element those about one id."""
    last = await number_or_usual(asked, "N", port, "history_limit", MOST_EVENTS)
    return Answer("events", await port.history(last, asked.options.get("element")))


async def versions(asked: Asked, port: Port) -> Answer:
    """Every state that a node or an edge has had."""
    return Answer("versions", await port.versions(asked.words["id"]))


async def resolve(asked: Asked, port: Port) -> Answer:
    """What an address such as `@(alice)` or `@(alice:2)` leads to; one that leads nowhere stays itself."""
    value = await port.resolve(asked.words["address"])
    return Answer("element" if isinstance(value, dict) else "success", value)


async def watch(asked: Asked, port: Port) -> AsyncGenerator[Answer, None]:
    """Events as they happen, one line each, until you stop it or --count events have come."""
    left = asked.number("count")
    if left == 0:
        return
    async with aclosing(port.follow(asked.number("after"))) as events:
        async for event in events:
            yield Answer("event", event)
            left = None if left is None else left - 1
            if left == 0:
                return
