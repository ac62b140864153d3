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

MOST_TOKENS = 1_000
MOST_DEPTH = 10
MOST_ALIASES = 15
MOST_DIRECTIVES = 50


def check_tokens(query: str) -> None:
    """Refuse a document with too many tokens before anything expensive looks at it."""
    lexer = Lexer(Source(query))
    for _ in range(MOST_TOKENS + 1):
        if lexer.advance().kind is TokenKind.EOF:
            return
    raise GraphQLError(f"The document has more than {MOST_TOKENS} tokens")


class SizeRule(ValidationRule):
    """Depth, aliases and directives of each operation, fragments unfolded."""

    def enter_operation_definition(self, node: OperationDefinitionNode, *_: Any) -> None:
        fragments = {
            found.name.value: found
            for found in self.context.document.definitions
            if isinstance(found, FragmentDefinitionNode)
        }
        measure = _Measure(fragments)
        measure.walk(node.selection_set, 1, frozenset())
        for what, size, most in (
            ("is nested {} levels deep", measure.depth, MOST_DEPTH),
            ("has {} aliases", measure.aliases, MOST_ALIASES),
            ("has {} directives", measure.directives, MOST_DIRECTIVES),
        ):
            if size > most:
                self.report_error(GraphQLError(f"The query {what.format(size)}; at most {most} are allowed", node))


class _Measure:
    """Counts while it walks; stops walking once a limit is passed, so that bombs stay small."""

    def __init__(self, fragments: dict[str, FragmentDefinitionNode]) -> None:
        self.fragments = fragments
        self.depth = self.aliases = self.directives = self.visited = 0

    def walk(self, selection_set: SelectionSetNode, depth: int, inside: frozenset[str]) -> None:
        for node in selection_set.selections:
            self.visited += 1
            if self.visited > 10 * MOST_TOKENS or self.depth > MOST_DEPTH:
                self.depth = max(self.depth, MOST_DEPTH + 1)
                return
            self.directives += len(node.directives or ())
            self._one(node, depth, inside)

    def _one(self, node: Any, depth: int, inside: frozenset[str]) -> None:
        if isinstance(node, FieldNode):
            if node.name.value in ("__schema", "__type"):
                return
            self.aliases += node.alias is not None
            self.depth = max(self.depth, depth)
            if node.selection_set:
                self.walk(node.selection_set, depth + 1, inside)
        elif isinstance(node, FragmentSpreadNode):
            fragment = self.fragments.get(node.name.value)
            if fragment is not None and node.name.value not in inside:
                self.walk(fragment.selection_set, depth, inside | {node.name.value})
        elif node.selection_set:
            self.walk(node.selection_set, depth, inside)


RULES: Any = [SizeRule, *specified_rules]
