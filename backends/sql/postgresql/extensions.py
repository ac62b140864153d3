"""Extensions of the server: looked for when a store opens, made use of where they are, done without where not."""

from __future__ import annotations

from contextlib import suppress

from backends.sql.link import Link
from backends.sql.migration import transaction
from ugs.errors import UgsError

HOME = "public"
"""Where an extension is put; in a store's own schema it would go when that store goes."""
SCHEMA = "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = $1"
AVAILABLE = "SELECT 1 FROM pg_available_extensions WHERE name = $1"


async def schema_of(link: Link, extension: str) -> str | None:
    """The schema in which the extension is; None without it."""
    found = await link.rows(SCHEMA, [extension])
    return found[0][0] if found else None


async def made(link: Link, extension: str) -> str | None:
    """The same, made if the server has it and the user may; another process may be doing the same."""
    found = await schema_of(link, extension)
    if found is None and await link.rows(AVAILABLE, [extension]):
        with suppress(UgsError):
            async with transaction(link):
                await link.run(f"CREATE EXTENSION IF NOT EXISTS {extension} SCHEMA {HOME}")
        found = await schema_of(link, extension)
    return found
