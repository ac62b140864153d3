"""The stores that `python -m ugs_conformance --all` runs on, and where each lives."""

from __future__ import annotations

import os

from msgspec import Struct

from ugs_conformance.support.harness import with_option


class Column(Struct, frozen=True):
    """One store of the report."""

    name: str
    url: str | None
    """None: not at hand, for the reason given."""
    spare: str = ""
    """Another place of the same kind, to copy to."""
    share: int = 1
    """Random cases are divided by this: fewer where a server must compile every new question first."""
    missing: str = ""
    shared: bool = False
    """On a server that others use too."""


def columns() -> list[Column]:
    """Every store, with its URL where it is at hand. A run of its own gets a place of its own on a shared server."""
    own = f"conformance_{os.getpid()}"
    return [
        Column("memory", "file:{tmp}/data", "file:{tmp}/data"),
        Column("sqlite", "sqlite:///{tmp}/store.db", "sqlite:///{tmp}/store.db"),
        _server("postgresql", "schema", own),
        _server("neo4j", "namespace", own, share=2),
    ]


def _server(name: str, option: str, own: str, share: int = 1) -> Column:
    variable = f"UGS_TEST_{name.upper()}"
    url = os.environ.get(variable)
    if not url:
        return Column(name, None, missing=f"no server: set {variable} to the URL of one")
    return Column(name, with_option(url, option, own), with_option(url, option, f"{own}_2"), share, shared=True)
