"""Adding, getting, changing and deleting nodes and edges (seed §6.1, §6.2)."""

from __future__ import annotations

from ugs.errors import InvalidJSON, InvalidSyntax
from ugs_gateway.cli.clients import GraphClient, Record
from ugs_gateway.cli.input.arguments import ParsedArguments, parse_whole_number
from ugs_gateway.cli.input.property_arguments import is_property, parse_properties
from ugs_gateway.cli.lazy_imports import parse_json
from ugs_gateway.cli.output.near_ids import warn_of_near_id
from ugs_gateway.cli.output.results import Answer, element_answer


async def add_node(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Create a node.

    A word with `=` is a property, the first other word is the type: `add-node alice person name="Alice"`.
    """
    bare, properties = _bare_and_properties([*_property_words(arguments, "type"), *arguments.rest], "type")
    done = await client.add_node(arguments.words["id"], bare[0] if bare else None, properties, _data(arguments))
    return element_answer(done.value, done.warnings)


async def add_edge(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Create an edge from one node to another.

    A lone number after the nodes is the weight. Nodes that do not exist are a warning, not an error.
    """
    bare, properties = _bare_and_properties(
        [*_property_words(arguments, "type", "weight"), *arguments.rest], "type", "weight"
    )
    type, weight = _type_and_weight(bare)
    ends = arguments.words["from"], arguments.words["to"]
    done = await client.add_edge(arguments.words["id"], ends, type, weight, properties)
    return element_answer(done.value, done.warnings)


async def get(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """The node or edge with an id; null when there is none. With --all also its version."""
    id = arguments.words["id"]
    element = await client.element(id)
    warning = await warn_of_near_id(id, client) if element is None else None
    return element_answer(element, () if warning is None else (warning,), arguments.flag("all"))


async def update(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Change properties of a node or an edge, and with options its type, data or weight."""
    properties = parse_properties(arguments.rest)
    changes: Record = {
        "properties": properties.changed,
        "append": properties.append_requests,
        "remove": list(properties.removed),
    }
    if "type" in arguments.options:
        changes["type"] = arguments.options["type"] or None
    if "data" in arguments.options:
        changes["data"] = _data(arguments)
    if "weight" in arguments.options:
        changes["weight"] = _weight(arguments.options["weight"])
    if "expected-version" in arguments.options:
        changes["expected_version"] = parse_whole_number(arguments.options["expected-version"], "expected-version")
    done = await client.update(arguments.words["id"], changes)
    return element_answer(done.value, done.warnings)


async def delete(arguments: ParsedArguments, client: GraphClient) -> Answer:
    """Remove a node with all its edges, or an edge."""
    done = await client.delete(arguments.words["id"])
    return Answer("deleted", done.value, warnings=tuple(done.warnings))


def _property_words(arguments: ParsedArguments, *names: str) -> list[str]:
    return [arguments.words[name] for name in names if name in arguments.words]


def _bare_and_properties(words: list[str], *names: str) -> tuple[list[str], Record]:
    """The words that are no properties, at most as many as names, and the properties of a new element."""
    bare = [word for word in words if not is_property(word) or ("weight" in names and _is_number(word))]
    if len(bare) > len(names):
        raise InvalidSyntax(f"{bare[len(names)]!r} is not understood: after {' and '.join(names)} come properties")
    told = parse_properties(word for word in words if word not in bare)
    return bare, told.for_new_element


def _type_and_weight(bare: list[str]) -> tuple[str | None, float]:
    if len(bare) == 2:
        return bare[0], _weight(bare[1])
    if bare and _is_number(bare[0]):
        return None, _weight(bare[0])
    return (bare[0] if bare else None), 1


def _is_number(word: str) -> bool:
    try:
        return isinstance(parse_json(word), int | float) and word not in ("true", "false")
    except InvalidJSON:
        return False


def _weight(word: str) -> float:
    if not _is_number(word):
        raise InvalidSyntax(f"the weight must be a number, got {word!r}")
    weight: float = parse_json(word)
    return weight


def _data(arguments: ParsedArguments) -> object:
    return parse_json(arguments.options["data"]) if "data" in arguments.options else None
