"""The same requests on a store that this process has opened: the gateway's schema, without HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import cache
from typing import Any

from graphql import ExecutionResult

from ugs.identity import LOCAL, Principal
from ugs.system import System
from ugs_client.operation import encode
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext
from ugs_schema.errors import format_error


@cache
def _executor() -> OperationExecutor:
    """One for the process: building the schema takes longer than most requests."""
    return OperationExecutor(build_schema())


class InProcessTransport:
    """Executes documents with the rights of a principal; whoever opened the system closes it."""

    def __init__(self, system: System, principal: Principal | None = None) -> None:
        self._context = RequestContext(system, principal or LOCAL.principal)

    async def send(self, document: str, variables: Mapping[str, Any]) -> Any:
        executor = _executor()
        return _answer_of(await executor.execute(executor.prepare(document), self._context, _as_json(variables)))

    async def stream(self, document: str, variables: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
        executor = _executor()
        results = await executor.subscribe(executor.prepare(document), self._context, _as_json(variables))
        if isinstance(results, ExecutionResult):
            yield _answer_of(results)
            return
        async with aclosing(results) as stream:  # type: ignore[type-var]
            async for result in stream:
                yield json.loads(result) if isinstance(result, bytes) else _answer_of(result)

    async def close(self) -> None:
        return None


def _as_json(variables: Mapping[str, Any]) -> Any:
    """The variables as they would arrive over HTTP."""
    return json.loads(encode("", variables))["variables"]


def _answer_of(result: ExecutionResult) -> dict[str, Any]:
    if not result.errors:
        return {"data": result.data}
    return {"data": result.data, "errors": [format_error(error, _raise_unexpected) for error in result.errors]}


def _raise_unexpected(_: str, error: Exception) -> None:
    """In this process nothing needs to be masked."""
    raise error
