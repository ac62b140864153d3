"""Imported once by the process that forks children, so that a child is ready in milliseconds."""

from contextlib import suppress

import tests.faults.damage
import tests.faults.workers
import ugs_gateway.server
from ugs.connect import storage_for

for url in ("file:warm", "sqlite:", "postgresql://localhost/warm", "neo4j://localhost"):
    with suppress(Exception):  # whoever needs it will be told
        storage_for(url)

__all__ = ["tests", "ugs_gateway"]
