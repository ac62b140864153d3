"""Nodes and relationships of which a query sees only some aspects: what is asked for, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher.analysis.aspects import Aspect, Look
from ugs.cypher.engine.view import FIELD, node_labels
from ugs.cypher.values.entities import DEFAULT_TYPE, Node, Relationship
from ugs.reads.pattern import Fields

Maker = Callable[[Any], Any]
"""Makes a value of what a store found."""


def node_fields(look: Look, plain: bool) -> Fields:
    """The fields of a node that show these aspects; `plain`: labels are types and nothing else."""
    if not look:
        return None
    wanted = {Aspect.ID: ["id"], Aspect.LABELS: ["type"] if plain else ["type", FIELD], Aspect.PROPERTIES: [FIELD]}
    return tuple(dict.fromkeys(field for aspect in Aspect if aspect in look for field in wanted[aspect]))


def relationship_fields(look: Look) -> Fields:
    """The same for a relationship."""
    if not look:
        return None
    wanted = {Aspect.ID: "id", Aspect.LABELS: "type", Aspect.PROPERTIES: FIELD}
    return tuple(wanted[aspect] for aspect in Aspect if aspect in look)


def node_maker(fields: tuple[str, ...]) -> Maker:
    """Makes nodes that show these fields and nothing else."""
    if fields == ("id",):
        return lambda values: Node(values[0], (), "{}")
    return _once(fields, lambda id="", type=None, properties_text="{}": _node(id, type, properties_text))


def _node(id: str, type: str | None, text: str) -> Node:
    return Node(id, node_labels(type, text), text)


def relationship_maker(fields: tuple[str, ...]) -> Maker:
    """Makes relationships that show these fields and nothing else."""
    return _once(
        fields,
        lambda id="", type=None, properties_text="{}": Relationship(id, type or DEFAULT_TYPE, "", "", properties_text),
    )


def _once(fields: tuple[str, ...], make: Callable[..., Any]) -> Maker:
    """What looks the same is made once, so that its properties are decoded once."""
    known: dict[tuple[Any, ...], Any] = {}

    def made(values: tuple[Any, ...]) -> Any:
        found = known.get(values)
        if found is None:
            found = known[values] = make(**dict(zip(fields, values, strict=True)))
        return found

    return made
