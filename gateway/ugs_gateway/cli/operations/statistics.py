"""The graph as a whole: how large, what stands out, what is in it (seed §6.4)."""

from __future__ import annotations

from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.input.arguments import ParsedArguments
from ugs_gateway.cli.operations.search import scope_named
from ugs_gateway.cli.operations.traversal import number_or_default
from ugs_gateway.cli.output.results import NODE_KEYS, Answer, list_answer

HUB_KEYS = (*NODE_KEYS, "degree", "incoming", "outgoing")


async def stats(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """How many nodes, edges, node types and property keys there are."""
    return Answer("stats", await client.stats())


async def hubs(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """The nodes with the most edges: the first 10, or any number you say."""
    found = await client.hubs(await number_or_default(arguments, "N", client, "hubs_limit"))
    return Answer("hubs", [{key: hub[key] for key in HUB_KEYS} for hub in found])


async def roots(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Nodes at which no edge arrives."""
    return list_answer(await client.roots())


async def properties(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """All property keys that nodes have."""
    return Answer("names", await client.property_keys())


async def scopes(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """The scopes in use, with how much is in them."""
    return Answer("rows", await client.scopes())


async def clear_scope(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Delete everything in a scope; the default one only with --force."""
    done = await client.clear_scope(scope_named(arguments.words["scope"]), arguments.flag("force"))
    return Answer("success", done.value, warnings=tuple(done.warnings))
