"""A client of the gateway in the same process: real requests with a real token, and errors as the classes they name."""

from __future__ import annotations

import json
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import httpx2 as httpx
import jwt
import pytest
from starlette.applications import Starlette

from gateway.app import create_app
from gateway.settings import Settings, Tenancy
from ugs.errors import UgsError, all_errors
from ugs.identity import Principal
from ugs.system import System
from ugs.values import from_text

SECRET = "a secret of more than thirty-two characters"
UNSAYABLE = ("GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED")
ERRORS = {(error.code, error.name): error for error in all_errors()}


@cache
def gateway() -> Starlette:
    """One gateway for the whole run: building the schema takes longer than most tests."""
    key = Path(tempfile.mkdtemp(prefix="ugs-doors-")) / "key"
    key.write_text(SECRET)
    settings = Settings(
        store="memory:",
        jwt_key_file=str(key),
        tenants=Tenancy.SHARED,
        request_seconds=120,
        max_cost=10_000_000,
        max_page=10_000,
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
        app = gateway()
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
        pytest.skip(f"cannot be said in JSON: {error}")


def check_keys(value: Any) -> None:
    """Refuse keys that are no texts, which `json` would silently make texts of."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key that is no text")
        value = value.values()
    if isinstance(value, list | tuple | type({}.values())):
        for item in value:
            check_keys(item)


def is_typed_out(message: str) -> bool:
    """Whether the schema has no place for a value; other unknown names are mistakes of the face."""
    return "nknown" not in message or "'weight'" in message or "'data'" in message


def error_in(shown: dict[str, Any]) -> UgsError:
    """The error as Python knows it. What GraphQL's own types refuse cannot be said through this door at all."""
    extensions = shown["extensions"]
    too_deep = extensions["code"] == "E006" and any(
        words in shown["message"] for words in ("nested deeper", "does not fit")
    )
    if too_deep or (extensions["code"] in UNSAYABLE and is_typed_out(shown["message"])):
        pytest.skip(f"cannot be said in GraphQL: {shown['message'][:100]}")
    kind = ERRORS[extensions["code"], extensions["name"]]
    error = kind.__new__(kind)
    UgsError.__init__(error, shown["message"], **extensions["details"])
    return error
