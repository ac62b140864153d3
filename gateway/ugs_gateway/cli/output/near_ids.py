"""Suggestion of a similar id for an unknown one."""

from __future__ import annotations

from difflib import get_close_matches

from ugs_gateway.cli.clients import GraphClient, Record

MAX_COMPARED_IDS = 5_000
"""The number of nodes, and of edges, that are compared; more would cost more than a hint is worth."""


async def find_near_id(id: str, client: GraphClient) -> str | None:
    """The id of the graph that is most similar to this one, if one is similar enough."""
    known = list[str]()
    for pages in (client.nodes(), client.edges()):
        seen = 0
        async for page in pages:
            known += [element["id"] for element in page]
            seen += len(page)
            if seen >= MAX_COMPARED_IDS:
                break
    close = get_close_matches(id, known, n=1)
    return close[0] if close else None


async def warn_of_near_id(id: str, client: GraphClient) -> Record | None:
    """A warning with the most similar id, or None."""
    close = await find_near_id(id, client)
    return None if close is None else {"code": "W003", "message": f"there is no {id}. Did you mean {close}?"}


async def warn_if_unknown(id: str, client: GraphClient) -> Record | None:
    """The same for an id that the graph may have."""
    return None if await client.element(id) is not None else await warn_of_near_id(id, client)
