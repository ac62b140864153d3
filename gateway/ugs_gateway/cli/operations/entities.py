"""Entities of facts on the command line: duplicates, merges, and what is not the same."""

from __future__ import annotations

from ugs.errors import InvalidSyntax
from ugs.facts.errors import EntityNotFound
from ugs.facts.normalization import is_uuid
from ugs_gateway.cli.clients import GraphClient
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.output.results import Answer

WORDS_OF = {"duplicates": 0, "unmerge": 1, "merge": 2, "apart": 2}
"""How many entities each action takes."""


async def entity(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """List, merge, unmerge or tell apart entities, given by name or id.

    `duplicates` lists pairs that may be the same. `merge` makes the second entity part of the first; with --preview it
    says what that would do. `unmerge` takes the id that the merged entity had. `apart` records that two are not the
    same, so that they are not suggested again.
    """
    action = parse_choice(arguments.words["action"], tuple(WORDS_OF), "action")
    given = [arguments.words[name] for name in ("entity", "other") if name in arguments.words]
    if len(given) != WORDS_OF[action]:
        raise InvalidSyntax(f"entity {action} takes {WORDS_OF[action]} entities, not {len(given)}")
    if arguments.flag("preview") and action != "merge":
        raise InvalidSyntax("--preview goes with merge")
    if action == "duplicates":
        found = await client.duplicates()
        rows = [{"first": one["first"]["name"], "second": one["second"]["name"], "why": one["reason"]} for one in found]
        return Answer("rows", found, rows)
    if action == "unmerge":
        return Answer("success", await client.unmerge(given[0]))
    first, second = [await find_id(name, client) for name in given]
    if action == "merge":
        return Answer("success", {**await client.merge(first, second, arguments.flag("preview")), "merged": second})
    await client.keep_apart(first, second)
    return Answer("success", {"apart": [first, second]})


async def find_id(name: str, client: GraphClient) -> str:
    """The id of an entity given by its id or its name."""
    if is_uuid(name):
        return name
    found = await client.entity(name)
    if found is None:
        raise EntityNotFound(name)
    return str(found["id"])
