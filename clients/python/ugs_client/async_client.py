"""The client. This file is written by hand; `client.py`, for callers without asyncio, is made from it.

Reads and keyed changes are sent again when the gateway cannot be reached or asks for it, with the same idempotency
key each time, so that they are done once. A subscription is a position in the log: after a lost connection it goes on
behind the last event it has given.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self

from ugs_client.address import parse_address
from ugs_client.async_http import AsyncHttpTransport
from ugs_client.errors import ClientError, GatewayError, Unreachable, error_of
from ugs_client.graph.methods import AsyncMethods
from ugs_client.operation import OMITTED, Operation, Request, build_request
from ugs_client.retries import RETRIES, Retries, is_transient
from ugs_client.transport import AsyncTransport

if TYPE_CHECKING:
    from ugs.identity import Principal  # async only
    from ugs.system import System  # async only

PAGE_SIZE = 200
POSITION = "{ stats { events } }"


class AsyncClient(AsyncMethods):
    """A graph behind a URL, or in this process. The methods are the fields of the schema, one for one."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        ontology: str | None = None,
        retries: Retries = RETRIES,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._use(AsyncHttpTransport(parse_address(url, token, ontology), tls), retries)

    @classmethod
    def over(cls, transport: AsyncTransport, retries: Retries = RETRIES) -> Self:
        """A client of the same methods over another transport."""
        client = cls.__new__(cls)
        client._use(transport, retries)
        return client

    # async only
    @classmethod
    def on(cls, system: System, principal: Principal | None = None) -> Self:
        """A client of a store that this process has opened, without HTTP; needs the package `ugs-gateway`."""
        from ugs_client.in_process import InProcessTransport

        return cls.over(InProcessTransport(system, principal))

    # end of async only

    def _use(self, transport: AsyncTransport, retries: Retries) -> None:
        self._transport, self._retries = transport, retries

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def execute(self, document: str, variables: Mapping[str, Any] | None = None, *, retry: bool = False) -> Any:
        """The data of any document. With `retry` it is sent again like a read: say so for queries, and for changes that
        carry an idempotency key.
        """
        return await self._send(Request(document, dict(variables or {}), retry))

    async def subscribe(
        self, document: str, variables: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The data of each result of any subscription, over one connection."""
        async with aclosing(self._transport.stream(document, variables or {})) as results:
            async for answer in results:
                yield _data_of(answer)

    async def _call(self, operation: Operation, arguments: Mapping[str, Any], fields: str | None) -> Any:
        return (await self._send(build_request(operation, arguments, fields)))[operation.field]

    async def _send(self, request: Request) -> Any:
        waits = self._retries.waits()
        while True:
            try:
                return _data_of(await self._transport.send(request.document, request.variables))
            except ClientError as error:
                wait = _wait_after(error, waits) if request.retryable else None
                if wait is None:
                    raise
            await asyncio.sleep(wait)

    async def _iterate(
        self, operation: Operation, arguments: Mapping[str, Any], fields: str | None
    ) -> AsyncGenerator[Any, None]:
        rows = f"nodes {{ {fields} }}" if operation.page == "nodes" else f"edges {{ node {{ {fields} }} }}"
        selection = None if fields is None else f"{rows} pageInfo {{ hasNextPage endCursor }}"
        sizes = {"first": PAGE_SIZE} if arguments.get("first", OMITTED) in (OMITTED, None) else {}
        after: Any = arguments.get("after", OMITTED)
        while True:
            page = await self._call(operation, {**arguments, **sizes, "after": after}, selection)
            for row in page[operation.page]:
                yield row if operation.page == "nodes" else row["node"]
            if not page["pageInfo"]["hasNextPage"]:
                return
            after = page["pageInfo"]["endCursor"]

    async def _follow(
        self, operation: Operation, arguments: Mapping[str, Any], fields: str | None
    ) -> AsyncGenerator[Any, None]:
        """Events in the order of the log, over as many connections as it takes. Without a position it begins now."""
        given = dict(arguments)
        if operation.position and fields is not None:
            fields = f"{fields} {operation.position}"
        waits = self._retries.waits()
        while True:
            try:
                if "afterSeq" in operation.arguments and given.get("afterSeq", OMITTED) in (OMITTED, None):
                    given["afterSeq"] = (await self._send(Request(POSITION, {}, True)))["stats"]["events"]
                request = build_request(operation, given, fields)
                async with aclosing(self._transport.stream(request.document, request.variables)) as results:
                    async for answer in results:
                        event = _data_of(answer)[operation.field]
                        waits = self._retries.waits()
                        if operation.position:
                            given["afterSeq"] = event[operation.position]
                        yield event
                if "afterSeq" not in operation.arguments:
                    return
                raise Unreachable("The gateway ended the stream")
            except ClientError as error:
                wait = _wait_after(error, waits) if "afterSeq" in operation.arguments else None
                if wait is None:
                    raise
            await asyncio.sleep(wait)


def _wait_after(error: ClientError, waits: Iterator[float]) -> float | None:
    """How long to wait before the next attempt; None when there is none."""
    return next(waits, None) if is_transient(error) else None


def _data_of(answer: Any) -> Any:
    error: GatewayError | None = error_of(answer)
    if error is not None:
        raise error
    return answer["data"]
