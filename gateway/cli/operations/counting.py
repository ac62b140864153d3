"""The graph as a whole: how large, what stands out, what is in it (seed §6.4)."""

from __future__ import annotations

from gateway.cli.answers import NODE_KEYS, Answer, list_answer
from gateway.cli.operations.finding import scope_named
from gateway.cli.operations.walking import number_or_usual
from gateway.cli.ports import Port
from gateway.cli.usage import Asked

MOST = 500
"""Hubs that a gateway tells at once; a store here would tell more, and both shall answer alike."""
HUB_KEYS = (*NODE_KEYS, "degree", "incoming", "outgoing")


async def stats(asked: Asked, port: Port) -> Answer:
    """How many nodes, edges, node types and property keys there are."""
    return Answer("stats", await port.stats())


async def hubs(asked: Asked, port: Port) -> Answer:
    """The nodes with the most edges: the first 10, or as many as you say."""
    found = await port.hubs(await number_or_usual(asked, "N", port, "hubs_limit", MOST))
    return Answer("hubs", [{key: hub[key] for key in HUB_KEYS} for hub in found])


async def roots(asked: Asked, port: Port) -> Answer:
    """Nodes at which no edge arrives."""
    return list_answer(await port.roots())


async def properties(asked: Asked, port: Port) -> Answer:
    """All property keys that nodes have."""
    return Answer("names", await port.property_keys())


async def scopes(asked: Asked, port: Port) -> Answer:
    """The scopes in use, with how much is in them."""
    return Answer("rows", await port.scopes())


async def clear_scope(asked: Asked, port: Port) -> Answer:
    """Delete everything in a scope; the default one only with --force."""
    done = await port.clear_scope(scope_named(asked.words["scope"]), asked.flag("force"))
    return Answer("success", done.value, warnings=tuple(done.warnings))
