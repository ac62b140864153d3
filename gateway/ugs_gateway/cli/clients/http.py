"""An HTTP client for a gateway: GraphQL documents and REST requests over one kept-alive connection."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from ugs_gateway.observability.redaction import mask_url

REQUEST_TIMEOUT_SECONDS = 60.0
JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
LINES_TYPE = "application/x-ndjson"


class Unreachable(Exception):
    """No gateway answers at the URL, or the answer is not a gateway's."""

    code = "UNAVAILABLE"
    name = "Unavailable"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class GatewayError(Exception):
    """An error of the gateway, with its code and name."""

    def __init__(self, code: str, name: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.name, self.message, self.details = code, name, message, details or {}


class Client:
    """A gateway at a URL, with an optional token."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = mask_url(url)
        """The address as it may be shown."""
        try:
            self._place = urlsplit(url)
            self._port = self._place.port
        except ValueError as error:
            raise Unreachable(f"{self.url} is not the address of a gateway, such as http://localhost:8000") from error
        self._headers = {"content-type": JSON_TYPE, **({"authorization": f"Bearer {token}"} if token else {})}
        self._connection: http.client.HTTPConnection | None = None
        self._socket: socket.socket | None = None

    def execute(self, document: str, **variables: Any) -> Any:
        """Execute a document and return its data; the first error is raised."""
        response = self._graphql(document, variables, JSON_TYPE)
        return data_of(_decode(response.read(), response.status, self.url))

    def stream(self, document: str, **variables: Any) -> Iterator[Any]:
        """The data of each result of a subscription, as they arrive."""
        response = self._graphql(document, variables, STREAM_TYPE)
        if STREAM_TYPE not in response.getheader("content-type", ""):
            data_of(_decode(response.read(), response.status, self.url))
        for line in response:
            if line.startswith(b"data: "):
                yield data_of(json.loads(line[6:]))

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of another endpoint's response, as they arrive; an error response is raised."""
        response = self._send("GET", path, None, LINES_TYPE)
        if response.status >= 400:
            raise refusal_of(_decode(response.read(), response.status, self.url))
        try:
            while line := response.readline():
                yield line
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.url} has stopped in the middle of its answer") from error
        finally:
            # Whoever does not read to the end leaves the rest on the line: nothing more can be asked over it.
            if not response.isclosed():
                self.close()

    def rest(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON response of another endpoint; an error response is raised."""
        response = self._send(method, path, None if body is None else json.dumps(body).encode(), JSON_TYPE)
        answer = _decode(response.read(), response.status, self.url)
        if response.status >= 400:
            raise refusal_of(answer)
        return answer

    def close(self) -> None:
        """Close the connection, also when another thread is waiting for it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _graphql(self, document: str, variables: dict[str, Any], accept: str) -> http.client.HTTPResponse:
        return self._send("POST", "/graphql", json.dumps({"query": document, "variables": variables}).encode(), accept)

    def _send(self, method: str, path: str, body: bytes | None, accept: str) -> http.client.HTTPResponse:
        base = self._place.path.rstrip("/").removesuffix("/graphql")
        try:
            return self._exchange(method, base + path, body, accept)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Unreachable(f"Nobody answers at {self.url}: {getattr(error, 'strerror', None) or error}") from error

    def _exchange(self, method: str, path: str, body: bytes | None, accept: str) -> http.client.HTTPResponse:
        if self._connection is None:
            self._connection = self._connect()
        if self._connection.sock is None:
            self._connection.connect()
        self._socket = self._connection.sock
        self._connection.request(method, path, body, {**self._headers, "accept": accept})
        return self._connection.getresponse()

    def _connect(self) -> http.client.HTTPConnection:
        make = http.client.HTTPSConnection if self._place.scheme == "https" else http.client.HTTPConnection
        return make(self._place.hostname or "", self._port, timeout=REQUEST_TIMEOUT_SECONDS)


def _decode(body: bytes, status: int, url: str) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        raise Unreachable(f"{url} answered with status {status}, but not as a gateway does") from None


def data_of(answer: Any) -> Any:
    """The data of a response; the first error is raised."""
    errors = answer.get("errors") if isinstance(answer, dict) else None
    if errors:
        facts = errors[0].get("extensions") or {}
        code, name = facts.get("code", "UNKNOWN"), facts.get("name", "Refused")
        raise GatewayError(code, name, errors[0].get("message", ""), facts.get("details"))
    return answer["data"] if isinstance(answer, dict) and "data" in answer else {}


def refusal_of(answer: Any) -> GatewayError:
    """The error in a response of an endpoint that is not GraphQL."""
    detail = answer.get("detail", "") if isinstance(answer, dict) else ""
    if isinstance(detail, dict):
        issues = detail.get("validation", {}).get("errors", [])[:1]
        first = "".join(f": [{issue['rule_id']}] {issue['message']}" for issue in issues)
        return GatewayError("PROGRAM_INVALID", "ProgramInvalid", detail.get("error", "") + first)
    code = answer.get("code", "UNKNOWN") if isinstance(answer, dict) else "UNKNOWN"
    return GatewayError(code, name_of(code), str(detail))


def name_of(code: str) -> str:
    """The error name of a code; derived from the code if it is unknown here."""
    from ugs.errors import all_errors

    known = next((error.name for error in all_errors() if error.code == code), None)
    return known or "".join(part.capitalize() for part in code.split("_"))
