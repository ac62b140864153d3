"""Partially fetched elements: the fields to fetch for some aspects, and the values built from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ugs.cypher.analysis.field_usage import Aspect, Aspects
from ugs.cypher.engine.view import FIELD, node_labels
from ugs.cypher.values.entities import DEFAULT_TYPE, Node, Relationship
from ugs.reads.pattern import Fields

ValueBuilder = Callable[[Any], Any]
"""Builds a value from a fetched row."""


def node_fields(look: Aspects, plain: bool) -> Fields:
    """The fields of a node for these aspects; `plain`: labels are types and nothing else."""
    if not look:
        return None
    wanted = {Aspect.ID: ["id"], Aspect.LABELS: ["type"] if plain else ["type", FIELD], Aspect.PROPERTIES: [FIELD]}
    return tuple(dict.fromkeys(field for aspect in Aspect if aspect in look for field in wanted[aspect]))


def relationship_fields(look: Aspects) -> Fields:
    """The same for a relationship."""
    if not look:
        return None
    wanted = {Aspect.ID: "id", Aspect.LABELS: "type", Aspect.PROPERTIES: FIELD}
    return tuple(wanted[aspect] for aspect in Aspect if aspect in look)


def build_node_reader(fields: tuple[str, ...]) -> ValueBuilder:
    """A function that builds nodes from these fields."""
    if fields == ("id",):
        return lambda values: Node(values[0], (), "{}")
    return _memoize(fields, lambda id="", type=None, properties_text="{}": _build_node(id, type, properties_text))


def _build_node(id: str, type: str | None, text: str) -> Node:
    return Node(id, node_labels(type, text), text)


def build_relationship_reader(fields: tuple[str, ...]) -> ValueBuilder:
    """A function that builds relationships from these fields."""
    return _memoize(
        fields,
        lambda id="", type=None, properties_text="{}": Relationship(id, type or DEFAULT_TYPE, "", "", properties_text),
    )


def _memoize(fields: tuple[str, ...], make: Callable[..., Any]) -> ValueBuilder:
    """Cache built values by their fields, so that properties are decoded once."""
    known: dict[tuple[Any, ...], Any] = {}

    def read(values: tuple[Any, ...]) -> Any:
        found = known.get(values)
        if found is None:
            found = known[values] = make(**dict(zip(fields, values, strict=True)))
        return found

    return read
