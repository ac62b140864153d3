"""Validation rules merged into one, so that validating a new document costs less.

graphql-core asks every rule for its functions for every kind of node, anew for each document: with thirty rules, of
which most look at one kind or two, that is a third of the time. Here a table of the functions is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from graphql import ASTValidationRule, Node, ValidationContext
from graphql.language.visitor import BREAK, SKIP, EnterLeaveVisitor

Handlers = tuple[tuple[int, str], ...]
"""The numbers of rules with the names of their functions."""
Function = Callable[..., Any]


def merge_rules(rules: Iterable[type[ASTValidationRule]]) -> type[ASTValidationRule]:
    """One rule that reports what these rules report, in the same order."""
    parts = tuple(rules)
    tables: dict[str, tuple[Handlers, Handlers]] = {}

    def find_handlers(kind: str) -> tuple[Handlers, Handlers]:
        found = tables.get(kind)
        if found is None:
            found = tables[kind] = _list_handlers(parts, "enter", kind), _list_handlers(parts, "leave", kind)
        return found

    class MergedRules(ASTValidationRule):
        """The state of one validation."""

        def __init__(self, context: ValidationContext) -> None:
            super().__init__(context)
            self.rules = [rule(context) for rule in parts]
            self.skipping: list[Any] = [None] * len(parts)
            """For each rule the node whose children it skips, or BREAK when it has seen enough."""

        def get_enter_leave_for_kind(self, kind: str) -> EnterLeaveVisitor:
            found = self.enter_leave_map.get(kind)
            if found is None:
                enters, leaves = (self._bind(handlers) for handlers in find_handlers(kind))
                enter = self._make_enter(enters) if enters else None
                leave = self._make_leave(leaves) if enters or leaves else None
                found = self.enter_leave_map[kind] = EnterLeaveVisitor(enter, leave)
            return found

        def _bind(self, handlers: Handlers) -> list[tuple[int, Function]]:
            return [(number, getattr(self.rules[number], name)) for number, name in handlers]

        def _make_enter(self, functions: list[tuple[int, Function]]) -> Function:
            skipping = self.skipping

            def enter(node: Node, *where: Any) -> Any:
                for number, function in functions:
                    if skipping[number] is None:
                        result = function(node, *where)
                        if result is not None:
                            _note(skipping, number, result, node)

            return enter

        def _make_leave(self, functions: list[tuple[int, Function]]) -> Function:
            skipping = self.skipping

            def leave(node: Node, *where: Any) -> Any:
                for number, function in functions:
                    if skipping[number] is None:
                        result = function(node, *where)
                        if result is BREAK or result is True:
                            skipping[number] = BREAK
                for number, at in enumerate(skipping):
                    if at is node:
                        skipping[number] = None

            return leave

    return MergedRules


def _list_handlers(rules: tuple[type[ASTValidationRule], ...], when: str, kind: str) -> Handlers:
    names = ((number, rule, f"{when}_{kind}") for number, rule in enumerate(rules))
    found = ((number, name if hasattr(rule, name) else when, rule) for number, rule, name in names)
    return tuple((number, name) for number, name, rule in found if hasattr(rule, name))


def _note(skipping: list[Any], number: int, result: Any, node: Node) -> None:
    """Note that a rule skips the children of a node, or has seen enough; rules edit nothing."""
    if result is SKIP or result is False:
        skipping[number] = node
    elif result is BREAK or result is True:
        skipping[number] = BREAK
