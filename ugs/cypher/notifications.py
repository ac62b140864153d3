"""Notifications: remarks about a query that do not change its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ugs.cypher.analysis.tree_walk import pattern_variables, walk
from ugs.cypher.syntax import Match, Notice, PathPattern, Property, Query, RelationshipPattern, Statement, Variable


class Notification(Struct, frozen=True):
    """One remark, with its place in the text."""

    code: str
    """OPTION_IGNORED, HINT_IGNORED, DEPRECATED, CARTESIAN_PRODUCT or ID_PROPERTY."""
    message: str
    line: int
    column: int

    @property
    def placed_message(self) -> str:
        """The message with its place, as messages of errors have it."""
        return f"{self.message} (line {self.line}, column {self.column})"


def find_notifications(statement: Statement, text: str) -> tuple[Notification, ...]:
    """The notifications of a query, in the order of their places."""
    found = [*statement.notices, *_find_products(statement.query), *_find_id_properties(statement.query)]
    return tuple(_place(notice, text) for notice in sorted(found, key=lambda notice: notice.at))


def _place(notice: Notice, text: str) -> Notification:
    before = text[: notice.at]
    return Notification(notice.code, notice.message, before.count("\n") + 1, notice.at - before.rfind("\n"))


def _find_products(query: Query) -> Iterator[Notice]:
    """MATCH clauses whose patterns have no variable in common: every match is combined with every other one."""
    for clause in walk(query):
        if isinstance(clause, Match) and len(_connected(clause.patterns)) > 1 and clause.where is None:
            message = "The patterns are not connected, so each match is combined with each: a cartesian product"
            yield Notice("CARTESIAN_PRODUCT", message, clause.at)


def _connected(patterns: Sequence[PathPattern]) -> list[set[str]]:
    """The groups of patterns that are connected by variables."""
    groups: list[set[str]] = []
    for pattern in patterns:
        names = pattern_variables(pattern) or {f" {len(groups)}"}
        joined = [group for group in groups if group & names]
        groups = [group for group in groups if not group & names] + [names.union(*joined)]
    return groups


def _find_id_properties(query: Query) -> Iterator[Notice]:
    """`n.id` of an element: a property of that name is read, which is not the id of the element."""
    names = {name for node in walk(query) if isinstance(node, PathPattern) for name in _element_names(node)}
    seen: set[str] = set()
    read = [node.subject for node in walk(query) if isinstance(node, Property) and node.key == "id"]
    for subject in sorted(read, key=lambda subject: subject.at):
        if isinstance(subject, Variable) and subject.name in names and subject.name not in seen:
            seen.add(subject.name)
            message = f"{subject.name}.id reads a property named id; the id of the element is id({subject.name})"
            yield Notice("ID_PROPERTY", message, subject.at)


def _element_names(pattern: PathPattern) -> Iterator[str]:
    for element in pattern.elements:
        single = not isinstance(element, RelationshipPattern) or element.length is None
        if element.variable is not None and single:
            yield element.variable
