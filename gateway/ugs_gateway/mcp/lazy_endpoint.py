"""The MCP endpoint, loaded by its first request: half of the CPU time that a gateway would take to start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from ugs_gateway.mcp.http import McpEndpoint


class LazyMcpEndpoint:
    """Serves `/mcp`; `running` must be entered before the first request. Nothing here imports the MCP library."""

    def __init__(self, build: Callable[[], McpEndpoint]) -> None:
        self._build = build
        self._wanted = asyncio.Event()
        self._endpoint: asyncio.Future[McpEndpoint] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The life of the endpoint's own tasks, which begin with the first request."""
        self._wanted = asyncio.Event()
        self._endpoint = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(self._endpoint))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _run(self, built: asyncio.Future[McpEndpoint]) -> None:
        """Build the endpoint when it is wanted, in a thread, because imports take long, and keep it running.

        The session manager must be left by the task that entered it, so a request cannot do this itself.
        """
        await self._wanted.wait()
        try:
            endpoint = await asyncio.to_thread(self._build)
        except Exception as error:
            built.set_exception(error)
            return
        async with endpoint.running():
            built.set_result(endpoint)
            await asyncio.Event().wait()  # until cancelled

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._endpoint is not None
        self._wanted.set()
        endpoint = await asyncio.shield(self._endpoint)  # one that gives up does not take it from the others
        await endpoint(scope, receive, send)
