"""The stores that extreme values are tried on: memory in every run, in `make fuzz` those with statements of their own too.

`UGS_TEST_FUZZ` above 100 means all values; `UGS_TEST_FUZZ_STORES` names the stores (`memory,sqlite,postgresql,neo4j`).
"""

from __future__ import annotations

import os
from pathlib import Path

from tests import servers

IN_FULL = int(os.environ.get("UGS_TEST_FUZZ", "40")) > 100
STORES = os.environ.get("UGS_TEST_FUZZ_STORES", "memory,sqlite,postgresql" if IN_FULL else "memory").split(",")


def url_of(store: str, folder: Path) -> str:
    """A new place on a store for the tests of one module, or a reason in words why there is none."""
    if store == "memory":
        return "memory:"
    if store == "sqlite":
        return f"sqlite:///{folder}/graph.db"
    place = folder.name.lower()[:40]
    return f"{servers.require(store)}?{'schema' if store == 'postgresql' else 'namespace'}={place}"
