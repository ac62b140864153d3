"""Connections from a SQLAlchemy engine, taken out of its hands.

The engine knows how to reach and set up each driver; a pool of ours then holds the driver's own connections, because
sending a statement through the engine costs several times the statement itself.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine


async def driver_connection(engine: AsyncEngine) -> Any:
    """A new connection of the engine's driver, ours to close. Raises what the driver raises."""
    try:
        held = await engine.raw_connection()
    except Exception as error:
        raise _of_the_driver(error) from None
    driver = held.driver_connection
    held.detach()
    return driver


def _of_the_driver(error: BaseException) -> BaseException:
    """The driver's error inside the engine's, which may be wrapped more than once."""
    while type(error).__module__.startswith("sqlalchemy"):
        inner = getattr(error, "orig", None) or error.__cause__
        if inner is None:
            break
        error = inner
    return error
