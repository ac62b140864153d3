"""A client of the gateway in the same process: real requests with a real token, and errors as the classes they name."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import httpx2 as httpx
import jwt
from starlette.applications import Starlette

from ugs.actors.errors import NoActor
from ugs.errors import InvalidJSON, NodeNotFound, UgsError, all_errors
from ugs.identity import LOCAL, Principal
from ugs.system import System
from ugs.values import from_text
from ugs_conformance.support.api_under_test import Inexpressible
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings, Tenancy

SECRET = "a secret of more than thirty-two characters"
INEXPRESSIBLE_VALUES = re.compile(
    r"Variable '\$\w+' has invalid value"
    r"(?: at \.weight: (Float cannot represent non numeric value|Expected value of non-null type 'Float!' not to be None)"
    r"| at \.type: String cannot represent a non string value"
    r"|( at \[\d+\]\.updateNode)?: Expected value of type 'UpdateNodeInput' not to include unknown field 'weight'"
    r"|( at \[\d+\]\.updateEdge)?: Expected value of type 'UpdateEdgeInput' not to include unknown field 'data'"
    r"| at \.properties: value[\w.\[\]]*: nested deeper than"
    r"| at \.position: Expected a whole number from 0"
    r"| at \.status: Value 'ON' does not exist in 'PredicateStatus' enum)"
)
"""Values that the types of the schema refuse before the kernel sees them; any other refusal by GraphQL is a failure."""
BODY_REFUSED = re.compile(r"value\.variables\.\w+\.weight: \d+ does not fit a 64-bit integer")
"""A weight that the reader of the request's JSON refuses before it is known to be a weight."""
REFUSED_UNREAD = re.compile(r"value\.variables[^:]*: (text contains a NUL character|\d+ does not fit a 64-bit integer)")
"""What the reader of the request's JSON refuses wherever it stands; the kernel may have a code of its own for it."""
P = ParamSpec("P")
T = TypeVar("T")
ERRORS = {(error.code, error.name): error for error in reversed(list(all_errors()))}
"""By code and name; where a feature has a class of its own under one name, the kernel's counts."""
NOBODY_THERE = re.compile(r"Node not found: ")
"""Actors say it in the words of seed 003."""


@cache
def gateway(is_open: bool = False) -> Starlette:
    """One gateway for the whole run: building the schema takes longer than most tests. An open one asks for no login."""
    key = Path(tempfile.mkdtemp(prefix="ugs-doors-")) / "key"
    key.write_text(SECRET)
    settings = Settings(
        store="memory:",
        jwt_key_file="" if is_open else str(key),
        tenants=Tenancy.SHARED,
        request_seconds=120,
        max_cost=10_000_000,
        max_page=10_000,
        max_body_bytes=1 << 24,
    )
    return create_app(settings)


@cache
def token(principal: Principal) -> str:
    """A token for the principal; whoever comes through the door must at least be a writer."""
    claims = {
        "sub": principal.user,
        "roles": ["writer", *principal.roles],
        "tenant": principal.tenant,
        "project": principal.project,
        "agent": principal.agent,
        "exp": time.time() + 86_400,
    }
    return jwt.encode(claims, SECRET, "HS256")


class Door:
    """GraphQL over HTTP to one system, on behalf of one principal."""

    def __init__(self, system: System, principal: Principal) -> None:
        self.system, self.principal = system, principal

    async def ask(self, document: str, **variables: Any) -> Any:
        """The data of an answer; an error is raised as the class that Python would have raised."""
        # Nobody can log in as the local user, who leaves no name in events; only an open gateway takes one for it.
        app = gateway(self.principal == LOCAL.principal)
        app.state.tenants.home = self.system
        body = written({"query": document, "variables": variables})
        headers = {"authorization": f"Bearer {token(self.principal)}", "content-type": "application/json"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            answer = await client.post("/graphql", content=body, headers=headers)
        assert answer.status_code < 500, answer.text
        found = from_text(answer.content)
        if "errors" in found:
            raise error_in(found["errors"][0])
        return found["data"]


def written(request: dict[str, Any]) -> bytes:
    """The request as JSON; what JSON cannot say cannot be sent."""
    try:
        check_keys(request)
        return json.dumps(request, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        raise Inexpressible(f"JSON has no such value: {error}") from error


def check_keys(value: Any) -> None:
    """Refuse keys that are no texts, which `json` would silently make texts of."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key that is no text")
        value = value.values()
    if isinstance(value, list | tuple | type({}.values())):
        for item in value:
            check_keys(item)


def else_python(base: type) -> Callable[[Callable[P, Awaitable[T]]], Callable[P, Awaitable[T]]]:
    """Let the Python API answer where no request can carry the values, so that the rest of a test is still sent."""

    def decorate(method: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
        @wraps(method)
        async def called(*given: P.args, **named: P.kwargs) -> T:
            try:
                return await method(*given, **named)
            except (Inexpressible, InvalidJSON) as error:
                if isinstance(error, InvalidJSON) and not REFUSED_UNREAD.match(error.message):
                    raise
            found: T = await getattr(base, method.__name__)(*given, **named)
            return found

        return called

    return decorate


def error_in(shown: dict[str, Any]) -> Exception:
    """The error as Python knows it; a refusal by GraphQL's own types that is not listed raises `AssertionError`."""
    extensions = shown["extensions"]
    if extensions["code"] in ("GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED"):
        assert INEXPRESSIBLE_VALUES.match(shown["message"]), shown["message"]
        return Inexpressible(shown["message"])
    if BODY_REFUSED.match(shown["message"]):
        return Inexpressible(shown["message"])
    kind: type[UgsError] = ERRORS[extensions["code"], extensions["name"]]
    if kind is NodeNotFound and NOBODY_THERE.match(shown["message"]):
        kind = NoActor
    error = kind.__new__(kind)
    UgsError.__init__(error, shown["message"], **extensions["details"])
    return error
