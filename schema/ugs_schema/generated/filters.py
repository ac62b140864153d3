"""Translates the `where` arguments of generated schemas to conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.identity import is_identifier
from ugs.ontology.properties import PropertyDefinition
from ugs.reads.filters import EVERYTHING, Compare, Linked, Not, Op, Property, Where, all_of, any_of, eq, in_
from ugs.values import check_key, check_value
from ugs_schema.generated.names import Kind, Naming, Side
from ugs_schema.graph.list_arguments import MAX_CONDITIONS, build_null_where, check_depth, check_related

PROPERTIES_FIELD = "properties_text"
TEXT_OPS = {"contains": Op.CONTAINS, "startsWith": Op.STARTS, "endsWith": Op.ENDS}
ORDER_OPS = {"lt": Op.LT, "lte": Op.LE, "gt": Op.GT, "gte": Op.GE}
COMPARE_OPS = {"eq": Op.EQ, "ne": Op.NE, **ORDER_OPS, **TEXT_OPS}
TIMES = ("created", "modified")


def build_where(naming: Naming, kind: Kind, conditions: Mapping[str, Any] | None) -> Where:
    """Translate a `where` argument."""
    if not conditions:
        return EVERYTHING
    where = _WhereBuilder(naming, kind).build(conditions)
    check_related(where)
    return where


class _WhereBuilder:
    """Translates one argument and limits its total number of conditions."""

    def __init__(self, naming: Naming, kind: Kind, depth: int = 0) -> None:
        self.naming, self.kind, self.count = naming, kind, 0
        self.depth = check_depth(depth)

    def build(self, conditions: Mapping[str, Any]) -> Where:
        return all_of(
            *(
                part
                for name, value in conditions.items()
                if value is not None
                for part in self._build_parts(name, value)
            )
        )

    def _build_parts(self, name: str, value: Any) -> Iterator[Where]:
        self.count += 1
        if self.count > MAX_CONDITIONS:
            raise LimitExceeded(f"a filter has at most {MAX_CONDITIONS} conditions", limit=MAX_CONDITIONS)
        if name in self.kind.properties:
            yield from self._build_property(self.kind.properties[name], value)
        elif name in self.kind.sides:
            yield from self._build_related(self.kind.sides[name], value)
        elif name == "id":
            yield in_("id", [id for id in value if is_identifier(id)])
        elif name in TIMES:
            yield from (Compare(name, COMPARE_OPS[op], moment) for op, moment in value.items() if moment is not None)
        elif name == "match":
            yield from self._build_match(value)
        else:
            yield self._combine(name, value)

    def _build_related(self, side: Side, values: Mapping[str, Any]) -> Iterator[Where]:
        relation, end = ("outgoing", "target_node") if side.outgoing else ("incoming", "source_node")
        (kind,) = self.naming.ends(side)
        inner = _WhereBuilder(self.naming, kind, self.depth + 1)

        def build_link(far: Where) -> Where:
            return Linked(relation, all_of(eq("type", side.link.type.name), Linked(end, eq("type", kind.type) & far)))

        if values.get("some") is not None:
            yield build_link(inner.build(values["some"]))
        if values.get("none") is not None:
            yield Not(build_link(inner.build(values["none"])))
        if values.get("every") is not None:
            yield Not(build_link(Not(inner.build(values["every"]))))

    def _combine(self, name: str, value: Any) -> Where:
        if name == "not":
            return Not(self.build(value))
        return (all_of if name == "and" else any_of)(*(self.build(one) for one in value))

    def _build_match(self, value: Any) -> Iterator[Where]:
        if not isinstance(value, dict):
            raise InvalidSyntax("match takes an object of properties and the values they must have")
        for key, wanted in value.items():
            yield Property(PROPERTIES_FIELD, check_key(key), Op.EQ, wanted)

    def _build_property(self, definition: PropertyDefinition, conditions: Mapping[str, Any]) -> Iterator[Where]:
        for op, value in conditions.items():
            if op == "isNull":
                if value is not None:
                    yield build_null_where(definition.name, value)
            elif op == "exists":
                exists = Property(PROPERTIES_FIELD, definition.name, Op.EXISTS)
                yield exists if value is not False else Not(exists)
            elif op == "in":
                values = tuple(value or ())
                check_value(list(values))
                yield Property(PROPERTIES_FIELD, definition.name, Op.IN, values)
            else:
                check_value(value)
                yield Property(PROPERTIES_FIELD, definition.name, COMPARE_OPS[op], value)
