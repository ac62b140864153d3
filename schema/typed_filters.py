"""Conditions on the nodes of one type, as clients of a generated schema write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from schema.filters import MOST_CONDITIONS
from schema.typed_names import Kind
from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.identity import is_identifier
from ugs.ontology.properties import PropertyDefinition
from ugs.reads.where import EVERYTHING, Compare, Not, Op, Property, Where, all_of, any_of, in_
from ugs.values import check_key, check_value

PROPERTIES = "properties_text"
TEXT_OPS = {"contains": Op.CONTAINS, "startsWith": Op.STARTS, "endsWith": Op.ENDS}
ORDER_OPS = {"lt": Op.LT, "lte": Op.LE, "gt": Op.GT, "gte": Op.GE}
OPS = {"eq": Op.EQ, "ne": Op.NE, **ORDER_OPS, **TEXT_OPS}
TIMES = ("created", "modified")


def where_of(kind: Kind, given: Mapping[str, Any] | None) -> Where:
    """The condition that a `where` argument means."""
    return _Reading(kind).all(given or {}) if given else EVERYTHING


class _Reading:
    """Reads one argument; the whole of it may have only so many conditions."""

    def __init__(self, kind: Kind) -> None:
        self.kind, self.count = kind, 0

    def all(self, given: Mapping[str, Any]) -> Where:
        return all_of(
            *(part for name, value in given.items() if value is not None for part in self._parts(name, value))
        )

    def _parts(self, name: str, value: Any) -> Iterator[Where]:
        self.count += 1
        if self.count > MOST_CONDITIONS:
            raise LimitExceeded(f"a filter has at most {MOST_CONDITIONS} conditions", limit=MOST_CONDITIONS)
        if name in self.kind.properties:
            yield from self._property(self.kind.properties[name], value)
        elif name == "id":
            yield in_("id", [id for id in value if is_identifier(id)])
        elif name in TIMES:
            yield from (Compare(name, OPS[op], moment) for op, moment in value.items() if moment is not None)
        elif name == "match":
            yield from self._match(value)
        else:
            yield self._combined(name, value)

    def _combined(self, name: str, value: Any) -> Where:
        if name == "not":
            return Not(self.all(value))
        return (all_of if name == "and" else any_of)(*(self.all(one) for one in value))

    def _match(self, value: Any) -> Iterator[Where]:
        if not isinstance(value, dict):
            raise InvalidSyntax("match takes an object of properties and the values they must have")
        for key, wanted in value.items():
            yield Property(PROPERTIES, check_key(key), Op.EQ, wanted)

    def _property(self, definition: PropertyDefinition, given: Mapping[str, Any]) -> Iterator[Where]:
        for op, value in given.items():
            if op == "exists":
                there = Property(PROPERTIES, definition.name, Op.EXISTS)
                yield there if value is not False else Not(there)
            elif op == "in":
                values = tuple(value or ())
                check_value(list(values))
                yield Property(PROPERTIES, definition.name, Op.IN, values)
            else:
                check_value(value)
                yield Property(PROPERTIES, definition.name, OPS[op], value)
