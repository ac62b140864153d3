"""Inputs straight from the variables: the same as those that are made the usual way, or none at all."""

from __future__ import annotations

from typing import Any

import pytest

from ugs_schema import build_schema
from ugs_schema.compiler.executor import BoundOperation, OperationExecutor
from ugs_schema.compiler.mutations import CompiledMutation

OPERATIONS = OperationExecutor(build_schema())
NODE = {"id": "a", "type": "t", "p": {"x": [1, None]}, "d": {"y": 2}, "n": 3}
STRAIGHT: list[tuple[str, dict[str, Any]]] = [
    ("$id: ID!, $type: String!, $p: JSON!, $d: JSON!) { addNode(input: {id: $id, type: $type, properties: $p, data: $d}) {", NODE),
    ('$id: ID) { addNode(input: {id: $id, type: "t", clientMutationId: "c"}) {', NODE),
    ("$p: JSON!) { updateNode(input: {id: \"a\", properties: $p, expectedVersion: 2}) {", NODE),
    ("$id: ID!, $n: Int) { updateNode(input: {id: $id, expectedVersion: $n}) {", NODE),
    ("$id: ID!, $w: Float!) { addEdge(input: {from: $id, to: $id, weight: $w, endpointPolicy: STRICT}) {", {"id": "a", "w": 1}),
    ("$id: ID!, $policy: EndpointPolicy!) { addEdge(input: {from: $id, to: $id, endpointPolicy: $policy}) {", {"id": "a", "policy": "STRICT"}),
]  # fmt: skip
USUAL: list[tuple[str, dict[str, Any]]] = [
    ("$type: String) { addNode(input: {id: \"a\", type: $type}) {", {}),
    ("$type: String) { addNode(input: {id: \"a\", type: $type}) {", {"type": None}),
    ('$type: String = "t") { addNode(input: {id: "a", type: $type, properties: {x: 1}}) {', {}),
    ("$i: AddNodeInput!) { addNode(input: $i) {", {"i": {"id": "a"}}),
    ("$keys: [String!]!) { updateNode(input: {id: \"a\", removeProperties: $keys}) {", {"keys": ["x"]}),
    ("$c: ContentInput!) { addNode(input: {id: \"a\", content: $c}) {", {"c": {"body": "x", "format": "text"}}),
]  # fmt: skip


def change(text: str, given: dict[str, Any]) -> tuple[CompiledMutation, BoundOperation]:
    prepared = OPERATIONS.prepare(f"mutation({text} __typename }} }}")
    assert not prepared.errors, prepared.errors
    named = {node.variable.name.value for node in prepared.operations[0].variable_definitions or ()}
    short = OPERATIONS.bind(prepared, {name: value for name, value in given.items() if name in named}, None)
    assert short is not None and isinstance(short.compiled, CompiledMutation)
    return short.compiled, short


@pytest.mark.parametrize(("text", "given"), STRAIGHT)
def test_an_input_of_variables_and_constants_is_made_at_once(text: str, given: dict[str, Any]) -> None:
    compiled, short = change(text, given)
    (usual,) = compiled._build_arguments(short.variables).values()
    assert compiled.straight is not None
    made, again = (compiled.straight(short.variables.coerced) for _ in range(2))
    assert type(made) is type(usual) and vars(made) == vars(usual) == vars(again)
    assert made is not again


@pytest.mark.parametrize(("text", "given"), USUAL)
def test_anything_else_is_made_the_usual_way(text: str, given: dict[str, Any]) -> None:
    compiled, short = change(text, given)
    if compiled.straight is not None:
        made = compiled.straight(short.variables.coerced)
        assert made is None or vars(made) == vars(*compiled._build_arguments(short.variables).values())
    assert short.compiled.command_request(short.variables) is not None
