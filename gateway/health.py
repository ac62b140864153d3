"""Whether the process lives, whether it can serve, and how it is.

`/livez` answers as soon as the process runs. `/readyz` reads from the store within a deadline and answers 200 only when
that worked, so that a load balancer or a supervisor can rely on it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

import ugs
from gateway.logs import Log
from gateway.masking import without_secrets
from ugs.errors import DeadlineExceeded, UgsError
from ugs.system import State, System

PATIENCE = 2.0

log = Log("gateway.health")


async def livez(request: Request) -> Response:
    """The process runs."""
    return PlainTextResponse("alive\n")


async def readyz(request: Request) -> Response:
    """The store answers."""
    reason = await why_not_ready(request.app.state.system)
    return PlainTextResponse("ready\n") if reason is None else PlainTextResponse(f"not ready: {reason}\n", 503)


async def health(request: Request) -> Response:
    """Everything a person who runs this wants to see first, as JSON."""
    system: System = request.app.state.system
    reason = await why_not_ready(system)
    return JSONResponse(report(system, reason), 200 if reason is None else 503)


def report(system: System, reason: str | None) -> dict[str, Any]:
    """The state of the gateway as data."""
    return {
        "ready": reason is None,
        "reason": reason,
        "version": ugs.__version__,
        "store": without_secrets(system.storage.describe()),
        "state": system.state,
        "position": system.bus.position,
        "warnings": list(system.storage.warnings),
    }


async def why_not_ready(system: System) -> str | None:
    """The reason in words why requests cannot be served now, or None."""
    if system.state not in (State.READY, State.PROCESSING, State.SNAPSHOTTING):
        return f"the system is {system.state.value}"
    try:
        async with asyncio.timeout(PATIENCE), system.session() as session:
            await session.head()
    except TimeoutError:
        return f"{DeadlineExceeded.code} the store did not answer within {PATIENCE:g} seconds"
    except UgsError as error:
        return without_secrets(f"{error.code} {error.message}")
    except Exception as error:
        log.exception("the store failed in a way we do not know", error)
        return "the store failed; the log tells more"
    return None
