"""How large a query may be, checked when its document is first seen and before anything is executed."""

from __future__ import annotations

from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    Lexer,
    OperationDefinitionNode,
    SelectionSetNode,
    Source,
    TokenKind,
    ValidationRule,
    specified_rules,
)
from msgspec import Struct

from ugs.errors import LimitExceeded

INTROSPECTION = ("__schema", "__type")
INTROSPECTION_DEPTH = 20
"""What tools ask about the schema is deep and harmless; only recursion goes deeper than this."""


class Limits(Struct, frozen=True):
    """The most that one document may ask for."""

    characters: int = 65_536
    tokens: int = 1_000
    depth: int = 10
    aliases: int = 15
    directives: int = 50
    cost: int = 5_000
    page: int = 500


USUAL = Limits()


def too_much(reason: str, limit: int, node: Any = None) -> GraphQLError:
    """A refusal that tells the limit."""
    return GraphQLError(reason, node, original_error=LimitExceeded(reason, limit=limit))


def check_tokens(query: str, limits: Limits = USUAL) -> None:
    """Refuse a document that is too long before anything expensive looks at it."""
    if len(query) > limits.characters:
        reason = f"The document has more than {limits.characters} characters; give long values as variables"
        raise too_much(reason, limits.characters)
    lexer = Lexer(Source(query))
    for _ in range(limits.tokens + 1):
        if lexer.advance().kind is TokenKind.EOF:
            return
    raise too_much(f"The document has more than {limits.tokens} tokens", limits.tokens)


def rules_within(limits: Limits) -> Any:
    """The rules of GraphQL behind a rule for these limits, so that bombs never reach the costly ones."""

    class SizeRule(ValidationRule):
        """Depth, aliases and directives of each operation, fragments unfolded."""

        def enter_operation_definition(self, node: OperationDefinitionNode, *_: Any) -> None:
            found = (part for part in self.context.document.definitions if isinstance(part, FragmentDefinitionNode))
            measure = _Measure({part.name.value: part for part in found}, limits)
            measure.walk(node.selection_set, 1, frozenset())
            for error in measure.excesses(node):
                self.report_error(error)

    return [SizeRule, *specified_rules]


class _Measure:
    """Counts while it walks; stops walking once a limit is passed, so that bombs stay small."""

    def __init__(self, fragments: dict[str, FragmentDefinitionNode], limits: Limits) -> None:
        self.fragments, self.limits = fragments, limits
        self.depth = self.aliases = self.directives = self.visited = 0

    def excesses(self, node: OperationDefinitionNode) -> list[GraphQLError]:
        limits = self.limits
        return [
            too_much(f"The query {what.format(size)}; at most {most} are allowed", most, node)
            for what, size, most in (
                ("is nested {} levels deep", self.depth, limits.depth),
                ("has {} aliases", self.aliases, limits.aliases),
                ("has {} directives", self.directives, limits.directives),
            )
            if size > most
        ]

    def walk(self, selection_set: SelectionSetNode, depth: int, inside: frozenset[str]) -> None:
        for node in selection_set.selections:
            self.visited += 1
            if self.visited > 10 * self.limits.tokens or self.depth > self.limits.depth:
                self.depth = max(self.depth, self.limits.depth + 1)
                return
            self.directives += len(node.directives or ())
            self._one(node, depth, inside)

    def _one(self, node: Any, depth: int, inside: frozenset[str]) -> None:
        if isinstance(node, FieldNode):
            self.aliases += node.alias is not None
            if node.name.value in INTROSPECTION:
                depth -= INTROSPECTION_DEPTH - self.limits.depth
            self.depth = max(self.depth, depth)
            if node.selection_set:
                self.walk(node.selection_set, depth + 1, inside)
        elif isinstance(node, FragmentSpreadNode):
            fragment = self.fragments.get(node.name.value)
            if fragment is not None and node.name.value not in inside:
                self.walk(fragment.selection_set, depth, inside | {node.name.value})
        elif node.selection_set:
            self.walk(node.selection_set, depth, inside)
