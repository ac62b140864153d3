"""HTTP by the standard library: one kept connection for requests, one for each stream."""

from __future__ import annotations

import http.client
import json
import select
import ssl
from collections.abc import Generator, Mapping
from typing import Any

from ugs_client.address import JSON_TYPE, REQUEST_SECONDS, STREAM_SILENCE_SECONDS, STREAM_TYPE, Address
from ugs_client.errors import GatewayError, Unreachable, error_of
from ugs_client.operation import encode
from ugs_client.sse import EventParser

BROKEN = (OSError, http.client.HTTPException)


class HttpTransport:
    """A gateway over HTTP/1.1. For one thread; each thread makes a client of its own."""

    def __init__(self, address: Address, tls: ssl.SSLContext | None = None) -> None:
        self._address, self._tls = address, tls
        self._kept: http.client.HTTPConnection | None = None

    def send(self, document: str, variables: Mapping[str, Any]) -> Any:
        body = encode(document, variables)
        connection, self._kept = self._kept, None
        try:
            if connection is None or _is_stale(connection):
                connection = self._connect(REQUEST_SECONDS)
            connection.request("POST", self._address.path, body, self._address.headers(JSON_TYPE))
            response = connection.getresponse()
            text = response.read()
        except BROKEN as error:
            if connection is not None:
                connection.close()
            raise self._unreachable(error) from error
        if response.will_close:
            connection.close()
        else:
            self._kept = connection
        return parse_body(text, response.status)

    def stream(self, document: str, variables: Mapping[str, Any]) -> Generator[Any, None, None]:
        connection = self._connect(STREAM_SILENCE_SECONDS)
        try:
            body = encode(document, variables)
            connection.request("POST", self._address.path, body, self._address.headers(STREAM_TYPE))
            response = connection.getresponse()
            if STREAM_TYPE not in response.getheader("content-type", ""):
                yield parse_body(response.read(), response.status)
                return
            parser = EventParser()
            while not parser.is_complete:
                line = response.readline()
                if not line:
                    raise Unreachable("The stream broke before it was complete")
                if (result := parser.feed(line)) is not None:
                    yield result
        except BROKEN as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        place = self._address
        if place.secure:
            return http.client.HTTPSConnection(
                place.host, place.port, timeout=timeout, context=self._tls or ssl.create_default_context()
            )
        return http.client.HTTPConnection(place.host, place.port, timeout=timeout)

    def _unreachable(self, error: Exception) -> Unreachable:
        return Unreachable(f"Nobody answers at {self._address.authority}: {str(error) or type(error).__name__}")


def _is_stale(connection: http.client.HTTPConnection) -> bool:
    """Whether the server has closed a kept connection: something can be read although nothing was asked."""
    return connection.sock is None or bool(select.select([connection.sock], [], [], 0)[0])


def parse_body(text: bytes, status: int) -> Any:
    """The answer in a body; an error of the server or of something between is raised."""
    try:
        answer = json.loads(text)
    except ValueError:
        if status in (502, 503, 504):
            raise Unreachable(f"The gateway cannot be reached now: status {status}") from None
        raise GatewayError(f"Status {status}, but no answer of a gateway") from None
    if not isinstance(answer, dict) or not ("data" in answer or "errors" in answer):
        raise error_of(answer, status) or GatewayError(f"status {status}")
    return answer
