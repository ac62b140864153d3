"""Constraints and indexes: created when missing, awaited, never altered.

A new table of the catalog gets its own when the store is opened next. The log node holds the layout version; a newer
one is refused, because this version could not interpret the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from ugs_backends.neo4j.layout import TERMS, Layout, Names

VERSION = 1
"""The layout version of this package."""

SHOW = "SHOW INDEXES YIELD name, state RETURN name, state"
SHOW_OWNERS = "SHOW INDEXES YIELD name, owningConstraint RETURN name, owningConstraint"
AWAIT = "CALL db.awaitIndexes($seconds)"


class Rule(Struct, frozen=True):
    """A constraint or index."""

    name: str
    label: str
    properties: tuple[str, ...]
    kind: str = "index"
    violates: str = ""
    """For uniqueness constraints: the name in error messages."""
    dimension: int = 0
    """For vector indexes: the dimension."""

    @property
    def statement(self) -> str:
        listed = ", ".join(f"n.{name}" for name in self.properties)
        if self.kind == "unique":
            return f"CREATE CONSTRAINT {self.name} IF NOT EXISTS FOR (n:{self.label}) REQUIRE ({listed}) IS UNIQUE"
        if self.kind == "terms":
            return (
                f"CREATE FULLTEXT INDEX {self.name} IF NOT EXISTS FOR (n:{self.label}) ON EACH [{listed}] "
                "OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword', `fulltext.eventually_consistent`: false}}"
            )
        if self.kind == "text":
            return f"CREATE TEXT INDEX {self.name} IF NOT EXISTS FOR (n:{self.label}) ON ({listed})"
        if self.kind == "vector":
            config = f"`vector.dimensions`: {self.dimension}, `vector.similarity_function`: 'cosine'"
            return (
                f"CREATE VECTOR INDEX {self.name} IF NOT EXISTS FOR (n:{self.label}) ON ({listed}) "
                f"OPTIONS {{indexConfig: {{{config}, `vector.quantization.enabled`: false}}}}"
            )
        return f"CREATE INDEX {self.name} IF NOT EXISTS FOR (n:{self.label}) ON ({listed})"


def list_rules(names: Names, layouts: Iterable[Layout], dimension: int = 0) -> list[Rule]:
    """All constraints and indexes of a store."""
    rules = [
        Rule(names.rule("log", "id"), names.log, ("id",), "unique", "log"),
        Rule(names.rule("event", "position"), names.event, ("position",), "unique", "event_position"),
        Rule(names.rule("event", "element"), names.event, ("element", "position")),
    ]
    for layout in layouts:
        rules.extend(_list_table_rules(names, layout))
        if dimension:
            rules.extend(_list_vector_rules(layout, dimension))
    return rules


def _list_vector_rules(layout: Layout, dimension: int) -> Iterator[Rule]:
    for name in layout.vectors:
        index = layout.vector_index(name, dimension)
        yield Rule(index, layout.label, (layout.columns[name],), "vector", dimension=dimension)


def find_stale_indexes(layouts: Iterable[Layout], rules: Iterable[Rule], found: Iterable[str]) -> list[str]:
    """Vector indexes that are no longer configured and would still cost at every write."""
    wanted = {rule.name for rule in rules}
    names = [layout.vector_index(name, "[0-9]+") for layout in layouts for name in layout.vectors]
    return [one for one in found if one not in wanted and any(re.fullmatch(name, one) for name in names)]


def _list_table_rules(names: Names, layout: Layout) -> Iterator[Rule]:
    table, label = layout.table, layout.label
    yield Rule(names.rule(table.name, "key"), label, tuple(layout.key), "unique", f"{table.name}_key")
    if layout.vertex:
        yield Rule(names.rule(table.name, "missing"), layout.missing, ("id",), "unique", f"{table.name}_missing")
    for rule in table.unique:
        kept = (layout.rule_property(rule),)
        yield Rule(layout.constraint(rule), label, kept, "unique", rule.name)
    for fields in dict.fromkeys([rule.fields for rule in table.unique] + [index.fields for index in table.indexes]):
        columns = tuple(layout.columns[name] for name in fields)
        yield Rule(names.rule(table.name, *columns), label, columns)
    for name, (short, _) in layout.searched.items():
        yield Rule(names.rule(table.name, layout.columns[name], "parts"), short, (layout.columns[name],), "text")
    if layout.terms_index:
        yield Rule(layout.terms_index, label, (TERMS,), "terms")
