"""Size limits of documents, checked when a document is first seen and before execution."""

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
from ugs_schema.compiler.lexer import FastLexer
from ugs_schema.compiler.merged_rules import merge_rules

INTROSPECTION = ("__schema", "__type")
INTROSPECTION_DEPTH = 20
"""Tools send deep introspection queries, which are harmless; only recursive ones exceed this depth."""


class Limits(Struct, frozen=True):
    """The limits of one document."""

    characters: int = 65_536
    tokens: int = 1_000
    depth: int = 12
    aliases: int = 15
    directives: int = 50
    cost: int = 15_000
    page: int = 500
    answer_bytes: int = 32 << 20


DEFAULT_LIMITS = Limits()

MAX_DIGITS = 400
"""The longest number literal in a document."""
NUMBERS = (TokenKind.INT, TokenKind.FLOAT)


def make_limit_error(reason: str, limit: int, node: Any = None) -> GraphQLError:
    """An error that names the limit."""
    return GraphQLError(reason, node, original_error=LimitExceeded(reason, limit=limit))


def check_tokens(query: str, limits: Limits = DEFAULT_LIMITS) -> Lexer:
    """Reject a document by length and number of tokens, before it is parsed; returns the lexer at its start, which
    has read every token."""
    if len(query) > limits.characters:
        reason = f"The document has more than {limits.characters} characters; give long values as variables"
        raise make_limit_error(reason, limits.characters)
    lexer = FastLexer(Source(query))
    start = lexer.token
    for _ in range(limits.tokens + 1):
        token = lexer.advance()
        if token.kind is TokenKind.EOF:
            lexer.token = lexer.last_token = start
            return lexer
        if token.end - token.start > MAX_DIGITS and token.kind in NUMBERS:
            raise make_limit_error(f"A number in the document has more than {MAX_DIGITS} digits", MAX_DIGITS)
    raise make_limit_error(f"The document has more than {limits.tokens} tokens", limits.tokens)


def build_rules(limits: Limits) -> Any:
    """The validation rules of the specification, preceded by a rule for these limits."""

    class SizeRule(ValidationRule):
        """Checks depth, aliases and directives of each operation, with fragments expanded."""

        def enter_operation_definition(self, node: OperationDefinitionNode, *_: Any) -> None:
            found = (part for part in self.context.document.definitions if isinstance(part, FragmentDefinitionNode))
            measure = _Measure({part.name.value: part for part in found}, limits)
            measure.walk(node.selection_set, 1, frozenset())
            for error in measure.find_excesses(node):
                self.report_error(error)

    return [merge_rules([SizeRule, *specified_rules])]


class _Measure:
    """Counts while walking; stops when a limit is exceeded, so that nested fragments cannot make it exponential."""

    def __init__(self, fragments: dict[str, FragmentDefinitionNode], limits: Limits) -> None:
        self.fragments, self.limits = fragments, limits
        self.depth = self.aliases = self.directives = self.visited = 0

    def find_excesses(self, node: OperationDefinitionNode) -> list[GraphQLError]:
        limits = self.limits
        return [
            make_limit_error(f"The query {what.format(size)}; at most {limit} are allowed", limit, node)
            for what, size, limit in (
                ("is nested {} levels deep", self.depth, limits.depth),
                ("has {} aliases", self.aliases, limits.aliases),
                ("has {} directives", self.directives, limits.directives),
            )
            if size > limit
        ]

    def walk(self, selection_set: SelectionSetNode, depth: int, inside: frozenset[str]) -> None:
        for node in selection_set.selections:
            self.visited += 1
            if self.visited > 10 * self.limits.tokens or self.depth > self.limits.depth:
                self.depth = max(self.depth, self.limits.depth + 1)
                return
            self.directives += len(node.directives or ())
            self._walk_one(node, depth, inside)

    def _walk_one(self, node: Any, depth: int, inside: frozenset[str]) -> None:
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
