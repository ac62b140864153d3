"""From rows to what is written: the properties of a node or a relationship, with everything derived from the row."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from backends.neo4j.layout import MORE, TERMS, Layout, is_label, native_properties
from backends.neo4j.terms import terms_of
from ugs.catalog import Arc, Kind, Row, Unique
from ugs.reads.where import Matcher, matcher
from ugs.values import from_text, to_text, whole

RELATED = "RELATED"
"""The relationship type of edges that have none, or one that Neo4j's tools could not write down."""
TABLE = "_table"
"""Marks a relationship as ours, and says which table it shows."""
LONGEST_RULE = 512


class Recorder:
    """Makes records of one table's rows."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._rules: list[tuple[Unique, Matcher]] = [(rule, matcher(rule.when)) for rule in layout.table.unique]

    def record(self, row: Row) -> dict[str, Any]:
        """All properties of the node that holds the row."""
        layout = self.layout
        properties = {
            column: value
            for name, column in layout.columns.items()
            if (value := layout.stored(name, getattr(row, name))) is not None
        }
        if layout.vertex is not None:
            self._lay_open(properties, getattr(row, layout.vertex.properties))
        if terms := terms_of(layout.table, row):
            properties[TERMS] = terms
        for rule, holds in self._rules:
            if holds(row) and (kept := agreement(rule, row)) is not None:
                properties[layout.rule_property(rule)] = kept
        return properties

    def _lay_open(self, properties: dict[str, Any], text: str) -> None:
        if text == "{}":
            return
        native, more = native_properties(self.layout, from_text(text))
        properties.update(native)
        if more:
            properties[MORE] = more

    def labels(self, row: Row) -> list[str]:
        """The labels a vertex shows beside the internal one."""
        label = getattr(row, self.layout.vertex.label) if self.layout.vertex else None
        return [label] if is_label(label) else []


def agreement(rule: Unique, row: Row) -> str | None:
    """A text that is equal exactly when two rows agree in the fields of a rule; None: agrees with no row."""
    values = [getattr(row, name) for name in rule.fields]
    if None in values:
        return None
    text = to_text([whole(value) if isinstance(value, float) else value for value in values])
    # Indexed values have a size limit; a digest of this strength does not meet itself by accident.
    return text if len(text) <= LONGEST_RULE else blake2b(text.encode(), digest_size=32).hexdigest()


class Relationship:
    """How the rows of an arc table look as relationships."""

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
            layout.stored(arc.source, getattr(row, arc.source)),
            layout.stored(arc.target, getattr(row, arc.target)),
        )

    def shape(self, row: Row) -> tuple[str, str, str]:
        """What a relationship cannot change without being made anew."""
        return (self.type(row), *self.ends(row))

    def properties(self, row: Row) -> dict[str, Any]:
        """What a person sees on the relationship: their own keys, then ours, marked by `_`."""
        layout, arc = self.layout, self.arc
        label, text = getattr(row, arc.label), getattr(row, arc.properties)
        native, more = native_properties(layout, from_text(text))
        shown = {f"_{field.stored_as}": layout.stored(field.name, getattr(row, field.name)) for field in self._shown}
        # Algorithms look for a plain `weight`; it gives way to a user's own key of that name.
        plain = {field.stored_as: shown[f"_{field.stored_as}"] for field in self._shown if field.kind is Kind.REAL}
        exact = {"_properties": text} if more else {}
        odd = {"_type": label} if label is not None and not is_label(label) else {}
        untyped = {"_untyped": True} if label is None else {}
        key = layout.stored_key(layout.table.key_of(row))
        return {**plain, **native, **shown, **exact, **odd, **untyped, **key, TABLE: layout.table.name}
