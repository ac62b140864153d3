"""Optional server extensions, detected or installed when a store opens."""

from __future__ import annotations

from contextlib import suppress

from ugs.errors import UgsError
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.migrations.migration import open_transaction

DEFAULT_SCHEMA = "public"
"""The schema for new extensions; in a store's own schema they would be dropped with the store."""
SCHEMA = "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = $1"
AVAILABLE = "SELECT 1 FROM pg_available_extensions WHERE name = $1"


async def find_extension_schema(link: DriverConnection, extension: str) -> str | None:
    """The schema of an installed extension; None if it is not installed."""
    found = await link.rows(SCHEMA, [extension])
    return found[0][0] if found else None


async def ensure_extension(link: DriverConnection, extension: str) -> str | None:
    """Like `find_extension_schema`, but installs the extension if it is available and permitted.

    Tolerates concurrent installs.
    """
    found = await find_extension_schema(link, extension)
    if found is None and await link.rows(AVAILABLE, [extension]):
        with suppress(UgsError):
            async with open_transaction(link):
                await link.run(f"CREATE EXTENSION IF NOT EXISTS {extension} SCHEMA {DEFAULT_SCHEMA}")
        found = await find_extension_schema(link, extension)
    return found
