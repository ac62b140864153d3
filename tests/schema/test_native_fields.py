"""Fields of nodes and edges are rendered by the stores themselves, or stand on a list with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import servers
from ugs import Graph, System
from ugs.reads.rendering import Column, Expression
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.compiler.row_types import ROW_TYPES, RelatedCount, RelatedMissing, Shown
from ugs_schema.context import RequestContext

RENDERED_IN_PYTHON: Mapping[str, str] = {
    "GraphNode.degree": "Neo4j and memory count natively and the kernel adds up; databases do both",
    "GraphEdge.dangling": "Neo4j and memory read both rows and the kernel compares; databases do both",
}
"""Declared fields that the kernel computes from related rows on some stores."""
LEFT_TO_RESOLVERS: Mapping[str, str] = {
    "GraphNode.ontology": "looks for the type in all ontologies, which is one more read for a whole page",
    "GraphNode.entity": "depends on what the caller may see of facts",
    "GraphNode.references": "follows addresses inside JSON, of which each may name a version",
    "GraphNode.referencedBy": "goes from addresses to rows that hold them, in an index of its own",
}
"""Fields of row types that are not declared, because they are not shown from a row and its relations."""
FRONT_PAGE = '{ graphNode(id: "alice") { label outgoing { nodes { type toNode { label } } } } }'
EVERYTHING = (
    "{ graphNodes(first: 5) { nodes { degree incomingDegree: degree(direction: INCOMING) content { format encoding size path body } id type scope created modified createdAt modifiedAt version properties data label"
    ' property(key: "name") outgoing { nodes { id scope createdAt modifiedAt from to weight dangling properties'
    ' property(key: "name") toNode { label } } } } } }'
)


@pytest.mark.parametrize("name", ROW_TYPES)
def test_every_field_of_a_row_type_is_declared_or_listed(name: str) -> None:
    shown: Any = build_schema()._schema.type_map[name]
    declared = set(ROW_TYPES[name].by_name)
    left = {field.partition(".")[2] for field in LEFT_TO_RESOLVERS if field.startswith(f"{name}.")}
    assert set(shown.fields) == declared | left and not declared & left


@pytest.mark.parametrize("name", ROW_TYPES)
def test_shown_fields_are_columns_or_portable_expressions(name: str) -> None:
    shown = [field for field in ROW_TYPES[name].fields if isinstance(field, Shown)]
    assert shown and all(isinstance(field.piece, Column | Expression) for field in shown)


def test_every_declared_field_that_needs_python_is_listed() -> None:
    computed = {
        f"{name}.{field.name}"
        for name, row_type in ROW_TYPES.items()
        for field in row_type.fields
        if isinstance(field, RelatedCount | RelatedMissing)
    }
    assert computed == set(RENDERED_IN_PYTHON)


@pytest.mark.parametrize("query", [FRONT_PAGE, EVERYTHING], ids=["front page", "everything"])
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
async def test_a_database_renders_them_in_one_statement(
    operations: OperationExecutor, tmp_path: Path, store: str, query: str
) -> None:
    url = f"sqlite:///{tmp_path}/n.db" if store == "sqlite" else servers.require(store).partition("?")[0]
    async with System.at_url(url + ("?schema=native_fields" if store == "postgresql" else "")) as system:
        await system.storage.wipe()
        await Graph(system).load_demo()
        answer = await operations.answer(operations.prepare(query), RequestContext(system), {})
        assert isinstance(answer, bytes)
        sent = statements_of(system)
    assert len(sent) == 1 and sent[0].startswith("SELECT"), sent


def statements_of(system: System) -> list[str]:
    """The statements by which the store renders answers, as they were kept."""
    kept = system.storage.statement_cache._kept  # type: ignore[attr-defined]
    return [kept.get(key).alone for key in kept]
