"""Finding nodes by words, type, scope and property (seed §6.3, §12.3)."""

from __future__ import annotations

from gateway.cli.answers import Answer, list_answer, plain
from gateway.cli.kernel import parse_json, scope_names
from gateway.cli.ports import Port, Wanted, gathered
from gateway.cli.usage import Asked, one_of
from ugs.errors import InvalidJSON, InvalidSyntax

USUAL_HITS, MOST_HITS = 100, 500
EVERY = ":*"
SEARCH_MODES = ("words", "vector", "hybrid")


async def search(asked: Asked, port: Port) -> Answer:
    """Nodes that answer a query, best first.

    --mode words (unless told) finds nodes that contain all the words, vector those whose texts are most like the query,
    hybrid goes by both and by the distance in the graph, where --near says from which node.
    """
    limit, scope, near = asked.number("limit", MOST_HITS), asked.options.get("scope"), asked.options.get("near")
    mode = one_of(asked.options.get("mode", "words"), SEARCH_MODES, "mode")
    if near is not None and mode != "hybrid":
        raise InvalidSyntax("--near goes with --mode hybrid")
    wanted = Wanted(
        query=" ".join([asked.words["query"], *asked.rest]),
        mode=mode,
        type=asked.options.get("type"),
        scope=None if scope is None else scope_named(scope),
        near=near,
        limit=USUAL_HITS if limit is None else limit,
    )
    hits = await port.search(wanted)
    return Answer("hits", [plain(hit["node"]) for hit in hits], hits)


async def list_(asked: Asked, port: Port) -> Answer:
    """All nodes of a type, or of a scope: `list person`, `list user:*`, `list project:* task`; `list '*'` lists all."""
    word, type = asked.words["type"], asked.words.get("of")
    if word.endswith(EVERY):
        return list_answer(await gathered(port.nodes(type, scope_named(word.removesuffix(EVERY)))))
    if type is not None:
        raise InvalidSyntax(f"{type!r} is one word too many: a type follows only a scope, as in list user:* task")
    return list_answer(await gathered(port.nodes(None if word == "*" else word)))


def scope_named(name: str) -> str:
    """The scope a word names."""
    if name not in scope_names():
        raise InvalidSyntax(f"there is no scope {name!r}: it is {', '.join(scope_names())}")
    return name


async def find_by_property(asked: Asked, port: Port) -> Answer:
    """Nodes with a property of this value: the text itself, or the JSON it says (`1`, `true`)."""
    key, text = asked.words["key"], asked.words["value"]
    found = {node["id"]: node for node in await port.find_by_property(key, text)}
    value = _as_json(text)
    if not isinstance(value, str):
        found |= {node["id"]: node for node in await port.find_by_property(key, value)}
    return list_answer([found[id] for id in sorted(found)])


def _as_json(text: str) -> object:
    try:
        return parse_json(text)
    except InvalidJSON:
        return text
