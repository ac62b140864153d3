"""Encodes rows as properties of nodes and relationships, with the values derived for indexes."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from ugs.reads.filters import Matcher, matcher
from ugs.tables import Arc, Kind, Row, Unique
from ugs.values import from_text, to_text, whole
from ugs_backends.neo4j.indexes.fulltext_terms import list_terms
from ugs_backends.neo4j.layout import MORE, TERMS, Layout, is_label, to_native_properties

RELATED = "RELATED"
"""The relationship type of edges without a type, or with one that tools of Neo4j could not quote."""
TABLE = "_table"
"""The property that marks a relationship as ours and names its table."""
MAX_RULE_LENGTH = 512


class RecordEncoder:
    """Encodes the rows of one table."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._rules: list[tuple[Unique, Matcher]] = [(rule, matcher(rule.when)) for rule in layout.table.unique]

    def record(self, row: Row) -> dict[str, Any]:
        """All properties of the node that holds the row."""
        layout = self.layout
        properties = {
            column: value
            for name, column in layout.columns.items()
            if (value := layout.encode_value(name, getattr(row, name))) is not None
        }
        if layout.vertex is not None:
            self._encode_properties(properties, getattr(row, layout.vertex.properties))
        if terms := list_terms(layout.table, row):
            properties[TERMS] = terms
        properties |= {name: kept for name, kept in self.unique_values(row).items() if kept is not None}
        return properties

    def unique_values(self, row: Row) -> dict[str, str | None]:
        """The properties that uniqueness constraints check; None where a constraint does not apply to the row."""
        return {
            self.layout.rule_property(rule): encode_rule_value(rule, row) if holds(row) else None
            for rule, holds in self._rules
        }

    def _encode_properties(self, properties: dict[str, Any], text: str) -> None:
        if text == "{}":
            return
        native, more = to_native_properties(self.layout, from_text(text))
        properties.update(native)
        if more:
            properties[MORE] = more

    def labels(self, row: Row) -> list[str]:
        """The labels of a vertex besides the internal one."""
        label = getattr(row, self.layout.vertex.label) if self.layout.vertex else None
        return [label] if is_label(label) else []


def encode_rule_value(rule: Unique, row: Row) -> str | None:
    """A text that is equal for two rows exactly if they agree in the fields of a constraint; None: no collision."""
    values = [getattr(row, name) for name in rule.fields]
    if None in values:
        return None
    text = to_text([whole(value) if isinstance(value, float) else value for value in values])
    # Indexed values have a size limit; collisions of a 256-bit digest are negligible.
    return text if len(text) <= MAX_RULE_LENGTH else blake2b(text.encode(), digest_size=32).hexdigest()


class Relationship:
    """Encodes the rows of an arc table as relationships."""

    def __init__(self, layout: Layout, arc: Arc) -> None:
        self.layout = layout
        self.arc = arc
        hidden = {arc.source, arc.target, arc.label, arc.properties, *layout.table.key}
        self._shown = [
            field for field in layout.table.fields if field.name not in hidden and field.kind is not Kind.JSON
        ]

    def type(self, row: Row) -> str:
        label = getattr(row, self.arc.label)
        return label if is_label(label) else RELATED

    def ends(self, row: Row) -> tuple[str, str]:
        """The stored keys of both vertices."""
        layout, arc = self.layout, self.arc
        return (
            layout.encode_value(arc.source, getattr(row, arc.source)),
            layout.encode_value(arc.target, getattr(row, arc.target)),
        )

    def shape(self, row: Row) -> tuple[str, str, str]:
        """What cannot change in a relationship: its type and its ends."""
        return (self.type(row), *self.ends(row))

    def properties(self, row: Row) -> dict[str, Any]:
        """The properties of the relationship: keys of users, and our columns with a leading `_`."""
        layout, arc = self.layout, self.arc
        label, text = getattr(row, arc.label), getattr(row, arc.properties)
        native, more = to_native_properties(layout, from_text(text))
        shown = {
            f"_{field.stored_as}": layout.encode_value(field.name, getattr(row, field.name)) for field in self._shown
        }
        # Graph algorithms expect a plain `weight`; a user's own key of that name takes precedence.
        plain = {field.stored_as: shown[f"_{field.stored_as}"] for field in self._shown if field.kind is Kind.REAL}
        exact = {"_properties": text} if more else {}
        odd = {"_type": label} if label is not None and not is_label(label) else {}
        untyped = {"_untyped": True} if label is None else {}
        key = layout.encode_key(layout.table.key_of(row))
        return {**plain, **native, **shown, **exact, **odd, **untyped, **key, TABLE: layout.table.name}
