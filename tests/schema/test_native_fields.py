"""Fields of nodes and edges are rendered by the stores themselves, or stand on a list with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import servers
from ugs import Graph, System
from ugs.reads.rendering import Computed
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.compiler.field_plans import TYPE_PLANS
from ugs_schema.context import RequestContext

RENDERED_IN_PYTHON: Mapping[str, str] = {
    "GraphNode.degree": "adds two counts; stores count each natively",
    "GraphEdge.dangling": "compares two related rows; stores read both natively",
}
"""Fields that need related rows and are computed from them by the kernel."""
FRONT_PAGE = '{ graphNode(id: "alice") { label outgoing { nodes { type toNode { label } } } } }'
EVERYTHING = (
    "{ graphNodes(first: 5) { nodes { id type scope created modified createdAt modifiedAt version properties data label"
    ' property(key: "name") outgoing { nodes { id scope createdAt modifiedAt from to weight properties'
    ' property(key: "name") toNode { label } } } } } }'
)


@pytest.mark.parametrize("name", TYPE_PLANS)
def test_plain_fields_are_columns_or_portable_expressions(name: str) -> None:
    assert [field for field, piece in TYPE_PLANS[name].plain.items() if isinstance(piece, Computed)] == []


def test_every_field_that_needs_python_is_listed() -> None:
    related = {f"{name}.{field}" for name, type_plan in TYPE_PLANS.items() for field in type_plan.compiled_fields}
    natively = {"outgoing", "incoming", "fromNode", "toNode", "property"}
    assert {one for one in related if one.partition(".")[2] not in natively} == set(RENDERED_IN_PYTHON)


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
    kept = system.storage.json_queries._kept  # type: ignore[attr-defined]
    return [kept.get(key).alone for key in kept]
