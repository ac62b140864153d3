"""Connections from a SQLAlchemy engine, taken out of its hands.

The engine knows how to reach and set up each driver; a pool of ours then holds the driver's own connections, because
sending a statement through the engine costs several times the statement itself.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine


async def driver_connection(engine: AsyncEngine) -> Any:
    """A new connection of the engine's driver, ours to close. Raises what the driver raises."""
    try:
        held = await engine.raw_connection()
    except DBAPIError as error:
        if error.orig is None:
            raise
        raise error.orig from None
    driver = held.driver_connection
    held.detach()
    return driver
