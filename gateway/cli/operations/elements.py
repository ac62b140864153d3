"""Adding, getting, changing and deleting nodes and edges (seed §6.1, §6.2)."""

from __future__ import annotations

from gateway.cli.answers import Answer, element_answer
from gateway.cli.kernel import parse_json
from gateway.cli.ports import Port, Record
from gateway.cli.props import is_property, read_properties
from gateway.cli.usage import Asked, whole_number
from ugs.errors import InvalidJSON, InvalidSyntax


async def add_node(asked: Asked, port: Port) -> Answer:
    """Create a node.

    A word with `=` is a property, the first other word is the type: `add-node alice person name="Alice"`.
    """
    bare, properties = _bare_and_properties([*_given(asked, "type"), *asked.rest], "type")
    done = await port.add_node(asked.words["id"], bare[0] if bare else None, properties, _data(asked))
    return element_answer(done.value, done.warnings)


async def add_edge(asked: Asked, port: Port) -> Answer:
    """Create an edge from one node to another.

    A lone number after the nodes is the weight. Nodes that do not exist are a warning, not an error.
    """
    bare, properties = _bare_and_properties([*_given(asked, "type", "weight"), *asked.rest], "type", "weight")
    type, weight = _type_and_weight(bare)
    ends = asked.words["from"], asked.words["to"]
    done = await port.add_edge(asked.words["id"], ends, type, weight, properties)
    return element_answer(done.value, done.warnings)


async def get(asked: Asked, port: Port) -> Answer:
    """The node or edge with an id; null when there is none. With --all also its version."""
    return element_answer(await port.element(asked.words["id"]), all=asked.flag("all"))


async def update(asked: Asked, port: Port) -> Answer:
    """Change properties of a node or an edge, and with options its type, data or weight."""
    properties = read_properties(asked.rest)
    changes: Record = {
        "properties": properties.changed,
        "append": properties.appended,
        "remove": list(properties.removed),
    }
    if "type" in asked.options:
        changes["type"] = asked.options["type"] or None
    if "data" in asked.options:
        changes["data"] = _data(asked)
    if "weight" in asked.options:
        changes["weight"] = _weight(asked.options["weight"])
    if "expected-version" in asked.options:
        changes["expected_version"] = whole_number(asked.options["expected-version"], "expected-version")
    done = await port.update(asked.words["id"], changes)
    return element_answer(done.value, done.warnings)


async def delete(asked: Asked, port: Port) -> Answer:
    """Remove a node with all its edges, or an edge."""
    done = await port.delete(asked.words["id"])
    return Answer("deleted", done.value, warnings=tuple(done.warnings))


def _given(asked: Asked, *names: str) -> list[str]:
    return [asked.words[name] for name in names if name in asked.words]


def _bare_and_properties(words: list[str], *names: str) -> tuple[list[str], Record]:
    """Words that are no properties, of which there may be as many as names, and the properties of a new element."""
    bare = [word for word in words if not is_property(word) or _is_number(word)]
    if len(bare) > len(names):
        raise InvalidSyntax(f"{bare[len(names)]!r} is not understood: after {' and '.join(names)} come properties")
    told = read_properties(word for word in words if word not in bare)
    return bare, {**told.changed, **{key: [value] for key, value in told.appended.items()}}


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


def _data(asked: Asked) -> object:
    return parse_json(asked.options["data"]) if "data" in asked.options else None
