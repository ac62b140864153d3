"""The client for callers without asyncio, and for one thread.

Made by `python -m ugs_client.without_asyncio` from `async_client.py`: not edited by hand.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import Any, Self

from ugs_client.address import parse_address
from ugs_client.errors import ClientError, GatewayError, Unreachable, error_of
from ugs_client.graph.methods import Methods
from ugs_client.http import HttpTransport
from ugs_client.operation import OMITTED, Operation, Request, build_request
from ugs_client.retries import RETRIES, Retries, is_transient
from ugs_client.transport import Transport

PAGE_SIZE = 200
POSITION = "{ stats { events } }"


class Client(Methods):
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
        self._use(HttpTransport(parse_address(url, token, ontology), tls), retries)

    @classmethod
    def over(cls, transport: Transport, retries: Retries = RETRIES) -> Self:
        """A client of the same methods over another transport."""
        client = cls.__new__(cls)
        client._use(transport, retries)
        return client

    def _use(self, transport: Transport, retries: Retries) -> None:
        self._transport, self._retries = transport, retries

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def execute(self, document: str, variables: Mapping[str, Any] | None = None, *, retry: bool = False) -> Any:
        """The data of any document. With `retry` it is sent again like a read: say so for queries, and for changes that
        carry an idempotency key.
        """
        return self._send(Request(document, dict(variables or {}), retry))

    def subscribe(
        self, document: str, variables: Mapping[str, Any] | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """The data of each result of any subscription, over one connection."""
        with closing(self._transport.stream(document, variables or {})) as results:
            for answer in results:
                yield _data_of(answer)

    def _call(self, operation: Operation, arguments: Mapping[str, Any], fields: str | None) -> Any:
        return (self._send(build_request(operation, arguments, fields)))[operation.field]

    def _send(self, request: Request) -> Any:
        waits = self._retries.waits()
        while True:
            try:
                return _data_of(self._transport.send(request.document, request.variables))
            except ClientError as error:
                wait = _wait_after(error, waits) if request.retryable else None
                if wait is None:
                    raise
            time.sleep(wait)

    def _iterate(
        self, operation: Operation, arguments: Mapping[str, Any], fields: str | None
    ) -> Generator[Any, None, None]:
        rows = f"nodes {{ {fields} }}" if operation.page == "nodes" else f"edges {{ node {{ {fields} }} }}"
        selection = None if fields is None else f"{rows} pageInfo {{ hasNextPage endCursor }}"
        sizes = {"first": PAGE_SIZE} if arguments.get("first", OMITTED) in (OMITTED, None) else {}
        after: Any = arguments.get("after", OMITTED)
        while True:
            page = self._call(operation, {**arguments, **sizes, "after": after}, selection)
            for row in page[operation.page]:
                yield row if operation.page == "nodes" else row["node"]
            if not page["pageInfo"]["hasNextPage"]:
                return
            after = page["pageInfo"]["endCursor"]

    def _follow(
        self, operation: Operation, arguments: Mapping[str, Any], fields: str | None
    ) -> Generator[Any, None, None]:
        """Events in the order of the log, over as many connections as it takes. Without a position it begins now."""
        given = dict(arguments)
        if operation.position and fields is not None:
            fields = f"{fields} {operation.position}"
        waits = self._retries.waits()
        while True:
            try:
                if "afterSeq" in operation.arguments and given.get("afterSeq", OMITTED) in (OMITTED, None):
                    given["afterSeq"] = (self._send(Request(POSITION, {}, True)))["stats"]["events"]
                request = build_request(operation, given, fields)
                with closing(self._transport.stream(request.document, request.variables)) as results:
                    for answer in results:
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
            time.sleep(wait)


def _wait_after(error: ClientError, waits: Iterator[float]) -> float | None:
    """How long to wait before the next attempt; None when there is none."""
    return next(waits, None) if is_transient(error) else None


def _data_of(answer: Any) -> Any:
    error: GatewayError | None = error_of(answer)
    if error is not None:
        raise error
    return answer["data"]
