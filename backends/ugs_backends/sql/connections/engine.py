"""Driver connections created by a SQLAlchemy engine and detached from it.

The engine connects and configures the driver; the pool of this package then holds the bare driver connections, because
sending a statement through the engine costs several times the statement itself.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine


async def open_driver_connection(engine: AsyncEngine) -> Any:
    """Open a driver connection, which the caller must close. Raises the driver's own errors."""
    try:
        held = await engine.raw_connection()
    except Exception as error:
        raise _unwrap_error(error) from None
    driver = held.driver_connection
    held.detach()
    return driver


def _unwrap_error(error: BaseException) -> BaseException:
    """Unwrap the driver's error from SQLAlchemy's, which may be nested."""
    while type(error).__module__.startswith("sqlalchemy"):
        inner = getattr(error, "orig", None) or error.__cause__
        if inner is None:
            break
        error = inner
    return error
