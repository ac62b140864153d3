"""A schema over a system with the demonstration data."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from ugs import Graph, System
from ugs.values import from_text
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext
from ugs_schema.errors import format_error

Ask = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture(scope="session")
def operations() -> OperationExecutor:
    return OperationExecutor(build_schema())


@pytest.fixture
async def system() -> AsyncIterator[System]:
    async with System.at_url("memory:") as system:
        await Graph(system).load_demo()
        yield system


@pytest.fixture
def ask(operations: OperationExecutor, system: System) -> Ask:
    """Ask as a door would; the answer as decoded JSON."""

    async def asked(query: str, **variables: Any) -> dict[str, Any]:
        found = await operations.answer(operations.prepare(query), RequestContext(system), variables)
        if isinstance(found, bytes):
            answer: dict[str, Any] = from_text(found)
            return answer
        bugs: list[Exception] = []
        errors = [format_error(error, lambda id, bug: bugs.append(bug)) for error in found.errors or ()]
        if bugs:
            raise bugs[0]
        return {"data": found.data, **({"errors": errors} if errors else {})}

    return asked
