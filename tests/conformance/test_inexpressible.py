"""The kit through GraphQL skips only what is listed: any other refusal by the schema is a failure."""

from __future__ import annotations

import pytest

from tests.conformance_over_graphql.client import error_in
from tests.conformance_over_graphql.inexpressible import InexpressibleTests
from ugs.errors import NodeNotFound
from ugs_conformance.support.api_under_test import Inexpressible


def shown(message: str, code: str = "GRAPHQL_VALIDATION_FAILED") -> dict[str, object]:
    return {"message": message, "extensions": {"code": code}}


@pytest.mark.parametrize(
    "message",
    [
        "Cannot query field 'edgeTypes' on type 'GraphNode'.",
        "Unknown argument 'filter' on field 'Query.graphNodes'.",
        "Variable '$i' has invalid value: Expected value of type 'AddNodeInput' not to include unknown field 'data'",
        "Field 'addNode' argument 'input' of type 'AddNodeInput!' is required, but it was not provided.",
    ],
)
def test_a_renamed_field_fails_the_run(message: str) -> None:
    with pytest.raises(AssertionError):
        error_in(shown(message))


def test_a_value_that_the_types_refuse_is_inexpressible() -> None:
    message = "Variable '$i' has invalid value at .weight: Float cannot represent non numeric value: '2'"

    assert isinstance(error_in(shown(message)), Inexpressible)


def test_an_error_of_the_kernel_comes_back_as_its_class() -> None:
    error = {"message": "no", "extensions": {"code": "E002", "name": "NodeNotFound", "details": {"id": "x"}}}

    assert isinstance(error_in(error), NodeNotFound)


class _Item:
    def __init__(self, nodeid: str) -> None:
        self.nodeid = nodeid


def run_hook(nodeid: str, error: Exception | None) -> None:
    hook = InexpressibleTests().pytest_runtest_call(_Item(nodeid))  # type: ignore[arg-type]
    next(hook)
    if error is not None:
        hook.throw(error)
    with pytest.raises(StopIteration):
        next(hook)


def test_only_listed_tests_are_skipped() -> None:
    listed = "conformance/ugs_conformance/test_graph.py::test_nodes_have_no_weight_and_edges_no_data"

    with pytest.raises(pytest.skip.Exception):
        run_hook(listed, Inexpressible("no"))
    with pytest.raises(pytest.fail.Exception):
        run_hook("conformance/ugs_conformance/test_graph.py::test_something_else", Inexpressible("no"))


def test_a_listed_test_that_runs_to_its_end_fails() -> None:
    with pytest.raises(pytest.fail.Exception):
        run_hook("conformance/ugs_conformance/test_graph.py::test_nodes_have_no_weight_and_edges_no_data", None)
