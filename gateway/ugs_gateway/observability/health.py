"""Liveness, readiness and health endpoints.

`/livez` answers as soon as the process runs. `/readyz` reads from the store within a deadline and answers 200 only if
that worked, so that load balancers can rely on it. Where authentication is required, anonymous callers learn only
whether it is ready; store, version and counts are for authenticated ones.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

import ugs
from ugs.errors import DeadlineExceeded, UgsError
from ugs.system import State, System
from ugs_gateway.graphql.admission import RequestAdmission
from ugs_gateway.graphql.request import RequestRejected
from ugs_gateway.observability.redaction import without_secrets
from ugs_gateway.observability.structured_logs import Log

CHECK_TIMEOUT_SECONDS = 2.0

log = Log("ugs_gateway.health")


async def livez(request: Request) -> Response:
    """Liveness: the process runs."""
    return PlainTextResponse("alive\n")


async def readyz(request: Request) -> Response:
    """Readiness: the store answers a read."""
    reason = await why_not_ready(request.app.state.system)
    if reason is None:
        return PlainTextResponse("ready\n")
    return PlainTextResponse(f"not ready: {reason}\n" if is_known(request) else "not ready\n", 503)


async def health(request: Request) -> Response:
    """The health report as JSON."""
    system: System = request.app.state.system
    reason = await why_not_ready(system)
    found = report(system, reason) if is_known(request) else {"ready": reason is None}
    return JSONResponse(found, 200 if reason is None else 503)


def is_known(request: Request) -> bool:
    """Whether the caller may see details: authenticated, with a role, and working on the main store; everybody if the
    gateway is open."""
    admission: RequestAdmission = request.app.state.admission
    if admission.authenticator.open:
        return True
    authorization = request.headers.get("authorization")
    if authorization is None:
        return False
    try:
        principal = admission.principal(authorization, request.client.host if request.client else "")
    except RequestRejected:
        return False
    return bool(principal.roles) and admission.tenants.opened(principal) is request.app.state.system


def report(system: System, reason: str | None) -> dict[str, Any]:
    """The health report."""
    return {
        "ready": reason is None,
        "reason": reason,
        "version": ugs.__version__,
        "store": without_secrets(system.storage.describe()),
        "state": system.state,
        "position": system.bus.position,
        "replicas": [
            {"host": one.name, "position": one.position, "lag": one.lag, "reachable": one.is_reachable}
            for one in system.storage.replicas()
        ],
        "warnings": [without_secrets(warning) for warning in system.storage.warnings],
    }


async def why_not_ready(system: System) -> str | None:
    """The reason why requests cannot be served now, or None."""
    if system.state not in (State.READY, State.PROCESSING, State.SNAPSHOTTING):
        return f"the system is {system.state.value}"
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_SECONDS), system.session() as session:
            await session.head()
    except TimeoutError:
        return f"{DeadlineExceeded.code} the store did not answer within {CHECK_TIMEOUT_SECONDS:g} seconds"
    except UgsError as error:
        return without_secrets(f"{error.code} {error.message}")
    except Exception as error:
        log.exception("the store failed in a way we do not know", error)
        return "the store failed; the log tells more"
    return None
