"""Rules merged into one report what they report by themselves."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import GraphQLError, ValidationRule, parse, specified_rules, validate
from graphql.language.visitor import BREAK, SKIP
from hypothesis import given, settings
from hypothesis import strategies as st

from ugs_schema import build_schema
from ugs_schema.compiler.merged_rules import merge_rules

CORE = build_schema()._schema
PARTS = [
    "id", "nothing", "label", "...F", "...G", "... on GraphNode { id }", "... on Stats { nodes }", "id: label",
    "outgoing(first: $n) { nodes { id } }", "outgoing(first: true, first: 1)", "property", 'property(key: "k")',
    "outgoing { nodes { toNode { ...F label @skip(if: $yes) } } }", "id @include(if: 1) @include(if: true)", "type @no",
]  # fmt: skip
FRAGMENTS = [
    "",
    "fragment F on GraphNode { id ...G }",
    "fragment G on GraphNode { type ...F }",
    "fragment F on No { id }",
]
HEADS = ["", "query($n: Int)", "query A($yes: Boolean!, $n: Int, $n: Int)", "query B($x: No)", "mutation"]


def tell(rules: list[Any], document: Any) -> list[tuple[str, Any]]:
    return [(error.message, error.locations) for error in validate(CORE, document, rules)]


@settings(max_examples=200, deadline=None)
@given(
    head=st.sampled_from(HEADS),
    parts=st.lists(st.sampled_from(PARTS), min_size=1, max_size=4),
    fragments=st.lists(st.sampled_from(FRAGMENTS), max_size=3),
    other=st.sampled_from(["", "{ stats { nodes } }", "query A { stats { nodes } }", "type No { id: ID }"]),
)
def test_any_document_has_the_same_errors(head: str, parts: list[str], fragments: list[str], other: str) -> None:
    text = f'{head} {{ graphNode(id: "a") {{ {" ".join(parts)} }} }} {" ".join(fragments)} {other}'
    document = parse(text)
    assert tell([merge_rules(specified_rules)], document) == tell(list(specified_rules), document)


@pytest.mark.parametrize("result", [SKIP, False, BREAK, True, None])
def test_a_rule_skips_and_ends_for_itself_alone(result: Any) -> None:
    def make_rules(seen: list[str]) -> list[type[ValidationRule]]:
        class Stops(ValidationRule):
            def enter_field(self, node: Any, *_: Any) -> Any:
                seen.append(f"stops {node.name.value}")
                return result if node.name.value == "graphNode" else None

            def leave_field(self, node: Any, *_: Any) -> Any:
                seen.append(f"left {node.name.value}")
                return BREAK if node.name.value == "type" else None

        class Goes(ValidationRule):
            def enter_field(self, node: Any, *_: Any) -> None:
                self.report_error(GraphQLError(node.name.value))

        return [Stops, Goes]

    document = parse('{ graphNode(id: "a") { id type label } stats { nodes } }')
    apart: list[str] = []
    merged: list[str] = []
    assert tell(make_rules(apart), document) == tell([merge_rules(make_rules(merged))], document)
    assert apart == merged and apart
