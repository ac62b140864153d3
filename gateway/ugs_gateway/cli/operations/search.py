"""Finding nodes by words, type, scope and property (seed §6.3, §12.3)."""

from __future__ import annotations

from ugs.errors import InvalidJSON, InvalidSyntax
from ugs_gateway.cli.clients import GraphClient, SearchQuery, collect_pages
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_choice
from ugs_gateway.cli.lazy_imports import parse_json, scope_names
from ugs_gateway.cli.output.results import Answer, list_answer, select_keys

SCOPE_SUFFIX = ":*"
SEARCH_MODES = ("words", "vector", "hybrid")


async def search(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Nodes that answer a query, best first.

    --mode words (unless told) finds nodes that contain all the words, vector those whose texts are most like the query,
    hybrid goes by both and by the distance in the graph, where --near says from which node. All hits are told, or with
    --limit the best of them.
    """
    limit, scope, near = arguments.number("limit"), arguments.options.get("scope"), arguments.options.get("near")
    if limit is not None and limit < 0:
        raise InvalidSyntax(f"limit must not be negative, got {limit}")
    mode = parse_choice(arguments.options.get("mode", "words"), SEARCH_MODES, "mode")
    if near is not None and mode != "hybrid":
        raise InvalidSyntax("--near goes with --mode hybrid")
    wanted = SearchQuery(
        query=" ".join([arguments.words["query"], *arguments.rest]),
        mode=mode,
        type=arguments.options.get("type"),
        scope=None if scope is None else scope_named(scope),
        near=near,
        limit=limit,
    )
    hits = await client.search(wanted)
    return Answer("hits", [select_keys(hit["node"]) for hit in hits], hits)


async def list_(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """All nodes of a type, or of a scope: `list person`, `list user:*`, `list project:* task`; `list '*'` lists all."""
    word, type = arguments.words["type"], arguments.words.get("of")
    if word.endswith(SCOPE_SUFFIX):
        return list_answer(await collect_pages(client.nodes(type, scope_named(word.removesuffix(SCOPE_SUFFIX)))))
    if type is not None:
        raise InvalidSyntax(f"{type!r} is one word too many: a type follows only a scope, as in list user:* task")
    return list_answer(await collect_pages(client.nodes(None if word == "*" else word)))


def scope_named(name: str) -> str:
    """The scope with this name."""
    if name not in scope_names():
        raise InvalidSyntax(f"there is no scope {name!r}: it is {', '.join(scope_names())}")
    return name


async def find_by_property(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Nodes with a property of this value: the text itself, or the JSON it says (`1`, `true`)."""
    key, text = arguments.words["key"], arguments.words["value"]
    found = {node["id"]: node for node in await client.find_by_property(key, text)}
    value = _as_json(text)
    if not isinstance(value, str):
        found |= {node["id"]: node for node in await client.find_by_property(key, value)}
    return list_answer([found[id] for id in sorted(found)])


def _as_json(text: str) -> object:
    try:
        return parse_json(text)
    except InvalidJSON:
        return text
